"""A process tree ends whole, however it is held together."""

import os
import sys
from pathlib import Path

import pytest
from fake_control_plane import until

from forge_client.worker import process_tree
from forge_client.worker.process_tree import ProcessTree

# Leaves the group and the session, as daemons do.
ESCAPING = "import os, subprocess, sys, time; subprocess.Popen(['sleep', sys.argv[1]], start_new_session=True); print('begun', flush=True); time.sleep(600)"


def processes_naming(text: str) -> int:
    count = 0
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            count += text.encode() in process.read_bytes()
        except OSError:
            continue
    return count


@pytest.fixture(params=["namespace", "marked"])
def isolation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "marked":
        monkeypatch.setattr(process_tree, "_detected", None)
    return request.param


async def test_stops_what_left_its_session_as_well(isolation: str) -> None:
    mark = f"{930_000 + os.getpid()}"
    tree = await ProcessTree.start([sys.executable, "-c", ESCAPING, mark], dict(os.environ))
    assert await tree.stdout.readline() == b"begun\n"
    # Beside the sleep, the processes that were told of it.
    await until(lambda: processes_naming(f"sleep\0{mark}") == 1)
    assert await tree.stop()
    assert processes_naming(mark) == 0
    assert await tree.stop()


async def test_tells_how_its_first_process_ended_and_stops_what_that_left(isolation: str) -> None:
    mark = f"{940_000 + os.getpid()}"
    text = ESCAPING.replace("time.sleep(600)", "os._exit(7)")
    tree = await ProcessTree.start([sys.executable, "-c", text, mark], dict(os.environ))
    assert await tree.exit_within(20) == 7
    assert await tree.stop()
    assert processes_naming(mark) == 0
