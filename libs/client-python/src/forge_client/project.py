"""Finds the server that serves a project on this machine."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from forge_client.errors import ErrorCode, ForgeError


@dataclass(frozen=True)
class ProjectServer:
    """Where a project's server is, and what it admits its clients by."""

    url: str
    token: str = field(repr=False)
    pid: int
    # What workers join by, which is another token than clients have.
    worker_token: str = field(repr=False)
    # The queue that only the project's own workers serve.
    queue: str


def find_project_server(directory: str | os.PathLike[str] = ".") -> ProjectServer:
    """The server of the project in a directory, or in the nearest one above, as `forge up` and the commands of the CLI start it.

    Raises:
        ForgeError: not_found: there is no project, reason PROJECT_NOT_FOUND, or nobody serves it, reason SERVER_NOT_FOUND.
    """
    start = Path(directory).resolve()
    data = next((place / ".forge" / "data" for place in [start, *start.parents] if (place / ".forge" / "data").is_dir()), None)
    if data is None:
        raise ForgeError(ErrorCode.NOT_FOUND, f"there is no project with data in {start} or above it: run `forge up` in yours", reason="PROJECT_NOT_FOUND")
    address = _address(data / "address.json")
    token = _text(data / "token")
    worker_token = _text(data / "worker-token")
    root = data.parent.parent
    if address is None or token is None or worker_token is None:
        raise ForgeError(ErrorCode.NOT_FOUND, f"nobody serves {root}: run `forge up` there", reason="SERVER_NOT_FOUND")
    return ProjectServer(address["url"], token.strip(), address["pid"], worker_token.strip(), _queue(root))


def _queue(root: Path) -> str:
    """As the server names it."""
    return f"project:{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:16]}"


def _address(file: Path) -> dict[str, Any] | None:
    """What the server that came last wrote, where its process is still there; None also where the file holds something else."""
    text = _text(file)
    try:
        value: object = None if text is None else json.loads(text)
    except ValueError:
        # A full disk or a person's hand: the next server writes it anew.
        return None
    if not isinstance(value, Mapping):
        return None
    address = dict(cast("Mapping[str, Any]", value))
    pid = address.get("pid")
    # A process id below 1 would stand for a group of processes.
    is_address = isinstance(address.get("url"), str) and isinstance(pid, int) and pid > 0
    return address if is_address and _is_alive(cast("int", pid)) else None


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
