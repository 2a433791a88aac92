"""One leased task in this worker's hands."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from forge_client.async_client import AsyncForgeClient
from forge_client.errors import ErrorCode, ForgeError
from forge_client.protocol.common import TaskLease
from forge_client.protocol.event import ModelStarted, ToolStarted
from forge_client.protocol.worker import LeasedTask, Settlement, Task, TaskStart
from forge_client.worker.attempt_clock import AttemptClock
from forge_client.worker.outcomes import Outcome, cancelled, failure, worker_error
from forge_client.worker.output import Output
from forge_client.worker.payloads import Payloads
from forge_client.worker.stop import Stop
from forge_client.worker.submissions import Submissions, is_of_content


@dataclass(frozen=True)
class TaskContext:
    """What a handler is given for one leased task."""

    # Whole, wherever it was kept.
    task: Task
    epoch: int
    stop: Stop
    clock: AttemptClock
    output: Output
    payloads: Payloads
    # Records the start and returns with the go-ahead. Raises when it was refused: then nothing may happen.
    start: Callable[[ModelStarted | ToolStarted], Awaitable[None]]


# Returns only when everything that it began has stopped, or says that this is not known. What it raises is settled as a failure.
Handler = Callable[[TaskContext], Awaitable[Outcome]]


class RunningTask:
    def __init__(self, leased: LeasedTask, client: AsyncForgeClient, submissions: Submissions) -> None:
        self._leased = leased
        self._client = client
        self._submissions = submissions
        self._stop = Stop()
        self._lost = False
        self.lease = TaskLease(task_id=leased.task_id, epoch=leased.epoch, lease_token=leased.lease_token)

    def cancel(self) -> None:
        self._stop.set(ForgeError(ErrorCode.CANCELLED, "the task was cancelled", origin="worker"))

    def lose(self) -> None:
        """It is another worker's now: stop, and settle nothing."""
        self._lost = True
        self._stop.set(ForgeError(ErrorCode.WORKER_LOST, "the lease was lost", origin="worker"))

    async def run(self, handler_of: Callable[[Task], Handler | None]) -> None:
        """Runs the task to its settlement. Raises only on a bug, or where the settlement can't be delivered."""
        output = Output(self.lease, self._submissions.report)
        payloads = Payloads(self._client, self.lease, self._stop)
        clock: AttemptClock | None = None
        outcome: Outcome | None
        try:
            task = await self._whole_task(payloads)
            clock = AttemptClock(task, self._stop)
            clock.begin()
            outcome = await self._perform(task, handler_of, clock, output, payloads)
        except Exception as error:
            outcome = failure(error)
        finally:
            if clock is not None:
                clock.end()
            output.end()
        if outcome is None or self._lost:
            return
        try:
            await self._settle(outcome)
        except (ForgeError, ValueError) as error:
            if isinstance(error, ForgeError) and not is_of_content(error):
                raise
            # The outcome is one that can't be kept, so that is how the task ended; unsettled, it would be done again, or nobody would know.
            await self._settle(failure(error))

    async def _settle(self, outcome: Outcome) -> None:
        await self._submissions.settle(Settlement(lease=self.lease, **outcome))

    async def _perform(
        self, task: Task, handler_of: Callable[[Task], Handler | None], clock: AttemptClock, output: Output, payloads: Payloads
    ) -> Outcome | None:
        handler = handler_of(task)
        if handler is None:
            raise worker_error(ErrorCode.UNSUPPORTED, "this worker does not serve this task: it registered a capability that it has no handler for")
        if self._stop.reason is not None:
            return failure(self._stop.reason) if self._stop.is_deadline else cancelled()
        refused = False

        async def start(kind: ModelStarted | ToolStarted) -> None:
            nonlocal refused
            try:
                begins = TaskStart(lease=self.lease, model=kind) if isinstance(kind, ModelStarted) else TaskStart(lease=self.lease, tool=kind)
                await self._submissions.start(begins)
            except ForgeError:
                refused = True
                raise

        try:
            return await handler(TaskContext(task, self._leased.epoch, self._stop, clock, output, payloads, start))
        except ForgeError as error:
            # A refused start means that nothing happened and that the task is not this worker's any more.
            if refused and error.reason == "LEASE_LOST":
                return None
            raise

    async def _whole_task(self, payloads: Payloads) -> Task:
        task = self._leased.task
        if not task.HasField("artifact"):
            return task
        try:
            return Task.FromString(await payloads.get(task.artifact.sha256))
        except DecodeError as error:
            raise worker_error(ErrorCode.INTERNAL, f"artifact {task.artifact.sha256} is no task") from error
