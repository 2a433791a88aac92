"""What is committed is what the contracts give."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "libs" / "client-python" / "src" / "forge_client"
DRIVER = ROOT / "test" / "contract" / "drivers" / "python"
GENERATE = ROOT / "libs" / "client-python" / "codegen" / "generate.py"


def files_of(directory: Path) -> dict[str, bytes]:
    files = (file for file in directory.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {str(file.relative_to(directory)): file.read_bytes() for file in files}


def test_is_what_the_contracts_give(tmp_path: Path) -> None:
    package, driver = tmp_path / "package", tmp_path / "driver"
    subprocess.run([sys.executable, "-B", GENERATE, ROOT / "proto", package, driver], check=True)
    for made, committed in ((package / "_gen", PACKAGE / "_gen"), (package / "protocol", PACKAGE / "protocol"), (driver / "_gen", DRIVER / "_gen")):
        expected, actual = files_of(made), files_of(committed)
        differing = sorted(name for name in expected.keys() | actual.keys() if expected.get(name) != actual.get(name))
        assert differing == [], "run `npm run generate`"
        assert expected
