"""Calls that failed in transit are made again."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from forge_client.cancellation import Cancellation
from forge_client.errors import ErrorCode, ForgeError

T = TypeVar("T")

PATIENCE_SECONDS = 60.0
_PASSING = frozenset({ErrorCode.STORAGE_ERROR, ErrorCode.RESOURCE_EXHAUSTED})
_PAUSE_SECONDS_MIN = 0.05
_PAUSE_SECONDS_MAX = 2.0
_DOUBLINGS_MAX = 10


def is_passing(error: BaseException) -> bool:
    """Whether the same call, with the same command id, may succeed when it is made again."""
    return isinstance(error, ForgeError) and error.retryable and error.code in _PASSING


def with_retry(call: Callable[[], T], *, patience: float = PATIENCE_SECONDS, cancellation: Cancellation | None = None) -> T:
    """Makes a call again while it fails in transit. Commands are idempotent by their id, so the request must carry the same one each time.

    Args:
        call: Makes the call, for example `lambda: client.session.start_turn(request)`.
        patience: Seconds in all, after which the last error is raised.
        cancellation: Ends the attempts; the last error is raised.

    Raises:
        ForgeError: What the last attempt failed with.
    """
    until = time.monotonic() + patience
    attempt = 0
    while True:
        try:
            return call()
        except ForgeError as error:
            if not is_passing(error) or time.monotonic() > until:
                raise
            pause(attempt, cancellation)
            if cancellation is not None and cancellation.cancelled:
                raise
        attempt += 1


async def async_with_retry(call: Callable[[], Awaitable[T]], *, patience: float = PATIENCE_SECONDS) -> T:
    """As `with_retry`, on asyncio; a cancelled task ends the attempts."""
    until = time.monotonic() + patience
    attempt = 0
    while True:
        try:
            return await call()
        except ForgeError as error:
            if not is_passing(error) or time.monotonic() > until:
                raise
        await asyncio.sleep(pause_seconds(attempt))
        attempt += 1


def pause(attempt: int, cancellation: Cancellation | None = None) -> None:
    """Waits between attempts; a cancellation ends it, and the caller looks at it."""
    seconds = pause_seconds(attempt)
    if cancellation is None:
        time.sleep(seconds)
    else:
        cancellation.wait(seconds)


def pause_seconds(attempt: int) -> float:
    """50 ms doubled each time up to 2 s, with jitter."""
    return random.uniform(0.5, 1) * min(_PAUSE_SECONDS_MAX, _PAUSE_SECONDS_MIN * 2 ** min(attempt, _DOUBLINGS_MAX))
