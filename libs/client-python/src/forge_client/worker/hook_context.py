"""What a hook is given, and what it may answer."""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from forge_client.worker.context import CallContext

HookPoint = Literal["on_user_message", "on_pre_llm", "on_post_llm"]


@dataclass(frozen=True)
class HookToolCall:
    """A call in a message."""

    tool_call_id: str
    tool: str
    # As the model wrote it.
    arguments_json: str


@dataclass(frozen=True)
class HookMessage:
    """A message of the conversation as a hook sees it."""

    role: Literal["system", "user", "assistant", "tool"]
    # Its texts, and of a tool's message what the model was told.
    text: str
    calls: tuple[HookToolCall, ...] = ()


class HookContext(CallContext):
    """One call of a hook."""

    def __init__(
        self, request: Mapping[str, Any], cancelled: threading.Event, logger: logging.Logger, deadline: datetime | None, heartbeat: Callable[[], None]
    ) -> None:
        super().__init__(cancelled, logger, deadline, heartbeat)
        # Where it is called.
        self.at: HookPoint = request["at"]
        self.session_id: str = request["session_id"]
        self.turn_id: str = request["turn_id"]
        # The agent's settings for the hook.
        self.config: dict[str, Any] = request["config"]
        # The conversation up to here, the newest 1,000.
        self.messages: list[HookMessage] = [
            HookMessage(message["role"], message["text"], tuple(HookToolCall(**call) for call in message["calls"])) for message in request["messages"]
        ]

    @property
    def text(self) -> str:
        """Of the last message: at on_user_message what the person said, at on_post_llm what the model answered."""
        return self.messages[-1].text if self.messages else ""

    @property
    def calls(self) -> tuple[HookToolCall, ...]:
        """Of the last message: at on_post_llm the calls that the model wants."""
        return self.messages[-1].calls if self.messages else ()


@dataclass(frozen=True)
class AddMessage:
    """Joins the conversation here; an ephemeral one only for this turn. At most 16 KiB."""

    text: str
    role: Literal["user", "system"] = "system"
    ephemeral: bool = False


@dataclass(frozen=True)
class ReplaceText:
    """At on_user_message the message's text, at on_post_llm the answer's, as models read it from now on. At most 64 KiB."""

    text: str


@dataclass(frozen=True)
class Block:
    """The turn ends. For people, at most 1,024 characters. Not at on_post_llm."""

    reason: str


@dataclass(frozen=True)
class GoOn:
    """At on_post_llm: another model call follows."""


@dataclass(frozen=True)
class DenyCall:
    """At on_post_llm: this call of the answer is not made, and the model is told why."""

    tool_call_id: str
    reason: str


HookEdit = AddMessage | ReplaceText | Block | GoOn | DenyCall

_NAMES: dict[type[Any], str] = {AddMessage: "add_message", ReplaceText: "replace_text", Block: "block", GoOn: "go_on", DenyCall: "deny_call"}

_EDITS_MAX = 16


def edits_json(returned: Any) -> list[dict[str, Any]]:
    """What a hook returned: nothing, one edit or several. Raises ValueError for anything else."""
    if returned is None:
        return []
    edits = list(returned) if isinstance(returned, (list, tuple)) else [returned]
    if len(edits) > _EDITS_MAX:
        raise ValueError(f"the result has {len(edits)} edits: at most {_EDITS_MAX}")
    return [_edit_json(edit) for edit in edits]


def _edit_json(edit: Any) -> dict[str, Any]:
    name = _NAMES.get(type(edit))
    if name is None:
        raise ValueError(f"an edit must be AddMessage, ReplaceText, Block, GoOn or DenyCall, not {type(edit).__name__}")
    for field, value in vars(edit).items():
        wanted: type = bool if field == "ephemeral" else str
        if not isinstance(value, wanted):
            raise ValueError(f"{field} of {type(edit).__name__} must be a {wanted.__name__}, not {type(value).__name__}")
    if isinstance(edit, AddMessage) and edit.role not in ("user", "system"):
        raise ValueError(f'the role of AddMessage is "{edit.role}": it must be user or system')
    return {"kind": name, **vars(edit)}
