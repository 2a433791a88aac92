"""Drives ForgeClient: a thread for everything under way."""

import threading
import traceback
from collections.abc import Callable, Generator
from contextlib import closing
from typing import BinaryIO

from _gen import contract_pb2
from frames import Responses, read_requests
from google.protobuf.message import Message
from methods import METHODS, describe, following, to_any, to_subscribed

from forge_client import Cancellation, ForgeClient, ForgeError


class Credits:
    """How many messages of a stream may still be read; all of them once it was given up."""

    def __init__(self, count: int) -> None:
        self._condition = threading.Condition()
        self._count = count
        self.lifted = False

    def add(self, count: int) -> None:
        with self._condition:
            self._count += count
            self._condition.notify_all()

    def lift(self) -> None:
        with self._condition:
            self.lifted = True
            self._condition.notify_all()

    def take(self) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._count > 0 or self.lifted)
            self._count -= 1


class BlockingDriver:
    def __init__(self, responses: Responses, implementation: str) -> None:
        self._responses = responses
        self._implementation = implementation
        self._clients: dict[int, ForgeClient] = {}
        self._cancellations: dict[int, Cancellation] = {}
        self._streams: dict[int, tuple[int, Credits]] = {}

    def handle(self, request: contract_pb2.DriverRequest) -> None:
        """Never waits: what takes time goes on in a thread of its own."""
        kind = request.WhichOneof("kind")
        if kind == "describe":
            self._responses.send(describe(request.id, self._implementation))
        elif kind == "open_client":
            self._begin(request.id, lambda: self._open_client(request.id, request.open_client))
        elif kind == "close_client":
            self._begin(request.id, lambda: self._close_client(request.id, request.close_client.client))
        elif kind == "call":
            self._cancellations[request.id] = Cancellation()
            self._begin(request.id, lambda: self._call(request.id, request.call))
        elif kind == "open_stream":
            self._cancellations[request.id] = Cancellation()
            self._streams[request.id] = request.open_stream.client, Credits(request.open_stream.pull)
            self._begin(request.id, lambda: self._stream(request.id, request.open_stream))
        elif kind == "pull":
            if request.pull.stream in self._streams:
                self._streams[request.pull.stream][1].add(request.pull.count)
        elif kind == "cancel":
            if request.cancel.target in self._cancellations:
                self._cancellations[request.cancel.target].cancel()
            if request.cancel.target in self._streams:
                self._streams[request.cancel.target][1].lift()
        else:
            self._fail(request.id, "a request of an unknown kind")

    def close(self) -> None:
        for client in list(self._clients.values()):
            client.close()

    def _begin(self, request_id: int, action: Callable[[], None]) -> None:
        def run() -> None:
            try:
                action()
            except Exception:
                self._fail(request_id, traceback.format_exc())
            finally:
                self._cancellations.pop(request_id, None)
                self._streams.pop(request_id, None)

        threading.Thread(target=run, daemon=True).start()

    def _fail(self, request_id: int, message: str) -> None:
        self._responses.send(contract_pb2.DriverResponse(id=request_id, failure=contract_pb2.DriverFailure(message=message)))

    def _open_client(self, request_id: int, asked: contract_pb2.OpenClient) -> None:
        self._clients[request_id] = ForgeClient(asked.url, asked.token, namespace=asked.namespace or None)
        self._responses.send(contract_pb2.DriverResponse(id=request_id, client_opened={}))

    def _close_client(self, request_id: int, client: int) -> None:
        self._clients.pop(client).close()
        # A stream that waits to be asked for more learns of its end only when it is read.
        for owner, credits_left in list(self._streams.values()):
            if owner == client:
                credits_left.lift()
        self._responses.send(contract_pb2.DriverResponse(id=request_id, client_closed={}))

    def _call(self, request_id: int, asked: contract_pb2.UnaryCall) -> None:
        client, method = self._clients[asked.client], METHODS[asked.method]
        request, timeout, cancellation = method.decode(asked.request), asked.timeout_ms / 1000 or None, self._cancellations[request_id]

        def once() -> Message:
            return method.of(client)(request, timeout=timeout, cancellation=cancellation)

        try:
            response = client.with_retry(once, cancellation=cancellation) if asked.retry else once()
            outcome = contract_pb2.CallOutcome(response=to_any(response))
        except ForgeError as error:
            outcome = contract_pb2.CallOutcome(error=error.detail)
        self._responses.send(contract_pb2.DriverResponse(id=request_id, call=outcome))

    def _stream(self, request_id: int, asked: contract_pb2.OpenStream) -> None:
        _, credits_left = self._streams[request_id]
        end = contract_pb2.StreamEnd()
        try:
            with closing(self._messages(request_id, asked)) as messages:
                credits_left.take()
                for message in messages:
                    if not credits_left.lifted:
                        item = contract_pb2.StreamItem(message=to_any(message))
                        self._responses.send(contract_pb2.DriverResponse(id=request_id, stream_item=item))
                    credits_left.take()
        except ForgeError as error:
            end = contract_pb2.StreamEnd(error=error.detail)
        self._responses.send(contract_pb2.DriverResponse(id=request_id, stream_end=end))

    def _messages(self, request_id: int, asked: contract_pb2.OpenStream) -> Generator[Message, None, None]:
        client, method = self._clients[asked.client], METHODS[asked.method]
        request, timeout, cancellation = method.decode(asked.request), asked.timeout_ms / 1000 or None, self._cancellations[request_id]
        if not asked.resume:
            with method.of(client)(request, timeout=timeout, cancellation=cancellation) as responses:
                yield from responses
            return
        timer = threading.Timer(timeout, cancellation.cancel) if timeout is not None else None
        if timer is not None:
            timer.start()
        for followed in client.follow_events(cancellation=cancellation, **following(request)):
            yield to_subscribed(followed)
        if timer is not None:
            timer.cancel()


def serve_blocking(source: BinaryIO, sink: BinaryIO, implementation: str) -> None:
    driver = BlockingDriver(Responses(sink), implementation)
    for request in read_requests(source):
        driver.handle(request)
    driver.close()
