"""Why a task is to stop, and the wait for it."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from forge_client.errors import ErrorCode, ForgeError

T = TypeVar("T")


class Stop:
    """Set on cancellation, on a lost lease and at the deadline; the first reason stays."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.reason: ForgeError | None = None

    def set(self, reason: ForgeError) -> None:
        if self.reason is None:
            self.reason = reason
            self.event.set()

    def raise_if_set(self) -> None:
        if self.reason is not None:
            raise self.reason

    @property
    def is_deadline(self) -> bool:
        return self.reason is not None and self.reason.code == ErrorCode.DEADLINE_EXCEEDED

    async def first(self, awaitable: Awaitable[T]) -> T:
        """The result, or the reason as soon as it is set; what is awaited is given up then."""
        working = asyncio.ensure_future(awaitable)
        waiting = asyncio.ensure_future(self.event.wait())
        try:
            await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                self.raise_if_set()
            return await working
        finally:
            waiting.cancel()
            working.cancel()
