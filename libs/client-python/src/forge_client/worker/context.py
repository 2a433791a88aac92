"""What user code is given beside its arguments, and what a model provider yields."""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from forge_client.worker.user_notes import UserNotes

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "error", "other"]


class CallContext:
    """What every call has: how long it may go on, and where it may log."""

    def __init__(self, cancelled: threading.Event, logger: logging.Logger, deadline: datetime | None, heartbeat: Callable[[], None]) -> None:
        self._cancelled = cancelled
        self._heartbeat = heartbeat
        # Records go to the worker's log, with the call's ids.
        self.logger = logger
        # When the call must have ended, in UTC; None: no bound.
        self.deadline = deadline

    def is_cancelled(self) -> bool:
        """
        Whether the call was asked to stop, by a person or by its deadline. An async function gets asyncio.CancelledError as well. A sync one should look here
        and return soon: two seconds later its process is killed.
        """
        return self._cancelled.is_set()

    def wait_cancelled(self, timeout: float) -> bool:
        """Sleeps for so many seconds, or until the call is asked to stop; returns whether it was."""
        return self._cancelled.wait(timeout)

    def heartbeat(self) -> None:
        """Says that the work goes on. Of a step with a `heartbeat_timeout`, what neither says this nor puts anything out for so long is stopped."""
        self._heartbeat()


class ToolContext(CallContext):
    """The context of one tool call. Ids that don't apply are empty: a call is of a session's turn, or of a run's step."""

    def __init__(
        self,
        ids: Mapping[str, Any],
        cancelled: threading.Event,
        logger: logging.Logger,
        deadline: datetime | None,
        heartbeat: Callable[[], None],
        report: Callable[[str], None],
        notes: UserNotes,
    ) -> None:
        super().__init__(cancelled, logger, deadline, heartbeat)
        self.tool_call_id: str = ids["tool_call_id"]
        self.session_id: str = ids["session_id"]
        self.turn_id: str = ids["turn_id"]
        self.run_id: str = ids["run_id"]
        self.step_id: str = ids["step_id"]
        # The same for every attempt of one call: hand it to services that deduplicate.
        self.idempotency_key: str = ids["idempotency_key"]
        # What a person answered, in order, to the questions that this call asked by raising InputRequired.
        self.inputs: tuple[str, ...] = tuple(ids["inputs"])
        # What the call left for itself when it asked; None before.
        self.resume: Any = ids["resume"]
        self._report = report
        self._notes = notes

    def report(self, text: str) -> None:
        """Shows a piece of output to whoever watches the call; what is printed is shown as well. The call's result is only what it returns."""
        self._report(text)

    def progress(self, message: str, fraction: float | None = None) -> None:
        """
        Tells people how far the call is, in at most 1,024 characters; longer ones are cut. `fraction` is from 0 to 1, where it is known. Beyond 1,000 pieces
        of a call, those of `structured` counted, nothing more is told.
        """
        self._notes.progress(message, fraction)

    def structured(self, kind: str, value: Any) -> None:
        """
        Tells an application something of its own, under its name for it (1 to 128 characters) and as at most 16 KiB of JSON. Raises ValueError for anything
        else.
        """
        self._notes.structured(kind, value)


class FunctionContext(CallContext):
    """The context of one call of a workflow function."""

    def __init__(
        self, ids: Mapping[str, Any], cancelled: threading.Event, logger: logging.Logger, deadline: datetime | None, heartbeat: Callable[[], None]
    ) -> None:
        super().__init__(cancelled, logger, deadline, heartbeat)
        self.run_id: str = ids["run_id"]
        self.step_id: str = ids["step_id"]
        # 1 for the first.
        self.attempt: int = ids["attempt"]
        # The same for every attempt of one step: hand it to services that deduplicate.
        self.idempotency_key: str = ids["idempotency_key"]


@dataclass(frozen=True)
class ToolSpec:
    """A tool that the model may call."""

    name: str
    description: str
    # JSON Schema of the arguments.
    input_schema: dict[str, Any]


@dataclass(frozen=True)
class Text:
    """A piece of the answer's text; pieces that follow each other are one text."""

    text: str


@dataclass(frozen=True)
class Reasoning:
    """A piece of what the model thought; sent back only to the model that wrote it."""

    text: str


@dataclass(frozen=True)
class ToolCall:
    """A call that the model wants, whole. As arguments, a dict, or the model's JSON text exactly."""

    tool: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    # The provider's own; made up where empty.
    call_id: str = ""


@dataclass(frozen=True)
class ToolResult:
    """What came of a call, in a message to the model."""

    call_id: str
    tool: str
    output: str
    is_error: bool


@dataclass(frozen=True)
class Usage:
    """Tokens that the call used; the latest one counts."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
    # Millionths of a US dollar; None where no price is known.
    cost_micro_usd: int | None = None


@dataclass(frozen=True)
class Finish:
    """Why the model stopped, where it was not because it was done or calls tools; yielded last."""

    reason: FinishReason
    # As the provider names the model that answered.
    provider_model: str = ""


@dataclass(frozen=True)
class Message:
    """A message of the conversation. Every call is followed by its one result, in a message of role tool."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Text | Reasoning | ToolCall | ToolResult, ...]


class ModelCall(CallContext):
    """One request to a model."""

    def __init__(
        self, request: Mapping[str, Any], cancelled: threading.Event, logger: logging.Logger, deadline: datetime | None, heartbeat: Callable[[], None]
    ) -> None:
        super().__init__(cancelled, logger, deadline, heartbeat)
        # Without the provider's name.
        self.model: str = request["model"]
        self.system: str = request["system"]
        self.messages: list[Message] = [
            Message(message["role"], tuple(_PARTS[part["kind"]](**part["value"]) for part in message["parts"])) for message in request["messages"]
        ]
        self.tools: list[ToolSpec] = [ToolSpec(**tool) for tool in request["tools"]]
        self.temperature: float | None = request.get("temperature")
        self.max_output_tokens: int | None = request.get("max_output_tokens")
        self.session_id: str = request["session_id"]
        self.turn_id: str = request["turn_id"]
        # Attempts of this call that failed before this one.
        self.failed_attempts: int = request["failed_attempts"]


_PARTS: dict[str, type[Any]] = {"text": Text, "reasoning": Reasoning, "tool_call": ToolCall, "tool_result": ToolResult}
