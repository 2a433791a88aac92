"""What several tests need: a server of this checkout."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge_client import ProjectServer, find_project_server

ROOT = Path(__file__).resolve().parents[3]
FORGE = ROOT / "apps" / "cli" / "src" / "main.js"


def node() -> str:
    """The repository's own Node where it is installed."""
    pinned = ROOT / "node_modules" / ".bin" / "node"
    found = str(pinned) if pinned.exists() else shutil.which("node")
    assert found is not None, "Node is not installed"
    return found


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory of a project that `forge up` serves."""
    directory = tmp_path_factory.mktemp("project")
    environment = {**os.environ, "DATABASE_URL": "", "CI": ""}
    process = subprocess.Popen([node(), str(FORGE), "up", "--json"], cwd=directory, env=environment, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        json.loads(process.stdout.readline())
        yield directory
    finally:
        # Twice: it need not wait for what still runs.
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.fixture(scope="session")
def server(project: Path) -> ProjectServer:
    return find_project_server(project)
