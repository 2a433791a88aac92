"""Awaits what user code returned, and cancels it when the call is to stop."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable
from typing import Any


class Awaiting:
    """One event loop for all calls of this process, so that what a module keeps between calls belongs to a loop that still runs."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def begin(self) -> None:
        """A new call: what an earlier one was told does not count."""
        self._stopped = False

    def stop(self) -> None:
        """Cancels the call that runs, or will; called by another thread."""
        with self._lock:
            self._stopped = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)

    def result(self, returned: Any, timeout: float | None = None) -> Any:
        """What an awaitable gives; anything else is the result itself. `timeout` in seconds."""
        if not inspect.isawaitable(returned):
            return returned
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        loop = self._loop
        try:
            return loop.run_until_complete(self._awaited(returned, timeout))
        finally:
            self._end_left_behind(loop)

    def close(self) -> None:
        """No call comes any more."""
        if self._loop is not None:
            self._loop.close()
            asyncio.set_event_loop(None)
            self._loop = None

    async def _awaited(self, awaitable: Awaitable[Any], timeout: float | None) -> Any:
        with self._lock:
            self._task = asyncio.current_task()
            is_stopped = self._stopped
        try:
            if is_stopped:
                raise asyncio.CancelledError
            return await (awaitable if timeout is None else asyncio.wait_for(awaitable, timeout))
        finally:
            with self._lock:
                self._task = None
            if inspect.iscoroutine(awaitable):
                awaitable.close()

    def _end_left_behind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Tasks that nobody awaited end with their call: between calls the loop stands still, and they would wake in a stranger's."""
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
