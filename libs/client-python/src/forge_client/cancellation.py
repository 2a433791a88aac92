"""Gives calls up from another thread."""

import threading
from collections.abc import Callable


class Cancellation:
    """Passed to calls, it gives them up when it is cancelled, from whichever thread: they fail with `cancelled`, and what follows events ends.

    For the client that blocks; on asyncio a task is cancelled as any other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._callbacks: dict[int, Callable[[], object]] = {}
        self._next = 0

    def cancel(self) -> None:
        """Gives up everything that this was passed to, and everything that it will be. Idempotent."""
        with self._lock:
            self._event.set()
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
        for callback in callbacks:
            callback()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is cancelled, at most `timeout` seconds; whether it is."""
        return self._event.wait(timeout)

    def attach(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Calls back once it is cancelled, at once where it is already; the returned function takes that back."""
        with self._lock:
            key = self._next
            self._next += 1
            if not self._event.is_set():
                self._callbacks[key] = callback
                return lambda: self._detach(key)
        callback()
        return lambda: None

    def _detach(self, key: int) -> None:
        with self._lock:
            self._callbacks.pop(key, None)
