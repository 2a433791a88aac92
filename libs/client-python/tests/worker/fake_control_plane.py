"""The control plane as one worker sees it, as a gRPC server: tasks that it hands out up to the slots that are asked for, and what it was told."""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import status_pb2

from forge_client import ErrorCode, ForgeError
from forge_client.protocol import artifact, session, worker
from forge_client.protocol.common import ArtifactRef

WAIT_S = 20.0


class FakeControlPlane:
    """Each function attribute may be replaced while a test runs."""

    def __init__(self) -> None:
        self.url = ""
        self.registered: list[worker.RegisterRequest] = []
        self.slots_asked: list[int] = []
        # When each heartbeat came, in seconds, and the tasks that it named.
        self.heartbeats: list[tuple[float, list[str]]] = []
        self.starts: list[worker.TaskStart] = []
        self.settlements: list[worker.Settlement] = []
        self.deltas: list[worker.OutputDelta] = []
        self.artifacts: dict[str, bytes] = {}
        self.leases_of_artifacts: list[bytes] = []
        self.conversation = session.ReadConversationResponse()
        self.drained = 0
        # What the next heartbeat answers.
        self.cancel: list[str] = []
        self.lost: list[str] = []
        self.heartbeat_s = 0.05
        self.lease_ttl_s = 15.0
        # Called before anything is answered; what it raises is the answer.
        self.on_call: Callable[[str], None] = lambda method: None
        self.answer_start: Callable[[worker.TaskStart], worker.TaskAnswer] = lambda start: worker.TaskAnswer(task_id=start.lease.task_id)
        self.answer_settlement: Callable[[worker.Settlement], worker.TaskAnswer] = lambda one: worker.TaskAnswer(task_id=one.lease.task_id)
        self._tasks: list[worker.LeasedTask] = []
        self._handed = asyncio.Event()

    def hand(self, *tasks: worker.LeasedTask) -> None:
        self._tasks.extend(tasks)
        self._handed.set()

    @property
    def settled(self) -> list[str]:
        """Every settlement, in short: the task and the case of its outcome."""
        return [f"{one.lease.task_id} {one.WhichOneof('outcome')}" for one in self.settlements]

    @property
    def held(self) -> list[str] | None:
        """The tasks that the latest heartbeat named."""
        return self.heartbeats[-1][1] if self.heartbeats else None

    async def settlement_of(self, task_id: str) -> worker.Settlement:
        await until(lambda: any(one.lease.task_id == task_id for one in self.settlements))
        return next(one for one in self.settlements if one.lease.task_id == task_id)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncGenerator["FakeControlPlane", None]:
        server = grpc.aio.server()
        server.add_generic_rpc_handlers(tuple(self._services()))
        port = server.add_insecure_port("127.0.0.1:0")
        self.url = f"http://127.0.0.1:{port}"
        await server.start()
        try:
            yield self
        finally:
            await server.stop(None)

    def _services(self) -> list[Any]:
        unary = {
            "worker.v1.WorkerService": {
                "Register": (worker.RegisterRequest, self._register),
                "LeaseTasks": (worker.LeaseTasksRequest, self._lease_tasks),
                "StartTasks": (worker.StartTasksRequest, self._start_tasks),
                "Heartbeat": (worker.HeartbeatRequest, self._heartbeat),
                "ReportOutput": (worker.ReportOutputRequest, self._report_output),
                "SettleTasks": (worker.SettleTasksRequest, self._settle_tasks),
                "Drain": (worker.DrainRequest, self._drain),
            },
            "session.v1.SessionService": {"ReadConversation": (session.ReadConversationRequest, self._read_conversation)},
            "artifact.v1.ArtifactService": {"PutArtifact": (artifact.PutArtifactRequest, self._put_artifact)},
        }
        services = []
        for service, methods in unary.items():
            handlers = {name: self._method(name, request, serve) for name, (request, serve) in methods.items()}
            if service.startswith("artifact"):
                handlers["GetArtifact"] = grpc.unary_stream_rpc_method_handler(self._get_artifact, artifact.GetArtifactRequest.FromString, serialize)
            services.append(grpc.method_handlers_generic_handler(f"forge.{service}", handlers))
        return services

    def _method(self, name: str, request: Any, serve: Callable[[Any], Any]) -> Any:
        async def call(message: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
            try:
                self.on_call(name)
                return await serve(message)
            except ForgeError as error:
                await fail(context, error)

        return grpc.unary_unary_rpc_method_handler(call, request.FromString, serialize)

    async def _register(self, request: worker.RegisterRequest) -> worker.RegisterResponse:
        self.registered.append(request)
        interval, ttl = Duration(), Duration()
        interval.FromMilliseconds(round(self.heartbeat_s * 1000))
        ttl.FromMilliseconds(round(self.lease_ttl_s * 1000))
        return worker.RegisterResponse(worker_session_id=f"session-{len(self.registered)}", heartbeat_interval=interval, lease_ttl=ttl)

    async def _lease_tasks(self, request: worker.LeaseTasksRequest) -> worker.LeaseTasksResponse:
        self.slots_asked.append(request.slots)
        with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
            await asyncio.wait_for(self._handed.wait(), request.wait.seconds)
        # Another poll may have waited as well.
        given, self._tasks = self._tasks[: request.slots], self._tasks[request.slots :]
        if not self._tasks:
            self._handed.clear()
        return worker.LeaseTasksResponse(tasks=given)

    async def _start_tasks(self, request: worker.StartTasksRequest) -> worker.StartTasksResponse:
        self.starts.extend(request.starts)
        return worker.StartTasksResponse(answers=[self.answer_start(start) for start in request.starts])

    async def _heartbeat(self, request: worker.HeartbeatRequest) -> worker.HeartbeatResponse:
        self.heartbeats.append((time.monotonic(), [lease.task_id for lease in request.held]))
        cancel, self.cancel = self.cancel, []
        lost, self.lost = self.lost, []
        if not cancel and not lost:
            await asyncio.sleep(self.heartbeat_s)
        return worker.HeartbeatResponse(cancel_task_ids=cancel, lost_task_ids=lost)

    async def _report_output(self, request: worker.ReportOutputRequest) -> worker.ReportOutputResponse:
        self.deltas.extend(request.deltas)
        return worker.ReportOutputResponse()

    async def _settle_tasks(self, request: worker.SettleTasksRequest) -> worker.SettleTasksResponse:
        self.settlements.extend(request.settlements)
        return worker.SettleTasksResponse(answers=[self.answer_settlement(one) for one in request.settlements])

    async def _drain(self, request: worker.DrainRequest) -> worker.DrainResponse:
        self.drained += 1
        return worker.DrainResponse()

    async def _read_conversation(self, request: session.ReadConversationRequest) -> session.ReadConversationResponse:
        return self.conversation

    async def _put_artifact(self, request: artifact.PutArtifactRequest) -> artifact.PutArtifactResponse:
        return artifact.PutArtifactResponse(artifact=self.keep(request.content, request.media_type))

    async def _get_artifact(self, request: artifact.GetArtifactRequest, context: grpc.aio.ServicerContext[Any, Any]) -> AsyncIterator[Any]:
        self.leases_of_artifacts.append(request.lease.lease_token)
        content = self.artifacts[request.sha256]
        # Two pieces, as a large artifact comes.
        yield artifact.GetArtifactResponse(content=content[:3])
        yield artifact.GetArtifactResponse(content=content[3:])

    def keep(self, content: bytes, media_type: str = "application/json") -> ArtifactRef:
        sha256 = hashlib.sha256(content).hexdigest()
        self.artifacts[sha256] = content
        return ArtifactRef(sha256=sha256, size=len(content), media_type=media_type)


def leased(task_id: str, task: worker.Task, epoch: int = 1) -> worker.LeasedTask:
    return worker.LeasedTask(task_id=task_id, epoch=epoch, lease_token=bytes([epoch]) * 16, task=task)


def tool_task(tool: str, arguments: str = "{}", **fields: Any) -> worker.Task:
    """A task of a tool that is not idempotent, unless it is given otherwise."""
    of_tool = worker.ToolTask(tool_call_id="call", tool=tool, arguments_json=arguments, session_id="session", turn_id="turn")
    given: dict[str, Any] = {"tool": of_tool, "needs_start": True, "idempotency_key": "key", **fields}
    return worker.Task(**given)


def serialize(message: Message) -> bytes:
    return message.SerializeToString()


def session_gone() -> ForgeError:
    return ForgeError(ErrorCode.NOT_FOUND, "this session is not known: register again", reason="WORKER_SESSION")


async def fail(context: grpc.aio.ServicerContext[Any, Any], error: ForgeError) -> None:
    """Ends a call as the control plane does: with the error in the status's details."""
    code = grpc.StatusCode.UNAVAILABLE if error.code == ErrorCode.STORAGE_ERROR else grpc.StatusCode.FAILED_PRECONDITION
    status = status_pb2.Status(code=code.value[0], message=error.message)
    status.details.add().Pack(error.detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    await context.abort(code, error.message)


async def until(check: Callable[[], bool]) -> None:
    """Waits until a check holds; a busy machine may take its time."""
    deadline = time.monotonic() + WAIT_S
    while not check():
        assert time.monotonic() < deadline, "it did not come to hold"
        await asyncio.sleep(0.01)
