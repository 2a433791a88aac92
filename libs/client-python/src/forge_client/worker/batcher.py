"""Group commit: what arrives while batches are on their way goes together in the next."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Batcher(Generic[Item, Outcome]):
    """An idle batcher sends at once. `send` answers each item, in order; when it raises, every item of that batch gets the same error."""

    def __init__(self, send: Callable[[Sequence[Item]], Awaitable[Sequence[Outcome]]], concurrency: int, batch_max: int) -> None:
        self._send = send
        self._concurrency = concurrency
        self._batch_max = batch_max
        self._waiting: list[tuple[Item, asyncio.Future[Outcome]]] = []
        self._in_flight: set[asyncio.Task[None]] = set()

    async def submit(self, item: Item) -> Outcome:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Outcome] = loop.create_future()
        self._waiting.append((item, answer))
        # Items of one turn of the event loop share a batch.
        loop.call_soon(self._begin)
        return await answer

    def _begin(self) -> None:
        while self._waiting and len(self._in_flight) < self._concurrency:
            batch, self._waiting = self._waiting[: self._batch_max], self._waiting[self._batch_max :]
            task = asyncio.create_task(self._flush(batch))
            self._in_flight.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._in_flight.discard(task)
        self._begin()

    async def _flush(self, batch: list[tuple[Item, asyncio.Future[Outcome]]]) -> None:
        try:
            outcomes = await self._send([item for item, _ in batch])
            for (_, answer), outcome in zip(batch, outcomes, strict=True):
                if not answer.done():
                    answer.set_result(outcome)
        except Exception as error:
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
