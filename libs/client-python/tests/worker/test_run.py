"""Workers as programs: the command, with and without reload, and a script of one's own."""

import asyncio
import json
import os
import signal
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from fake_control_plane import FakeControlPlane, leased, session_gone, tool_task, until

WAIT_S = 30.0


class Program:
    """A process that serves, and the lines that it prints."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), WAIT_S)
        assert line, "it ended"
        said: dict[str, Any] = json.loads(line)
        return said

    async def until_said(self, name: str) -> Any:
        while True:
            line = await self.line()
            if name in line:
                return line[name]

    async def end(self) -> int:
        await asyncio.wait_for(self.process.communicate(), WAIT_S)
        assert self.process.returncode is not None
        return self.process.returncode


class Plane(FakeControlPlane):
    def __init__(self, stack: AsyncExitStack) -> None:
        super().__init__()
        self._stack = stack

    async def start(self, *arguments: str, **environment: str) -> Program:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            env={**os.environ, "FORGE_URL": self.url, "FORGE_TOKEN": "t0ken", **environment},
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )

        async def kill() -> None:
            if process.returncode is None:
                process.kill()
                await process.communicate()

        self._stack.push_async_callback(kill)
        return Program(process)

    def serve(self, file: Path, *arguments: str) -> Any:
        return self.start("-m", "forge_client.worker", str(file), "--name", "cli", "--json", *arguments)


@pytest.fixture
async def plane() -> AsyncIterator[Plane]:
    async with AsyncExitStack() as stack:
        plane = Plane(stack)
        await stack.enter_async_context(plane.serving())
        yield plane


def text_of(name: str, answer: str, beside: str = "") -> str:
    return f'from forge_client.worker import tool\n{beside}\n@tool(name="{name}")\ndef answer() -> str:\n    return "{answer}"\n'


async def answer_of(plane: Plane, name: str, task_id: str) -> str:
    plane.hand(leased(task_id, tool_task(name)))
    settlement = await plane.settlement_of(task_id)
    assert settlement.WhichOneof("outcome") == "tool", settlement
    answer: str = json.loads(settlement.tool.output.json)
    return answer


async def test_the_command_tells_what_it_serves_and_what_happens_and_ends_with_its_input(plane: Plane, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text('from forge_client.worker import tool\n@tool\ndef fails() -> None:\n    print("before")\n    raise ValueError("no")\n')
    program = await plane.serve(file, "--queue", "a", "--queue", "default", "--queue", "a", "--slots", "2")
    served = await program.until_said("serving")
    assert served == {
        "name": "cli",
        "queues": ["a", "default"],
        "url": plane.url,
        "file": str(file),
        "pid": program.process.pid,
        "reloaded": False,
        "tools": ["fails"],
        "functions": [],
        "models": [],
        "hooks": [],
    }
    plane.hand(leased("task", tool_task("fails")))
    assert await program.until_said("output") == {"stream": "stdout", "line": "before"}
    call = await program.until_said("call")
    assert (call["name"], call["outcome"], call["session_id"], call["error"]["code"]) == ("fails", "failed", "session", "INTERNAL")
    assert program.process.stdin is not None
    program.process.stdin.close()
    assert await program.end() == 0
    assert plane.drained == 1


async def test_the_command_serves_a_changed_file_anew_and_a_broken_one_not(plane: Plane, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    beside = tmp_path / "beside.py"
    beside.write_text('word = "one"\n')
    file.write_text(text_of("first", "first"))
    program = await plane.serve(file, "--reload", "--slots", "1")
    await program.until_said("serving")
    assert await answer_of(plane, "first", "a") == "first"
    file.write_text("def broken(:\n")
    problem = (await program.until_said("problem"))["error"]
    assert (problem["reason"], problem["metadata"]) == ("WORKER_FILE", {"file": str(file), "line": "1"})
    assert await answer_of(plane, "first", "c") == "first"
    file.write_text(text_of("second", "{word}", "from beside import word").replace('"{word}"', "word"))
    assert (await program.until_said("serving"))["tools"] == ["second"]
    assert await answer_of(plane, "second", "d") == "one"
    beside.write_text('word = "two"\n')
    assert (await program.until_said("serving"))["reloaded"]
    assert await answer_of(plane, "second", "e") == "two"
    program.process.send_signal(signal.SIGTERM)
    assert await program.end() == 0


async def test_a_new_process_of_a_worker_runs_the_code_that_was_registered(plane: Plane, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text_of("answer", "as it was", "import os\n@tool\ndef ends() -> None:\n    os._exit(1)\n"))
    program = await plane.serve(file)
    await program.until_said("serving")
    file.write_text("def broken(:\n")
    plane.hand(leased("a", tool_task("ends")))
    assert (await plane.settlement_of("a")).failure.unknown
    assert await answer_of(plane, "answer", "b") == "as it was"


async def test_the_command_ends_when_another_worker_takes_its_name(plane: Plane, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text_of("answer", "a"))
    program = await plane.serve(file)
    await program.until_said("serving")

    def gone(method: str) -> None:
        if method == "Heartbeat":
            raise session_gone()

    plane.on_call = gone
    assert await program.until_said("replaced") == {"name": "cli"}
    assert await program.end() == 4


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [("def broken(:\n", 2, "mine.py:1: "), ("x = 1\n", 2, "offers nothing"), (None, 3, "there is no file")],
)
async def test_the_command_says_what_it_can_not_serve(plane: Plane, tmp_path: Path, text: str | None, code: int, said: str) -> None:
    file = tmp_path / "mine.py"
    if text is not None:
        file.write_text(text)
    program = await plane.start("-m", "forge_client.worker", str(file))
    _, errors = await asyncio.wait_for(program.process.communicate(), WAIT_S)
    assert (program.process.returncode, plane.registered) == (code, [])
    assert said in errors.decode()


async def test_a_script_serves_its_own_functions_until_it_is_told_to_stop(plane: Plane, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            import os
            from forge_client.worker import run_worker, tool

            @tool
            def answer() -> str:
                return "by the script"

            @tool
            def left_out() -> str:
                return ""

            if __name__ == "__main__":
                run_worker([answer], name="script")
        """)
    )
    program = await plane.start(str(script))
    await until(lambda: len(plane.registered) == 1)
    assert [capability.name for capability in plane.registered[0].capabilities] == ["answer"]
    assert await answer_of(plane, "answer", "a") == "by the script"
    program.process.send_signal(signal.SIGTERM)
    assert await program.end() == 0
    assert plane.drained == 1
