"""The bounds of one attempt: when it must have ended, how long it may take from its beginning, and how long it may be silent."""

import asyncio
import time

from google.protobuf.duration_pb2 import Duration

from forge_client.errors import ErrorCode
from forge_client.protocol.worker import Task
from forge_client.worker.outcomes import worker_error
from forge_client.worker.stop import Stop


class AttemptClock:
    """The stop is told which bound has passed."""

    def __init__(self, task: Task, stop: Stop) -> None:
        self._stop = stop
        self._timeout = _seconds(task.timeout) if task.HasField("timeout") else None
        self._heartbeat_timeout = _seconds(task.heartbeat_timeout) if task.HasField("heartbeat_timeout") else None
        self._ends_at = task.deadline_at.seconds + task.deadline_at.nanos / 1e9 if task.HasField("deadline_at") else None
        self._limit_at: float | None = None
        self._alive_at = 0.0
        self._deadline_timer = None if self._ends_at is None else self._timer(self._ends_at - time.time())
        self._limit: asyncio.TimerHandle | None = None
        self._silence: asyncio.TimerHandle | None = None

    @property
    def deadline(self) -> float | None:
        """When the attempt must have ended, in seconds since 1970; None: no bound."""
        bounds = [bound for bound in (self._ends_at, self._limit_at) if bound is not None]
        return min(bounds) if bounds else None

    def begin(self) -> None:
        """Its time counts from now."""
        self.hold()
        if self._timeout is not None:
            self._limit_at = time.time() + self._timeout
            self._limit = self._timer(self._timeout)
        if self._heartbeat_timeout is not None:
            self.alive()
            self._silence = asyncio.get_running_loop().call_later(self._heartbeat_timeout, self._look, self._heartbeat_timeout)

    def hold(self) -> None:
        """It waits for its turn, and its time does not run; only the deadline does."""
        self._limit_at = None
        for timer in (self._limit, self._silence):
            if timer is not None:
                timer.cancel()
        self._limit = self._silence = None

    def alive(self) -> None:
        self._alive_at = time.monotonic()

    def end(self) -> None:
        self.hold()
        if self._deadline_timer is not None:
            self._deadline_timer.cancel()

    def _look(self, longest: float) -> None:
        """One timer for the whole attempt: code that says much would set one with every word."""
        left = self._alive_at + longest - time.monotonic()
        if left > 0:
            self._silence = asyncio.get_running_loop().call_later(left, self._look, longest)
            return
        message = f"it gave no sign of life for {longest * 1000:.0f} ms"
        self._stop.set(worker_error(ErrorCode.DEADLINE_EXCEEDED, message, reason="HEARTBEAT_TIMEOUT"))

    def _timer(self, seconds: float) -> asyncio.TimerHandle:
        late = worker_error(ErrorCode.DEADLINE_EXCEEDED, "the task took longer than it may")
        return asyncio.get_running_loop().call_later(max(0.0, seconds), self._stop.set, late)


def _seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / 1e9
