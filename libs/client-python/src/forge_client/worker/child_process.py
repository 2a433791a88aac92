"""A child process that runs user code, as the worker sees it."""

import asyncio
import fcntl
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from forge_client.worker.frames import HEADER_BYTES, decode_header, encode_frame
from forge_client.worker.log_lines import LogLines
from forge_client.worker.process_tree import ProcessTree

# Between a call's stop and the kill of its process. Long enough for a connection to be closed; code that never looks lives on for as long.
GRACE_S = 2.0
# How long the streams of a process that has ended may take to be read to their end.
_DRAIN_S = 1.0
# How long a process may take to end after its channel.
_EXIT_S = 0.5
# How long a source may take to be loaded.
_LOAD_S = 60.0
# What a process printed last to standard error, kept to explain its death.
_LAST_WORDS_LENGTH = 4096
# Above what shells use for themselves.
_DESCRIPTOR_MIN = 20
_CHUNK = 64 * 1024

_BOOT = "import json,sys; sys.path[:]=json.loads(sys.argv.pop()); from forge_client.worker.child import main; main()"

# Never in the environment of user code, which may print all of it.
_OWN_VARIABLES = ("FORGE_TOKEN",)


@dataclass(frozen=True)
class LoadRequest:
    """What a child loads: each source `{"path"}` or `{"module"}`, with `names` where only some of it is served."""

    sources: tuple[Mapping[str, Any], ...]
    import_path: tuple[str, ...] = field(default_factory=lambda: tuple(sys.path))
    # The texts of files as they were when the worker was started; empty: they are read when they are needed.
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What became of a request.

    - `done`: the payload is what was asked for.
    - `error`: the payload says why there is none, see Call.run.
    - `exited`: the process ended by itself; the payload says how. `stopped` tells whether all of its descendants are known to have ended.
    - `interrupted`: the stop came first, and the process was ended.
    """

    kind: Literal["done", "error", "exited", "interrupted"]
    payload: Any = None
    stopped: bool = True


@dataclass(frozen=True)
class Listener:
    """Who hears what a call says while it runs."""

    # Of frames O, M and N.
    frame: Callable[[str, Any], None]
    # The stream's name and a line.
    line: Callable[[str, str], None]
    # What was printed to standard output, as it came.
    printed: Callable[[str], None]
    log: Callable[[int, str], None]
    # At whatever it says.
    alive: Callable[[], None]


class ChildProcess:
    """It runs one call at a time, again and again."""

    def __init__(self, tree: ProcessTree, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tree = tree
        self._reader = reader
        self._writer = writer
        self._answer: asyncio.Future[Answer] | None = None
        self._listener: Listener | None = None
        self._last_words = ""
        self._spent = False
        self._lines = {name: LogLines(lambda line, name=name: self._on_line(name, line)) for name in ("stdout", "stderr")}
        self._streams = [
            asyncio.create_task(self._read_frames()),
            asyncio.create_task(self._read_prints("stdout", tree.stdout)),
            asyncio.create_task(self._read_prints("stderr", tree.stderr)),
        ]
        self._exit = asyncio.create_task(self._watch_exit())
        # What the sources offer, once they are loaded.
        self.offered: list[dict[str, Any]] = []

    @staticmethod
    async def start(request: LoadRequest) -> "ChildProcess | Answer":
        """Starts a process and loads the sources; where that fails, returns why, and leaves nothing."""
        ours, theirs = socket.socketpair()
        descriptor = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD_CLOEXEC, _DESCRIPTOR_MIN)
        theirs.close()
        environment = {name: value for name, value in os.environ.items() if name not in _OWN_VARIABLES}
        # Unbuffered: what a call prints belongs to that call, and is shown while it runs.
        command = [sys.executable, "-u", "-X", "faulthandler", "-c", _BOOT, str(descriptor), json.dumps(_boot_path())]
        try:
            tree = await ProcessTree.start(command, environment, descriptor)
        except BaseException:
            ours.close()
            raise
        finally:
            os.close(descriptor)
        child = ChildProcess(tree, *await asyncio.open_connection(sock=ours, limit=_CHUNK))
        payload = {"sources": list(request.sources), "import_path": list(request.import_path), "texts": dict(request.texts)}
        try:
            answer = await asyncio.wait_for(child._ask("I", payload, None), _LOAD_S)
        except (TimeoutError, asyncio.TimeoutError):
            answer = Answer("error", {"kind": "load", "message": f"loading took longer than {_LOAD_S:.0f} s"})
        except BaseException:
            await child.stop()
            raise
        if answer.kind != "done":
            await child.stop()
            return answer
        child.offered = answer.payload
        return child

    def is_usable(self) -> bool:
        """Whether it may serve another call."""
        return not self._spent

    async def prepare(self, request: Mapping[str, Any], stopped: asyncio.Event) -> Answer:
        """Has a call's arguments checked; nothing has happened yet. What was prepared is run next, or abandoned."""
        return await self._until_stopped("C", request, None, stopped)

    def abandon(self) -> None:
        """What was prepared is not to be run."""
        self._write("X", None)

    async def run(self, listener: Listener, stopped: asyncio.Event) -> Answer:
        """
        Runs the prepared call. Once `stopped` is set the call is told, and after the grace its process is ended, whatever the code makes of it: only then it
        is known that nothing runs on.
        """
        return await self._until_stopped("G", None, listener, stopped)

    async def stop(self) -> bool:
        """Ends the process and its descendants at once; returns whether they are known to have ended."""
        self._spent = True
        # What the isolation has to say about being killed is nobody's output.
        self._listener = None
        stopped = await self._tree.stop()
        await asyncio.wait(self._streams, timeout=_DRAIN_S)
        for task in self._streams:
            task.cancel()
        self._exit.cancel()
        await asyncio.wait([*self._streams, self._exit])
        self._writer.close()
        return stopped

    async def _until_stopped(self, kind: str, payload: Any, listener: Listener | None, stopped: asyncio.Event) -> Answer:
        answered = asyncio.ensure_future(self._ask(kind, payload, listener))
        waiting = asyncio.ensure_future(stopped.wait())
        try:
            await asyncio.wait({answered, waiting}, return_when=asyncio.FIRST_COMPLETED)
            return answered.result() if answered.done() else await self._interrupt(answered)
        finally:
            waiting.cancel()
            answered.cancel()

    async def _interrupt(self, answered: "asyncio.Future[Answer]") -> Answer:
        self._spent = True
        self._write("A", None)
        await asyncio.wait({answered}, timeout=GRACE_S)
        stopped = await self.stop()
        # What it still achieved is the truth about it; anything else is the interruption's doing.
        if stopped and answered.done() and answered.result().kind == "done":
            return answered.result()
        return Answer("interrupted", None, stopped)

    async def _ask(self, kind: str, payload: Any, listener: Listener | None) -> Answer:
        self._last_words = ""
        for lines in self._lines.values():
            lines.begin()
        self._listener = listener
        self._answer = asyncio.get_running_loop().create_future()
        if self._exit.done():
            self._answer.set_result(self._exit.result())
        self._write(kind, payload)
        try:
            return await self._answer
        finally:
            self._answer = None
            for lines in self._lines.values():
                lines.flush()

    def _write(self, kind: str, payload: Any) -> None:
        # A process that has ended says so by its exit.
        if not self._writer.is_closing():
            self._writer.write(encode_frame(kind, json.dumps(payload).encode()))

    def _settle(self, answer: Answer) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    async def _read_frames(self) -> None:
        # Ends with the process, and where user code closes the channel or writes to it itself; then the process is of no use any more.
        while (frame := await self._next_frame()) is not None:
            try:
                self._receive(*frame)
            except Exception as error:
                # Whoever listens failed; that is no fault of the channel.
                self._settle(Answer("error", {"kind": "listener", "message": f"{type(error).__name__}: {error}"}))
        self._spent = True
        if await self._tree.exit_within(_EXIT_S) is None:
            await self._tree.stop()

    async def _next_frame(self) -> tuple[str, Any] | None:
        try:
            kind, length = decode_header(await self._reader.readexactly(HEADER_BYTES))
            return kind, json.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, OSError, ValueError):
            return None

    def _receive(self, kind: str, payload: Any) -> None:
        if kind in "DPR":
            self._settle(Answer("done", payload))
        elif kind == "E":
            self._settle(Answer("error", payload))
        elif self._listener is not None:
            self._listener.alive()
            if kind == "L":
                self._listener.log(payload["level"], payload["message"])
            elif kind != "H":
                self._listener.frame(kind, payload)

    async def _read_prints(self, name: str, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(_CHUNK):
            text = self._lines[name].push(data)
            if self._listener is not None:
                self._listener.alive()
            if name == "stderr":
                self._last_words = (self._last_words + text)[-_LAST_WORDS_LENGTH:]
            elif self._listener is not None:
                self._listener.printed(text)

    def _on_line(self, name: str, line: str) -> None:
        if self._listener is not None:
            self._listener.line(name, line)

    async def _watch_exit(self) -> Answer:
        # Where descendants hold the process's pipes, only the channel tells of its end.
        exiting = asyncio.ensure_future(self._tree.process.wait())
        try:
            await asyncio.wait({self._streams[0], exiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            exiting.cancel()
        self._spent = True
        stopped = await self._tree.stop()
        # An answer that was sent right before the end may still be on its way.
        await asyncio.wait(self._streams, timeout=_DRAIN_S)
        answer = Answer("exited", {"how": _how(self._tree.process.returncode or 0), "last_words": self._last_words.strip()}, stopped)
        self._settle(answer)
        return answer


def _how(code: int) -> str:
    """By the shell's convention, an exit code of 128 + n stands for signal n."""
    number = -code if code < 0 else code - 128 if code > 128 else 0
    return f"by signal {number}" if number else f"with exit code {code}"


def _boot_path() -> list[str]:
    """Where this package and what it needs are found, without the program's own directory: a file there may have a library's name."""
    return [*sys.path[1:], str(Path(__file__).resolve().parents[2])]
