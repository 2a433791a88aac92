"""A worker that nobody told where to go: it serves the project that it is in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forge_client import ErrorCode, ForgeError, ProjectServer
from forge_client.worker import run_worker
from forge_client.worker.worker import worker_options

TEXT = 'from forge_client.worker import tool\n@tool(name="mine.answer")\ndef answer() -> str:\n    return "here"\n'


@pytest.fixture(autouse=True)
def _nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORGE_URL", raising=False)
    monkeypatch.delenv("FORGE_TOKEN", raising=False)
    monkeypatch.delenv("FORGE_NAMESPACE", raising=False)


def test_joins_with_the_workers_token_and_serves_the_projects_own_queue(project: Path, server: ProjectServer, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TEXT)
    command = [sys.executable, "-m", "forge_client.worker", str(file), "--json"]
    process = subprocess.Popen(command, cwd=project, env=dict(os.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said, process.communicate()[1].decode()
        serving = json.loads(said)["serving"]
        assert serving["url"] == server.url
        assert serving["queues"] == [server.queue, "default"]
        assert serving["tools"] == ["mine.answer"]
    finally:
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_queues_and_token_that_are_given_stay_as_they_are(project: Path, server: ProjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    found = worker_options("mine.py", None, None, None, None, 1, None)
    assert (found.token, found.queues) == (server.worker_token, (server.queue, "default"))
    given = worker_options("mine.py", None, "my own", None, ["far"], 1, None)
    assert (given.url, given.token, given.queues) == (server.url, "my own", ("far",))
    assert worker_options("mine.py", "http://127.0.0.1:1", "my own", None, None, 1, None).queues == ("default",)


@pytest.mark.parametrize("named_by", ["argument", "environment"])
def test_sends_the_projects_token_to_no_other_server(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named_by: str) -> None:
    monkeypatch.chdir(project)
    file = tmp_path / "mine.py"
    file.write_text(TEXT)
    url = "http://127.0.0.1:1"
    if named_by == "environment":
        monkeypatch.setenv("FORGE_URL", url)
    with pytest.raises(ForgeError) as raised:
        run_worker(file, url=url if named_by == "argument" else None)
    assert (raised.value.code, raised.value.reason, raised.value.metadata) == (ErrorCode.VALIDATION, "TOKEN_MISSING", {"field": "token"})
