"""What the Python worker of the tests serves. `effects` is a file where each call that had its effect writes a line."""

import os
import subprocess
import time
from typing import Annotated, Literal

from forge_client.worker import ModelCall, Reasoning, ToolCall, ToolContext, Usage, function, model_provider, tool


def note(effects: str, line: str) -> None:
    with open(effects, "a") as file:
        file.write(f"{line}\n")


@tool(name="py.pay", risk="execute")
def pay(effects: str, cents: Annotated[int, "What is paid"], ctx: ToolContext) -> dict[str, object]:
    """Pays once."""
    print("opening the till")
    note(effects, ctx.idempotency_key)
    return {"paid": cents, "call": ctx.tool_call_id}


@tool(name="py.look", risk="read", idempotent=True)
async def look(unit: Literal["c", "f"] = "c") -> str:
    """Looks at the thermometer."""
    return f"20 {unit}"


@tool(name="py.stuck")
def stuck(effects: str, mark: str) -> None:
    """Starts a process, and never comes back."""
    subprocess.Popen(["sleep", mark], start_new_session=True)
    note(effects, "stuck")
    while True:
        time.sleep(60)


@tool(name="py.late", timeout=0.5)
def late() -> None:
    """Takes longer than it may."""
    time.sleep(60)


@tool(name="py.crash")
def crash() -> None:
    """Ends its process."""
    print("going down", flush=True)
    os._exit(7)


@tool(name="py.again", idempotent=True, risk="read")
def again(effects: str, hold: str) -> str:
    """Waits while a file is there."""
    note(effects, "again")
    while os.path.exists(hold):
        time.sleep(0.02)
    return "done"


@function(name="py.add")
def add(a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}


@model_provider("parrot")
def parrot(call: ModelCall):
    last = call.messages[-1]
    if last.role == "user" and any(tool.name == "py.look" for tool in call.tools):
        yield Reasoning("I should look.")
        yield ToolCall("py.look", {"unit": "f"})
    else:
        yield "It "
        yield f"says {last.parts[0].output if last.role == 'tool' else last.parts[0].text}"
    yield Usage(input_tokens=len(call.messages), output_tokens=2)
