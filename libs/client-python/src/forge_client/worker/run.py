"""Runs a worker until it is told to stop."""

import asyncio
import contextlib
import os
import select
import signal
import stat
import threading
from collections.abc import Generator, Sequence
from pathlib import Path

from forge_client.errors import ErrorCode, ForgeError
from forge_client.worker.source_files import Stamps, stamps_of, texts_of
from forge_client.worker.view import WorkerView
from forge_client.worker.worker import DEFAULT_SLOTS, Source, Worker, WorkerOptions, join, load, load_request, worker_options

# What runs gets so long to finish.
_DRAIN_S = 30.0
# Between two looks at the files.
_LOOK_S = 0.3


def run_worker(
    source: Source,
    *,
    url: str | None = None,
    token: str | None = None,
    name: str | None = None,
    queues: Sequence[str] | None = None,
    slots: int = DEFAULT_SLOTS,
    namespace: str | None = None,
) -> None:
    """Serves what a source offers until SIGINT or SIGTERM comes; then what runs may finish, for 30 s, or until a second signal.

    The arguments and errors are those of `start_worker`; also conflict, reason WORKER_REPLACED, when another worker has joined under its name. Functions of a
    script are found by importing it again in other processes, so the call belongs below `if __name__ == "__main__":`.
    """
    options = worker_options(source, url, token, name, queues, slots, namespace)
    asyncio.run(serve(source, options, WorkerView()))


async def serve(source: Source, options: WorkerOptions, view: WorkerView) -> None:
    """Serves a source until a signal comes. Raises conflict, WORKER_REPLACED, when another worker has taken the name."""
    request = load_request(source)
    with _ends() as ends:
        loaded = await load(request)
        worker = await join(loaded, request, options, view)
        view.serving(options.name, options.queues, options.url, loaded.offered, reloaded=False)
        await _first(ends.first, worker.replaced)
        await _end(worker, ends, options, view)


async def serve_reloading(file: Path, options: WorkerOptions, view: WorkerView) -> None:
    """As `serve`, and anew whenever the file or a Python file beside it has changed. What can't be loaded is told, and the version before stays."""
    worker: Worker | None = None
    with _ends() as ends:
        while True:
            stamps = stamps_of(file)
            worker = await _reload(file, options, worker, ends, view)
            changing = asyncio.ensure_future(_changed(file, stamps))
            over = asyncio.ensure_future(_first(ends.first, *([] if worker is None else [worker.replaced])))
            await asyncio.wait({changing, over}, return_when=asyncio.FIRST_COMPLETED)
            is_over = over.done()
            changing.cancel()
            over.cancel()
            if is_over:
                break
        if worker is not None:
            await _end(worker, ends, options, view)


async def _reload(file: Path, options: WorkerOptions, old: Worker | None, ends: "_Ends", view: WorkerView) -> Worker | None:
    request = load_request(file)
    try:
        loaded = await load(request)
    except ForgeError as error:
        view.problem(error)
        return old
    if old is not None:
        await _drain(old, ends, view)
    try:
        worker = await join(loaded, request, options, view)
    except ForgeError as error:
        view.problem(error)
        return None
    view.serving(options.name, options.queues, options.url, loaded.offered, reloaded=old is not None)
    return worker


async def _end(worker: Worker, ends: "_Ends", options: WorkerOptions, view: WorkerView) -> None:
    if not worker.replaced.is_set():
        await _drain(worker, ends, view)
        return
    view.replaced(options.name)
    await worker.stop()
    message = f"another worker has joined as {options.name}"
    raise ForgeError(ErrorCode.CONFLICT, message, reason="WORKER_REPLACED", origin="worker")


async def _drain(worker: Worker, ends: "_Ends", view: WorkerView) -> None:
    if worker.running > 0:
        view.waiting(worker.running)
    draining = asyncio.ensure_future(worker.drain(_DRAIN_S))
    hurry = asyncio.ensure_future(ends.second.wait())
    await asyncio.wait({draining, hurry}, return_when=asyncio.FIRST_COMPLETED)
    draining.cancel()
    hurry.cancel()
    await worker.stop()


async def _changed(file: Path, before: Stamps) -> None:
    """Returns when a file's content is another, and has been for one look: an editor may still be writing."""
    texts = texts_of(before)
    last = before
    while True:
        await asyncio.sleep(_LOOK_S)
        now = await asyncio.to_thread(stamps_of, file)
        if now == last and now != before:
            if await asyncio.to_thread(texts_of, now) != texts:
                return
            before = now
        last = now


async def _first(*events: asyncio.Event) -> None:
    """Returns when one of the events is set."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waiting:
            each.cancel()


class _Ends:
    """Set by the first and the second signal."""

    def __init__(self) -> None:
        self.first = asyncio.Event()
        self.second = asyncio.Event()

    def signal(self) -> None:
        (self.second if self.first.is_set() else self.first).set()


@contextlib.contextmanager
def _ends() -> Generator[_Ends, None, None]:
    ends = _Ends()
    loop = asyncio.get_running_loop()
    # Python hands signals to the main thread alone; elsewhere the worker ends with its thread's loop.
    signals = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    for number in signals:
        loop.add_signal_handler(number, ends.signal)
    try:
        yield ends
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def end_with_input() -> None:
    """
    Sends this process SIGTERM when its standard input ends, where that is a pipe or a socket that is open now: whoever started the worker with one holds the
    other end, and the kernel closes it when that process is gone, however it went.
    """
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) or _has_ended():
        return

    def watch() -> None:
        while os.read(0, 65_536):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="forge-input").start()


def _has_ended() -> bool:
    """An input that was at its end from the beginning, as some services give it, says nothing."""
    readable, _, _ = select.select([0], [], [], 0)
    return bool(readable) and os.read(0, 65_536) == b""
