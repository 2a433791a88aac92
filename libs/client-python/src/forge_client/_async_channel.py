"""Calls of the client on asyncio, over one gRPC channel."""

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Generic, TypeVar

import grpc
from google.protobuf.message import Message

from forge_client._connection import CHANNEL_OPTIONS, Connection
from forge_client._request import check_timeout
from forge_client._response import read_response
from forge_client._status import from_status
from forge_client.errors import ForgeError, client_closed, given_up

R = TypeVar("R", bound=Message)


class AsyncChannel:
    """A way to a server, for the event loop that makes the first call. Nothing is sent before it; it connects again by itself."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._closed = False
        self._callables: dict[str, Any] = {}
        self._open: set[Any] = set()
        self._grpc: grpc.aio.Channel | None = None

    @property
    def closed(self) -> bool:
        return self._closed

    async def close(self) -> None:
        """Ends open calls, and refuses new ones, with `cancelled`. Idempotent."""
        self._closed = True
        for call in list(self._open):
            call.cancel()
        if self._grpc is not None:
            await self._grpc.close()

    async def unary(self, path: str, request: Message, response: type[R], timeout: float | None = None) -> R:
        """Makes a call that has one answer. Raises: ForgeError."""
        call = self._callable("unary_unary", path)(request, timeout=check_timeout(timeout), metadata=self._connection.metadata)
        self._open.add(call)
        try:
            return read_response(response, await call)
        except asyncio.CancelledError:
            # The library says the same of a call that close() ended and of a task that was cancelled.
            if self._closed and not _is_task_cancelled():
                raise given_up() from None
            raise
        except grpc.RpcError as error:
            raise from_status(error, self._closed) from error
        finally:
            self._open.discard(call)

    def stream(self, path: str, request: Message, response: type[R], timeout: float | None = None) -> "AsyncResponseStream[R]":
        """Opens a call that is answered by a stream. Raises: ForgeError, here or amid the messages."""
        call = self._callable("unary_stream", path)(request, timeout=check_timeout(timeout), metadata=self._connection.metadata)
        self._open.add(call)
        call.add_done_callback(self._open.discard)
        return AsyncResponseStream(call, response, lambda: self._closed)

    def _callable(self, kind: str, path: str) -> Any:
        if self._closed:
            raise client_closed()
        if self._grpc is None:
            self._grpc = (
                grpc.aio.secure_channel(self._connection.target, self._connection.credentials(), CHANNEL_OPTIONS)
                if self._connection.is_secure
                else grpc.aio.insecure_channel(self._connection.target, CHANNEL_OPTIONS)
            )
        found = self._callables.get(path)
        if found is None:
            found = getattr(self._grpc, kind)(self._connection.path_prefix + path, request_serializer=_serialize)
            self._callables[path] = found
        return found


class AsyncResponseStream(Generic[R]):
    """The messages of a stream, in order. Leaving it as a context manager, or `cancel`, ends the call."""

    def __init__(self, call: Any, kind: type[R], is_closed: Callable[[], bool]) -> None:
        self._call = call
        self._kind = kind
        self._is_closed = is_closed
        self._stopped = False

    def cancel(self) -> None:
        """Gives the stream up; who reads it gets `cancelled`. Idempotent; nothing where it has ended."""
        self._stopped = True
        self._call.cancel()

    def __aiter__(self) -> AsyncIterator[R]:
        return self

    async def __anext__(self) -> R:
        """Waits for the next message. Raises: ForgeError; StopAsyncIteration at the stream's end in peace."""
        try:
            body = await self._call.read()
        except asyncio.CancelledError:
            if (self._stopped or self._is_closed()) and not _is_task_cancelled():
                raise given_up() from None
            raise
        except grpc.RpcError as error:
            raise from_status(error, self._stopped or self._is_closed()) from error
        if body is grpc.aio.EOF:
            raise StopAsyncIteration
        try:
            return read_response(self._kind, body)
        except ForgeError:
            self._call.cancel()
            raise

    async def __aenter__(self) -> "AsyncResponseStream[R]":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.cancel()


def _is_task_cancelled() -> bool:
    """Whether the running task was asked to end; before Python 3.11 nobody can say, and what ended the call is taken for the reason."""
    task = asyncio.current_task()
    cancelling: Callable[[], int] | None = getattr(task, "cancelling", None)
    return cancelling is not None and cancelling() > 0


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()
