"""The client that blocks."""

import os
from collections.abc import Callable, Generator, Iterable
from types import TracebackType
from typing import TypeVar

from forge_client._channel import Channel
from forge_client._connection import to_connection
from forge_client._gen import services
from forge_client.cancellation import Cancellation
from forge_client.errors import ForgeError
from forge_client.follow_events import Followed, Start, follow_events
from forge_client.project import find_project_server
from forge_client.retry import PATIENCE_SECONDS, with_retry

T = TypeVar("T")


class ForgeClient:
    """A client of a control plane. Nothing is sent before the first call. Any thread may call; close it, or use it as a context manager.

    Every call takes its request as a message or as keyword arguments, answers with a message, and fails with ForgeError.
    """

    session: services.SessionService
    workflow: services.WorkflowService
    schedule: services.ScheduleService
    event: services.EventService
    approval: services.ApprovalService
    artifact: services.ArtifactService
    workspace: services.WorkspaceService
    token: services.TokenService
    worker: services.WorkerService

    def __init__(self, url: str, token: str, *, namespace: str | None = None) -> None:
        """
        Args:
            url: Of the server, for example http://127.0.0.1:7233.
            token: What it knows the caller by.
            namespace: None: the token's first.

        Raises:
            ForgeError: validation of an address, a token or a namespace that can't be one.
        """
        self._channel = Channel(to_connection(url, token, namespace))
        self.session = services.SessionService(self._channel)
        self.workflow = services.WorkflowService(self._channel)
        self.schedule = services.ScheduleService(self._channel)
        self.event = services.EventService(self._channel)
        self.approval = services.ApprovalService(self._channel)
        self.artifact = services.ArtifactService(self._channel)
        self.workspace = services.WorkspaceService(self._channel)
        self.token = services.TokenService(self._channel)
        self.worker = services.WorkerService(self._channel)

    @classmethod
    def local_project(cls, directory: str | os.PathLike[str] = ".") -> "ForgeClient":
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
        cancellation: Cancellation | None = None,
        on_reconnect: Callable[[ForgeError], object] | None = None,
    ) -> Generator[Followed, None, None]:
        """The events of streams, in order and each once: reconnects by itself with backoff and goes on after the last one.

        Yields an Event, CaughtUp once, or a Position: how far it has come where nothing passed the filter.

        Args:
            streams: 1 to 1,000 streams, as a StreamRef, or a StreamCursor that says after which seq.
            follow_children: Follow the sessions and runs that work for them as well, from their beginning and at any depth.
            exclude_kinds: Kinds to leave out, for example "turn.output_delta".
            no_follow: End after everything that is durable now.
            cancellation: Ends it in peace, from another thread.
            on_reconnect: Called with why the connection was lost, or that this reader was too slow; it goes on by itself.

        Raises:
            ForgeError: What a reconnection can't mend, for example not_found, or conflict with CURSOR_AHEAD; unsupported_version of an event whose major
                version is a newer one's.
        """
        return follow_events(
            self.event.subscribe_events,
            streams,
            follow_children=follow_children,
            exclude_kinds=exclude_kinds,
            no_follow=no_follow,
            cancellation=cancellation,
            on_reconnect=on_reconnect,
        )

    def with_retry(self, call: Callable[[], T], *, patience: float = PATIENCE_SECONDS, cancellation: Cancellation | None = None) -> T:
        """Makes a call again while it fails in transit. Commands are idempotent by their id, so the request must carry the same one each time.

        Args:
            call: Makes the call, for example `lambda: client.session.start_turn(request)`.
            patience: Seconds in all, after which the last error is raised.
            cancellation: Ends the attempts; the last error is raised.

        Raises:
            ForgeError: What the last attempt failed with.
        """
        return with_retry(call, patience=patience, cancellation=cancellation)

    def close(self) -> None:
        """Ends open calls, and refuses new ones, with `cancelled`. Idempotent."""
        self._channel.close()

    def __enter__(self) -> "ForgeClient":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()
