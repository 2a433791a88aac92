"""A worker that serves decorated functions."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from google.protobuf.duration_pb2 import Duration

from forge_client.async_client import AsyncForgeClient
from forge_client.errors import ErrorCode, ForgeError
from forge_client.project import find_project_server
from forge_client.protocol.tool import RiskLevel, ToolSpec
from forge_client.protocol.worker import Capability, CapabilityKind
from forge_client.worker.canonical import canonical_json
from forge_client.worker.capability import marked
from forge_client.worker.child_pool import ChildPool
from forge_client.worker.child_process import Answer, ChildProcess, LoadRequest
from forge_client.worker.hook_handler import HookHandler
from forge_client.worker.model_handler import ModelHandler
from forge_client.worker.outcomes import worker_error
from forge_client.worker.running_task import Handler
from forge_client.worker.runtime import RuntimeOptions, WorkerRuntime
from forge_client.worker.source_files import stamps_of, texts_of
from forge_client.worker.user_handler import UserHandler
from forge_client.worker.view import WorkerView, capability_name

# Decorated functions, the module that has them, or its file.
Source = Iterable[Callable[..., Any]] | ModuleType | str | os.PathLike[str]

DEFAULT_SLOTS = 8

_RISKS = {"read": RiskLevel.RISK_LEVEL_READ, "change": RiskLevel.RISK_LEVEL_CHANGE, "execute": RiskLevel.RISK_LEVEL_EXECUTE}


@dataclass(frozen=True)
class WorkerOptions:
    """Where a worker joins, and as what."""

    url: str
    token: str
    name: str
    queues: Sequence[str] = ("default",)
    slots: int = DEFAULT_SLOTS
    namespace: str | None = None


class Worker:
    """
    A worker that has joined a control plane. The functions run in child processes: whatever they print, raise, break or never end, the worker goes on. Ended by
    `drain` and `stop`, or as a context manager by `stop`.
    """

    def __init__(self, runtime: WorkerRuntime, pool: ChildPool, client: AsyncForgeClient, replaced: asyncio.Event) -> None:
        self._runtime = runtime
        self._pool = pool
        self._client = client
        # Set when another worker has joined under its name: it serves nothing more, and is to be stopped.
        self.replaced = replaced

    @property
    def running(self) -> int:
        """Calls in hand."""
        return self._runtime.running

    async def drain(self, seconds: float) -> None:
        """Takes no new calls and returns when all that run have ended and are settled, or after the time."""
        await self._runtime.drain(seconds)

    async def stop(self) -> None:
        """Cancels what runs, waits until it has stopped, and ends."""
        await self._runtime.stop()
        await self._pool.close()
        await self._client.close()

    async def __aenter__(self) -> "Worker":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.stop()


async def start_worker(
    source: Source,
    *,
    url: str | None = None,
    token: str | None = None,
    name: str | None = None,
    queues: Sequence[str] | None = None,
    slots: int = DEFAULT_SLOTS,
    namespace: str | None = None,
) -> Worker:
    """Joins a control plane and serves what a source offers, until the worker is stopped.

    Args:
        source: Decorated functions of modules' top level, the module that has them, or its file.
        url: Of the control plane; FORGE_URL, or the server of the project that the process is in, where absent.
        token: What the control plane knows the worker by, of the role worker; FORGE_TOKEN, or the project's own where no other server is named.
        name: Stable over restarts: a worker that joins again under its name gives up what its old incarnation held. Absent: the source's and the machine's.
        queues: Whose calls it takes, at most 64; where absent, `default`, and of a project's server the project's own as well.
        slots: Calls at once, each in a process of its own, 1 to 10,000.
        namespace: FORGE_NAMESPACE, or the token's first, where absent.

    Raises:
        ForgeError: validation, reason WORKER_FILE: the source can't be loaded or offers nothing; reason TOKEN_MISSING: a server is named, and no token
            for it; what the control plane refuses.
        ValueError: functions that no other process can find.
    """
    request = load_request(source)
    options = worker_options(source, url, token, name, queues, slots, namespace)
    loaded = await load(request)
    return await join(loaded, request, options, WorkerView())


async def load(request: LoadRequest) -> ChildProcess:
    """Loads the sources in a child process. Raises validation, reason WORKER_FILE, with file and line, where they can't be loaded or offer nothing."""
    loaded = await ChildProcess.start(request)
    if isinstance(loaded, Answer):
        raise _load_error(loaded)
    if not loaded.offered:
        await loaded.stop()
        message = f"{_label(request)} offers nothing: decorate functions with @tool, @function or @model_provider"
        raise worker_error(ErrorCode.VALIDATION, message, reason="WORKER_FILE")
    return loaded


async def join(loaded: ChildProcess, request: LoadRequest, options: WorkerOptions, view: WorkerView) -> Worker:
    """Makes a worker of what was loaded. Raises what the control plane refuses; the child process has ended then."""
    replaced = asyncio.Event()
    pool = ChildPool(request)
    pool.keep(loaded)
    client = AsyncForgeClient(options.url, options.token, namespace=options.namespace)
    handlers = [(capability_of(offered), _handler(offered, pool, view)) for offered in loaded.offered]
    runtime = WorkerRuntime(RuntimeOptions(client, options.name, options.queues, handlers, options.slots, view.problem, replaced.set))
    try:
        await client.with_retry(runtime.start)
    except BaseException:
        await pool.close()
        await client.close()
        raise
    return Worker(runtime, pool, client, replaced)


def load_request(source: Source) -> LoadRequest:
    """What a child is to load. Raises ValueError where another process could not find it."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source).resolve()
        # As if the file had been started: its directory comes first, the worker's own does not count.
        return LoadRequest(({"path": str(path)},), (str(path.parent), *sys.path[1:]), texts_of(stamps_of(path)))
    if isinstance(source, ModuleType):
        return LoadRequest((_module_source(source),))
    names: dict[str, list[str]] = {}
    for function in source:
        if marked(function) is None:
            raise ValueError(f"{function!r} is not decorated with @tool, @function or @model_provider")
        if "." in function.__qualname__:
            raise ValueError(f"{function.__qualname__} is not at its module's top level, so the process that calls it could not find it")
        names.setdefault(function.__module__, []).append(function.__name__)
    return LoadRequest(tuple({**_module_source(sys.modules[module]), "names": tuple(found)} for module, found in names.items()))


def worker_options(
    source: Source, url: str | None, token: str | None, name: str | None, queues: Sequence[str] | None, slots: int, namespace: str | None
) -> WorkerOptions:
    """Fills in what is absent. Raises ForgeError not_found where no server is named and none serves the project; validation, TOKEN_MISSING."""
    url = url or os.environ.get("FORGE_URL") or None
    token = token or os.environ.get("FORGE_TOKEN") or None
    if url is None:
        server = find_project_server()
        url, token, queues = server.url, token or server.worker_token, queues or (server.queue, "default")
    elif token is None:
        # The project's own token is nobody else's to see.
        message = "a server is named, and no token for it: give it, or set FORGE_TOKEN (`forge token add --role worker` makes one)"
        raise ForgeError(ErrorCode.VALIDATION, message, reason="TOKEN_MISSING", origin="client", metadata={"field": "token"})
    namespace = namespace or os.environ.get("FORGE_NAMESPACE")
    return WorkerOptions(url, token, name or f"{_stem(source)}@{socket.gethostname()}"[:128], tuple(dict.fromkeys(queues or ("default",))), slots, namespace)


def capability_of(offered: dict[str, Any]) -> Capability:
    """What is registered of something that a child offers."""
    name = offered["name"]
    if offered["kind"] == "model":
        return Capability(kind=CapabilityKind.CAPABILITY_KIND_MODEL, name=capability_name(offered))
    if offered["kind"] == "function":
        return Capability(kind=CapabilityKind.CAPABILITY_KIND_FUNCTION, name=name)
    if offered["kind"] == "hook":
        return Capability(kind=CapabilityKind.CAPABILITY_KIND_HOOK, name=name)
    timeout = offered["timeout"]
    spec = ToolSpec(
        name=name,
        description=offered["description"],
        # In one order of keys, so that a schema that says the same is the same.
        input_schema_json=canonical_json(offered["schema"]),
        idempotent=offered["idempotent"],
        risk=_RISKS[offered["risk"]],
        timeout=Duration(seconds=int(timeout), nanos=round(timeout % 1 * 1e9)),
        previews=offered["previews"],
    )
    return Capability(kind=CapabilityKind.CAPABILITY_KIND_TOOL, name=name, tool=spec)


def _handler(offered: dict[str, Any], pool: ChildPool, view: WorkerView) -> Handler:
    match offered["kind"]:
        case "model":
            return ModelHandler(offered, pool, view)
        case "hook":
            return HookHandler(offered, pool, view)
        case _:
            return UserHandler(offered, pool, view)


def _load_error(answer: Answer) -> ForgeError:
    if answer.kind == "exited":
        words = f": {answer.payload['last_words'][-1000:]}" if answer.payload["last_words"] else ""
        return worker_error(ErrorCode.VALIDATION, f"the process ended {answer.payload['how']} while it loaded the source{words}", reason="WORKER_FILE")
    payload = answer.payload
    error = worker_error(ErrorCode.VALIDATION, payload["message"], reason="WORKER_FILE")
    for name in ("file", "line"):
        if name in payload:
            error.detail.metadata[name] = str(payload[name])
    return error


def _module_source(module: ModuleType) -> dict[str, Any]:
    if module.__name__ != "__main__":
        return {"module": module.__name__}
    if module.__spec__ is not None:
        return {"module": module.__spec__.name}
    file = getattr(module, "__file__", None)
    if file is None:
        raise ValueError("functions of an interactive session can't be served: put them into a file")
    return {"path": str(Path(file).resolve())}


def _label(request: LoadRequest) -> str:
    return ", ".join(source.get("path") or source["module"] for source in request.sources)


def _stem(source: Source) -> str:
    if isinstance(source, (str, os.PathLike)):
        return Path(source).stem
    if isinstance(source, ModuleType):
        return source.__name__
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(file).stem if file else "worker"
