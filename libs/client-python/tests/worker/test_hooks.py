"""Hooks of user code, called in child processes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from fake_control_plane import FakeControlPlane, leased

from forge_client.protocol.session import HookAt, Message, Part, Role, TextPart, ToolCallPart
from forge_client.protocol.worker import CapabilityKind, HookTask, Settlement, Task
from forge_client.worker import Block, HookContext, hook, start_worker
from forge_client.worker.capability import marked
from forge_client.worker.hook_context import edits_json

SOURCE = """
import asyncio
import os

from forge_client.worker import AddMessage, Block, DenyCall, GoOn, HookContext, ReplaceText, hook


@hook("my.guard", at=["on_user_message", "on_post_llm"])
def guard(context: HookContext):
    if context.at == "on_user_message":
        return [ReplaceText(context.text.upper()), AddMessage(f"strict: {context.config['strict']}", ephemeral=True)]
    return [DenyCall(call.tool_call_id, f"{context.session_id} may not {call.tool}") for call in context.calls] + [GoOn()]


@hook("my.late", at=["on_pre_llm"])
async def late(context):
    await asyncio.sleep(0)
    return Block(f"{len(context.messages)} messages") if context.messages else None


@hook("my.silent", at=["on_pre_llm"])
def silent(context):
    context.logger.info("nothing to say")


@hook("my.broken", at=["on_pre_llm"])
def broken(context):
    raise RuntimeError("out of luck")


@hook("my.wrong", at=["on_pre_llm"])
def wrong(context):
    return {"allow": "everything"}


@hook("my.dead", at=["on_pre_llm"])
def dead(context):
    os._exit(3)
"""

CONVERSATION = [
    Message(role=Role.ROLE_USER, parts=[Part(text=TextPart(text="hello"))]),
    Message(
        role=Role.ROLE_ASSISTANT,
        parts=[Part(text=TextPart(text="I look.")), Part(tool_call=ToolCallPart(tool_call_id="c1", tool="db.run", arguments_json="{}"))],
    ),
]


class Plane(FakeControlPlane):
    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    async def call(self, name: str, at: HookAt, messages: int = 2) -> Settlement:
        self._count += 1
        self.conversation.ClearField("messages")
        self.conversation.messages.extend(CONVERSATION[:messages])
        task = HookTask(session_id="s1", turn_id="t1", hook_call_id="h1", hook=name, at=at, config_json='{"strict": true}', conversation_through_seq=7)
        self.hand(leased(f"task-{self._count}", Task(hook=task)))
        return await self.settlement_of(f"task-{self._count}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plane(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Plane]:
    file: Path = tmp_path_factory.mktemp("hooks") / "my_hooks.py"
    await asyncio.to_thread(file.write_text, SOURCE)
    plane = Plane()
    async with plane.serving(), await start_worker(file, url=plane.url, token="t", name="w"):
        yield plane


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_they_are_registered_as_hooks(plane: Plane) -> None:
    offered = {capability.name: capability.kind for capability in plane.registered[0].capabilities}
    assert offered["my.guard"] == CapabilityKind.CAPABILITY_KIND_HOOK
    assert len(offered) == 6


async def test_they_are_told_the_conversation_and_answer_with_edits(plane: Plane) -> None:
    heard = await plane.call("my.guard", HookAt.HOOK_AT_USER_MESSAGE, 1)
    replaced, added = heard.hook.edits
    assert replaced.replace_text == "HELLO"
    assert (added.add_message.role, added.add_message.ephemeral, added.add_message.parts[0].text.text) == (Role.ROLE_SYSTEM, True, "strict: True")

    answered = await plane.call("my.guard", HookAt.HOOK_AT_POST_LLM)
    denied, more = answered.hook.edits
    assert (denied.deny_call.tool_call_id, denied.deny_call.reason) == ("c1", "s1 may not db.run")
    assert more.go_on


async def test_async_ones_and_those_with_nothing_to_say(plane: Plane) -> None:
    assert [edit.block for edit in (await plane.call("my.late", HookAt.HOOK_AT_PRE_LLM)).hook.edits] == ["2 messages"]
    silent = await plane.call("my.silent", HookAt.HOOK_AT_PRE_LLM)
    assert silent.WhichOneof("outcome") == "hook"
    assert not silent.hook.edits


@pytest.mark.parametrize(
    ("name", "at", "reason", "says"),
    [
        ("my.broken", HookAt.HOOK_AT_PRE_LLM, "STEP_EXECUTION", "out of luck"),
        ("my.wrong", HookAt.HOOK_AT_PRE_LLM, "HOOK_RESULT", "not dict"),
        ("my.dead", HookAt.HOOK_AT_PRE_LLM, "WORKER_PROCESS_EXITED", "exit code 3"),
        ("my.guard", HookAt.HOOK_AT_PRE_LLM, "HOOK_POINT", "on_user_message, on_post_llm"),
    ],
)
async def test_they_fail_with_why(plane: Plane, name: str, at: HookAt, reason: str, says: str) -> None:
    settlement = await plane.call(name, at)
    assert settlement.failure.error.reason == reason
    assert says in settlement.failure.error.message
    # A hook changes nothing in the world.
    assert not settlement.failure.unknown


async def test_a_function_stays_one() -> None:
    @hook("my.plain", at=["on_pre_llm"])
    def plain(context: HookContext) -> Block:
        return Block("no")

    offered = marked(plain)
    assert offered is not None
    assert (offered.capability.kind, offered.capability.name, offered.capability.at) == ("hook", "my.plain", ("on_pre_llm",))


def _decorate(name: str, at: object, function: Callable[..., object]) -> None:
    hook(name, at=at)(function)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "at"), [("with space", ["on_pre_llm"]), ("forge.reminder", ["on_pre_llm"]), ("a", []), ("a", ["sometimes"]), ("a", "on_pre_llm")]
)
async def test_wrong_ones_are_refused(name: str, at: object) -> None:
    with pytest.raises(ValueError, match=r"visible|Forge's own|at of"):
        _decorate(name, at, lambda context: None)


async def test_one_without_a_context_is_refused() -> None:
    with pytest.raises(TypeError, match="HookContext"):
        _decorate("a", ["on_pre_llm"], lambda: None)


async def test_what_is_no_edit_is_refused() -> None:
    for returned in ("text", [Block(3)], [Block("")] * 17):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"edit|reason"):
            edits_json(returned)
