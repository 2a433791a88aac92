"""The client on asyncio."""

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from types import TracebackType
from typing import TypeVar

from forge_client._async_channel import AsyncChannel
from forge_client._connection import to_connection
from forge_client._gen import async_services
from forge_client.errors import ForgeError
from forge_client.follow_events import Followed, Start, async_follow_events
from forge_client.project import find_project_server
from forge_client.retry import PATIENCE_SECONDS, async_with_retry

T = TypeVar("T")


class AsyncForgeClient:
    """A client of a control plane, for the event loop that makes its first call. Close it, or use it as a context manager.

    Every call takes its request as a message or as keyword arguments, answers with a message, and fails with ForgeError. A cancelled task gives its call up.
    """

    session: async_services.AsyncSessionService
    workflow: async_services.AsyncWorkflowService
    schedule: async_services.AsyncScheduleService
    event: async_services.AsyncEventService
    approval: async_services.AsyncApprovalService
    artifact: async_services.AsyncArtifactService
    workspace: async_services.AsyncWorkspaceService
    token: async_services.AsyncTokenService
    worker: async_services.AsyncWorkerService

    def __init__(self, url: str, token: str, *, namespace: str | None = None) -> None:
        """
        Args:
            url: Of the server, for example http://127.0.0.1:7233.
            token: What it knows the caller by.
            namespace: None: the token's first.

        Raises:
            ForgeError: validation of an address, a token or a namespace that can't be one.
        """
        self._channel = AsyncChannel(to_connection(url, token, namespace))
        self.session = async_services.AsyncSessionService(self._channel)
        self.workflow = async_services.AsyncWorkflowService(self._channel)
        self.schedule = async_services.AsyncScheduleService(self._channel)
        self.event = async_services.AsyncEventService(self._channel)
        self.approval = async_services.AsyncApprovalService(self._channel)
        self.artifact = async_services.AsyncArtifactService(self._channel)
        self.workspace = async_services.AsyncWorkspaceService(self._channel)
        self.token = async_services.AsyncTokenService(self._channel)
        self.worker = async_services.AsyncWorkerService(self._channel)

    @classmethod
    def local_project(cls, directory: str | os.PathLike[str] = ".") -> "AsyncForgeClient":
        """A client of the server that serves the project in a directory, or in the nearest one above, on this machine.

        Raises:
            ForgeError: not_found: there is no project, or nobody serves it; `forge up` does.
        """
        server = find_project_server(directory)
        return cls(server.url, server.token)

    def follow_events(
        self,
        streams: Iterable[Start],
        *,
        follow_children: bool = False,
        exclude_kinds: Iterable[str] = (),
        no_follow: bool = False,
        on_reconnect: Callable[[ForgeError], object] | None = None,
    ) -> AsyncGenerator[Followed, None]:
        """The events of streams, in order and each once: reconnects by itself with backoff and goes on after the last one.

        Yields an Event, CaughtUp once, or a Position: how far it has come where nothing passed the filter. Leave it early with `contextlib.aclosing`, which
        ends the subscription at once.

        Args:
            streams: 1 to 1,000 streams, as a StreamRef, or a StreamCursor that says after which seq.
            follow_children: Follow the sessions and runs that work for them as well, from their beginning and at any depth.
            exclude_kinds: Kinds to leave out, for example "turn.output_delta".
            no_follow: End after everything that is durable now.
            on_reconnect: Called with why the connection was lost, or that this reader was too slow; it goes on by itself.

        Raises:
            ForgeError: What a reconnection can't mend, for example not_found, or conflict with CURSOR_AHEAD; unsupported_version of an event whose major
                version is a newer one's.
        """
        return async_follow_events(
            self.event.subscribe_events,
            streams,
            follow_children=follow_children,
            exclude_kinds=exclude_kinds,
            no_follow=no_follow,
            on_reconnect=on_reconnect,
        )

    async def with_retry(self, call: Callable[[], Awaitable[T]], *, patience: float = PATIENCE_SECONDS) -> T:
        """Makes a call again while it fails in transit. Commands are idempotent by their id, so the request must carry the same one each time.

        Args:
            call: Makes the call, for example `lambda: client.session.start_turn(request)`.
            patience: Seconds in all, after which the last error is raised.

        Raises:
            ForgeError: What the last attempt failed with.
        """
        return await async_with_retry(call, patience=patience)

    async def close(self) -> None:
        """Ends open calls, and refuses new ones, with `cancelled`. Idempotent."""
        await self._channel.close()

    async def __aenter__(self) -> "AsyncForgeClient":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.close()
