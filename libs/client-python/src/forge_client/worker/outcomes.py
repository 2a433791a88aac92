"""How a task ends, as it is settled."""

from typing import Any

from forge_client.errors import ErrorCode, ForgeError
from forge_client.protocol.common import Usage
from forge_client.protocol.worker import TaskCancelled, TaskFailure

# Of Settlement: the field that is set, and its message.
Outcome = dict[str, Any]

_MESSAGE_LENGTH_MAX = 4096


def cancelled() -> Outcome:
    """It is known to have stopped, or never to have begun."""
    return {"cancelled": TaskCancelled()}


def failure(error: BaseException, seconds: float = 0.0, *, unknown: bool = False, after_output: bool = False, usage: Usage | None = None) -> Outcome:
    """What is no ForgeError is a bug of the worker's. One that says cancelled is how a task ends that was stopped."""
    known = error if isinstance(error, ForgeError) else worker_error(ErrorCode.INTERNAL, f"{type(error).__name__}: {error}")
    if known.code == ErrorCode.CANCELLED and not unknown:
        return cancelled()
    return {"failure": TaskFailure(error=known.detail, duration_ms=milliseconds(seconds), unknown=unknown, after_output=after_output, usage=usage)}


def worker_error(code: ErrorCode, message: str, *, reason: str = "", origin: str = "worker", retryable: bool | None = None, **metadata: str) -> ForgeError:
    return ForgeError(code, message[:_MESSAGE_LENGTH_MAX], reason=reason, origin=origin, retryable=retryable, metadata=metadata)


def milliseconds(seconds: float) -> int:
    return max(0, round(seconds * 1000))
