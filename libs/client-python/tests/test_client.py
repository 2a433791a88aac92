"""Both clients against a real server, and against one that never answers."""

import asyncio
import hashlib
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

import pytest

from forge_client import (
    AsyncForgeClient,
    Cancellation,
    ErrorCode,
    ForgeClient,
    ForgeError,
    ProjectServer,
    command_header,
    session_stream,
    text_part,
)
from forge_client.protocol.artifact import PutArtifactRequest
from forge_client.protocol.event import CaughtUp, Event, StreamCursor
from forge_client.protocol.session import CreateSessionRequest, TurnStatus

SECONDS_MAX = 30.0


@pytest.fixture
def client(server: ProjectServer) -> Iterator[ForgeClient]:
    with ForgeClient(server.url, server.token) as client:
        yield client


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that accepts connections and never says a word, as one whose process is stopped."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def create(client: ForgeClient) -> str:
    return client.session.create_session(header=command_header(), agent={"model": "demo/echo"}, timeout=SECONDS_MAX).session_id


class TestForgeClient:
    def test_follows_a_turn_to_its_end(self, client: ForgeClient) -> None:
        session_id = create(client)
        turn = client.session.start_turn(header=command_header(), session_id=session_id, input=[text_part("Hello, 👩‍🚀.")])
        kinds: list[str] = []
        for followed in client.follow_events([session_stream(session_id)]):
            if isinstance(followed, Event):
                kinds.append(followed.kind)
                if followed.kind == "turn.completed":
                    break
        assert kinds[0] == "session.created"
        snapshot = client.session.get_session_snapshot(session_id=session_id).session
        assert (snapshot.turn.turn_id, snapshot.turn.status) == (turn.turn_id, TurnStatus.TURN_STATUS_COMPLETED)
        said = client.session.read_conversation(session_id=session_id).messages
        assert said[0].parts[0].text.text == "Hello, 👩‍🚀."

    def test_takes_a_message_in_the_place_of_its_fields(self, client: ForgeClient) -> None:
        request = CreateSessionRequest(header=command_header(), agent={"model": "demo/echo"})
        first = client.session.create_session(request)
        assert client.session.create_session(request) == first
        assert client.with_retry(lambda: client.session.create_session(request)) == first

    def test_fails_with_the_server_s_own_error(self, client: ForgeClient) -> None:
        session_id = create(client)
        with pytest.raises(ForgeError) as raised:
            client.session.close_session(header=command_header(expected_seq=99), session_id=session_id)
        error = raised.value
        assert (error.code, error.reason, error.metadata["current_seq"]) == (ErrorCode.CONFLICT, "SEQ_MISMATCH", "1")
        with pytest.raises(ForgeError) as raised:
            next(client.follow_events([StreamCursor(stream=session_stream(session_id), after_seq=99)]))
        assert (raised.value.code, raised.value.reason) == (ErrorCode.CONFLICT, "CURSOR_AHEAD")
        with pytest.raises(ForgeError) as raised:
            client.session.create_session(header=command_header(), title="a\udc00")
        assert (raised.value.code, raised.value.metadata) == (ErrorCode.VALIDATION, {"field": "title"})

    def test_is_told_who_it_is_not(self, server: ProjectServer) -> None:
        with ForgeClient(server.url, "unknown") as stranger, pytest.raises(ForgeError) as raised:
            create(stranger)
        assert raised.value.code == ErrorCode.UNAUTHENTICATED
        with ForgeClient(server.url, server.token, namespace="elsewhere") as stranger, pytest.raises(ForgeError) as raised:
            create(stranger)
        assert raised.value.code == ErrorCode.PERMISSION_DENIED

    def test_carries_an_artifact_of_the_largest_size(self, client: ForgeClient) -> None:
        content = bytes(range(256)) * 65_536
        artifact = client.artifact.put_artifact(PutArtifactRequest(content=content, media_type="application/octet-stream")).artifact
        assert (artifact.sha256, artifact.size) == (hashlib.sha256(content).hexdigest(), 16 * 1024 * 1024)
        with client.artifact.get_artifact(sha256=artifact.sha256, timeout=SECONDS_MAX) as pieces:
            assert b"".join(piece.content for piece in pieces) == content
        with pytest.raises(ForgeError) as raised:
            client.artifact.put_artifact(content=bytes(23 * 1024 * 1024))
        assert (raised.value.code, raised.value.retryable) == (ErrorCode.RESOURCE_EXHAUSTED, False)

    def test_may_be_used_by_many_threads(self, client: ForgeClient) -> None:
        with ThreadPoolExecutor(8) as threads:
            sessions = list(threads.map(lambda _: create(client), range(40)))
        assert len(set(sessions)) == 40

    def test_finds_its_project_s_server(self, project: object, server: ProjectServer) -> None:
        with ForgeClient.local_project(str(project)) as client:
            assert client.workflow.list_runs(page_size=1) is not None

    def test_leaves_a_stream_that_it_no_longer_reads(self, client: ForgeClient) -> None:
        session_id = create(client)
        with client.event.subscribe_events(streams=[StreamCursor(stream=session_stream(session_id))]) as responses:
            assert next(responses).event.seq == 1
        with pytest.raises(ForgeError) as raised:
            list(responses)
        assert raised.value.code == ErrorCode.CANCELLED

    def test_ends_following_from_another_thread(self, client: ForgeClient) -> None:
        session_id = create(client)
        stop = Cancellation()
        for followed in client.follow_events([session_stream(session_id)], cancellation=stop):
            if isinstance(followed, CaughtUp):
                threading.Thread(target=stop.cancel).start()

    def test_does_not_wait_longer_than_its_timeout(self, silent: str) -> None:
        with ForgeClient(silent, "token") as client:
            with pytest.raises(ForgeError) as raised:
                client.session.list_sessions(timeout=0.2)
            assert (raised.value.code, raised.value.retryable) == (ErrorCode.DEADLINE_EXCEEDED, False)
            with pytest.raises(ForgeError) as raised:
                list(client.event.watch_streams(timeout=0.2))
            assert raised.value.code == ErrorCode.DEADLINE_EXCEEDED
            with pytest.raises(ForgeError) as raised:
                client.session.list_sessions(timeout=0.2, cancellation=Cancellation())
            assert raised.value.code == ErrorCode.DEADLINE_EXCEEDED

    def test_is_given_up_from_another_thread(self, silent: str) -> None:
        with ForgeClient(silent, "token") as client:
            for call in (client.session.list_sessions, lambda **options: list(client.event.watch_streams(**options))):
                cancellation = Cancellation()
                threading.Timer(0.1, cancellation.cancel).start()
                for _ in range(2):
                    with pytest.raises(ForgeError) as raised:
                        call(cancellation=cancellation)
                    assert raised.value.code == ErrorCode.CANCELLED

    def test_ends_open_calls_when_it_is_closed_and_refuses_new_ones(self, silent: str) -> None:
        client = ForgeClient(silent, "token")
        calls = (
            client.session.list_sessions,
            lambda: client.session.list_sessions(cancellation=Cancellation()),
            lambda: list(client.event.watch_streams()),
            lambda: list(client.follow_events([session_stream("1")])),
        )
        with ThreadPoolExecutor(len(calls)) as threads:
            outcomes = [threads.submit(call) for call in calls]
            threading.Timer(0.2, client.close).start()
            codes = [error.code for outcome in outcomes if isinstance(error := outcome.exception(), ForgeError)]
        assert codes == [ErrorCode.CANCELLED] * len(calls)
        client.close()
        for call in calls:
            with pytest.raises(ForgeError, match="this client is closed"):
                call()

    def test_says_that_nobody_listens(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}"
            with ForgeClient(url, "token") as client, pytest.raises(ForgeError) as raised:
                client.session.list_sessions()
        assert (raised.value.code, raised.value.reason, raised.value.retryable) == (ErrorCode.STORAGE_ERROR, "TRANSPORT", True)


class TestAsyncForgeClient:
    async def test_follows_a_turn_to_its_end(self, server: ProjectServer) -> None:
        async with AsyncForgeClient(server.url, server.token) as client:
            session = await client.session.create_session(header=command_header(), agent={"model": "demo/echo"})
            await client.session.start_turn(header=command_header(), session_id=session.session_id, input=[text_part("Hello.")])
            kinds: list[str] = []
            async with aclosing(client.follow_events([session_stream(session.session_id)])) as events:
                async for followed in events:
                    if isinstance(followed, Event):
                        kinds.append(followed.kind)
                        if followed.kind == "turn.completed":
                            break
            assert kinds[0] == "session.created"
            request = CreateSessionRequest(header=command_header(), agent={"model": "demo/echo"})
            first = await client.with_retry(lambda: client.session.create_session(request))
            assert await client.session.create_session(request) == first

    async def test_fails_with_the_server_s_own_error(self, server: ProjectServer) -> None:
        async with AsyncForgeClient(server.url, server.token) as client:
            session = await client.session.create_session(header=command_header(), agent={"model": "demo/echo"})
            with pytest.raises(ForgeError) as raised:
                await client.session.close_session(header=command_header(expected_seq=99), session_id=session.session_id)
            assert (raised.value.code, raised.value.reason, raised.value.metadata["current_seq"]) == (ErrorCode.CONFLICT, "SEQ_MISMATCH", "1")
            with pytest.raises(ForgeError) as raised:
                await anext(client.follow_events([StreamCursor(stream=session_stream(session.session_id), after_seq=99)]))
            assert (raised.value.code, raised.value.reason) == (ErrorCode.CONFLICT, "CURSOR_AHEAD")
            with pytest.raises(ForgeError) as raised:
                await client.session.create_session(header=command_header(), title="a\udc00")
            assert raised.value.metadata == {"field": "title"}

    async def test_carries_an_artifact_of_the_largest_size(self, server: ProjectServer) -> None:
        content = bytes(range(256)) * 65_536
        async with AsyncForgeClient(server.url, server.token) as client:
            artifact = (await client.artifact.put_artifact(content=content, media_type="application/octet-stream")).artifact
            async with client.artifact.get_artifact(sha256=artifact.sha256) as pieces:
                assert b"".join([piece.content async for piece in pieces]) == content

    async def test_leaves_a_stream_that_it_no_longer_reads(self, server: ProjectServer) -> None:
        async with AsyncForgeClient(server.url, server.token) as client:
            session = await client.session.create_session(header=command_header(), agent={"model": "demo/echo"})
            async with client.event.subscribe_events(streams=[StreamCursor(stream=session_stream(session.session_id))]) as responses:
                assert (await anext(responses)).event.seq == 1
            with pytest.raises(ForgeError) as raised:
                await anext(responses)
            assert raised.value.code == ErrorCode.CANCELLED

    async def test_does_not_wait_longer_than_its_timeout(self, silent: str) -> None:
        async with AsyncForgeClient(silent, "token") as client:
            with pytest.raises(ForgeError) as raised:
                await client.session.list_sessions(timeout=0.2)
            assert (raised.value.code, raised.value.retryable) == (ErrorCode.DEADLINE_EXCEEDED, False)
            with pytest.raises(ForgeError) as raised:
                await anext(client.event.watch_streams(timeout=0.2))
            assert raised.value.code == ErrorCode.DEADLINE_EXCEEDED

    async def test_gives_a_call_up_with_its_task(self, silent: str) -> None:
        async with AsyncForgeClient(silent, "token") as client:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.session.list_sessions(), 0.1)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(anext(client.event.watch_streams()), 0.1)

    async def test_ends_open_calls_when_it_is_closed_and_refuses_new_ones(self, silent: str) -> None:
        client = AsyncForgeClient(silent, "token")
        calls = (client.session.list_sessions, lambda: anext(client.event.watch_streams()), lambda: anext(client.follow_events([session_stream("1")])))
        tasks = [asyncio.ensure_future(call()) for call in calls]
        # All are under way once each has had its turn of the loop.
        await asyncio.sleep(0)
        await client.close()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [getattr(outcome, "code", outcome) for outcome in outcomes] == [ErrorCode.CANCELLED] * 3
        await client.close()
        for call in calls:
            with pytest.raises(ForgeError, match="this client is closed"):
                await call()

    async def test_says_that_nobody_listens(self) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}"
            async with AsyncForgeClient(url, "token") as client:
                with pytest.raises(ForgeError) as raised:
                    await client.session.list_sessions()
        assert (raised.value.code, raised.value.reason) == (ErrorCode.STORAGE_ERROR, "TRANSPORT")
