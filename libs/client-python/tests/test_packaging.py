"""The package as it is installed."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import forge_client

PACKAGE = Path(__file__).resolve().parents[1]
USE = "import forge_client, forge_client.protocol.session as s; print(forge_client.__file__, forge_client.__version__, s.CreateSessionRequest(title='x').title)"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the sdist and the wheel are, made from a copy: a build leaves files in its sources."""
    directory = tmp_path_factory.mktemp("package")
    sources = directory / "sources"
    shutil.copytree(PACKAGE, sources, ignore=shutil.ignore_patterns("__pycache__", "tests"))
    subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", directory / "dist", sources], check=True, capture_output=True)
    return directory / "dist"


def sources_of_package() -> set[str]:
    directory = PACKAGE / "src" / "forge_client"
    return {f"forge_client/{file.relative_to(directory)}" for file in directory.rglob("*") if file.is_file() and "__pycache__" not in file.parts}


def test_a_wheel_holds_the_package_and_no_more(built: Path) -> None:
    with zipfile.ZipFile(built / f"forge_client-{forge_client.__version__}-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"forge_client-{forge_client.__version__}.dist-info/METADATA").decode()
    assert {name for name in names if ".dist-info/" not in name} == sources_of_package()
    assert "forge_client/py.typed" in names
    assert {"License-Expression: Apache-2.0", "Requires-Python: >=3.10"} <= set(metadata.splitlines())


def test_an_sdist_holds_what_the_wheel_is_made_of(built: Path) -> None:
    root = f"forge_client-{forge_client.__version__}"
    with tarfile.open(built / f"{root}.tar.gz") as sdist:
        names = {name.removeprefix(f"{root}/") for name in sdist.getnames()}
    assert {f"src/{name}" for name in sources_of_package()} | {"pyproject.toml", "README.md", "LICENSE"} <= names
    assert (PACKAGE / "LICENSE").read_bytes() == (PACKAGE.parents[1] / "LICENSE").read_bytes()
    assert not [name for name in names if name.startswith(("tests", "codegen"))]


def test_a_wheel_works_where_it_is_installed(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", tmp_path, wheel]
    subprocess.run(install, check=True)
    said = subprocess.run([sys.executable, "-c", USE], check=True, capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)}, cwd=tmp_path).stdout
    assert said.split() == [str(tmp_path / "forge_client" / "__init__.py"), forge_client.__version__, "x"]
