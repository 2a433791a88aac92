"""How fast a Python client reads snapshots and events from one server: prints one JSON object.

Arguments: sync or async, the server's URL, a session's id, how many events its stream has, seconds for each measurement. The token is in FORGE_TOKEN.
"""

import asyncio
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from forge_client import AsyncForgeClient, ForgeClient, session_stream
from forge_client.protocol.event import StreamCursor, SubscribeEventsRequest

IN_FLIGHT = 32


def request(session_id: str) -> SubscribeEventsRequest:
    return SubscribeEventsRequest(streams=[StreamCursor(stream=session_stream(session_id))], no_follow=True)


def check(count: int, expected: int) -> None:
    if count != expected:
        raise SystemExit(f"a stream of {expected} events was read as {count}")


def measure(url: str, token: str, session_id: str, expected: int, seconds: float) -> dict[str, float]:
    with ForgeClient(url, token) as client, ThreadPoolExecutor(IN_FLIGHT) as pool:
        until = time.monotonic() + seconds

        def read() -> int:
            count = 0
            while time.monotonic() < until:
                client.session.get_session_snapshot(session_id=session_id)
                count += 1
            return count

        began = time.monotonic()
        reads = sum(pool.map(lambda _: read(), range(IN_FLIGHT))) / (time.monotonic() - began)
        began, events = time.monotonic(), 0
        while time.monotonic() - began < seconds:
            count = sum(response.WhichOneof("kind") == "event" for response in client.event.subscribe_events(request(session_id)))
            check(count, expected)
            events += count
        return {"reads": reads, "events": events / (time.monotonic() - began)}


async def measure_async(url: str, token: str, session_id: str, expected: int, seconds: float) -> dict[str, float]:
    async with AsyncForgeClient(url, token) as client:
        until = time.monotonic() + seconds

        async def read() -> int:
            count = 0
            while time.monotonic() < until:
                await client.session.get_session_snapshot(session_id=session_id)
                count += 1
            return count

        began = time.monotonic()
        reads = sum(await asyncio.gather(*(read() for _ in range(IN_FLIGHT)))) / (time.monotonic() - began)
        began, events = time.monotonic(), 0
        while time.monotonic() - began < seconds:
            count = 0
            async for response in client.event.subscribe_events(request(session_id)):
                count += response.WhichOneof("kind") == "event"
            check(count, expected)
            events += count
        return {"reads": reads, "events": events / (time.monotonic() - began)}


kind, url, session_id, expected, seconds = sys.argv[1:]
token = os.environ["FORGE_TOKEN"]
if kind == "sync":
    rates = measure(url, token, session_id, int(expected), float(seconds))
else:
    rates = asyncio.run(measure_async(url, token, session_id, int(expected), float(seconds)))
print(json.dumps(rates))
