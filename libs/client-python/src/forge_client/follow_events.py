"""Subscriptions that reconnect by themselves."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from typing import Protocol, TypeAlias

from forge_client._async_channel import AsyncResponseStream
from forge_client._channel import ResponseStream
from forge_client._gen.forge.common.v1 import common_pb2
from forge_client._gen.forge.event.v1 import event_pb2, event_service_pb2
from forge_client._request import to_request
from forge_client.cancellation import Cancellation
from forge_client.cursors import Cursors
from forge_client.errors import ForgeError
from forge_client.retry import is_passing, pause, pause_seconds

Start: TypeAlias = event_service_pb2.StreamCursor | common_pb2.StreamRef
"""A stream, and where to begin in it; without a cursor: from the beginning."""

Followed: TypeAlias = event_pb2.Event | event_service_pb2.CaughtUp | event_service_pb2.Position
"""What comes of following: an event, or a marker."""


class Subscribe(Protocol):
    def __call__(
        self, request: event_service_pb2.SubscribeEventsRequest, /, *, cancellation: Cancellation | None
    ) -> ResponseStream[event_service_pb2.SubscribeEventsResponse]: ...


class AsyncSubscribe(Protocol):
    def __call__(self, request: event_service_pb2.SubscribeEventsRequest, /) -> AsyncResponseStream[event_service_pb2.SubscribeEventsResponse]: ...


class _Following:
    """What one reader asks for, and what it has been given: everything about following but the wait."""

    def __init__(self, streams: Iterable[Start], follow_children: bool, exclude_kinds: Iterable[str], no_follow: bool) -> None:
        self._cursors = Cursors(streams, follow_children)
        self._fields = {"follow_children": follow_children, "filter": {"exclude_kinds": list(exclude_kinds)}, "no_follow": no_follow}
        self._caught_up = False

    def request(self) -> event_service_pb2.SubscribeEventsRequest:
        return to_request(event_service_pb2.SubscribeEventsRequest, None, {"streams": self._cursors.to_ask(), **self._fields})

    def take(self, response: event_service_pb2.SubscribeEventsResponse) -> Followed | None:
        """What the reader is to be given; None where it has it, or where a newer server tells what this package does not know."""
        kind = response.WhichOneof("kind")
        if kind == "event":
            return response.event if self._cursors.is_new(response.event) else None
        if kind == "position":
            self._cursors.move_to(response.position)
            return response.position
        if kind == "caught_up":
            for position in response.caught_up.positions:
                self._cursors.move_to(position)
            if not self._caught_up:
                self._caught_up = True
                return response.caught_up
        return None


def follow_events(
    subscribe: Subscribe,
    streams: Iterable[Start],
    *,
    follow_children: bool = False,
    exclude_kinds: Iterable[str] = (),
    no_follow: bool = False,
    cancellation: Cancellation | None = None,
    on_reconnect: Callable[[ForgeError], object] | None = None,
) -> Generator[Followed, None, None]:
    """See ForgeClient.follow_events."""
    following = _Following(streams, follow_children, exclude_kinds, no_follow)

    def ended() -> bool:
        return cancellation is not None and cancellation.cancelled

    attempt = 0
    while not ended():
        try:
            with subscribe(following.request(), cancellation=cancellation) as responses:
                for response in responses:
                    attempt = 0
                    followed = following.take(response)
                    if followed is not None:
                        yield followed
            if no_follow or ended():
                return
        except ForgeError as error:
            if ended():
                return
            if not is_passing(error):
                raise
            if on_reconnect is not None:
                on_reconnect(error)
        pause(attempt, cancellation)
        attempt += 1


async def async_follow_events(
    subscribe: AsyncSubscribe,
    streams: Iterable[Start],
    *,
    follow_children: bool = False,
    exclude_kinds: Iterable[str] = (),
    no_follow: bool = False,
    on_reconnect: Callable[[ForgeError], object] | None = None,
) -> AsyncGenerator[Followed, None]:
    """See AsyncForgeClient.follow_events."""
    following = _Following(streams, follow_children, exclude_kinds, no_follow)
    attempt = 0
    while True:
        try:
            async with subscribe(following.request()) as responses:
                async for response in responses:
                    attempt = 0
                    followed = following.take(response)
                    if followed is not None:
                        yield followed
            if no_follow:
                return
        except ForgeError as error:
            if not is_passing(error):
                raise
            if on_reconnect is not None:
                on_reconnect(error)
        await asyncio.sleep(pause_seconds(attempt))
        attempt += 1
