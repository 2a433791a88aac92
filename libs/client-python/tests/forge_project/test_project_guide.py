"""The functions and the tools of the guide, as they stand there."""

import re
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forge_project.awaiting import Awaiting
from forge_project.sources import load
from forge_project.tools import call_tool, described, tools_of

GUIDE = Path(__file__).resolve().parents[4] / "docs" / "guides" / "python.md"
SHIM = Path(__file__).resolve().parents[2] / "src" / "forge_project" / "shim"
IDS = {"runId": "r", "stepId": "s", "attempt": 1, "idempotencyKey": "k"}


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    # What Forge brings, whether or not the package itself is installed here.
    monkeypatch.syspath_prepend(str(SHIM))
    for name in [name for name in sys.modules if name.partition(".")[0] == "agent_runtime"]:
        monkeypatch.delitem(sys.modules, name)
    loaded: list[Any] = []
    for index, text in enumerate(re.findall(r"```py\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)):
        file = tmp_path / f"part{index}.py"
        file.write_text(text)
        loaded.append(load(str(file), f"guide_{index}_{tmp_path.name}"))
    return loaded


def test_do_what_it_says(modules: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    worker, functions, tools = modules
    preview = worker.tell("lamp", 25)
    assert (preview.title, preview.rule_key, preview.facts) == ("set lamp from 20 to 25", "set-price:lamp", {"was": 20})
    assert worker.set_price("lamp", 25) == "lamp costs 25"
    assert worker.tell("lamp", 30).diff == "-lamp 25\n+lamp 30\n"
    assert functions.first_line({"text": "One\nTwo"}) == {"line": "One", "length": 3}
    found, errors = tools_of(tools)
    assert errors == []
    assert described("tools.count", found["tools.count"])["timeout"] == 20.0
    with closing(Awaiting()) as awaiting:
        assert call_tool(found["tools.count"], {"text": "one two"}, IDS, dict, awaiting) == {"words": 2}
    assert capsys.readouterr().err == '{"level": "info", "event": "COUNTING", "run_id": "r"}\n'
