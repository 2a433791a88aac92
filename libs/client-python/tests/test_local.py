"""A program's own server, started by the checkout's own command line."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from conftest import FORGE, node

from forge_client import AsyncForgeClient, ErrorCode, Forge, ForgeError, command_header

COMMAND = (node(), str(FORGE))
ENVIRONMENT = {**os.environ, "DATABASE_URL": "", "CI": ""}
WAIT_S = 60.0


def processes_of(directory: Path) -> list[str]:
    """Processes, also those of other users, whose command line names a directory."""
    found: list[str] = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes().decode(errors="replace").replace("\0", " ")
        except OSError:
            continue
        if str(directory) in line:
            found.append(line)
    return found


def wait_until_gone(directory: Path) -> None:
    deadline = time.monotonic() + WAIT_S
    while directory.exists() or processes_of(directory):
        assert time.monotonic() < deadline, f"{directory} is still used"
        time.sleep(0.05)


def test_serves_the_program_and_takes_everything_away_again(tmp_path: Path) -> None:
    with Forge.local(project=tmp_path, command=COMMAND, environment=ENVIRONMENT) as forge:
        created = forge.client.session.create_session(header=command_header(), agent={"model": "demo/echo"})
        assert forge.client.session.get_session_snapshot(session_id=created.session_id).session.session_id == created.session_id
        assert forge.worker_token != forge.token
        directory = forge.data_directory
        assert processes_of(directory)
    assert processes_of(directory) == []
    assert not directory.exists()


async def test_keeps_a_data_directory_that_it_was_given_and_is_async_as_well(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    async with Forge.local(project=tmp_path, data_directory=directory, command=COMMAND, environment=ENVIRONMENT) as forge:
        assert isinstance(forge.client, AsyncForgeClient)
        created = await forge.client.session.create_session(header=command_header(), agent={"model": "demo/echo"})
        with pytest.raises(ForgeError) as raised, Forge.local(project=tmp_path, data_directory=directory, command=COMMAND, environment=ENVIRONMENT):
            pass
        assert raised.value.code == ErrorCode.CONFLICT
    async with Forge.local(project=tmp_path, data_directory=directory, command=COMMAND, environment=ENVIRONMENT) as again:
        snapshot = await again.client.session.get_session_snapshot(session_id=created.session_id)
        assert snapshot.session.session_id == created.session_id


def test_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(f"""
            import time
            from forge_client import Forge
            with Forge.local(command={COMMAND!r}) as forge:
                print(forge.data_directory, flush=True)
                time.sleep(600)
        """)
    )
    embedding = subprocess.Popen([sys.executable, str(program)], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE)
    assert embedding.stdout is not None
    with embedding.stdout:
        directory = Path(embedding.stdout.readline().decode().strip())
        assert processes_of(directory)
        embedding.send_signal(signal.SIGKILL)
        embedding.wait()
    wait_until_gone(directory)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([sys.executable, "-c", "import sys; sys.stderr.write('no luck'); sys.exit(3)"], "exit code 3\nno luck"),
        (["no-such-program"], "No such file or directory"),
    ],
)
def test_says_why_it_could_not_be_started(command: list[str], said: str) -> None:
    with pytest.raises(ForgeError) as raised, Forge.local(command=command):
        pass
    assert raised.value.reason == "SERVER_START"
    assert said in raised.value.message
