"""What becomes of calls of user code, which runs in child processes, whatever it does there."""

import json
import logging
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fake_control_plane import FakeControlPlane, leased, tool_task, until

from forge_client import ErrorCode
from forge_client.protocol.common import Value
from forge_client.protocol.event import FinishReason
from forge_client.protocol.session import Message, Part, ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart
from forge_client.protocol.tool import RiskLevel, ToolSpec
from forge_client.protocol.worker import FunctionTask, LeasedTask, ModelTask, Settlement, Task
from forge_client.worker import Worker, start_worker
from forge_client.worker.json_values import utf16_length

TOOLS = Path(__file__).with_name("served_tools.py")


class Plane(FakeControlPlane):
    """With a worker on the tools of these tests."""

    worker: Worker

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def next_id(self) -> str:
        self._count += 1
        return f"task-{self._count}"

    async def call(self, task: Task) -> Settlement:
        lease = leased(self.next_id(), task)
        self.hand(lease)
        return await self.settlement_of(lease.task_id)

    async def output_of(self, tool: str, arguments: str = "{}", **fields: Any) -> Any:
        settlement = await self.call(tool_task(tool, arguments, **fields))
        assert settlement.WhichOneof("outcome") == "tool", settlement
        return json.loads(settlement.tool.output.json)

    async def begin(self, tool: str, arguments: str = "{}") -> LeasedTask:
        """Hands a call out, and waits until it runs."""
        lease = leased(self.next_id(), tool_task(tool, arguments))
        self.hand(lease)
        await until(lambda: any(start.lease.task_id == lease.task_id for start in self.starts))
        return lease

    def text_of(self, task_id: str) -> str:
        return "".join(one.tool.text for one in self.deltas if one.lease.task_id == task_id)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plane() -> AsyncIterator[Plane]:
    plane = Plane()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(plane.serving())
        monkeypatch = stack.enter_context(pytest.MonkeyPatch.context())
        monkeypatch.setenv("FORGE_TOKEN", "canary")
        plane.worker = await stack.enter_async_context(await start_worker(TOOLS, url=plane.url, token="t0ken", name="tester", slots=3))
        yield plane


pytestmark = pytest.mark.asyncio(loop_scope="module")


def processes_naming(text: str) -> int:
    count = 0
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            count += text.encode() in process.read_bytes()
        except OSError:
            continue
    return count


class TestRegistering:
    async def test_tells_schema_risk_and_timeout_of_each_tool(self, plane: Plane) -> None:
        (request,) = plane.registered
        tools = {capability.name: capability.tool for capability in request.capabilities if capability.HasField("tool")}
        paint = tools["paint"]
        assert (paint.description, paint.idempotent, paint.risk) == ("Paints.", True, RiskLevel.RISK_LEVEL_READ)
        assert json.loads(paint.input_schema_json) == {
            "type": "object",
            "properties": {"colour": {"enum": ["red", "green"]}, "size": {"type": "number", "default": 1.0}},
            "required": ["colour"],
            "additionalProperties": False,
        }
        assert tools["limited"].timeout.ToMilliseconds() == 300
        assert tools["exits"].risk == RiskLevel.RISK_LEVEL_EXECUTE
        assert [capability.name for capability in request.capabilities if not capability.HasField("tool")] == [
            "add",
            "half",
            "sync/*",
            "wrong/*",
            "async/*",
            "lives",
        ]


class TestTools:
    async def test_get_their_arguments_as_their_types_and_answer_with_theirs(self, plane: Plane) -> None:
        assert await plane.output_of("paint", '{"colour": "green", "size": 2}') == {"colour": "green", "size": 2.0}

    async def test_take_a_steps_inputs_by_name(self, plane: Plane) -> None:
        task = tool_task("paint", "")
        task.tool.input["colour"].CopyFrom(Value(artifact=plane.keep(b'["red"]'), path=["0"]))
        settlement = await plane.call(task)
        assert json.loads(settlement.tool.output.json)["colour"] == "red"

    @pytest.mark.parametrize(
        ("arguments", "field"),
        [('{"colour": "blue"}', "arguments.colour"), ("{}", "arguments.colour"), ('{"colour": "red", "x": 1}', "arguments.x"), ('{"col', "arguments")],
    )
    async def test_are_not_called_with_wrong_arguments(self, plane: Plane, arguments: str, field: str) -> None:
        lease = leased(plane.next_id(), tool_task("paint", arguments))
        plane.hand(lease)
        error = (await plane.settlement_of(lease.task_id)).failure.error
        assert (error.code, error.reason, error.metadata["field"]) == (ErrorCode.VALIDATION, "TOOL_ARGUMENTS", field)
        # Nothing has happened, so nothing has started.
        assert all(start.lease.task_id != lease.task_id for start in plane.starts)

    async def test_start_before_they_run_unless_they_may_run_twice(self, plane: Plane) -> None:
        begun = len(plane.starts)
        await plane.output_of("paint", '{"colour": "red"}', needs_start=False)
        assert len(plane.starts) == begun
        await plane.output_of("paint", '{"colour": "red"}')
        assert len(plane.starts) == begun + 1

    async def test_are_given_a_context_and_no_token(self, plane: Plane, caplog: pytest.LogCaptureFixture) -> None:
        output = await plane.output_of("context")
        assert output["ids"] == ["session", "turn", "call", "", "", "key"]
        assert 50 < output["seconds"] <= 60
        assert output["token"] is None
        assert "context call: a warning" in caplog.text

    async def test_print_into_the_log_and_to_whoever_watches(self, plane: Plane, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO)
        lease = await plane.begin("prints")
        settlement = await plane.settlement_of(lease.task_id)
        assert json.loads(settlement.tool.output.json) == "printed"
        await until(lambda: "prints call stdout: \ufffd and raw \ufffd" in caplog.text)
        assert "prints call stdout: to standard output" in caplog.text
        assert "prints call stderr: to standard error" in caplog.text

    async def test_report_while_they_run(self, plane: Plane) -> None:
        lease = await plane.begin("looks")
        await until(lambda: len(plane.text_of(lease.task_id)) >= len("reported 👩‍🚀\nprinted\n"))
        deltas = [one.tool for one in plane.deltas if one.lease.task_id == lease.task_id]
        # Two ways out of the process, in either order; each piece begins where those before it end, in UTF-16.
        assert sorted("".join(delta.text for delta in deltas).splitlines()) == ["printed", "reported 👩‍🚀"]
        assert [delta.offset for delta in deltas] == [sum(utf16_length(before.text) for before in deltas[:index]) for index in range(len(deltas))]
        plane.cancel = [lease.task_id]
        # What it still returns in time counts.
        assert json.loads((await plane.settlement_of(lease.task_id)).tool.output.json) == "told to stop"

    @pytest.mark.parametrize(
        ("tool", "code", "reason", "said"),
        [
            ("exits", ErrorCode.INTERNAL, "STEP_EXECUTION", "exits raised SystemExit: 3"),
            ("raises", ErrorCode.INTERNAL, "STEP_EXECUTION", "raises raised ValueError: no such thing"),
            ("raises_forge_error", ErrorCode.NOT_FOUND, "CITY", "there is no city Atlantis"),
            ("returns_nan", ErrorCode.VALIDATION, "TOOL_RESULT", "result is nan"),
            ("returns_an_object", ErrorCode.VALIDATION, "TOOL_RESULT", "an instance of object"),
            ("limited", ErrorCode.DEADLINE_EXCEEDED, "", "limited did not end within 0.3 s"),
        ],
    )
    async def test_that_fail_say_why(self, plane: Plane, tool: str, code: ErrorCode, reason: str, said: str) -> None:
        settlement = await plane.call(tool_task(tool))
        error = settlement.failure.error
        assert (error.code, error.reason, settlement.failure.unknown) == (code, reason, False)
        assert said in error.message

    @pytest.mark.parametrize("tool", ["ends_at_once", "segfaults", "closes_everything", "writes_to_the_channel"])
    async def test_that_take_their_process_with_them_leave_nobody_knowing(self, plane: Plane, tool: str) -> None:
        settlement = await plane.call(tool_task(tool))
        assert settlement.failure.unknown
        assert settlement.failure.error.reason == "WORKER_PROCESS_EXITED"
        assert await plane.output_of("paint", '{"colour": "red"}')

    async def test_that_may_run_twice_have_failed_when_their_process_dies(self, plane: Plane) -> None:
        settlement = await plane.call(tool_task("ends_at_once_and_may", needs_start=False))
        assert (settlement.failure.unknown, settlement.failure.error.retryable) == (False, True)
        assert "ended with exit code 9" in settlement.failure.error.message

    async def test_that_fork_answer_once(self, plane: Plane) -> None:
        assert await plane.output_of("forks") == "the parent"
        assert await plane.output_of("paint", '{"colour": "red"}')

    async def test_that_hold_the_interpreter_lock_are_stopped_all_the_same(self, plane: Plane) -> None:
        lease = await plane.begin("holds_the_lock")
        plane.cancel = [lease.task_id]
        assert (await plane.settlement_of(lease.task_id)).WhichOneof("outcome") == "cancelled"

    async def test_that_never_return_are_killed_with_what_they_started(self, plane: Plane) -> None:
        # No other run's.
        mark = f"{910_000_000 + os.getpid()}"
        lease = await plane.begin("never_returns", json.dumps({"mark": mark}))
        await until(lambda: processes_naming(mark) == 1)
        plane.cancel = [lease.task_id]
        assert (await plane.settlement_of(lease.task_id)).WhichOneof("outcome") == "cancelled"
        assert processes_naming(mark) == 0

    async def test_that_are_async_are_cancelled_and_may_clean_up(self, plane: Plane, tmp_path: Path) -> None:
        file = tmp_path / "said"
        began = time.monotonic()
        lease = await plane.begin("sleeps", json.dumps({"seconds": 60, "file": str(file)}))
        plane.cancel = [lease.task_id]
        assert (await plane.settlement_of(lease.task_id)).WhichOneof("outcome") == "cancelled"
        assert file.read_text() == "cancelled"
        assert time.monotonic() - began < 20

    async def test_whose_lease_is_lost_are_stopped_and_settle_nothing(self, plane: Plane, tmp_path: Path) -> None:
        file = tmp_path / "said"
        lease = await plane.begin("sleeps", json.dumps({"seconds": 60, "file": str(file)}))
        plane.lost = [lease.task_id]
        await until(file.exists)
        await until(lambda: plane.worker.running == 0)
        assert all(one.lease.task_id != lease.task_id for one in plane.settlements)

    async def test_end_with_the_tasks_that_they_leave_behind(self, plane: Plane) -> None:
        assert await plane.output_of("leaves_a_task") == ["begun", "ended"]

    async def test_end_though_a_thread_goes_on(self, plane: Plane) -> None:
        assert await plane.output_of("leaves_a_thread") == "done"

    async def test_put_a_large_result_into_the_artifact_store(self, plane: Plane) -> None:
        settlement = await plane.call(tool_task("large"))
        assert json.loads(plane.artifacts[settlement.tool.output.artifact.sha256]) == "x" * 100_000


class TestFunctions:
    async def test_get_their_inputs_and_answer_with_an_object(self, plane: Plane) -> None:
        inputs = {"a": Value(json="2"), "b": Value(json="3")}
        task = Task(function=FunctionTask(name="add", run_id="run", step_id="step", attempt=2, input=inputs))
        settlement = await plane.call(task)
        assert json.loads(settlement.function.output.json) == {"sum": 5, "attempt": 2, "run": "run"}

    async def test_must_answer_with_one(self, plane: Plane) -> None:
        settlement = await plane.call(Task(function=FunctionTask(name="half", input={"number": Value(json="3")})))
        assert settlement.failure.error.reason == "FUNCTION_RESULT"

    async def test_refuse_inputs_that_do_not_match(self, plane: Plane) -> None:
        settlement = await plane.call(Task(function=FunctionTask(name="add", input={"a": Value(json='"2"'), "b": Value(json="3")})))
        assert (settlement.failure.error.reason, settlement.failure.error.metadata["field"]) == ("FUNCTION_INPUT", "arguments.a")


class TestModels:
    async def test_answer_in_parts_and_are_recorded(self, plane: Plane) -> None:
        def text(role: Role, text: str) -> Message:
            return Message(role=role, parts=[Part(text=TextPart(text=text))])

        mine = json.dumps({"provider": "sync", "model": "big"})
        plane.conversation.system = "Be brief."
        plane.conversation.tools.append(ToolSpec(name="look", input_schema_json='{"type":"object"}'))
        plane.conversation.messages.extend(
            [
                text(Role.ROLE_USER, "Hello"),
                Message(role=Role.ROLE_ASSISTANT, parts=[Part(reasoning=ReasoningPart(text="hm"), provider_metadata_json=mine)]),
                # Of another model, so that nothing of this message is sent.
                Message(role=Role.ROLE_ASSISTANT, parts=[Part(reasoning=ReasoningPart(text="hm"))]),
                Message(role=Role.ROLE_ASSISTANT, parts=[Part(tool_call=ToolCallPart(provider_call_id="c", tool="look", arguments_json="{}"))]),
                Message(role=Role.ROLE_TOOL, parts=[Part(tool_result=ToolResultPart(provider_call_id="c", tool="look", output="it"))]),
            ]
        )
        task = Task(model=ModelTask(model="sync/big", temperature=0.5, session_id="session", turn_id="turn"), needs_start=True)
        settlement = await plane.call(task)
        completed = settlement.model.completed
        assert [part.WhichOneof("kind") for part in completed.parts] == ["reasoning", "text", "tool_call", "tool_call"]
        assert completed.parts[1].text.text == "big read 4, Be brief. 0.5"
        calls = [part.tool_call for part in completed.parts[2:]]
        assert [(call.provider_call_id, call.tool, call.arguments_json) for call in calls] == [
            ("its-own", "look", '{"at":"it"}'),
            ("call_4", "look", '{"at":  1}'),
        ]
        assert completed.finish_reason == FinishReason.FINISH_REASON_TOOL_CALLS
        assert (settlement.model.usage.input_tokens, settlement.model.usage.output_tokens, settlement.model.usage.cost_micro_usd) == (3, 4, 5)
        start = next(start for start in plane.starts if start.lease == settlement.lease).model
        assert len(start.part_digests) == 5
        assert json.loads(start.parameters_json) == {"model": "sync/big", "temperature": 0.5}
        assert start.versions["forge-client"]
        repeated = await plane.call(task)
        again = next(one for one in plane.starts if one.lease == repeated.lease).model
        assert again.request_digest == start.request_digest

    async def test_that_break_after_output_say_so(self, plane: Plane) -> None:
        settlement = await plane.call(Task(model=ModelTask(model="async/breaks"), needs_start=True))
        assert settlement.failure.after_output
        assert "RuntimeError: the line is dead" in settlement.failure.error.message

    @pytest.mark.parametrize(("model", "said"), [("usage", "input_tokens of the usage is -1"), ("finish", "'tired'"), ("other", "an instance of int")])
    async def test_that_yield_what_is_no_piece_are_told(self, plane: Plane, model: str, said: str) -> None:
        settlement = await plane.call(Task(model=ModelTask(model=f"wrong/{model}"), needs_start=True))
        assert settlement.failure.error.code == ErrorCode.VALIDATION
        assert said in settlement.failure.error.message

    async def test_say_why_they_finished(self, plane: Plane) -> None:
        settlement = await plane.call(Task(model=ModelTask(model="async/good"), needs_start=True))
        completed = settlement.model.completed
        assert (completed.finish_reason, completed.provider_model) == (FinishReason.FINISH_REASON_LENGTH, "async-1")
        assert completed.parts[0].text.text == "first "

    async def test_are_cancelled(self, plane: Plane) -> None:
        lease = leased(plane.next_id(), Task(model=ModelTask(model="async/waits"), needs_start=True))
        plane.hand(lease)
        await until(lambda: any(one.lease.task_id == lease.task_id and one.turn.text == "first " for one in plane.deltas))
        plane.cancel = [lease.task_id]
        assert (await plane.settlement_of(lease.task_id)).WhichOneof("outcome") == "cancelled"
