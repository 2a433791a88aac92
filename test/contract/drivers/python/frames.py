"""Messages with their length before them: 4 bytes, big-endian."""

import threading
from collections.abc import Iterator
from typing import BinaryIO

from _gen import contract_pb2

HEADER_BYTES = 4
FRAME_BYTES_MAX = 64 * 1024 * 1024


def read_requests(source: BinaryIO) -> Iterator[contract_pb2.DriverRequest]:
    """Ends with the input, or at a frame that is too long."""
    while len(header := source.read(HEADER_BYTES)) == HEADER_BYTES:
        size = int.from_bytes(header, "big")
        if size > FRAME_BYTES_MAX:
            return
        body = source.read(size)
        if len(body) < size:
            return
        yield contract_pb2.DriverRequest.FromString(body)


class Responses:
    """Where responses go, whole, from whichever thread."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._lock = threading.Lock()

    def send(self, response: contract_pb2.DriverResponse) -> None:
        body = response.SerializeToString()
        with self._lock:
            self._sink.write(len(body).to_bytes(HEADER_BYTES, "big") + body)
            self._sink.flush()
