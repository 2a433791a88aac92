"""The functions of a file that nothing is run of."""

from pathlib import Path

import pytest

from forge_project.names import function_names
from forge_project.refusal import RefusalError

TEXT = """
from __future__ import annotations
from typing import Any, Dict
from helpers import shared, other as renamed, CONSTANT
import json
raise RuntimeError("this is never run")
def plain(inputs): return {}
async def later(inputs): return {}
short = lambda inputs: {}
made = partial(plain, 1)
same = plain
number = 4
text = "def hidden(inputs): ..."
class Shape:
    def method(self): ...
def _private(inputs): ...
if True:
    def conditional(inputs): ...
else:
    def fallback(inputs): ...
try:
    from quick import fast
except ImportError:
    def slow(inputs): ...
"""


def test_names_what_may_be_called(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(TEXT)
    assert function_names(str(file)) == ["conditional", "fallback", "fast", "later", "made", "plain", "renamed", "same", "shared", "short", "slow"]


@pytest.mark.parametrize("content", [b"def f(:", b"\0", b"\xff\xfe", b"(" * 10_000])
def test_says_what_is_no_python(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "m.py"
    file.write_bytes(content)
    with pytest.raises(RefusalError):
        function_names(str(file))
