"""A summary of a conversation by a provider of one's own."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from fake_control_plane import FakeControlPlane, leased

from forge_client import ErrorCode
from forge_client.protocol.session import Message, Part, ReadConversationResponse, Role, TextPart, ToolCallPart, ToolResultPart
from forge_client.protocol.worker import CompactionTask, Settlement, Task
from forge_client.worker import start_worker

PROVIDER = """
from forge_client.worker import Finish, ModelCall, Usage, model_provider


@model_provider("own")
def own(call: ModelCall):
    (message,) = call.messages
    text = message.parts[0].text
    yield Usage(input_tokens=10, output_tokens=1)
    if call.model == "refuses":
        yield Finish("content_filter")
    elif call.model == "echo":
        yield f"{call.system}|{text}"
    elif call.model == "long":
        yield text * 4
    elif call.model == "marks":
        yield " ".join(word for word in text.split() if word.startswith("mark"))
"""


class Plane(FakeControlPlane):
    async def summary(self, model: str, *texts: str, window: int = 0, instructions: str = "") -> Settlement:
        messages = [Message(role=Role.ROLE_USER, parts=[Part(text=TextPart(text=text))]) for text in texts]
        self.conversation = ReadConversationResponse(messages=messages)
        task = CompactionTask(session_id="s", compaction_id="c", model=f"own/{model}", through_seq=9, context_window_tokens=window, instructions=instructions)
        lease = leased(f"task-{len(self.settlements)}", Task(compaction=task))
        self.hand(lease)
        return await self.settlement_of(lease.task_id)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plane(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Plane]:
    file = tmp_path_factory.mktemp("provider") / "provider.py"
    file.write_text(PROVIDER)
    plane = Plane()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(plane.serving())
        await stack.enter_async_context(await start_worker(file, url=plane.url, token="t0ken", name="tester", slots=1))
        yield plane


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_is_asked_for_once_where_all_fits_and_is_not_shown(plane: Plane) -> None:
    result = (await plane.summary("echo", "Fix it.", instructions="keep names")).compaction
    system, _, text = result.summary.partition("|")
    assert "You are given all of it." in system
    assert system.endswith("also wants this: keep names")
    assert text == "User: Fix it."
    assert (result.usage.input_tokens, result.usage.output_tokens) == (10, 1)
    assert plane.deltas == []


async def test_is_made_of_summaries_where_the_conversation_is_larger_than_the_window(plane: Plane) -> None:
    result = (await plane.summary("marks", *[f"mark{index} {'x' * 500}" for index in range(100)], window=4000)).compaction
    assert result.summary.split() == [f"mark{index}" for index in range(100)]
    assert result.usage.input_tokens >= 50


async def test_is_bounded_for_a_conversation_of_any_length_and_a_model_that_writes_too_much(plane: Plane) -> None:
    result = (await plane.summary("marks", *[f"mark{index} {'x' * 500}" for index in range(5000)], window=1000)).compaction
    words = result.summary.split()
    assert (words[0], len(result.summary.encode()) <= 64 * 1024) == ("mark0", True)
    assert result.usage.input_tokens <= 10 * 60
    long = (await plane.summary("long", *["ü" * 5000 for _ in range(5)], window=4000)).compaction
    assert 0 < len(long.summary.encode()) <= 64 * 1024


@pytest.mark.parametrize(
    ("model", "texts", "window", "code", "reason"),
    [
        ("refuses", ["a"], 0, ErrorCode.PROVIDER_ERROR, "COMPACTION_REFUSED"),
        ("silent", ["a"], 0, ErrorCode.PROVIDER_ERROR, "COMPACTION_EMPTY"),
        ("echo", [], 0, ErrorCode.VALIDATION, "NOTHING_TO_COMPACT"),
        ("echo", ["a"], 100, ErrorCode.VALIDATION, "WINDOW_TOO_SMALL"),
    ],
)
async def test_fails_with_its_kind(plane: Plane, model: str, texts: list[str], window: int, code: ErrorCode, reason: str) -> None:
    error = (await plane.summary(model, *texts, window=window)).failure.error
    assert (error.code, error.reason) == (code, reason)


async def test_tells_calls_and_their_results(plane: Plane) -> None:
    parts = [
        Part(tool_call=ToolCallPart(tool_call_id="o", tool="tools.file", arguments_json='{"path":"a.ts"}')),
        Part(tool_result=ToolResultPart(tool_call_id="o", tool="tools.file", artifact=plane.keep(b"line 1", "text/plain"), is_error=True)),
    ]
    task = CompactionTask(session_id="s", compaction_id="c", model="own/echo", through_seq=9)
    plane.conversation = ReadConversationResponse(messages=[Message(role=Role.ROLE_ASSISTANT, parts=parts)])
    plane.hand(leased("calls", Task(compaction=task)))
    summary = (await plane.settlement_of("calls")).compaction.summary
    assert summary.endswith('|Agent: Call of tools.file with {"path":"a.ts"}\nError of tools.file: line 1')
