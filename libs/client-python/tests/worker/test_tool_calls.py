"""What a tool can do beside answering: tell what it would do, ask a person, report how far it is; and what becomes of a call that is silent."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fake_control_plane import FakeControlPlane, leased, tool_task, until
from google.protobuf.duration_pb2 import Duration

from forge_client import ErrorCode
from forge_client.protocol.common import Value
from forge_client.protocol.tool import RiskLevel, ToolPreview
from forge_client.protocol.worker import FunctionTask, Settlement, Task
from forge_client.worker import InputRequired, start_worker, tool

TOOLS = Path(__file__).with_name("served_tools.py")


class Plane(FakeControlPlane):
    """With a worker on the tools of these tests."""

    async def call(self, task: Task) -> Settlement:
        lease = leased(f"task-{len(self.settlements)}", task)
        self.hand(lease)
        return await self.settlement_of(lease.task_id)

    async def call_tool(self, tool: str, arguments: dict[str, Any], **of_tool: Any) -> Settlement:
        task = tool_task(tool, json.dumps(arguments))
        task.tool.MergeFrom(type(task.tool)(**of_tool))
        return await self.call(task)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plane() -> AsyncIterator[Plane]:
    plane = Plane()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(plane.serving())
        await stack.enter_async_context(await start_worker(TOOLS, url=plane.url, token="t0ken", name="tester", slots=2))
        yield plane


pytestmark = pytest.mark.asyncio(loop_scope="module")


class TestPreviews:
    async def test_are_registered_and_told_without_a_start_or_an_effect(self, plane: Plane, tmp_path: Path) -> None:
        specs = {capability.name: capability.tool for capability in plane.registered[0].capabilities}
        assert (specs["writes"].previews, specs["paint"].previews) == (True, False)
        file = tmp_path / "file"
        file.write_text("old")
        began = len(plane.starts)
        settlement = await plane.call_tool("writes", {"text": "new", "file": str(file)}, preview=True)
        assert settlement.preview == ToolPreview(
            title="write new",
            diff="-old\n+new\n",
            risk=RiskLevel.RISK_LEVEL_CHANGE,
            facts_json='{"was":"old"}',
            rule_key=f"write:{file}",
            rule_title="write there",
            paths=["turn"],
        )
        assert (len(plane.starts), file.read_text()) == (began, "old")

    async def test_are_compared_right_before_the_call(self, plane: Plane, tmp_path: Path) -> None:
        file = tmp_path / "file"
        file.write_text("old")
        arguments = {"text": "new", "file": str(file)}
        shown = (await plane.call_tool("writes", arguments, preview=True)).preview
        file.write_text("somebody else's")
        stale = await plane.call_tool("writes", arguments, previewed=shown)
        assert (stale.failure.error.code, stale.failure.error.reason) == (ErrorCode.CONFLICT, "PREVIEW_STALE")
        assert file.read_text() == "somebody else's"
        file.write_text("old")
        settlement = await plane.call_tool("writes", arguments, previewed=shown)
        assert (settlement.tool.output.json, file.read_text()) == ('"written"', "new")

    async def test_that_were_not_shown_are_not_asked_for(self, plane: Plane, tmp_path: Path) -> None:
        # The preview of a file that is missing would raise.
        settlement = await plane.call_tool("writes", {"text": "new", "file": str(tmp_path / "file")})
        assert settlement.tool.output.json == '"written"'

    async def test_that_raise_are_the_calls_error(self, plane: Plane, tmp_path: Path) -> None:
        settlement = await plane.call_tool("writes", {"text": "new", "file": str(tmp_path / "missing")}, preview=True)
        assert "FileNotFoundError" in settlement.failure.error.message
        assert not settlement.failure.unknown

    async def test_keep_a_large_diff_whole_beside_its_beginning(self, plane: Plane) -> None:
        preview = (await plane.call_tool("tells_wrongly", {"kind": "large"}, preview=True)).preview
        assert preview.diff == "ä" * 16_384
        assert plane.artifacts[preview.diff_artifact.sha256] == ("ä" * 20_000).encode()

    @pytest.mark.parametrize(("kind", "what"), [("risk", "no more than the tool's"), ("facts", "9002 bytes"), ("none", "instance of Preview")])
    async def test_that_are_none_are_refused(self, plane: Plane, kind: str, what: str) -> None:
        error = (await plane.call_tool("tells_wrongly", {"kind": kind}, preview=True)).failure.error
        assert (error.code, error.reason) == (ErrorCode.VALIDATION, "TOOL_RESULT")
        assert what in error.message

    async def test_are_not_there_for_a_tool_without(self, plane: Plane) -> None:
        error = (await plane.call_tool("paint", {"colour": "red"}, preview=True)).failure.error
        assert (error.code, error.reason) == (ErrorCode.UNSUPPORTED, "NO_PREVIEW")

    async def test_take_arguments_of_the_tool_only(self) -> None:
        def preview(other: str) -> None: ...

        with pytest.raises(TypeError, match="takes other, which is no argument"):

            @tool(preview=preview)
            def one(text: str) -> str:
                return text


class TestAsking:
    async def test_ends_the_call_and_goes_on_with_the_answer(self, plane: Plane) -> None:
        asked = (await plane.call_tool("asks", {})).input_required
        assert (asked.question, asked.resume_json) == ("Which colour?", '{"step":2}')
        again = await plane.call_tool("asks", {}, provided_inputs=["red"], resume_json=asked.resume_json)
        assert again.tool.output.json == '"red at 2"'

    @pytest.mark.parametrize(("question", "resume"), [("", None), ("x" * 4097, None), ("Which?", "x" * 16_384)])
    async def test_is_refused_where_it_can_not_be_kept(self, question: str, resume: Any) -> None:
        with pytest.raises(ValueError, match=r"at most|must have"):
            InputRequired(question, resume)


async def test_notes_go_beside_the_output_and_are_bounded(plane: Plane) -> None:
    lease = leased("notes", tool_task("notes"))
    plane.hand(lease)

    def notes() -> list[Any]:
        return [one for one in plane.deltas if one.lease.task_id == "notes"]

    await until(lambda: len(notes()) == 1000)
    first, second, chart, *_, last = notes()
    assert (first.progress.message, first.progress.fraction, first.progress.offset, first.progress.epoch) == ("half", 0.5, 0, 1)
    assert (second.progress.fraction, second.progress.offset) == (1.0, 1)
    assert (chart.structured.type, chart.structured.json, chart.structured.offset) == ("my.chart", '{"points":[1,2]}', 0)
    assert (last.progress.message, last.progress.offset, last.progress.HasField("fraction")) == ("996", 998, False)
    plane.cancel = ["notes"]
    await plane.settlement_of("notes")


def lives(how: str, heartbeat_s: float) -> Task:
    timeout = Duration()
    timeout.FromMilliseconds(round(heartbeat_s * 1000))
    function = FunctionTask(run_id="run", step_id="step", attempt=1, name="lives", input={"how": Value(json=json.dumps(how))})
    return Task(function=function, heartbeat_timeout=timeout)


class TestHeartbeats:
    async def test_a_call_that_is_silent_for_too_long_is_stopped(self, plane: Plane) -> None:
        failure = (await plane.call(lives("silent", 0.3))).failure
        assert (failure.error.code, failure.error.reason, failure.unknown) == (ErrorCode.DEADLINE_EXCEEDED, "HEARTBEAT_TIMEOUT", False)
        assert failure.error.message == "it gave no sign of life for 300 ms"

    @pytest.mark.parametrize("how", ["prints", "beats", "errs"])
    async def test_output_and_heartbeats_are_signs_of_life(self, plane: Plane, how: str) -> None:
        settlement = await plane.call(lives(how, 0.6))
        assert settlement.WhichOneof("outcome") == "function", settlement
