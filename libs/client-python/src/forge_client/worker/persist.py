"""Idempotent calls of a worker are made again while they fail in passing."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from forge_client.errors import ErrorCode, ForgeError
from forge_client.retry import is_passing

T = TypeVar("T")

# What can't be delivered is tried for this long; then the lease has long been lost.
_PATIENCE_S = 60.0
_DOUBLINGS_MAX = 20


async def persist(call: Callable[[], Awaitable[T]]) -> T:
    """Makes a call again while the control plane or its database is away, or has restarted. Raises what the last attempt failed with."""
    until = time.monotonic() + _PATIENCE_S
    attempt = 0
    while True:
        try:
            return await call()
        except ForgeError as error:
            # A worker session that is not known is joined again meanwhile.
            may_pass = is_passing(error) or error.code == ErrorCode.WORKER_LOST or error.reason == "WORKER_SESSION"
            if not may_pass or time.monotonic() > until:
                raise
        await asyncio.sleep(backoff(attempt, 0.02, 1.0))
        attempt += 1


def backoff(attempt: int, base: float, longest: float) -> float:
    """Seconds: exponential with jitter, at most `longest`."""
    return random.uniform(0.5, 1) * min(longest, base * 2 ** min(attempt, _DOUBLINGS_MAX))
