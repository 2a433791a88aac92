"""The programs of the guide, as they stand there."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

from fake_control_plane import FakeControlPlane, leased, tool_task

from forge_client.worker import start_worker

ROOT = Path(__file__).resolve().parents[4]
SECONDS_MAX = 120


def programs() -> list[str]:
    found = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "guides" / "workers.md").read_text(), flags=re.DOTALL)
    assert len(found) == 2
    return found


async def test_its_file_is_served(tmp_path: Path) -> None:
    file = tmp_path / "my_tools.py"
    await asyncio.to_thread(file.write_text, programs()[0])
    plane = FakeControlPlane()
    async with plane.serving(), await start_worker(file, url=plane.url, token="t", name="w"):
        names = [capability.name for capability in plane.registered[0].capabilities]
        assert names == ["weather.today", "weather.order", "weather.mean", "weather.polite", "parrot/*"]
        plane.hand(leased("a", tool_task("weather.today", '{"place": {"city": "Bonn"}}')), leased("b", tool_task("weather.order", '{"kind": "sun"}')))
        assert (await plane.settlement_of("a")).tool.output.json == '{"city":"Bonn","degrees":20,"unit":"c"}'
        assert (await plane.settlement_of("b")).tool.output.json == '"sun, by order key"'


async def test_its_tools_that_tell_and_ask_do(tmp_path: Path) -> None:
    (program,) = re.findall(r"```py\n(from forge_client.worker import .*?)```", (ROOT / "docs" / "guides" / "python.md").read_text(), flags=re.DOTALL)
    file = tmp_path / "my_tools.py"
    await asyncio.to_thread(file.write_text, program)
    plane = FakeControlPlane()
    async with plane.serving(), await start_worker(file, url=plane.url, token="t", name="w"):
        told = tool_task("stock.set_price", '{"item": "lamp", "price": 25}')
        told.tool.preview = True
        plane.hand(leased("a", told), leased("b", tool_task("stock.order", '{"item": "lamp"}')))
        assert (await plane.settlement_of("a")).preview.title == "set lamp from 20 to 25"
        assert (await plane.settlement_of("b")).input_required.question == "Which colour of lamp?"


def test_its_program_has_a_server_of_its_own() -> None:
    run = subprocess.run([sys.executable, "-B", "-c", programs()[1]], check=True, capture_output=True, text=True, cwd=ROOT, timeout=SECONDS_MAX)
    assert re.fullmatch(r"[0-9a-f-]{36} http://127\.0\.0\.1:\d+\n", run.stdout)
