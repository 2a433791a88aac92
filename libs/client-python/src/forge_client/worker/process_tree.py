"""A started process with all its descendants, so that what is said to have stopped has."""

import asyncio
import os
import shutil
import signal
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

# How long after the kill emptiness is looked for: a process in an uninterruptible system call may take this long, rarely longer.
_KILL_CONFIRMATION_S = 5.0
_LOOK_S = 0.01
# The longest that one try of an isolation may take.
_TRIAL_S = 5.0

# The variable that marks the members of a tree without a namespace; descendants inherit it.
_MARK = "FORGE_PROCESS_TREE"

# Ends at once unless its parent is still the owner: the parent-death signal is not delivered for a parent that died before it was asked for.
_WHILE_OWNER_LIVES = '[ "$PPID" = "$1" ] || exit 125; shift; exec "$@"'

# The namespace's init: runs the command in the foreground, so that signals keep their defaults in it, and reaps orphans while it waits. What the shell itself
# has to say about a killed command is not the command's output. Core dumps are off: they would land in the working directory.
_NAMESPACE_INIT = 'ulimit -c 0; exec 9>&2 2>/dev/null; (exec 2>&9 9>&-; exec "$@"); exit $?'

# PID namespaces in order of preference: as root and in a user namespace, with /proc as the tree should see it and without. The kernel kills everything in one
# with its init, whatever a process did to leave its group or session.
_NAMESPACES: tuple[tuple[str, ...], ...] = (
    ("--mount-proc",),
    ("--user", "--map-current-user", "--mount-proc"),
    (),
    ("--user", "--map-current-user"),
)

_detected: tuple[str, ...] | str | None = "unknown"


class ProcessTree:
    """It also ends when this process dies, however that happens."""

    def __init__(self, process: asyncio.subprocess.Process, mark: str | None) -> None:
        self.process = process
        self.stdout = _piped(process.stdout)
        self.stderr = _piped(process.stderr)
        # None: in a namespace.
        self._mark = mark

    @staticmethod
    async def start(command: Sequence[str], environment: Mapping[str, str], descriptor: int | None = None) -> "ProcessTree":
        """Starts a command; it gets nothing on standard input, and one more descriptor where one is given. Raises OSError where it can't be started."""
        global _detected
        if isinstance(_detected, str):
            _detected = await _detect()
        return await _start(_detected, command, environment, descriptor)

    async def exit_within(self, seconds: float) -> int | None:
        """The exit code of the first process; None where it has not ended after the time. (What asyncio offers also waits for the pipes' other holders.)"""
        until = time.monotonic() + seconds
        while self.process.returncode is None and time.monotonic() < until:  # noqa: ASYNC110 -- nothing tells of it.
            await asyncio.sleep(_LOOK_S)
        return self.process.returncode

    async def stop(self) -> bool:
        """Kills every process of the tree at once, those that are left after a normal exit as well. Returns whether it is known to be empty."""
        try:
            return await asyncio.wait_for(self._stop(), _KILL_CONFIRMATION_S)
        except (TimeoutError, asyncio.TimeoutError):
            return False

    async def _stop(self) -> bool:
        if self._mark is None:
            # The kernel lets an init be waited for only when everything else in its namespace has gone, so the exit of `unshare` proves that.
            while self.process.returncode is None:
                for init in _children_of(self.process.pid):
                    _kill(init)
                await self._exit_or_look()
            return True
        while True:
            # A member may fork between being listed and being killed, so it is looked again until nothing was found.
            members = _members(self._mark, self.process.pid)
            if not members and self.process.returncode is not None:
                return True
            for member in members:
                _kill(member)
            await self._exit_or_look()

    async def _exit_or_look(self) -> None:
        if self.process.returncode is not None:
            await asyncio.sleep(_LOOK_S)
            return
        try:
            await asyncio.wait_for(self.process.wait(), _LOOK_S)
        except (TimeoutError, asyncio.TimeoutError):
            return


async def _start(namespace: tuple[str, ...] | None, command: Sequence[str], environment: Mapping[str, str], descriptor: int | None) -> ProcessTree:
    mark = None
    if namespace is None:
        mark = uuid.uuid4().hex
        environment = {**environment, _MARK: mark}
    else:
        owned = ["setpriv", "--pdeathsig", "KILL", "--", "sh", "-c", _WHILE_OWNER_LIVES, "sh", str(os.getpid())]
        command = [*owned, "unshare", "--pid", "--fork", "--kill-child=KILL", *namespace, "--", "sh", "-c", _NAMESPACE_INIT, "sh", *command]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        pass_fds=() if descriptor is None else (descriptor,),
        # A session of its own, so that a Ctrl-C at the terminal reaches the worker alone, which then stops its calls in order.
        start_new_session=True,
    )
    return ProcessTree(process, mark)


async def _detect() -> tuple[str, ...] | None:
    """The strongest isolation that works here, found by running and stopping a real process in each: no single file tells whether namespaces are allowed."""
    if sys.platform != "linux" or shutil.which("unshare") is None or shutil.which("setpriv") is None:
        return None
    for namespace in _NAMESPACES:
        if await _works(namespace):
            return namespace
    return None


async def _works(namespace: tuple[str, ...]) -> bool:
    tree = await _start(namespace, ["sh", "-c", "echo started; exec sleep 60"], {"PATH": os.environ.get("PATH", "")}, None)
    try:
        said = await asyncio.wait_for(tree.stdout.readline(), _TRIAL_S)
    except (TimeoutError, asyncio.TimeoutError):
        said = b""
    return await tree.stop() and said == b"started\n"


def _piped(stream: asyncio.StreamReader | None) -> asyncio.StreamReader:
    if stream is None:
        raise TypeError("a tree's first process writes into pipes")
    return stream


def _children_of(pid: int) -> list[int]:
    children = []
    for process in _process_ids():
        stat = _stat(process)
        if stat is not None and int(stat[1]) == pid:
            children.append(process)
    return children


def _members(mark: str, group: int) -> list[int]:
    """The process group, and everything whose environment carries the mark, zombies left out. Where there is no /proc: the group as a whole, as -group."""
    if sys.platform != "linux":
        try:
            os.killpg(group, 0)
        except OSError:
            return []
        return [-group]
    needle = f"{_MARK}={mark}".encode()
    found = []
    for process in _process_ids():
        stat = _stat(process)
        if stat is None or stat[0] in "ZX":
            continue
        if int(stat[2]) == group or needle in _environment(process):
            found.append(process)
    return found


def _process_ids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _stat(pid: int) -> list[str] | None:
    """State, parent, group and what follows; None where it has gone. The name before them stands in parentheses and may hold anything."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split(" ")


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _kill(pid: int) -> None:
    try:
        if pid < 0:
            os.killpg(-pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
    except OSError:
        # It has gone meanwhile, or is somebody else's now. Whoever called looks again.
        return
