"""Child processes, started when they are first needed and kept for the next call."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from forge_client.worker.child_process import Answer, ChildProcess, LoadRequest

T = TypeVar("T")


class StartError(Exception):
    """No process could be started; `answer` says why."""

    def __init__(self, answer: Answer) -> None:
        super().__init__("the sources could not be loaded")
        self.answer = answer


class ChildPool:
    """As many processes as calls run at once, which the worker's slots bound."""

    def __init__(self, request: LoadRequest) -> None:
        self._request = request
        self._idle: list[ChildProcess] = []
        self._all: set[ChildProcess] = set()
        self._closed = False

    async def use(self, action: Callable[[ChildProcess], Awaitable[T]]) -> T:
        """Lends a process to an action; what is not usable afterwards is ended. Raises StartError."""
        child = await self._take()
        try:
            return await action(child)
        finally:
            if child.is_usable() and not self._closed:
                self._idle.append(child)
            else:
                await self._discard(child)

    def keep(self, child: ChildProcess) -> None:
        """Takes one that was started elsewhere."""
        self._all.add(child)
        self._idle.append(child)

    async def close(self) -> None:
        """Ends all processes; calls that run end with them."""
        self._closed = True
        for child in list(self._all):
            await self._discard(child)

    async def _take(self) -> ChildProcess:
        # The one used last: its code and its caches are the warmest.
        while self._idle:
            child = self._idle.pop()
            if child.is_usable():
                return child
            await self._discard(child)
        started = await ChildProcess.start(self._request)
        if isinstance(started, Answer):
            raise StartError(started)
        self._all.add(started)
        return started

    async def _discard(self, child: ChildProcess) -> None:
        await child.stop()
        self._all.discard(child)
