"""The runtime's promises to a control plane, against one that tells what it was told."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from fake_control_plane import FakeControlPlane, leased, session_gone, tool_task, until
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from forge_client import AsyncForgeClient, ErrorCode, ForgeError
from forge_client.protocol.common import Value
from forge_client.protocol.event import ToolStarted
from forge_client.protocol.worker import Capability, CapabilityKind, Task, TaskAnswer, ToolResult, ToolTask
from forge_client.worker.outcomes import Outcome, cancelled, failure
from forge_client.worker.running_task import Handler, TaskContext
from forge_client.worker.runtime import RuntimeOptions, WorkerRuntime

TOOL = CapabilityKind.CAPABILITY_KIND_TOOL


class HeldTool:
    """A tool whose calls end when the test says so, or when they are to stop."""

    def __init__(self) -> None:
        self.open: dict[str, asyncio.Event] = {}
        self.most = 0

    async def __call__(self, context: TaskContext) -> Outcome:
        done = asyncio.Event()
        name = context.task.tool.arguments_json
        self.open[name] = done
        self.most = max(self.most, len(self.open))
        try:
            await context.stop.first(done.wait())
        except ForgeError as error:
            return failure(error) if context.stop.is_deadline else cancelled()
        finally:
            del self.open[name]
        return {"tool": ToolResult(output=Value(json='"done"'))}


class Plane(FakeControlPlane):
    """With workers of this test."""

    def __init__(self, stack: AsyncExitStack) -> None:
        super().__init__()
        self._stack = stack
        self.problems: list[BaseException] = []
        self.replaced: list[str] = []

    async def start(self, handler: Handler, *, slots: int = 2, name: str = "test.tool") -> WorkerRuntime:
        client = await self._stack.enter_async_context(AsyncForgeClient(self.url, "token"))
        handlers = [(Capability(kind=TOOL, name=name), handler)]
        runtime = WorkerRuntime(RuntimeOptions(client, "worker", ["default"], handlers, slots, self.problems.append, lambda: self.replaced.append(name)))
        await runtime.start()
        self._stack.push_async_callback(runtime.stop)
        return runtime


@pytest.fixture
async def plane() -> AsyncIterator[Plane]:
    async with AsyncExitStack() as stack:
        plane = Plane(stack)
        await stack.enter_async_context(plane.serving())
        yield plane


def held(*names: str) -> list[Any]:
    return [leased(name, tool_task("test.tool", name)) for name in names]


def failing(times: int, method: str, error: Callable[[], ForgeError]) -> Callable[[str], None]:
    """Fails the first calls of a method."""
    left = times

    def on_call(called: str) -> None:
        nonlocal left
        if called == method and left > 0:
            left -= 1
            raise error()

    return on_call


def away() -> ForgeError:
    return ForgeError(ErrorCode.STORAGE_ERROR, "the database is away")


async def test_does_not_start_where_it_is_refused(plane: Plane) -> None:
    plane.on_call = failing(1, "Register", lambda: ForgeError(ErrorCode.PERMISSION_DENIED, "queue gpu is not granted"))
    with pytest.raises(ForgeError, match="gpu") as raised:
        await plane.start(HeldTool())
    assert raised.value.code == ErrorCode.PERMISSION_DENIED
    assert plane.slots_asked == []


async def test_registers_what_it_serves_and_the_version(plane: Plane) -> None:
    await plane.start(HeldTool(), slots=3)
    (request,) = plane.registered
    assert (request.worker_name, list(request.queues), request.slots, request.version.major) == ("worker", ["default"], 3, 1)
    assert [capability.name for capability in request.capabilities] == ["test.tool"]


async def test_never_holds_more_than_its_slots_and_asks_again_as_soon_as_one_is_free(plane: Plane) -> None:
    tool = HeldTool()
    await plane.start(tool)
    plane.hand(*held("a", "b", "c"))
    await until(lambda: list(tool.open) == ["a", "b"])
    assert plane.slots_asked == [2]
    tool.open["a"].set()
    await until(lambda: list(tool.open) == ["b", "c"])
    assert plane.slots_asked == [2, 1]
    assert tool.most == 2


async def test_says_what_it_holds_stops_what_is_cancelled_and_drops_what_is_lost(plane: Plane) -> None:
    tool = HeldTool()
    await plane.start(tool)
    plane.hand(*held("a", "b"))
    await until(lambda: plane.held == ["a", "b"])
    plane.cancel, plane.lost = ["a", "never heard of"], ["b"]
    await until(lambda: tool.open == {} and plane.held == [])
    assert plane.settled == ["a cancelled"]


async def test_goes_on_at_its_pace_while_heartbeats_and_polls_fail(plane: Plane) -> None:
    tool = HeldTool()
    plane.heartbeat_s = 0.2
    await plane.start(tool)
    plane.hand(*held("a"))
    await until(lambda: plane.held == ["a"])
    failed: list[float] = []

    def on_call(method: str) -> None:
        if method in ("Heartbeat", "LeaseTasks"):
            if method == "Heartbeat":
                failed.append(time.monotonic())
            raise away()

    plane.on_call = on_call
    await until(lambda: len(failed) >= 9)
    # The backoff grows, and never beyond the interval: with it a lease would run out while its worker waits to say that it lives. A busy machine adds its own.
    gaps = [after - before for before, after in itertools.pairwise(failed)]
    assert min(gaps[-3:]) < 2 * plane.heartbeat_s
    plane.on_call = lambda method: None
    tool.open["a"].set()
    await until(lambda: plane.settled == ["a tool"])


async def test_joins_again_when_its_session_is_not_known_and_drops_what_it_held(plane: Plane) -> None:
    tool = HeldTool()
    # So short that a session may have ended by itself.
    plane.lease_ttl_s = 0.001
    await plane.start(tool)
    plane.hand(*held("a"))
    await until(lambda: list(tool.open) == ["a"])
    plane.on_call = failing(1, "Heartbeat", session_gone)
    await until(lambda: len(plane.registered) == 2 and tool.open == {})
    plane.hand(*held("b"))
    await until(lambda: list(tool.open) == ["b"])
    tool.open["b"].set()
    await until(lambda: plane.settled == ["b tool"])
    assert len(plane.registered) == 2


async def test_gives_up_when_another_worker_has_taken_its_name(plane: Plane) -> None:
    tool = HeldTool()
    await plane.start(tool)
    plane.hand(*held("a"))
    await until(lambda: list(tool.open) == ["a"])
    plane.on_call = failing(1, "Heartbeat", session_gone)
    await until(lambda: plane.replaced == ["test.tool"] and tool.open == {})
    assert (len(plane.registered), plane.settled) == (1, [])


async def test_settles_again_what_failed_in_transit(plane: Plane) -> None:
    tool = HeldTool()
    await plane.start(tool)
    plane.hand(*held("a"))
    await until(lambda: list(tool.open) == ["a"])
    plane.on_call = failing(3, "SettleTasks", away)
    tool.open["a"].set()
    await until(lambda: plane.settled == ["a tool"])


async def test_a_settlement_that_is_refused_for_what_is_in_it_becomes_a_failure(plane: Plane) -> None:
    async def tool(context: TaskContext) -> Outcome:
        return {"tool": ToolResult(output=Value(json='"\\u0000"'))}

    refusal = ForgeError.validation("settlements", "a text holds NUL").detail
    plane.answer_settlement = lambda one: TaskAnswer(error=refusal) if one.WhichOneof("outcome") == "tool" else TaskAnswer()
    await plane.start(tool)
    plane.hand(*held("a"))
    await until(lambda: plane.settled == ["a tool", "a failure"])
    assert plane.settlements[-1].failure.error.message == "a text holds NUL"


async def test_a_refused_start_means_that_nothing_happens_and_nothing_is_settled(plane: Plane) -> None:
    effects: list[str] = []

    async def tool(context: TaskContext) -> Outcome:
        await context.start(ToolStarted())
        effects.append("done")
        return {"tool": ToolResult()}

    lost = ForgeError(ErrorCode.CONFLICT, "another worker has it", reason="LEASE_LOST").detail
    plane.answer_start = lambda start: TaskAnswer(error=lost)
    runtime = await plane.start(tool)
    plane.hand(*held("a"))
    await until(lambda: len(plane.starts) == 1 and runtime.running == 0)
    assert (effects, plane.settled, plane.problems) == ([], [], [])
    assert plane.starts[0].WhichOneof("kind") == "tool"


async def test_a_task_that_is_over_its_time_is_stopped(plane: Plane) -> None:
    tool = HeldTool()
    await plane.start(tool, slots=3)
    soon, late = Timestamp(), Timestamp()
    soon.FromMilliseconds(round(time.time() * 1000) + 100)
    late.FromMilliseconds(round(time.time() * 1000) + 60_000)
    plane.hand(
        leased("deadline", tool_task("test.tool", "deadline", deadline_at=soon)),
        leased("timeout", tool_task("test.tool", "timeout", deadline_at=late, timeout=Duration(nanos=100_000_000))),
    )
    for name in ("deadline", "timeout"):
        settlement = await plane.settlement_of(name)
        assert settlement.failure.error.code == ErrorCode.DEADLINE_EXCEEDED


async def test_a_task_that_nothing_serves_fails(plane: Plane) -> None:
    await plane.start(HeldTool())
    plane.hand(leased("a", tool_task("other.tool")))
    settlement = await plane.settlement_of("a")
    assert settlement.failure.error.code == ErrorCode.UNSUPPORTED


async def test_a_bug_in_a_handler_is_the_end_of_its_task_alone(plane: Plane) -> None:
    async def tool(context: TaskContext) -> Outcome:
        raise KeyError("a")

    await plane.start(tool)
    plane.hand(*held("a", "b"))
    await until(lambda: sorted(plane.settled) == ["a failure", "b failure"])
    assert plane.settlements[0].failure.error.code == ErrorCode.INTERNAL


async def test_reads_a_task_and_its_values_from_artifacts_under_its_lease_and_puts_large_ones_there(plane: Plane) -> None:
    seen: list[Any] = []

    async def tool(context: TaskContext) -> Outcome:
        of_tool = context.task.tool
        seen.extend([of_tool.arguments_json, *[await context.payloads.from_value(value, name) for name, value in sorted(of_tool.input.items())]])
        return {"tool": ToolResult(output=await context.payloads.to_value(json.dumps("x" * 70_000)))}

    kept = plane.keep(json.dumps({"items": [{"name": "first"}, {"name": "zweite"}]}).encode())
    inputs = {"a": Value(json="[1]"), "b": Value(artifact=kept), "c": Value(artifact=kept, path=["items", "1", "name"])}
    whole = Task(tool=ToolTask(tool="test.tool", arguments_json="whole", input=inputs))
    await plane.start(tool)
    plane.hand(leased("a", Task(tool=ToolTask(tool="test.tool"), artifact=plane.keep(whole.SerializeToString()))))
    settlement = await plane.settlement_of("a")
    assert seen == ["whole", [1], {"items": [{"name": "first"}, {"name": "zweite"}]}, "zweite"]
    assert json.loads(plane.artifacts[settlement.tool.output.artifact.sha256]) == "x" * 70_000
    assert set(plane.leases_of_artifacts) == {bytes([1]) * 16}


@pytest.mark.parametrize("path", [["items", "2"], ["items", "-1"], ["missing"], ["items", "length"]])
async def test_a_path_that_a_value_does_not_have_is_refused(plane: Plane, path: list[str]) -> None:
    async def tool(context: TaskContext) -> Outcome:
        await context.payloads.from_value(context.task.tool.input["a"], "a")
        return {"tool": ToolResult()}

    await plane.start(tool)
    value = Value(artifact=plane.keep(b'{"items": [1, 2]}'), path=path)
    plane.hand(leased("a", Task(tool=ToolTask(tool="test.tool", input={"a": value}))))
    assert (await plane.settlement_of("a")).failure.error.metadata["field"] == "value.path"


async def test_output_is_counted_in_utf_16_and_joined(plane: Plane) -> None:
    async def tool(context: TaskContext) -> Outcome:
        for piece in ("a👩‍🚀", "b", "c"):
            context.output.push("tool", piece)
        await until(lambda: len(plane.deltas) > 0)
        context.output.push("tool", "end")
        await until(lambda: len(plane.deltas) > 1)
        return {"tool": ToolResult()}

    await plane.start(tool)
    plane.hand(leased("a", tool_task("test.tool"), epoch=7))
    await plane.settlement_of("a")
    assert [(one.tool.offset, one.tool.text, one.tool.epoch) for one in plane.deltas] == [(0, "a👩‍🚀bc", 7), (8, "end", 7)]


async def test_draining_takes_nothing_new_and_waits_for_what_runs(plane: Plane) -> None:
    tool = HeldTool()
    runtime = await plane.start(tool)
    plane.hand(*held("a"))
    await until(lambda: list(tool.open) == ["a"])
    draining = asyncio.create_task(runtime.drain(30))
    await until(lambda: plane.drained == 1)
    plane.hand(*held("b"))
    assert not draining.done()
    tool.open["a"].set()
    await draining
    assert plane.settled == ["a tool"]
    assert tool.open == {}


async def test_stopping_cancels_what_runs(plane: Plane) -> None:
    tool = HeldTool()
    runtime = await plane.start(tool)
    plane.hand(*held("a"))
    await until(lambda: list(tool.open) == ["a"])
    await runtime.stop()
    assert plane.settled == ["a cancelled"]
