import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any

import pytest

from forge_client import Cancellation, ErrorCode, Followed, ForgeError
from forge_client.follow_events import async_follow_events, follow_events
from forge_client.protocol.common import StreamRef
from forge_client.protocol.event import CaughtUp, Event, StreamCursor, SubscribeEventsRequest, SubscribeEventsResponse

RUN = StreamRef(kind="STREAM_KIND_RUN", id="run")
CHILD = StreamRef(kind="STREAM_KIND_SESSION", id="child")
LOST = ForgeError(ErrorCode.STORAGE_ERROR, "connection reset", reason="TRANSPORT")

Step = SubscribeEventsResponse | ForgeError | Callable[[], object]


def event(seq: int, stream: StreamRef = RUN, **fields: Any) -> SubscribeEventsResponse:
    return SubscribeEventsResponse(event=Event(stream=stream, seq=seq, kind="message.added", **fields))


def step_started(seq: int, session_id: str) -> SubscribeEventsResponse:
    return event(seq, step_started={"session_id": session_id})


def position(seq: int, stream: StreamRef = RUN) -> SubscribeEventsResponse:
    return SubscribeEventsResponse(position={"stream": stream, "seq": seq})


def caught_up(*seqs: int) -> SubscribeEventsResponse:
    return SubscribeEventsResponse(caught_up={"incarnation": "first", "positions": [{"stream": RUN, "seq": seq} for seq in seqs]})


class Responses:
    """One subscription that follows a script: an error ends it, a function is called."""

    def __init__(self, script: list[Step], cancellation: Cancellation | None, ended: Callable[[], object]) -> None:
        self._script = script
        self._cancellation = cancellation
        self._ended = ended

    def __iter__(self) -> Iterator[SubscribeEventsResponse]:
        for step in self._script:
            if isinstance(step, ForgeError):
                raise step
            if callable(step):
                step()
            else:
                yield step
            if self._cancellation is not None and self._cancellation.cancelled:
                raise ForgeError(ErrorCode.CANCELLED, "given up")

    async def __aiter__(self) -> AsyncIterator[SubscribeEventsResponse]:
        for response in self:
            await asyncio.sleep(0)
            yield response

    def __enter__(self) -> "Responses":
        return self

    def __exit__(self, *_: object) -> None:
        self._ended()

    async def __aenter__(self) -> "Responses":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended()


class Scripted:
    """Subscriptions that follow scripts, one after the other; a subscription beyond them fails."""

    def __init__(self, *scripts: list[Step]) -> None:
        self._scripts = list(scripts)
        self.requests: list[SubscribeEventsRequest] = []
        self.ended = 0

    @property
    def asked(self) -> list[Mapping[str, int]]:
        return [{cursor.stream.id: cursor.after_seq for cursor in request.streams} for request in self.requests]

    def subscribe(self, request: SubscribeEventsRequest, cancellation: Cancellation | None = None) -> Any:
        self.requests.append(request)
        script: list[Step] = self._scripts.pop(0) if self._scripts else [ForgeError(ErrorCode.INTERNAL, "nobody expected this subscription")]
        return Responses(script, cancellation, self._end)

    def _end(self) -> None:
        self.ended += 1


def short(followed: Followed) -> str | int:
    """What came, in short: a seq (of a child with its name), "caught up", or a position."""
    if isinstance(followed, Event):
        return followed.seq if followed.stream.id == RUN.id else f"{followed.stream.id} {followed.seq}"
    return "caught up" if isinstance(followed, CaughtUp) else f"at {followed.seq}"


Follow = Callable[..., Awaitable[list[str | int]]]


async def follow_blocking(scripted: Scripted, into: list[str | int] | None = None, **options: Any) -> list[str | int]:
    seen: list[str | int] = [] if into is None else into
    settings: dict[str, Any] = {"streams": [RUN], "no_follow": True, **options}
    for followed in follow_events(scripted.subscribe, **settings):
        seen.append(short(followed))
    return seen


async def follow_async(scripted: Scripted, into: list[str | int] | None = None, **options: Any) -> list[str | int]:
    seen: list[str | int] = [] if into is None else into
    settings: dict[str, Any] = {"streams": [RUN], "no_follow": True, **options}
    async for followed in async_follow_events(scripted.subscribe, **settings):
        seen.append(short(followed))
    return seen


@pytest.fixture(params=[follow_blocking, follow_async], ids=["blocking", "asyncio"])
def follow(request: pytest.FixtureRequest) -> Follow:
    return request.param


async def test_asks_for_what_it_was_told_to(follow: Follow) -> None:
    scripted = Scripted([caught_up()])
    await follow(scripted, streams=[StreamCursor(stream=RUN, after_seq=7), CHILD], follow_children=True, exclude_kinds=["turn.output_delta"])
    assert scripted.requests == [
        SubscribeEventsRequest(
            streams=[{"stream": RUN, "after_seq": 7}, {"stream": CHILD}],
            follow_children=True,
            filter={"exclude_kinds": ["turn.output_delta"]},
            no_follow=True,
        )
    ]


async def test_goes_on_after_the_last_event_when_the_connection_is_lost_each_event_once_and_caught_up_once(follow: Follow) -> None:
    scripted = Scripted([event(1), event(2), caught_up(), event(3), LOST], [LOST], [event(3), event(4), caught_up(), event(5), caught_up()])
    errors: list[ForgeError] = []
    assert await follow(scripted, on_reconnect=errors.append) == [1, 2, "caught up", 3, 4, 5]
    assert scripted.asked == [{"run": 0}, {"run": 3}, {"run": 3}]
    assert errors == [LOST, LOST]
    assert scripted.ended == 3


async def test_goes_on_after_positions_as_well_and_never_back_behind_what_came(follow: Follow) -> None:
    scripted = Scripted([event(3), position(9), LOST], [position(4), LOST], [caught_up(20), LOST], [caught_up()])
    assert await follow(scripted) == [3, "at 9", "at 4", "caught up"]
    assert scripted.asked == [{"run": 0}, {"run": 9}, {"run": 9}, {"run": 20}]


@pytest.mark.parametrize("code", [ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.UNAUTHENTICATED, ErrorCode.CANCELLED, ErrorCode.VALIDATION])
async def test_fails_with_what_a_new_connection_would_not_mend(follow: Follow, code: ErrorCode) -> None:
    error = ForgeError(code, "no")
    seen: list[str | int] = []
    with pytest.raises(ForgeError) as raised:
        await follow(Scripted([event(1), error]), seen)
    assert (raised.value, seen) == (error, [1])


async def test_goes_on_after_it_was_too_slow(follow: Follow) -> None:
    slow = ForgeError(ErrorCode.RESOURCE_EXHAUSTED, "slow", reason="SLOW_SUBSCRIBER")
    assert await follow(Scripted([event(1), slow], [event(2), caught_up()])) == [1, 2, "caught up"]


async def test_passes_over_what_a_newer_server_tells_beside_events(follow: Follow) -> None:
    newer = SubscribeEventsResponse.FromString(b"\xf2\x3f\x03new")
    assert await follow(Scripted([event(1), newer, event(2, version={"major": 1, "minor": 9})])) == [1, 2]


async def test_asks_for_a_child_by_itself_after_a_reconnection(follow: Follow) -> None:
    scripted = Scripted([step_started(2, "child"), event(1, CHILD), event(2, CHILD), event(3), LOST], [event(3, CHILD), event(2, CHILD), caught_up()])
    assert await follow(scripted, follow_children=True) == [2, "child 1", "child 2", 3, "child 3", "caught up"]
    assert scripted.asked == [{"run": 0}, {"run": 3, "child": 2}]


async def test_does_not_lose_a_child_between_the_event_that_names_it_and_its_own_first(follow: Follow) -> None:
    scripted = Scripted([event(1), step_started(2, "child"), event(3), LOST], [step_started(2, "child"), event(3), event(1, CHILD), LOST], [caught_up()])
    assert await follow(scripted, follow_children=True) == [1, 2, 3, "child 1", "caught up"]
    assert scripted.asked == [{"run": 0}, {"run": 1}, {"run": 3, "child": 1}]


async def test_children_are_those_of_sub_agents_and_workflow_steps_as_well_and_no_more_are_asked_for_than_may_be(follow: Follow) -> None:
    tool_started = event(1, CHILD, tool_started={"child_session_id": "grandchild"})
    run_started = event(2, step_started={"child_run_id": "sub-run"})
    many: list[Step] = [event(1, StreamRef(kind="STREAM_KIND_SESSION", id=f"c{index}")) for index in range(1_100)]
    scripted = Scripted([step_started(1, "child"), run_started, tool_started, LOST], [*many, LOST], [caught_up()])
    await follow(scripted, follow_children=True)
    # What is named and has not come is asked for by the event that names it.
    assert scripted.asked[:2] == [{"run": 0}, {"run": 1, "child": 0}]
    assert len(scripted.asked[2]) == 1_000
    assert {name: scripted.asked[2][name] for name in ("run", "child", "c0")} == {"run": 1, "child": 0, "c0": 1}


async def test_asks_for_all_streams_that_were_named_so_that_the_server_refuses_too_many(follow: Follow) -> None:
    scripted = Scripted([caught_up()])
    await follow(scripted, streams=[StreamRef(kind="STREAM_KIND_RUN", id=f"r{index}") for index in range(1_001)], follow_children=True)
    assert len(scripted.asked[0]) == 1_001


async def test_leaves_children_alone_when_they_are_not_followed(follow: Follow) -> None:
    scripted = Scripted([step_started(2, "child"), LOST], [caught_up()])
    assert await follow(scripted) == [2, "caught up"]
    assert scripted.asked == [{"run": 0}, {"run": 2}]


async def test_subscribes_again_when_the_server_ends_the_stream_unless_it_was_to_end() -> None:
    stop = Cancellation()
    scripted = Scripted([event(1), caught_up()], [event(2), stop.cancel])
    assert await follow_blocking(scripted, no_follow=False, cancellation=stop) == [1, "caught up", 2]
    assert scripted.asked == [{"run": 0}, {"run": 1}]


async def test_ends_in_peace_when_it_is_cancelled_amid_a_stream_while_it_waits_or_before() -> None:
    stop = Cancellation()
    assert await follow_blocking(Scripted([event(1), stop.cancel, event(2)]), no_follow=False, cancellation=stop) == [1]
    stop = Cancellation()
    scripted = Scripted([LOST], [LOST])
    assert await follow_blocking(scripted, no_follow=False, cancellation=stop, on_reconnect=lambda _: stop.cancel()) == []
    assert len(scripted.requests) == 1
    scripted = Scripted()
    assert await follow_blocking(scripted, cancellation=stop) == []
    assert scripted.requests == []


async def test_ends_its_subscription_when_its_reader_stops_reading() -> None:
    scripted = Scripted([event(1), event(2)], [event(1), event(2)])
    for followed in follow_events(scripted.subscribe, [RUN]):
        assert short(followed) == 1
        break
    assert scripted.ended == 1
    async with aclosing(async_follow_events(scripted.subscribe, [RUN])) as events:
        async for followed in events:
            assert short(followed) == 1
            break
    assert scripted.ended == 2
