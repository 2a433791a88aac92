"""The child's end of its channel: frames of a length (4 bytes, big endian), one byte that says what follows, and JSON."""

import json
import os
import queue
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any

_HEADER_BYTES = 5
# As the other end bounds it: what an artifact may hold, and the names around it.
_PAYLOAD_BYTES_MAX = 16 * 1024 * 1024 + 64 * 1024


class Channel:
    """Frames are read by a thread of their own, so that a stop is heard while user code runs. The process ends with its channel."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._connection = socket.socket(fileno=descriptor)
        # What user code forks must not hold the channel open, nor write to it.
        os.register_at_fork(after_in_child=self._connection.close)
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._requests: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # Called by the reading thread when a call is to stop.
        self.on_stop: Callable[[], None] | None = None
        threading.Thread(target=self._read, daemon=True, name="forge-channel").start()

    def receive(self) -> tuple[str, Any]:
        """The next request."""
        return self._requests.get()

    def send(self, kind: str, text: str) -> None:
        """Sends JSON text. A process that user code forked has nothing to say, whatever it runs into."""
        if os.getpid() != self._pid:
            os._exit(0)
        data = text.encode()
        with self._lock:
            self._connection.sendall(len(data).to_bytes(4, "big") + kind.encode() + data)

    def ask(self, kind: str) -> Any:
        """Sends a question about the call in hand, and waits for what it is answered with."""
        self.send(kind, "null")
        return self._answers.get()

    def _read(self) -> None:
        try:
            while True:
                header = self._exactly(_HEADER_BYTES)
                length = int.from_bytes(header[:4], "big")
                if length > _PAYLOAD_BYTES_MAX:
                    raise ValueError(f"a frame of {length} bytes")
                self._take(chr(header[4]), self._exactly(length).decode())
        except (OSError, ValueError):
            # The server has gone, or user code broke the channel: with it goes everything that was started here.
            _end_group()

    def _take(self, kind: str, text: str) -> None:
        if kind == "A":
            if self.on_stop is not None:
                self.on_stop()
        elif kind == "V":
            self._answers.put(json.loads(text))
        else:
            self._requests.put((kind, json.loads(text)))

    def _exactly(self, length: int) -> bytes:
        received = bytearray()
        while len(received) < length:
            piece = self._connection.recv(min(length - len(received), 1 << 20))
            if not piece:
                raise OSError("the channel was closed")
            received += piece
        return bytes(received)


def _end_group() -> None:
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)
