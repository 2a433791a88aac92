"""One call of user code in its child process."""

import asyncio
import inspect
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any, get_args

from forge_client.worker.capability import Marked, Previewing
from forge_client.worker.context import Finish, FinishReason, FunctionContext, ModelCall, Reasoning, Text, ToolCall, ToolContext, Usage
from forge_client.worker.describe import describe_raised, trace_of
from forge_client.worker.hook_context import HookContext, edits_json
from forge_client.worker.input_required import InputRequired
from forge_client.worker.json_values import to_json, well_formed
from forge_client.worker.preview import preview_json
from forge_client.worker.schema import ArgumentsError
from forge_client.worker.user_notes import UserNotes

# What an artifact may hold.
_RESULT_BYTES_MAX = 16 * 1024 * 1024
_LOG_LENGTH_MAX = 4096

Answer = tuple[str, Any]
Send = Callable[[str, Any], None]

_loop: asyncio.AbstractEventLoop | None = None


def _event_loop() -> asyncio.AbstractEventLoop:
    """One for all calls of this process, so that what a module keeps between calls belongs to a loop that still runs."""
    global _loop
    if _loop is None:
        _loop = asyncio.new_event_loop()
        asyncio.set_event_loop(_loop)
    return _loop


class ResultError(Exception):
    """What was returned can't be kept."""


class StaleError(Exception):
    """The facts are others than those that were shown."""


class Call:
    """A call, from its request to its answer."""

    def __init__(self, marked: Marked, request: dict[str, Any], send: Send) -> None:
        self._marked = marked
        self._request = request
        self._send = send
        self._cancelled = threading.Event()
        self._task: asyncio.Future[Any] | None = None
        self._keywords: dict[str, Any] = {}
        self._preview_keywords: dict[str, Any] = {}
        self._lock = threading.Lock()

    def prepare(self) -> dict[str, Any] | None:
        """Checks the arguments; returns why they are refused. No user code runs but a dataclass's own checks."""
        parameters = self._marked.parameters
        if parameters is None:
            return None
        try:
            self._keywords = parameters.convert(self._request["arguments"])
        except ArgumentsError as error:
            return {"kind": "arguments", "field": error.field, "message": str(error)}
        except Exception as error:
            return {"kind": "arguments", "field": "arguments", "message": f"arguments can't be taken: {describe_raised(error)}"}
        context = self._context()
        if parameters.context_name is not None:
            self._keywords[parameters.context_name] = context
        if self._marked.preview is not None:
            previewing = self._marked.preview
            # Values of its own: what it does to them is not what the call gets.
            self._preview_keywords = {name: value for name, value in parameters.convert(self._request["arguments"]).items() if name in previewing.names}
            if previewing.parameters.context_name is not None:
                self._preview_keywords[previewing.parameters.context_name] = context
        return None

    def cancel(self) -> None:
        """Called by the channel's thread."""
        self._cancelled.set()
        with self._lock:
            task = self._task
        if task is not None:
            # Between being asked and being told, the loop may have been closed by user code.
            try:
                task.get_loop().call_soon_threadsafe(task.cancel)
            except RuntimeError:
                return

    def run(self) -> Answer:
        try:
            return "R", self._result()
        except ResultError as error:
            return "E", {"kind": "result", "message": str(error)}
        except InputRequired as error:
            return "E", {"kind": "input", "message": error.question, "resume": error.resume_json}
        except StaleError:
            return "E", {"kind": "stale", "message": ""}
        except asyncio.CancelledError:
            return "E", {"kind": "cancelled" if self._cancelled.is_set() else "raised", "message": "CancelledError"}
        # SystemExit, KeyboardInterrupt and the like end a call here, not the process.
        except BaseException as error:
            trace = trace_of(error)
            if trace:
                self._logger().error("%s", trace)
            return "E", {"kind": "raised", "message": well_formed(describe_raised(error)), "detail": _forge_error(error)}

    def _result(self) -> str:
        function = self._marked.function
        if self._marked.capability.kind == "model":
            self._answer(function(ModelCall(self._request["model"], self._cancelled, self._logger(), self._deadline(), self._heartbeat)))
            return "{}"
        if self._marked.capability.kind == "hook":
            return self._edits(function(HookContext(self._request["hook"], self._cancelled, self._logger(), self._deadline(), self._heartbeat)))
        previewing = self._marked.preview
        if previewing is not None:
            if self._request["preview"]:
                return to_json(self._preview(previewing))
            # What it was decided on must still be so, right before anything happens.
            shown = self._request["facts"]
            if shown is not None and self._preview(previewing)["facts"] != shown:
                raise StaleError
        returned = function(**self._keywords)
        if inspect.isawaitable(returned):
            returned = self._awaited(returned)
        return self._json(returned)

    def _preview(self, previewing: Previewing) -> dict[str, Any]:
        told = previewing.function(**self._preview_keywords)
        if inspect.isawaitable(told):
            told = self._awaited(told)
        try:
            return preview_json(told, self._marked.capability.risk)
        except ValueError as error:
            raise ResultError(str(error)) from error

    def _edits(self, returned: Any) -> str:
        if inspect.isawaitable(returned):
            returned = self._awaited(returned)
        try:
            return to_json(edits_json(returned))
        except ValueError as error:
            raise ResultError(str(error)) from error

    def _json(self, returned: Any) -> str:
        try:
            text = to_json(returned)
        except ValueError as error:
            raise ResultError(str(error)) from error
        if self._marked.capability.kind == "function" and not text.startswith("{"):
            raise ResultError(f"the result must be a dict or a dataclass, not {type(returned).__name__}")
        size = len(text.encode())
        if size > _RESULT_BYTES_MAX:
            raise ResultError(f"the result has {size} bytes: at most {_RESULT_BYTES_MAX}")
        return text

    def _awaited(self, awaitable: Any) -> Any:
        loop = _event_loop()

        async def awaited() -> Any:
            with self._lock:
                self._task = asyncio.current_task()
            # It may have been asked to stop before there was a task to tell.
            if self._cancelled.is_set():
                if inspect.iscoroutine(awaitable):
                    awaitable.close()
                raise asyncio.CancelledError
            try:
                return await awaitable
            finally:
                with self._lock:
                    self._task = None

        try:
            return loop.run_until_complete(awaited())
        finally:
            self._end_left_behind(loop)

    def _end_left_behind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Tasks that nobody awaited end with their call: between calls the loop stands still, and they would wake in a stranger's."""
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))

    def _answer(self, pieces: Iterator[Any] | AsyncIterator[Any]) -> None:
        if isinstance(pieces, AsyncIterator):
            self._awaited(self._send_each(pieces))
            return
        try:
            for piece in pieces:
                self._send("M", _model_piece(piece))
                if self._cancelled.is_set():
                    raise asyncio.CancelledError
        finally:
            # Its own `finally` blocks run now, not when it is collected some day.
            close = getattr(pieces, "close", None)
            if close is not None:
                close()

    async def _send_each(self, pieces: AsyncIterator[Any]) -> None:
        try:
            async for piece in pieces:
                self._send("M", _model_piece(piece))
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()

    def _context(self) -> ToolContext | FunctionContext:
        ids, logger, deadline = self._request["context"], self._logger(), self._deadline()
        if self._marked.capability.kind == "function":
            return FunctionContext(ids, self._cancelled, logger, deadline, self._heartbeat)
        return ToolContext(ids, self._cancelled, logger, deadline, self._heartbeat, self._report, UserNotes(self._send))

    def _heartbeat(self) -> None:
        self._send("H", {})

    def _report(self, text: object) -> None:
        if not isinstance(text, str):
            raise TypeError(f"what is reported must be a str, not {type(text).__name__}")
        self._send("O", {"text": well_formed(text)})

    def _deadline(self) -> datetime | None:
        seconds = self._request.get("deadline")
        return None if seconds is None else datetime.fromtimestamp(seconds, timezone.utc)

    def _logger(self) -> logging.Logger:
        logger = logging.Logger(f"forge.{self._marked.capability.name}")
        logger.addHandler(_SendRecords(self._send))
        return logger


class _SendRecords(logging.Handler):
    def __init__(self, send: Send) -> None:
        super().__init__()
        self._send_frame = send

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = self.format(record)
        except Exception:
            self.handleError(record)
            return
        self._send_frame("L", {"level": record.levelno, "message": well_formed(message)[:_LOG_LENGTH_MAX]})


def _model_piece(piece: Any) -> dict[str, Any]:
    if isinstance(piece, str):
        piece = Text(piece)
    if isinstance(piece, (Text, Reasoning)):
        return {"kind": "text" if isinstance(piece, Text) else "reasoning", "text": well_formed(piece.text)}
    if isinstance(piece, ToolCall):
        arguments = piece.arguments
        if not isinstance(arguments, str):
            try:
                arguments = to_json(arguments)
            except ValueError as error:
                raise ResultError(f"the arguments of {piece.tool}: {error}") from error
        return {"kind": "tool_call", "tool": well_formed(piece.tool), "arguments": well_formed(arguments), "call_id": well_formed(piece.call_id)}
    if isinstance(piece, Usage):
        counts = {name: value for name, value in asdict(piece).items() if value is not None}
        for name, value in counts.items():
            if not isinstance(value, int) or value < 0:
                raise ResultError(f"{name} of the usage is {value!r}: it must be a whole number from 0")
        return {"kind": "usage", **counts}
    if isinstance(piece, Finish):
        if piece.reason not in get_args(FinishReason):
            raise ResultError(f"the provider finished for {piece.reason!r}: it must be one of {', '.join(get_args(FinishReason))}")
        return {"kind": "finish", "reason": piece.reason, "provider_model": well_formed(piece.provider_model)}
    raise ResultError(f"the provider yielded an instance of {type(piece).__name__}; it may yield str, Text, Reasoning, ToolCall, Usage and Finish")


def _forge_error(error: BaseException) -> str | None:
    """The wire form of a ForgeError, base64: what user code raises deliberately keeps its code and reason."""
    # Imported late: most children never need it.
    import base64

    from forge_client.errors import ForgeError

    return base64.b64encode(error.detail.SerializeToString()).decode() if isinstance(error, ForgeError) else None
