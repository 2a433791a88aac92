"""Serves tools and functions: each call in a child process."""

import asyncio
import base64
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from forge_client.errors import ErrorCode, ForgeError
from forge_client.protocol.common import ForgeError as ForgeErrorMessage
from forge_client.protocol.event import ToolStarted, UserProgressReported, UserStructuredReported
from forge_client.protocol.worker import FunctionResult, InputRequired, ToolResult
from forge_client.worker.child_pool import ChildPool, StartError
from forge_client.worker.child_process import Answer, ChildProcess, Listener
from forge_client.worker.outcomes import Outcome, cancelled, failure, milliseconds, worker_error
from forge_client.worker.payloads import parse_json
from forge_client.worker.preview_message import preview_of
from forge_client.worker.running_task import TaskContext
from forge_client.worker.view import WorkerView

# The end of what a process printed, in an event.
_LAST_WORDS_SHOWN = 1000


class UserHandler:
    """Serves one capability, as a child process has described it."""

    def __init__(self, capability: Mapping[str, Any], pool: ChildPool, view: WorkerView) -> None:
        self.capability = capability
        self.name: str = capability["name"]
        self.pool = pool
        self.view = view

    async def __call__(self, context: TaskContext) -> Outcome:
        began = time.monotonic()
        outcome = await self.outcome(context)
        self.view.called(self.name, context.task, outcome, time.monotonic() - began)
        return outcome

    async def outcome(self, context: TaskContext) -> Outcome:
        call = UserCall(self, context)
        try:
            return await call.settle(await call.perform())
        except ForgeError as error:
            return call.settle_error(error)


class UserCall:
    """One call on its way: arguments, process, start, result."""

    def __init__(self, handler: UserHandler, context: TaskContext) -> None:
        self.handler = handler
        self.context = context
        self.is_preview = context.task.tool.preview
        self.started_at = time.monotonic()
        # Whether the user's code may have had an effect.
        self.has_begun = False

    async def perform(self) -> Answer:
        if self.is_preview and not self.handler.capability["previews"]:
            message = f"{self.handler.name} can't tell beforehand what a call does"
            raise worker_error(ErrorCode.UNSUPPORTED, message, reason="NO_PREVIEW", origin="tool")
        request = await self._request()
        timeout: float | None = self.handler.capability["timeout"]

        async def act(child: ChildProcess) -> Answer:
            self.context.clock.begin()
            prepared = await child.prepare({**request, "deadline": self._deadline()}, self.context.stop.event)
            if prepared.kind != "done":
                return prepared
            try:
                # A non-idempotent effect never precedes the go-ahead. Only once a process is there: what has not started is simply dispatched again.
                if self.context.task.needs_start and not self.is_preview:
                    await self.context.start(ToolStarted())
                self.context.stop.raise_if_set()
            except BaseException:
                child.abandon()
                raise
            self.started_at = time.monotonic()
            self.has_begun = not self.is_preview
            self.context.clock.alive()
            timer = self._limit(timeout)
            try:
                return await child.run(listener_of(self.handler, self.context, self._frame), self.context.stop.event)
            finally:
                timer()

        # Its time counts from when it has a process.
        self.context.clock.hold()
        try:
            return await self.handler.pool.use(act)
        except StartError as error:
            return error.answer

    def _limit(self, timeout: float | None) -> Callable[[], None]:
        """The tool's own bound, which holds also where the task has no deadline."""
        if timeout is None:
            return lambda: None
        late = worker_error(ErrorCode.DEADLINE_EXCEEDED, f"{self.handler.name} did not end within {timeout:g} s and was stopped", origin="tool")
        return asyncio.get_running_loop().call_later(timeout, self.context.stop.set, late).cancel

    def _frame(self, kind: str, payload: Any) -> None:
        if kind == "O":
            self.context.output.push("tool", payload["text"])
        elif kind == "N" and "progress" in payload:
            self.context.output.note(UserProgressReported(message=payload["progress"], fraction=payload["fraction"], offset=payload["offset"]))
        elif kind == "N":
            self.context.output.note(UserStructuredReported(type=payload["structured"], json=payload["json"], offset=payload["offset"]))

    async def _request(self) -> dict[str, Any]:
        kind = self.handler.capability["kind"]
        task = self.context.task
        if task.WhichOneof("kind") != kind:
            raise ForgeError.validation("task", f"a {kind} was given a task of kind {task.WhichOneof('kind')}", origin="worker")
        of_kind = task.tool if kind == "tool" else task.function
        arguments = {}
        if kind == "tool":
            arguments = _object(task.tool.arguments_json)
        for name, value in of_kind.input.items():
            arguments[name] = await self.context.payloads.from_value(value, f"arguments.{name}")
        ids: dict[str, Any] = {"run_id": of_kind.run_id, "step_id": of_kind.step_id, "idempotency_key": task.idempotency_key}
        if kind == "tool":
            ids |= {"tool_call_id": task.tool.tool_call_id, "session_id": task.tool.session_id, "turn_id": task.tool.turn_id}
            ids |= {"inputs": list(task.tool.provided_inputs), "resume": parse_json(task.tool.resume_json or "null", "resume_json")}
        else:
            ids["attempt"] = task.function.attempt
        facts = task.tool.previewed.facts_json if task.tool.HasField("previewed") else None
        return {"capability": [kind, self.handler.name], "arguments": arguments, "context": ids, "preview": self.is_preview, "facts": facts}

    def _deadline(self) -> float | None:
        timeout = self.handler.capability["timeout"]
        bounds = [bound for bound in (self.context.clock.deadline, None if timeout is None else time.time() + timeout) if bound is not None]
        return min(bounds) if bounds else None

    async def settle(self, answer: Answer) -> Outcome:
        if answer.kind == "done" and self.is_preview:
            return {"preview": await preview_of(json.loads(answer.payload), self.context.payloads)}
        if answer.kind == "done":
            value = await self.context.payloads.to_value(answer.payload)
            took = milliseconds(time.monotonic() - self.started_at)
            if self.handler.capability["kind"] == "tool":
                return {"tool": ToolResult(output=value, duration_ms=took)}
            return {"function": FunctionResult(output=value, duration_ms=took)}
        if answer.kind in ("exited", "interrupted") and not answer.stopped:
            return failure(stop_unconfirmed(self.handler.name), self._seconds(), unknown=True)
        # Once the stop was asked for, whatever the code or its process made of that says less than the stop's reason.
        if answer.kind == "interrupted" or self.context.stop.reason is not None:
            return self._interrupted()
        if answer.kind == "exited":
            may_have_acted = self.has_begun and self.context.task.needs_start
            return failure(exit_error(self.handler.name, answer, retryable=not may_have_acted), self._seconds(), unknown=may_have_acted)
        if answer.payload["kind"] == "input" and self.handler.capability["kind"] == "tool" and not self.is_preview:
            return {"input_required": InputRequired(question=answer.payload["message"], resume_json=answer.payload["resume"])}
        return failure(answer_error(self.handler, answer.payload), self._seconds())

    def settle_error(self, error: ForgeError) -> Outcome:
        if error.reason == "LEASE_LOST":
            raise error
        return self._interrupted() if self.context.stop.reason is not None else failure(error, self._seconds())

    def _interrupted(self) -> Outcome:
        stop = self.context.stop
        return failure(stop.reason, self._seconds()) if stop.reason is not None and stop.is_deadline else cancelled()

    def _seconds(self) -> float:
        return time.monotonic() - self.started_at


def listener_of(handler: UserHandler, context: TaskContext, frame: Callable[[str, Any], None]) -> Listener:
    """What a call says goes to the worker's view; what a tool prints is shown to whoever watches the call as well."""
    task = context.task
    kind = task.WhichOneof("kind")
    ids = {"tool": task.tool.tool_call_id, "function": task.function.step_id, "hook": task.hook.hook_call_id, "model": task.model.model_call_id}
    where = ids.get(kind or "", "")

    def line(stream: str, text: str) -> None:
        handler.view.output(handler.name, where, stream, text)

    def printed(text: str) -> None:
        if kind == "tool":
            context.output.push("tool", text)

    def log(level: int, message: str) -> None:
        handler.view.log(handler.name, where, level, message)

    return Listener(frame, line, printed, log, context.clock.alive)


def answer_error(handler: UserHandler, payload: Mapping[str, Any]) -> ForgeError:
    """Why user code gave no result."""
    name, is_tool = handler.name, handler.capability["kind"] == "tool"
    message = payload["message"]
    if payload.get("detail"):
        return ForgeError.from_detail(ForgeErrorMessage.FromString(base64.b64decode(payload["detail"])))
    match payload["kind"]:
        case "arguments":
            reason, origin = ("TOOL_ARGUMENTS", "tool") if is_tool else ("FUNCTION_INPUT", "worker")
            return worker_error(ErrorCode.VALIDATION, f"{message}; {name} was not called", reason=reason, origin=origin, field=payload["field"])
        case "stale":
            message = f"what {name} would do has changed since the call was shown for approval; nothing was done. Look again, and call again."
            return worker_error(ErrorCode.CONFLICT, message, reason="PREVIEW_STALE", origin="tool")
        case "input":
            return worker_error(ErrorCode.UNSUPPORTED, f"{name} asked a person, which only a tool can", reason="STEP_EXECUTION")
        case "load":
            return worker_error(ErrorCode.VALIDATION, message, reason="WORKER_FILE")
        case "result":
            reason = {"tool": "TOOL_RESULT", "hook": "HOOK_RESULT"}.get(handler.capability["kind"], "FUNCTION_RESULT")
            return worker_error(ErrorCode.VALIDATION, f"{name} returned what can't be kept: {message}", reason=reason, field="result")
        case _:
            return worker_error(ErrorCode.INTERNAL, f"{name} raised {message}", reason="STEP_EXECUTION")


def exit_error(name: str, answer: Answer, *, retryable: bool) -> ForgeError:
    how, words = answer.payload["how"], answer.payload["last_words"][-_LAST_WORDS_SHOWN:]
    said = f"; the process had printed: {words}" if words else ""
    message = f"the call of {name} was lost: its process ended {how} while it ran{said}"
    return worker_error(ErrorCode.WORKER_LOST, message, reason="WORKER_PROCESS_EXITED", retryable=retryable)


def stop_unconfirmed(name: str) -> ForgeError:
    message = f"{name} was told to stop, and it is not known whether all of its processes have"
    return worker_error(ErrorCode.INTERNAL, message, reason="STOP_UNCONFIRMED")


def _object(text: str) -> dict[str, Any]:
    # Models send an empty text for a tool without arguments.
    value = {} if text.strip() == "" else parse_json(text, "arguments")
    if not isinstance(value, dict):
        message = "arguments must be a JSON object; nothing was called"
        raise worker_error(ErrorCode.VALIDATION, message, reason="TOOL_ARGUMENTS", origin="tool", field="arguments")
    return value
