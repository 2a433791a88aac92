"""The programs of the guide and of the package's page, as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs" / "guides" / "python.md"
README = ROOT / "libs" / "client-python" / "README.md"
SECONDS_MAX = 60


def programs_of(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)


def said_by(program: str, project: Path) -> str:
    return subprocess.run([sys.executable, "-B", "-c", program], check=True, capture_output=True, text=True, cwd=project, timeout=SECONDS_MAX).stdout


EXPECTED = {
    "follows a turn": r"1 session\.created\n(\d+ [a-z_.]+\n)+\d+ turn\.completed\nHello\.\n",
    "reads errors": r"SEQ_MISMATCH 1 False\nvalidation: title holds a lone surrogate.*\n",
    "sends a command again": r"True\n",
    "gives up": r"Event\nCaughtUp\nstopped\n",
    "on asyncio": r"\['One\.', 'Two\.'\]\n",
}


@pytest.mark.parametrize(("index", "expected"), list(enumerate(EXPECTED.values())), ids=list(EXPECTED))
def test_does_what_it_says(project: Path, index: int, expected: str) -> None:
    programs = programs_of(GUIDE)
    assert len(programs) == len(EXPECTED)
    assert re.fullmatch(expected, said_by(programs[index], project))


def test_the_package_s_page_does_what_it_says(project: Path) -> None:
    (program,) = programs_of(README)
    assert re.fullmatch(r"1 session\.created\n(\d+ [a-z_.]+\n)+\d+ turn\.completed\n", said_by(program, project))
