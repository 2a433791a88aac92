import asyncio
import time
from collections.abc import Callable

import pytest

from forge_client import Cancellation, ErrorCode, ForgeError, is_passing
from forge_client.retry import async_with_retry, pause_seconds, with_retry


def storage_error() -> ForgeError:
    return ForgeError(ErrorCode.STORAGE_ERROR, "the database restarts")


class Script:
    """A call that fails with one error after the other, and then answers; without an answer it fails forever."""

    def __init__(self, *errors: BaseException, answer: str | None = "done", then: Callable[[], object] = lambda: None) -> None:
        self.raised: list[BaseException] = []
        self.calls = 0
        self._errors = list(errors)
        self._answer = answer
        self._then = then

    def __call__(self) -> str:
        self.calls += 1
        self._then()
        if self._errors or self._answer is None:
            error = self._errors.pop(0) if self._errors else storage_error()
            self.raised.append(error)
            raise error
        return self._answer

    async def later(self) -> str:
        await asyncio.sleep(0)
        return self()


@pytest.mark.parametrize("code", list(ErrorCode))
def test_an_error_passes_or_not_by_its_code(code: ErrorCode) -> None:
    assert is_passing(ForgeError(code, "no")) == (code in {ErrorCode.STORAGE_ERROR, ErrorCode.RESOURCE_EXHAUSTED})


def test_an_error_passes_only_when_it_says_so() -> None:
    assert not is_passing(ForgeError(ErrorCode.RESOURCE_EXHAUSTED, "message too large", retryable=False))
    assert not is_passing(ForgeError(ErrorCode.STORAGE_ERROR, "the stored bytes do not match their hash", retryable=False))
    assert not is_passing(ValueError("storage"))


async def test_a_call_is_made_again_while_what_it_fails_with_passes() -> None:
    call = Script(storage_error(), storage_error())
    assert with_retry(call) == "done"
    assert call.calls == 3
    call = Script(storage_error(), storage_error())
    assert await async_with_retry(call.later) == "done"
    assert call.calls == 3


async def test_a_call_fails_at_once_with_what_does_not_pass() -> None:
    conflict = ForgeError(ErrorCode.CONFLICT, "turn active", reason="TURN_ACTIVE", retryable=True)
    for error in (conflict, KeyError("a bug")):
        call = Script(error)
        with pytest.raises(type(error)) as raised:
            with_retry(call)
        assert (raised.value, call.calls) == (error, 1)
        call = Script(error)
        with pytest.raises(type(error)) as raised:
            await async_with_retry(call.later)
        assert (raised.value, call.calls) == (error, 1)


async def test_a_call_fails_with_the_last_error_when_its_patience_is_over() -> None:
    call = Script(answer=None)
    with pytest.raises(ForgeError) as raised:
        with_retry(call, patience=0.03)
    assert raised.value is call.raised[-1]
    assert call.calls > 1
    call = Script(answer=None)
    with pytest.raises(ForgeError) as raised:
        await async_with_retry(call.later, patience=0.03)
    assert raised.value is call.raised[-1]
    assert call.calls > 1


def test_a_call_is_not_made_again_after_its_caller_has_given_up() -> None:
    cancellation = Cancellation()
    call = Script(answer=None, then=cancellation.cancel)
    with pytest.raises(ForgeError) as raised:
        with_retry(call, cancellation=cancellation)
    assert (raised.value, call.calls) == (call.raised[0], 1)


async def test_a_cancelled_task_ends_the_attempts() -> None:
    called = asyncio.Event()
    call = Script(answer=None, then=called.set)
    task = asyncio.create_task(async_with_retry(call.later))
    await called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_the_pauses_grow_up_to_two_seconds() -> None:
    assert 0.025 <= pause_seconds(0) <= 0.05
    assert 0.1 <= pause_seconds(2) <= 0.2
    for attempt in (6, 50, 10_000):
        assert 1 <= pause_seconds(attempt) <= 2


def test_a_cancellation_calls_back_each_that_is_attached_once() -> None:
    cancellation = Cancellation()
    called: list[str] = []
    cancellation.attach(lambda: called.append("kept"))
    cancellation.attach(lambda: called.append("detached"))()
    assert not cancellation.cancelled
    cancellation.cancel()
    cancellation.cancel()
    cancellation.attach(lambda: called.append("late"))
    assert (cancellation.cancelled, called) == (True, ["kept", "late"])
    started = time.monotonic()
    assert cancellation.wait(10)
    assert time.monotonic() - started < 5
