"""Serves hooks: each call in a child process."""

import json
import time
from collections.abc import Mapping
from typing import Any

from forge_client.errors import ErrorCode, ForgeError
from forge_client.protocol.event import HookDeniedCall, HookEdit
from forge_client.protocol.session import HookAt, Message, Part, ReadConversationRequest, Role, TextPart
from forge_client.protocol.worker import HookResult, HookTask
from forge_client.worker.child_pool import StartError
from forge_client.worker.child_process import Answer, ChildProcess
from forge_client.worker.outcomes import Outcome, cancelled, failure, milliseconds, worker_error
from forge_client.worker.payloads import Payloads, parse_json
from forge_client.worker.running_task import TaskContext
from forge_client.worker.user_handler import UserHandler, answer_error, exit_error, listener_of, stop_unconfirmed

_POINTS = {HookAt.HOOK_AT_USER_MESSAGE: "on_user_message", HookAt.HOOK_AT_PRE_LLM: "on_pre_llm", HookAt.HOOK_AT_POST_LLM: "on_post_llm"}
_ROLES = {Role.ROLE_SYSTEM: "system", Role.ROLE_USER: "user", Role.ROLE_ASSISTANT: "assistant", Role.ROLE_TOOL: "tool"}
_MESSAGES_MAX = 1000


class HookHandler(UserHandler):
    """A hook changes nothing in the world: one whose process was lost may be asked again."""

    async def outcome(self, context: TaskContext) -> Outcome:
        began = time.monotonic()
        try:
            answer = await self._perform(context)
        except ForgeError as error:
            if error.reason == "LEASE_LOST":
                raise
            return self._failed(context, error, began)
        if answer.kind in ("exited", "interrupted") and not answer.stopped:
            return failure(stop_unconfirmed(self.name), time.monotonic() - began, unknown=True)
        if answer.kind == "interrupted" or context.stop.reason is not None:
            return self._failed(context, context.stop.reason or stop_unconfirmed(self.name), began)
        if answer.kind == "exited":
            return self._failed(context, exit_error(self.name, answer, retryable=True), began)
        if answer.kind == "error":
            return self._failed(context, answer_error(self, answer.payload), began)
        edits = [_edit(edit) for edit in json.loads(answer.payload)]
        return {"hook": HookResult(edits=edits, duration_ms=milliseconds(time.monotonic() - began))}

    async def _perform(self, context: TaskContext) -> Answer:
        if context.task.WhichOneof("kind") != "hook":
            raise ForgeError.validation("task", f"a hook was given a task of kind {context.task.WhichOneof('kind')}", origin="worker")
        point = _POINTS.get(context.task.hook.at)
        if point not in self.capability["at"]:
            made_for = ", ".join(self.capability["at"])
            message = f"the hook {self.name} can't be called at {point or context.task.hook.at}: it is made for {made_for}"
            raise worker_error(ErrorCode.UNSUPPORTED, message, reason="HOOK_POINT")
        told = {"at": point, **await _view(context.task.hook, context.payloads)}

        async def act(child: ChildProcess) -> Answer:
            context.clock.begin()
            request = {"capability": ["hook", self.name], "hook": told, "deadline": context.clock.deadline}
            prepared = await child.prepare(request, context.stop.event)
            if prepared.kind != "done":
                return prepared
            return await child.run(listener_of(self, context, lambda kind, payload: None), context.stop.event)

        context.clock.hold()
        try:
            return await self.pool.use(act)
        except StartError as error:
            return error.answer

    @staticmethod
    def _failed(context: TaskContext, error: ForgeError, began: float) -> Outcome:
        reason = context.stop.reason
        if reason is not None and not context.stop.is_deadline:
            return cancelled()
        return failure(reason or error, time.monotonic() - began)


async def _view(task: HookTask, payloads: Payloads) -> dict[str, Any]:
    request = ReadConversationRequest(session_id=task.session_id, turn_id=task.turn_id, through_seq=task.conversation_through_seq)
    conversation = await payloads.read_conversation(request)
    return {
        "session_id": task.session_id,
        "turn_id": task.turn_id,
        "config": parse_json(task.config_json, "config") if task.config_json else {},
        "messages": [_message(message) for message in conversation.messages[-_MESSAGES_MAX:]],
    }


def _message(message: Message) -> dict[str, Any]:
    calls = [part.tool_call for part in message.parts if part.WhichOneof("kind") == "tool_call"]
    return {
        "role": _ROLES.get(message.role, "user"),
        "text": "".join(_text(part) for part in message.parts),
        "calls": [{"tool_call_id": call.tool_call_id, "tool": call.tool, "arguments_json": call.arguments_json} for call in calls],
    }


def _text(part: Part) -> str:
    kind = part.WhichOneof("kind")
    return part.text.text if kind == "text" else part.tool_result.output if kind == "tool_result" else ""


def _edit(edit: Mapping[str, Any]) -> HookEdit:
    match edit["kind"]:
        case "add_message":
            role = Role.ROLE_USER if edit["role"] == "user" else Role.ROLE_SYSTEM
            return HookEdit(add_message=Message(role=role, ephemeral=edit["ephemeral"], parts=[Part(text=TextPart(text=edit["text"]))]))
        case "replace_text":
            return HookEdit(replace_text=edit["text"])
        case "block":
            return HookEdit(block=edit["reason"])
        case "go_on":
            return HookEdit(go_on=True)
        case _:
            return HookEdit(deny_call=HookDeniedCall(tool_call_id=edit["tool_call_id"], reason=edit["reason"]))
