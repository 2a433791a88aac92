"""Drives AsyncForgeClient: a task for everything under way."""

import asyncio
import traceback
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import BinaryIO

from _gen import contract_pb2
from frames import Responses, read_requests
from google.protobuf.message import Message
from methods import METHODS, describe, following, to_any, to_subscribed

from forge_client import AsyncForgeClient, ForgeError
from forge_client.errors import given_up


class Credits:
    """How many messages of a stream may still be read; all of them once it was given up."""

    def __init__(self, count: int) -> None:
        self._condition = asyncio.Event()
        self._count = count
        self.lifted = False

    def add(self, count: int) -> None:
        self._count += count
        self._condition.set()

    def lift(self) -> None:
        self.lifted = True
        self._condition.set()

    async def take(self) -> None:
        while self._count <= 0 and not self.lifted:
            self._condition.clear()
            await self._condition.wait()
        self._count -= 1


class AsyncDriver:
    def __init__(self, responses: Responses, implementation: str) -> None:
        self._responses = responses
        self._implementation = implementation
        self._clients: dict[int, AsyncForgeClient] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._streams: dict[int, tuple[int, Credits]] = {}

    def handle(self, request: contract_pb2.DriverRequest) -> None:
        """Never waits: what takes time goes on in a task of its own."""
        kind = request.WhichOneof("kind")
        if kind == "describe":
            self._responses.send(describe(request.id, self._implementation))
        elif kind == "open_client":
            asked = request.open_client
            self._clients[request.id] = AsyncForgeClient(asked.url, asked.token, namespace=asked.namespace or None)
            self._responses.send(contract_pb2.DriverResponse(id=request.id, client_opened={}))
        elif kind == "close_client":
            self._begin(request.id, self._close_client(request.id, request.close_client.client))
        elif kind == "call":
            self._begin(request.id, self._call(request.id, request.call))
        elif kind == "open_stream":
            self._streams[request.id] = request.open_stream.client, Credits(request.open_stream.pull)
            self._begin(request.id, self._stream(request.id, request.open_stream))
        elif kind == "pull":
            if request.pull.stream in self._streams:
                self._streams[request.pull.stream][1].add(request.pull.count)
        elif kind == "cancel":
            # As everything on asyncio is given up.
            if request.cancel.target in self._tasks:
                self._tasks[request.cancel.target].cancel()
        else:
            self._fail(request.id, "a request of an unknown kind")

    async def close(self) -> None:
        for client in list(self._clients.values()):
            await client.close()
        for task in list(self._tasks.values()):
            task.cancel()

    def _begin(self, request_id: int, action: Coroutine[None, None, None]) -> None:
        async def run() -> None:
            try:
                await action
            except Exception:
                self._fail(request_id, traceback.format_exc())
            finally:
                self._tasks.pop(request_id, None)
                self._streams.pop(request_id, None)

        self._tasks[request_id] = asyncio.create_task(run())

    def _fail(self, request_id: int, message: str) -> None:
        self._responses.send(contract_pb2.DriverResponse(id=request_id, failure=contract_pb2.DriverFailure(message=message)))

    async def _close_client(self, request_id: int, client: int) -> None:
        await self._clients.pop(client).close()
        # A stream that waits to be asked for more learns of its end only when it is read.
        for owner, credits_left in list(self._streams.values()):
            if owner == client:
                credits_left.lift()
        self._responses.send(contract_pb2.DriverResponse(id=request_id, client_closed={}))

    async def _call(self, request_id: int, asked: contract_pb2.UnaryCall) -> None:
        client, method = self._clients[asked.client], METHODS[asked.method]
        request, timeout = method.decode(asked.request), asked.timeout_ms / 1000 or None

        async def once() -> Message:
            return await method.of(client)(request, timeout=timeout)

        try:
            response = await (client.with_retry(once) if asked.retry else once())
            outcome = contract_pb2.CallOutcome(response=to_any(response))
        except ForgeError as error:
            outcome = contract_pb2.CallOutcome(error=error.detail)
        except asyncio.CancelledError:
            outcome = contract_pb2.CallOutcome(error=given_up().detail)
        self._responses.send(contract_pb2.DriverResponse(id=request_id, call=outcome))

    async def _stream(self, request_id: int, asked: contract_pb2.OpenStream) -> None:
        _, credits_left = self._streams[request_id]
        end = contract_pb2.StreamEnd()
        try:
            async with aclosing(self._messages(asked)) as messages:
                await credits_left.take()
                async for message in messages:
                    if not credits_left.lifted:
                        item = contract_pb2.StreamItem(message=to_any(message))
                        self._responses.send(contract_pb2.DriverResponse(id=request_id, stream_item=item))
                    await credits_left.take()
        except ForgeError as error:
            end = contract_pb2.StreamEnd(error=error.detail)
        except asyncio.CancelledError:
            # Following ends in peace where nobody wants it any more.
            end = contract_pb2.StreamEnd(error=None if asked.resume else given_up().detail)
        self._responses.send(contract_pb2.DriverResponse(id=request_id, stream_end=end))

    async def _messages(self, asked: contract_pb2.OpenStream) -> AsyncGenerator[Message, None]:
        client, method = self._clients[asked.client], METHODS[asked.method]
        request, timeout = method.decode(asked.request), asked.timeout_ms / 1000 or None
        if not asked.resume:
            async with method.of(client)(request, timeout=timeout) as responses:
                async for response in responses:
                    yield response
            return
        task = asyncio.current_task()
        timer = asyncio.get_running_loop().call_later(timeout, task.cancel) if timeout is not None and task is not None else None
        async for followed in client.follow_events(**following(request)):
            yield to_subscribed(followed)
        if timer is not None:
            timer.cancel()


async def serve_async(source: BinaryIO, sink: BinaryIO, implementation: str) -> None:
    driver = AsyncDriver(Responses(sink), implementation)
    requests = read_requests(source)
    while (request := await asyncio.to_thread(next, requests, None)) is not None:
        driver.handle(request)
    await driver.close()
