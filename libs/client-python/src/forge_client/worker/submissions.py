"""Starts, settlements and output of a worker session on their way."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from forge_client.async_client import AsyncForgeClient
from forge_client.errors import ErrorCode, ForgeError
from forge_client.protocol.worker import OutputDelta, Settlement, TaskAnswer, TaskStart
from forge_client.worker.batcher import Batcher
from forge_client.worker.persist import persist

_BATCH_MAX = 500
_CONCURRENCY = 8

T = TypeVar("T")


class Submissions:
    """Batched; each is idempotent, so what failed in transit is sent again."""

    def __init__(self, client: AsyncForgeClient, session_id: Callable[[], str]) -> None:
        self._client = client
        self._session_id = session_id
        self._starts: Batcher[TaskStart, TaskAnswer] = Batcher(self._send_starts, _CONCURRENCY, _BATCH_MAX)
        self._settlements: Batcher[Settlement, TaskAnswer] = Batcher(self._send_settlements, _CONCURRENCY, _BATCH_MAX)

    async def start(self, start: TaskStart) -> None:
        """Returns with the go-ahead; raises when the start was refused."""
        await _deliver(lambda: self._starts.submit(start))

    async def settle(self, settlement: Settlement) -> None:
        """Returns once the settlement is durable, or refused because the task is no longer this worker's."""
        try:
            await _deliver(lambda: self._settlements.submit(settlement))
        except ForgeError as error:
            # Another epoch works on it, or it has ended: there is nothing more to say.
            if error.reason != "LEASE_LOST":
                raise

    async def report(self, deltas: list[OutputDelta]) -> None:
        await self._client.worker.report_output(worker_session_id=self._session_id(), deltas=deltas)

    async def _send_starts(self, starts: Sequence[TaskStart]) -> Sequence[TaskAnswer]:
        async def send(items: Sequence[TaskStart]) -> Sequence[TaskAnswer]:
            return (await self._client.worker.start_tasks(worker_session_id=self._session_id(), starts=items)).answers

        return await _send_each(starts, send)

    async def _send_settlements(self, settlements: Sequence[Settlement]) -> Sequence[TaskAnswer]:
        async def send(items: Sequence[Settlement]) -> Sequence[TaskAnswer]:
            return (await self._client.worker.settle_tasks(worker_session_id=self._session_id(), settlements=items)).answers

        return await _send_each(settlements, send)


async def _deliver(submit: Callable[[], Awaitable[TaskAnswer]]) -> None:
    async def call() -> None:
        answer = await submit()
        if answer.HasField("error"):
            raise ForgeError.from_detail(answer.error)

    await persist(call)


async def _send_each(items: Sequence[T], send: Callable[[Sequence[T]], Awaitable[Sequence[TaskAnswer]]]) -> Sequence[TaskAnswer]:
    """Sends a batch. One that is refused as a whole for what is in it is sent one by one, so that only the culprit gets the error."""
    try:
        return await send(items)
    except ForgeError as error:
        if len(items) == 1 or not is_of_content(error):
            raise

    async def one(item: T) -> TaskAnswer:
        try:
            return (await send([item]))[0]
        except ForgeError as error:
            return TaskAnswer(error=error.detail)

    return await asyncio.gather(*(one(item) for item in items))


def is_of_content(error: ForgeError) -> bool:
    """Whether a submission was refused for what is in it: text that is none, or more than a request may hold."""
    return error.code == ErrorCode.VALIDATION or (error.code == ErrorCode.RESOURCE_EXHAUSTED and not error.retryable)
