"""
The process that user code runs in. It answers one request at a time on its channel, and leaves standard output and error to the user's code, whose mistakes
end this process and never the worker.
"""

import ctypes
import json
import os
import queue
import signal
import socket
import sys
import threading
from typing import Any

from forge_client.worker.call import Call
from forge_client.worker.frames import HEADER_BYTES, decode_header, encode_frame
from forge_client.worker.sources import LoadError, Sources

_PR_SET_PDEATHSIG = 1


class Channel:
    """The child's end. Requests are read by a thread of their own, so that a stop is heard while user code runs."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._requests: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._pid = os.getpid()
        self.call: Call | None = None
        threading.Thread(target=self._read, daemon=True, name="forge-channel").start()

    def receive(self) -> tuple[str, Any]:
        return self._requests.get()

    def send(self, kind: str, payload: Any) -> None:
        """Sends `payload` as JSON. A process that user code forked has nothing to say, whatever it runs into."""
        if os.getpid() != self._pid:
            os._exit(0)
        data = json.dumps(payload).encode()
        with self._lock:
            self._connection.sendall(encode_frame(kind, data))

    def _read(self) -> None:
        try:
            while True:
                kind, length = decode_header(self._exactly(HEADER_BYTES))
                payload = json.loads(self._exactly(length) or b"null")
                if kind == "A":
                    if self.call is not None:
                        self.call.cancel()
                else:
                    self._requests.put((kind, payload))
        except (OSError, ValueError):
            # The worker has gone, or user code broke the channel: with it goes everything that was started here.
            _end_group()

    def _exactly(self, length: int) -> bytes:
        received = bytearray()
        while len(received) < length:
            piece = self._connection.recv(length - len(received))
            if not piece:
                raise OSError("the channel was closed")
            received += piece
        return bytes(received)


def _end_group() -> None:
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def _die_with_parent() -> None:
    """A function that never lets go of the interpreter lock keeps the channel's end from being seen; the kernel needs no lock."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Serves the channel whose descriptor is the process's first argument until it is closed."""
    _die_with_parent()
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    connection = socket.socket(fileno=descriptor)
    # What user code forks must not hold the channel open, nor write to it.
    os.register_at_fork(after_in_child=connection.close)
    channel = Channel(connection)
    sources = Sources()
    while True:
        kind, payload = channel.receive()
        if kind == "I":
            _load(channel, sources, payload)
        elif kind == "C":
            _serve(channel, sources, payload)


def _load(channel: Channel, sources: Sources, request: dict[str, Any]) -> None:
    try:
        channel.send("D", sources.load(request))
    except LoadError as error:
        channel.send("E", error.answer)


def _serve(channel: Channel, sources: Sources, request: dict[str, Any]) -> None:
    call = Call(sources.find(request["capability"]), request, channel.send)
    refusal = call.prepare()
    if refusal is not None:
        channel.send("E", refusal)
        return
    channel.call = call
    channel.send("P", {})
    kind, _ = channel.receive()
    if kind == "G":
        channel.send(*call.run())
    channel.call = None


if __name__ == "__main__":
    main()
