"""What decorators accept, and what a worker finds of them."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from forge_client import ErrorCode, ForgeError
from forge_client.worker import ModelCall, function, model_provider, start_worker, tool
from forge_client.worker.capability import marked, offered_by
from forge_client.worker.worker import load_request


def test_a_decorated_function_stays_a_function() -> None:
    @tool
    def double(x: int) -> int:
        """Doubles."""
        return 2 * x

    assert double(2) == 4
    found = marked(double)
    assert found is not None
    assert (found.capability.name, found.capability.description, found.capability.risk, found.capability.timeout) == ("double", "Doubles.", "execute", 60.0)


def test_values_that_no_tool_can_have_are_refused() -> None:
    def plain(x: int) -> int:
        return x

    refused: list[tuple[dict[str, Any], str]] = [
        ({"name": "a b"}, "visible ASCII"),
        ({"name": "a" * 129}, "visible ASCII"),
        ({"risk": "low"}, "read, change or execute"),
        ({"timeout": 0}, "more than 0"),
        ({"description": "x" * 5000}, "at most 4096"),
    ]
    for values, said in refused:
        with pytest.raises(ValueError, match=said):
            tool(**values)(plain)


def test_a_provider_must_be_a_generator_of_one_call() -> None:
    def answers(call: ModelCall) -> str:
        return ""

    def takes_two(call: ModelCall, more: int):  # type: ignore[no-untyped-def]
        yield ""

    def generates(call: ModelCall):  # type: ignore[no-untyped-def]
        yield ""

    for function_, error, said in ((answers, TypeError, "generator"), (takes_two, TypeError, "one argument")):
        with pytest.raises(error, match=said):
            model_provider("x")(function_)
    with pytest.raises(ValueError, match="slash"):
        model_provider("a/b")(generates)


def test_a_module_offers_each_once_and_no_two_of_one_name() -> None:
    @tool(name="one")
    def first() -> None: ...

    @function(name="one")
    def second() -> dict[str, int]:
        return {}

    @tool(name="one")
    def third() -> None: ...

    module = ModuleType("offering")
    vars(module).update(first=first, alias=first, second=second, other=3)
    assert [(found.capability.kind, found.capability.name) for found in offered_by(module)] == [("tool", "one"), ("function", "one")]
    vars(module)["third"] = third
    with pytest.raises(ValueError, match="two of the tool one"):
        offered_by(module)


def test_functions_that_another_process_can_not_find_are_refused() -> None:
    @tool
    def inner() -> None: ...

    def plain() -> None: ...

    with pytest.raises(ValueError, match="top level"):
        load_request([inner])
    with pytest.raises(ValueError, match="not decorated"):
        load_request([plain])


def test_a_module_is_loaded_by_its_name_and_a_file_by_its_text(tmp_path: Path) -> None:
    assert load_request(sys.modules[__name__]).sources == ({"module": __name__},)
    file = tmp_path / "mine.py"
    file.write_text("x = 1\n")
    (tmp_path / "beside.py").write_text("y = 2\n")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "pyvenv.cfg").write_text("")
    (tmp_path / "venv" / "other.py").write_text("z = 3\n")
    request = load_request(file)
    assert request.texts == {str(file): "x = 1\n", str(tmp_path / "beside.py"): "y = 2\n"}
    assert request.import_path[0] == str(tmp_path)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("def broken(:\n", "SyntaxError", "1"),
        ("x = 1\nraise RuntimeError('not today')\n", "RuntimeError: not today", "2"),
        ("import sys\nsys.exit(4)\n", "SystemExit: 4", "2"),
        ("import os\nos._exit(5)\n", "ended with exit code 5 while it loaded", None),
        ("x = 1\n", "offers nothing", None),
        ("from forge_client.worker import tool\n\ntool(lambda x: x)\n", "no type hint", "3"),
    ],
)
async def test_a_file_that_can_not_be_served_says_where(tmp_path: Path, text: str, said: str, line: str | None) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(ForgeError) as raised:
        await start_worker(file, url="http://127.0.0.1:9", token="t")
    assert (raised.value.code, raised.value.reason) == (ErrorCode.VALIDATION, "WORKER_FILE")
    assert said in raised.value.message
    assert raised.value.metadata.get("line") == line
