"""The worker runtime: register, lease, start, heartbeat, cancel, settle."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from google.protobuf.duration_pb2 import Duration

from forge_client.async_client import AsyncForgeClient
from forge_client.errors import ForgeError
from forge_client.protocol.common import ProtocolVersion, TaskLease
from forge_client.protocol.worker import Capability, CapabilityKind, RegisterResponse, Task
from forge_client.worker.persist import backoff
from forge_client.worker.running_task import Handler, RunningTask
from forge_client.worker.submissions import Submissions

_POLL_S = 20
# How much longer than it was asked to wait the server may take to answer a poll.
_POLL_LATE_S = 10.0
# Heartbeats follow each other at this distance at least, whatever the server does.
_MIN_ROUND_S = 0.1
_RETRY_S_MAX = 5.0
# Where the server names no pace.
_HEARTBEAT_S = 3.0
# Where the server names no time.
_LEASE_TTL_S = 15.0
# The longest that what was told to stop is waited for.
_STOP_S = 60.0


@dataclass(frozen=True)
class RuntimeOptions:
    client: AsyncForgeClient
    # Stable over restarts: a worker that joins again under its name gives up what its old incarnation held.
    name: str
    queues: Sequence[str]
    # What it registers, each with what serves it.
    handlers: Sequence[tuple[Capability, Handler]]
    # Tasks at once, 1 to 10,000.
    slots: int
    # What went wrong beside any task: the connection, a bug in a handler's surroundings.
    on_problem: Callable[[BaseException], None]
    # Called once when another worker has joined under this name: this one serves nothing more, and what it held is lost.
    on_replaced: Callable[[], None]


class WorkerRuntime:
    """A worker that has joined, from `start` on."""

    def __init__(self, options: RuntimeOptions) -> None:
        self._options = options
        self._client = options.client
        self._running: dict[str, RunningTask] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        # No more polls.
        self._draining = False
        # Set when the poll that waits is of no use any more; replaced with each session.
        self._poll_over = asyncio.Event()
        # Set, and replaced, whenever a task ends.
        self._task_ended = asyncio.Event()
        self._submissions = Submissions(options.client, lambda: self._session_id)
        self._handlers = {(capability.kind, capability.name): handler for capability, handler in options.handlers}
        self._session = RegisterResponse()
        # When the control plane last knew the session.
        self._known_at = 0.0
        self._joining: asyncio.Task[None] | None = None
        self._loops: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Joins, and serves tasks until it is stopped. Raises where the credential or the version is refused."""
        await self._register()
        self._loops = [asyncio.create_task(self._forever(self._lease)), asyncio.create_task(self._forever(self._heartbeat))]

    @property
    def running(self) -> int:
        """Tasks in hand."""
        return len(self._running)

    async def drain(self, seconds: float) -> None:
        """Takes no new tasks and returns when all that it holds is settled, or after the time."""
        self._draining = True
        self._poll_over.set()
        try:
            await self._client.worker.drain(worker_session_id=self._session_id, timeout=_POLL_LATE_S)
        except ForgeError as error:
            self._options.on_problem(error)
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            await self._next_end(until - time.monotonic())

    async def stop(self) -> None:
        """Cancels what runs, waits for it to stop, and ends."""
        self._draining = True
        self._poll_over.set()
        for task in list(self._running.values()):
            task.cancel()
        until = time.monotonic() + _STOP_S
        while self._running and time.monotonic() < until:
            await self._next_end(until - time.monotonic())
        self._stopping.set()
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)

    @property
    def _session_id(self) -> str:
        return self._session.worker_session_id

    async def _register(self) -> None:
        options = self._options
        self._session = await self._client.worker.register(
            version=ProtocolVersion(major=1, minor=0),
            worker_name=options.name,
            queues=options.queues,
            capabilities=[capability for capability, _ in options.handlers],
            slots=options.slots,
        )
        self._known_at = time.monotonic()

    async def _forever(self, round_: Callable[[RegisterResponse], Awaitable[None]]) -> None:
        failures = 0
        while not self._stopping.is_set():
            session = self._session
            try:
                await round_(session)
                failures = 0
                continue
            except ForgeError as error:
                if error.reason == "WORKER_SESSION" and self._is_replaced(session):
                    self._give_up()
                    return
                if error.reason == "WORKER_SESSION":
                    await self._rejoin(session)
                else:
                    self._options.on_problem(error)
            except Exception as error:
                # A bug; what is held is still to be kept alive.
                self._options.on_problem(error)
            # No retry waits longer than a heartbeat: what one loop has leased must not run out because the other still waits.
            await asyncio.sleep(backoff(failures, 0.05, min(_RETRY_S_MAX, heartbeat_interval(session))))
            failures += 1

    def _is_replaced(self, session: RegisterResponse) -> bool:
        """A session ends by itself only when nothing was heard of it for the time of a lease; one that was known a moment ago has been replaced."""
        return self._session is session and time.monotonic() - self._known_at < lease_ttl(session) / 2

    def _give_up(self) -> None:
        for task in list(self._running.values()):
            task.lose()
        self._draining = True
        self._poll_over.set()
        self._stopping.set()
        self._options.on_replaced()

    async def _rejoin(self, ended: RegisterResponse) -> None:
        """The control plane knows a session no longer: all that it held is lost."""
        # The other loop has joined again meanwhile; joining once more would give up what the new session holds.
        if self._session is not ended:
            return
        if self._joining is None:
            self._joining = asyncio.create_task(self._join_again())
        await asyncio.shield(self._joining)

    async def _join_again(self) -> None:
        try:
            for task in list(self._running.values()):
                task.lose()
            await self._register()
            self._poll_over.set()
            if not self._draining:
                self._poll_over = asyncio.Event()
        except ForgeError as error:
            self._options.on_problem(error)
        finally:
            self._joining = None

    async def _lease(self, session: RegisterResponse) -> None:
        if self._draining:
            await self._stopping.wait()
            return
        free = self._options.slots - len(self._running)
        if free <= 0:
            await self._next_end(_POLL_S)
            return
        polling = asyncio.ensure_future(
            self._client.worker.lease_tasks(
                worker_session_id=session.worker_session_id, slots=free, wait=Duration(seconds=_POLL_S), timeout=_POLL_S + _POLL_LATE_S
            )
        )
        ending = asyncio.ensure_future(self._poll_over.wait())
        try:
            await asyncio.wait({polling, ending}, return_when=asyncio.FIRST_COMPLETED)
            # What comes after the end was asked for is not begun: no heartbeat names it, so another worker gets it.
            if self._draining or self._session is not session:
                return
            answer = await polling
        finally:
            ending.cancel()
            polling.cancel()
        for leased in answer.tasks:
            held = self._running.get(leased.task_id)
            if held is not None:
                held.lose()
            task = RunningTask(leased, self._client, self._submissions)
            self._running[leased.task_id] = task
            running = asyncio.create_task(self._run(leased.task_id, task))
            self._tasks.add(running)
            running.add_done_callback(self._tasks.discard)

    async def _run(self, task_id: str, task: RunningTask) -> None:
        try:
            await task.run(self._handler_of)
        except Exception as error:
            self._options.on_problem(error)
        finally:
            if self._running.get(task_id) is task:
                del self._running[task_id]
            self._task_ended.set()
            self._task_ended = asyncio.Event()

    async def _heartbeat(self, session: RegisterResponse) -> None:
        interval = heartbeat_interval(session)
        began = time.monotonic()
        held = dict(self._running)
        leases: list[TaskLease] = [task.lease for task in held.values()]
        # The server holds the call for the interval; one that says nothing for much longer has lost it, and the next one may come through.
        answer = await self._client.worker.heartbeat(worker_session_id=session.worker_session_id, held=leases, timeout=2 * interval + 1)
        self._known_at = time.monotonic()
        for task_id in answer.cancel_task_ids:
            if task_id in self._running:
                self._running[task_id].cancel()
        for task_id in answer.lost_task_ids:
            # By now this worker may hold the next lease of the same task, which the answer does not mean.
            if task_id in held:
                held[task_id].lose()
        # It answers early when something is to be stopped; until that has stopped it would answer so again.
        rest = interval / 4 if answer.cancel_task_ids else min(interval, _MIN_ROUND_S) - (time.monotonic() - began)
        if rest > 0:
            await asyncio.sleep(rest)

    def _handler_of(self, task: Task) -> Handler | None:
        match task.WhichOneof("kind"):
            case "model":
                key = (CapabilityKind.CAPABILITY_KIND_MODEL, f"{task.model.model.partition('/')[0]}/*")
            case "compaction":
                key = (CapabilityKind.CAPABILITY_KIND_MODEL, f"{task.compaction.model.partition('/')[0]}/*")
            case "tool":
                key = (CapabilityKind.CAPABILITY_KIND_TOOL, task.tool.tool)
            case "function":
                key = (CapabilityKind.CAPABILITY_KIND_FUNCTION, task.function.name)
            case "hook":
                key = (CapabilityKind.CAPABILITY_KIND_HOOK, task.hook.hook)
            case _:
                return None
        return self._handlers.get(key)

    async def _next_end(self, seconds: float) -> None:
        """Returns when the next task ends, or after the time."""
        try:
            await asyncio.wait_for(self._task_ended.wait(), max(0.0, seconds))
        except (TimeoutError, asyncio.TimeoutError):
            return


def heartbeat_interval(session: RegisterResponse) -> float:
    """The pace of a session, in seconds."""
    return _seconds(session.heartbeat_interval) if session.HasField("heartbeat_interval") else _HEARTBEAT_S


def lease_ttl(session: RegisterResponse) -> float:
    """How long a lease holds without a heartbeat, in seconds."""
    return _seconds(session.lease_ttl) if session.HasField("lease_ttl") else _LEASE_TTL_S


def _seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / 1e9
