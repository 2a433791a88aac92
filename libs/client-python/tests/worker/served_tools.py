"""What the workers of these tests serve: tools that behave, and tools that do not. Loaded in child processes, never by the tests themselves."""

import asyncio
import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from forge_client import ErrorCode, ForgeError
from forge_client.worker import (
    Finish,
    FunctionContext,
    InputRequired,
    ModelCall,
    Preview,
    Reasoning,
    Text,
    ToolCall,
    ToolContext,
    Usage,
    function,
    model_provider,
    tool,
)


class Colour(Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Painted:
    colour: Colour
    size: float


@tool(idempotent=True, risk="read")
def paint(colour: Colour, size: float = 1.0) -> Painted:
    """Paints."""
    return Painted(colour, size)


@tool
def context(ctx: ToolContext) -> dict[str, Any]:
    ctx.logger.warning("a %s", "warning")
    return {
        "ids": [ctx.session_id, ctx.turn_id, ctx.tool_call_id, ctx.run_id, ctx.step_id, ctx.idempotency_key],
        "seconds": None if ctx.deadline is None else ctx.deadline.timestamp() - time.time(),
        "token": os.environ.get("FORGE_TOKEN"),
    }


@tool
def prints() -> str:
    print("to standard output")
    print("to standard error", file=sys.stderr)
    os.write(1, b"\xff and raw \x00\n")
    return "printed"


@tool
def exits() -> None:
    sys.exit(3)


@tool
def raises() -> None:
    raise ValueError("no such thing")


@tool
def raises_forge_error() -> None:
    raise ForgeError(ErrorCode.NOT_FOUND, "there is no city Atlantis", reason="CITY", origin="tool")


@tool
def ends_at_once() -> None:
    os._exit(9)


@tool(idempotent=True)
def ends_at_once_and_may() -> None:
    os._exit(9)


@tool
def segfaults() -> None:
    ctypes.string_at(0)


@tool
def closes_everything() -> None:
    os.closerange(3, 256)


@tool
def writes_to_the_channel() -> None:
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"\xff" * 64)
        except OSError:
            continue
    time.sleep(60)


@tool
def forks() -> str:
    pid = os.fork()
    if pid == 0:
        # Goes on as if it were the call.
        return "the child"
    os.waitpid(pid, 0)
    return "the parent"


@tool
def holds_the_lock() -> None:
    # A function of C that never gives the interpreter lock back.
    ctypes.PyDLL(None).sleep(600)


@tool
def never_returns(mark: str) -> None:
    subprocess.Popen(["sleep", mark], start_new_session=True)
    while True:
        time.sleep(60)


@tool
def returns_nan() -> float:
    return float("nan")


@tool
def returns_an_object() -> Any:
    return object()


@tool
def large() -> str:
    return "x" * 100_000


def note(file: str, text: str) -> None:
    Path(file).write_text(text)


@tool
async def sleeps(seconds: float, file: str) -> str:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        note(file, "cancelled")
        raise
    return "slept"


@tool
def looks(ctx: ToolContext) -> str:
    ctx.report("reported 👩‍🚀\n")
    print("printed", flush=True)
    return "told to stop" if ctx.wait_cancelled(60) else "not told"


@tool(timeout=0.3)
async def limited() -> None:
    await asyncio.sleep(60)


@tool
async def leaves_a_task() -> list[str]:
    said = ["begun"]

    async def later() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            said.append("ended")

    running.add(asyncio.create_task(later()))
    await asyncio.sleep(0)
    return said


running: set[asyncio.Task[None]] = set()


@tool
def leaves_a_thread() -> str:
    threading.Thread(target=time.sleep, args=(60,)).start()
    return "done"


@function
def add(a: int, b: int, ctx: FunctionContext) -> dict[str, Any]:
    return {"sum": a + b, "attempt": ctx.attempt, "run": ctx.run_id}


@function
async def half(number: int) -> float:
    return number / 2


@model_provider("sync")
def sync_model(call: ModelCall) -> Iterator[Any]:
    yield Reasoning("hm")
    yield f"{call.model} read {len(call.messages)}, "
    yield Text(f"{call.system} {call.temperature}")
    yield ToolCall("look", {"at": "it"}, call_id="its-own")
    yield ToolCall("look", '{"at":  1}')
    yield Usage(input_tokens=3, output_tokens=4, cost_micro_usd=5)


@model_provider("wrong")
def wrong_model(call: ModelCall) -> Iterator[Any]:
    yield {"usage": Usage(input_tokens=-1), "finish": Finish("tired"), "other": 3}[call.model]  # type: ignore[arg-type]


@model_provider("async")
async def async_model(call: ModelCall) -> AsyncIterator[Any]:
    yield "first "
    if call.model == "breaks":
        raise RuntimeError("the line is dead")
    if call.model == "waits":
        await asyncio.sleep(60)
    yield Finish("length", provider_model="async-1")


def told(text: str, file: str, ctx: ToolContext) -> Preview:
    content = Path(file).read_text()
    return Preview(
        f"write {text}",
        f"-{content}\n+{text}\n",
        risk="change",
        facts={"was": content},
        rule_key=f"write:{file}",
        rule_title="write there",
        paths=[ctx.turn_id],
    )


@tool(preview=told)
def writes(text: str, file: str) -> str:
    Path(file).write_text(text)
    return "written"


async def told_wrongly(kind: str) -> Any:
    return {"large": Preview("large", diff="ä" * 20_000), "risk": Preview("", risk="execute"), "facts": Preview("", facts="x" * 9000), "none": None}[kind]


@tool(preview=told_wrongly, risk="change")
def tells_wrongly(kind: str) -> str:
    return kind


@tool
def asks(ctx: ToolContext) -> str:
    if not ctx.inputs:
        raise InputRequired("Which colour?", {"step": 2})
    return f"{ctx.inputs[-1]} at {ctx.resume['step']}"


@tool
def notes(ctx: ToolContext) -> str:
    ctx.progress("half", 0.5)
    ctx.progress("more than whole", 7)
    ctx.structured("my.chart", {"points": [1, 2]})
    for count in range(2000):
        ctx.progress(f"{count}")
    ctx.wait_cancelled(60)
    return "noted"


@function
def lives(how: str, ctx: FunctionContext) -> dict[str, Any]:
    for _ in range(8):
        time.sleep(60 if how == "silent" else 0.1)
        if how == "prints":
            print(".", end="", flush=True)
        elif how == "beats":
            ctx.heartbeat()
        elif how == "errs":
            print("e", end="", file=sys.stderr, flush=True)
    return {"how": how}
