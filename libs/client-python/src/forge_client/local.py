"""Forge inside of a program: a private server that ends with it."""

import asyncio
import collections
import contextlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

from google.protobuf import json_format

from forge_client.async_client import AsyncForgeClient
from forge_client.client import ForgeClient
from forge_client.errors import ErrorCode, ForgeError
from forge_client.protocol.common import ForgeError as ForgeErrorMessage

# The first start makes a database; one that recovers after a crash takes longest.
_START_SECONDS_MAX = 180.0
# A server gives what runs half a minute, and its own end a minute.
_END_SECONDS_MAX = 100.0
_LINES_KEPT = 50
_LINES_SHOWN = 5


class LocalForge:
    """A private server, for as long as the program lives.

    Attributes:
        client: An administrator's.
        url: Where it is reached, on this machine alone.
        token: The client's.
        worker_token: For workers.
        data_directory: Where everything durable lies.
    """

    def __init__(self, server: "_ServerProcess") -> None:
        self.url = server.url
        self.data_directory = server.data_directory
        self.token = _read(self.data_directory / "token")
        self.worker_token = _read(self.data_directory / "worker-token")
        self.client = ForgeClient(self.url, self.token)


class AsyncLocalForge:
    """As LocalForge, with a client on asyncio."""

    def __init__(self, server: "_ServerProcess") -> None:
        self.url = server.url
        self.data_directory = server.data_directory
        self.token = _read(self.data_directory / "token")
        self.worker_token = _read(self.data_directory / "worker-token")
        self.client = AsyncForgeClient(self.url, self.token)


class Forge:
    """Starts servers of the program's own."""

    @staticmethod
    def local(
        *,
        project: str | os.PathLike[str] | None = None,
        data_directory: str | os.PathLike[str] | None = None,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> "LocalServer":
        """A server with a database of its own, as a context manager, sync or async: it starts on entering, and ends on leaving, after what is running. It
        also ends with the program, however that ends.

        Args:
            project: Whose functions and settings it takes, and whose files its built-in tools work on. None: the nearest one above the working directory,
                or that directory.
            data_directory: Where everything durable lies, made where it is missing; no other server may use it. None: a temporary directory, which the server
                removes at its end.
            command: The command line of Forge and the arguments before `up`. None: the `forge` that npm has installed in the working directory or above it;
                else `forge` of PATH.
            environment: Of the server. None: this program's. Keys of model providers are read from it.

        Raises:
            ForgeError: On entering: what the server could not start for, for example conflict, DATA_DIRECTORY_IN_USE; storage_error, SERVER_START.
        """
        place = ["--temporary"] if data_directory is None else ["--data-directory", str(Path(data_directory).resolve())]
        of_project = [] if project is None else ["--project", str(Path(project).resolve())]
        words = [*(command or _find_forge()), "up", "--json", "--until-stdin-ends", "--port", "0", *of_project, *place]
        return LocalServer(words, environment)


class LocalServer:
    """What `Forge.local` returns: `with` gives a LocalForge, `async with` an AsyncLocalForge. Enter it once."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None) -> None:
        self._command = command
        self._environment = environment
        self._server: _ServerProcess | None = None
        self._client: ForgeClient | None = None
        self._async_client: AsyncForgeClient | None = None

    def __enter__(self) -> LocalForge:
        self._server = _ServerProcess(self._command, self._environment)
        try:
            forge = LocalForge(self._server)
        except BaseException:
            self._server.end()
            raise
        self._client = forge.client
        return forge

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._client is not None:
            self._client.close()
        if self._server is not None:
            self._server.end()

    async def __aenter__(self) -> AsyncLocalForge:
        starting = asyncio.ensure_future(asyncio.to_thread(_ServerProcess, self._command, self._environment))
        try:
            server = await asyncio.shield(starting)
            forge = AsyncLocalForge(server)
        except BaseException:
            # Given up while it starts: nothing of it may stay.
            starting.add_done_callback(_end_started)
            raise
        self._server, self._async_client = server, forge.client
        return forge

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._async_client is not None:
            await self._async_client.close()
        if self._server is not None:
            await asyncio.to_thread(self._server.end)


def _end_started(starting: "asyncio.Future[_ServerProcess]") -> None:
    if not starting.cancelled() and starting.exception() is None:
        threading.Thread(target=starting.result().end, name="forge-end").start()


class _ServerProcess:
    """`forge up --until-stdin-ends`, ready: the kernel closes its standard input when this program ends, however that happens."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None) -> None:
        pipe = subprocess.PIPE
        try:
            # A session of its own: Ctrl-C is for the program to act on.
            self._process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)  # noqa: S603 -- it is the caller's.
        except OSError as error:
            raise _start_error(f"{command[0]}: {error.strerror}", []) from error
        # Popen makes all of the pipes that it was asked for.
        self._input, self._output, self._errors = cast(
            "tuple[IO[bytes], IO[bytes], IO[bytes]]", (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        self._said: collections.deque[str] = collections.deque(maxlen=_LINES_KEPT)
        self._first: list[bytes] = []
        self._readers = [threading.Thread(target=read, daemon=True, name="forge-server") for read in (self._read_output, self._read_errors)]
        for reader in self._readers:
            reader.start()
        self._readers[0].join(_START_SECONDS_MAX)
        try:
            self.url, self.data_directory = self._address()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Ends the server, after what is running, and returns when it has gone. Idempotent."""
        # Closed by its end already.
        with contextlib.suppress(OSError):
            self._input.close()
        try:
            self._process.wait(_END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._readers[1].join(1.0)
        for stream in (self._output, self._errors):
            stream.close()

    def _address(self) -> tuple[str, Path]:
        if not self._first and self._readers[0].is_alive():
            self._process.kill()
            raise _start_error(f"it was not ready after {_START_SECONDS_MAX:.0f} s", list(self._said))
        try:
            address: dict[str, str] = json.loads(self._first[0] if self._first else b"")
            return address["url"], Path(address["data_directory"])
        except (ValueError, KeyError, TypeError):
            self._process.kill()
            code = self._process.wait()
            self._readers[1].join(1.0)
            raise _start_error(f"by signal {-code}" if code < 0 else f"exit code {code}", list(self._said)) from None

    def _read_output(self) -> None:
        line = self._output.readline()
        if line:
            self._first.append(line)

    def _read_errors(self) -> None:
        for line in self._errors:
            self._said.append(line.decode("utf-8", "replace").rstrip())


def _start_error(how: str, said: list[str]) -> ForgeError:
    """What the server said last: its error as JSON, or whatever ended it."""
    for line in reversed(said):
        if line.startswith('{"error":'):
            error: dict[str, Any] = json.loads(line)["error"]
            error["code"] = f"ERROR_CODE_{error['code']}"
            return ForgeError.from_detail(json_format.ParseDict(error, ForgeErrorMessage(), ignore_unknown_fields=True))
    tail = "\n".join(said[-_LINES_SHOWN:])
    message = f"Forge could not be started: {how}" + (f"\n{tail}" if tail else "")
    return ForgeError(ErrorCode.STORAGE_ERROR, message, reason="SERVER_START", origin="client")


def _find_forge() -> list[str]:
    here = Path.cwd()
    for directory in (here, *here.parents):
        installed = directory / "node_modules" / ".bin"
        forge, node = installed / "forge", installed / "node"
        if forge.exists():
            # By the Node that was installed with it, as npx does; the one of PATH may be too old.
            return [str(node), str(forge.resolve())] if node.exists() else [str(forge)]
    return [shutil.which("forge") or "forge"]


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8").strip()
