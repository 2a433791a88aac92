import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forge_client import AsyncForgeClient, ErrorCode, ForgeClient, ForgeError, ProjectServer, find_project_server

URL = "http://127.0.0.1:7233"


def serve(directory: Path, address: object, token: str | None = "secret\n") -> Path:
    data = directory / ".forge" / "data"
    data.mkdir(parents=True)
    (data / "address.json").write_text(address if isinstance(address, str) else json.dumps(address))
    if token is not None:
        (data / "token").write_text(token)
        (data / "worker-token").write_text("workers' secret\n")
    return directory


def reason(directory: Path) -> str:
    with pytest.raises(ForgeError) as raised:
        find_project_server(directory)
    assert raised.value.code == ErrorCode.NOT_FOUND
    return raised.value.reason


async def test_finds_the_server_of_the_nearest_project_above(tmp_path: Path) -> None:
    root = serve(tmp_path, {"url": URL, "pid": os.getpid(), "startedAt": "2026-01-01T00:00:00Z", "version": "0.1.0"})
    below = root / "src" / "deep"
    below.mkdir(parents=True)
    queue = find_project_server(root).queue
    assert re.fullmatch("project:[0-9a-f]{16}", queue)
    assert find_project_server(root) == find_project_server(str(below)) == ProjectServer(URL, "secret", os.getpid(), "workers' secret", queue)
    assert "secret" not in repr(find_project_server(root))
    with ForgeClient.local_project(below) as client:
        assert isinstance(client, ForgeClient)
    async with AsyncForgeClient.local_project(below) as async_client:
        assert isinstance(async_client, AsyncForgeClient)


def test_says_that_there_is_no_project(tmp_path: Path) -> None:
    assert reason(tmp_path) == "PROJECT_NOT_FOUND"


def test_says_that_nobody_serves_it(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert reason(serve(tmp_path, {"url": URL, "pid": ended.pid})) == "SERVER_NOT_FOUND"


@pytest.mark.parametrize("address", ["", "{", "null", "[1]", {"url": URL}, {"url": 7, "pid": 1}, {"url": URL, "pid": "1"}, {"url": URL, "pid": 0}])
def test_takes_a_file_that_holds_something_else_for_none(tmp_path: Path, address: object) -> None:
    assert reason(serve(tmp_path, address)) == "SERVER_NOT_FOUND"


def test_needs_the_token_as_well(tmp_path: Path) -> None:
    assert reason(serve(tmp_path, {"url": URL, "pid": os.getpid()}, token=None)) == "SERVER_NOT_FOUND"
