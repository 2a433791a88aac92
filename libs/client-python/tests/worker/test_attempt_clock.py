"""When the time of an attempt runs."""

import asyncio
import time

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from forge_client import ErrorCode
from forge_client.protocol.worker import Task
from forge_client.worker.attempt_clock import AttemptClock
from forge_client.worker.stop import Stop

WAIT_S = 20


def milliseconds(count: int) -> Duration:
    duration = Duration()
    duration.FromMilliseconds(count)
    return duration


async def passes() -> None:
    """Longer than the bounds of these tests."""
    passed = asyncio.Event()
    asyncio.get_running_loop().call_later(0.2, passed.set)
    await passed.wait()


@pytest.mark.parametrize("task", [Task(timeout=milliseconds(100)), Task(heartbeat_timeout=milliseconds(100))])
async def test_does_not_run_while_the_call_waits_for_its_turn(task: Task) -> None:
    stop = Stop()
    clock = AttemptClock(task, stop)
    clock.begin()
    clock.hold()
    await passes()
    assert (stop.reason, clock.deadline) == (None, None)
    clock.begin()
    await asyncio.wait_for(stop.event.wait(), WAIT_S)
    assert stop.is_deadline
    clock.end()


async def test_signs_of_life_put_off_silence_and_nothing_else() -> None:
    stop = Stop()
    clock = AttemptClock(Task(timeout=milliseconds(400), heartbeat_timeout=milliseconds(150)), stop)
    clock.begin()
    began = time.monotonic()
    while stop.reason is None and time.monotonic() < began + WAIT_S:
        clock.alive()
        await asyncio.sleep(0.01)
    assert stop.reason is not None
    assert (stop.reason.code, stop.reason.reason) == (ErrorCode.DEADLINE_EXCEEDED, "")
    assert time.monotonic() - began >= 0.39
    clock.end()


async def test_the_deadline_holds_also_while_the_call_waits() -> None:
    stop = Stop()
    at = Timestamp()
    at.FromMilliseconds(round((time.time() + 0.1) * 1000))
    clock = AttemptClock(Task(deadline_at=at), stop)
    clock.hold()
    await asyncio.wait_for(stop.event.wait(), WAIT_S)
    assert stop.is_deadline


async def test_nothing_happens_after_its_end() -> None:
    stop = Stop()
    clock = AttemptClock(Task(timeout=milliseconds(50), heartbeat_timeout=milliseconds(50)), stop)
    clock.begin()
    clock.end()
    await passes()
    assert stop.reason is None
