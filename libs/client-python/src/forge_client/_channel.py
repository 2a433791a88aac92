"""Calls of the client that blocks, over one gRPC channel."""

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Generic, TypeVar

import grpc
from google.protobuf.message import Message

from forge_client._connection import CHANNEL_OPTIONS, Connection
from forge_client._request import check_timeout
from forge_client._response import read_response
from forge_client._status import from_status
from forge_client.cancellation import Cancellation
from forge_client.errors import ForgeError, client_closed, given_up

R = TypeVar("R", bound=Message)


class Channel:
    """A way to a server. Nothing is sent before the first call; it connects again by itself. Any thread may call."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._closed = False
        self._callables: dict[str, Any] = {}
        self._grpc = (
            grpc.secure_channel(connection.target, connection.credentials(), CHANNEL_OPTIONS)
            if connection.is_secure
            else grpc.insecure_channel(connection.target, CHANNEL_OPTIONS)
        )

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Ends open calls, and refuses new ones, with `cancelled`. Idempotent."""
        self._closed = True
        self._grpc.close()

    def unary(self, path: str, request: Message, response: type[R], timeout: float | None = None, cancellation: Cancellation | None = None) -> R:
        """Makes a call that has one answer. Raises: ForgeError."""
        call = self._callable(self._grpc.unary_unary, path)
        options = self._options(timeout, cancellation)
        try:
            if cancellation is None:
                return read_response(response, call(request, **options))
            future = call.future(request, **options)
        except grpc.RpcError as error:
            raise from_status(error, self._closed) from error
        except ValueError as error:
            raise self._refusal(error) from error
        detach = cancellation.attach(future.cancel)
        try:
            return read_response(response, future.result())
        except grpc.FutureCancelledError as error:
            raise given_up() from error
        except grpc.RpcError as error:
            raise from_status(error, self._closed or cancellation.cancelled) from error
        finally:
            detach()
            # Of a call that has ended nothing is left to cancel; one that its thread left by another exception must not go on.
            future.cancel()

    def stream(
        self, path: str, request: Message, response: type[R], timeout: float | None = None, cancellation: Cancellation | None = None
    ) -> "ResponseStream[R]":
        """Opens a call that is answered by a stream. Raises: ForgeError, here or amid the messages."""
        call = self._callable(self._grpc.unary_stream, path)
        try:
            return ResponseStream(call(request, **self._options(timeout, cancellation)), response, lambda: self._closed, cancellation)
        except grpc.RpcError as error:
            raise from_status(error, self._closed) from error
        except ValueError as error:
            raise self._refusal(error) from error

    def _callable(self, make: Callable[..., Any], path: str) -> Any:
        if self._closed:
            raise client_closed()
        found = self._callables.get(path)
        if found is None:
            found = self._callables[path] = make(self._connection.path_prefix + path, request_serializer=_serialize)
        return found

    def _options(self, timeout: float | None, cancellation: Cancellation | None) -> dict[str, Any]:
        if cancellation is not None and cancellation.cancelled:
            raise given_up()
        return {"timeout": check_timeout(timeout), "metadata": self._connection.metadata}

    def _refusal(self, error: ValueError) -> Exception:
        # What gRPC says of a channel that was closed between our look and its own.
        return client_closed() if self._closed else error


class ResponseStream(Generic[R]):
    """The messages of a stream, in order. Leaving it as a context manager, or `cancel`, ends the call."""

    def __init__(self, call: Any, kind: type[R], is_closed: Callable[[], bool], cancellation: Cancellation | None) -> None:
        self._call = call
        self._kind = kind
        self._is_closed = is_closed
        self._stopped = False
        self._detach = cancellation.attach(self.cancel) if cancellation is not None else lambda: None

    def cancel(self) -> None:
        """Gives the stream up, from any thread; who reads it gets `cancelled`. Idempotent; nothing where it has ended."""
        self._stopped = True
        self._call.cancel()

    def __iter__(self) -> Iterator[R]:
        return self

    def __next__(self) -> R:
        """Waits for the next message. Raises: ForgeError; StopIteration at the stream's end in peace."""
        try:
            body = next(self._call)
        except StopIteration:
            self._detach()
            raise
        except grpc.RpcError as error:
            self._detach()
            raise from_status(error, self._stopped or self._is_closed()) from error
        try:
            return read_response(self._kind, body)
        except ForgeError:
            self._call.cancel()
            raise

    def __enter__(self) -> "ResponseStream[R]":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._detach()
        self.cancel()


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()
