"""Makes the Python environment of the tests where it is missing, and prints its interpreter's path.

It lies in node_modules/.cache, and its name holds a digest of what it is made of, so that a change makes a new one. A file lock keeps two test processes from
making it at once; the kernel gives it up with its holder. Ends with 3, and what to install on standard error, where this machine's Python can't make it.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[3]
CACHE = ROOT / "node_modules" / ".cache" / "forge-python"
REQUIREMENTS = ROOT / "tools" / "python" / "requirements.txt"
SOURCES = ROOT / "libs" / "client-python" / "src"


def main() -> None:
    if sys.version_info < (3, 10):  # noqa: UP036 -- whatever `python3` is here runs this.
        refuse(f"Python 3.10 or newer is needed, and {sys.executable} is {sys.version.split()[0]}")
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        refuse(f"{sys.executable} has no venv (on Debian: apt-get install python3-venv)")
    made_of = "\n".join([sys.version, sys.base_prefix, str(ROOT), REQUIREMENTS.read_text()])
    environment = CACHE / hashlib.sha256(made_of.encode()).hexdigest()[:16]
    interpreter = environment / "bin" / "python3"
    complete = environment / "complete"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            make(environment, interpreter)
            complete.touch()
    sys.stdout.write(f"{interpreter}\n")


def refuse(reason: str) -> NoReturn:
    sys.stderr.write(f"{reason}\n")
    sys.exit(3)


def make(environment: Path, interpreter: Path) -> None:
    shutil.rmtree(environment, ignore_errors=True)
    run(sys.executable, "-m", "venv", str(environment))
    run(str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", str(REQUIREMENTS))
    # The package as it is in the checkout, without a build that would leave files there; that its wheel holds the same is another test.
    packages = Path(sysconfig.get_path("purelib", "posix_prefix", vars={"base": str(environment), "platbase": str(environment)}))
    (packages / "forge_client_sources.pth").write_text(f"{SOURCES}\n")


def run(*command: str) -> None:
    # Standard output belongs to the answer.
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    subprocess.run(command, check=True, stdout=sys.stderr, env=environment)  # noqa: S603 -- our own commands.


if __name__ == "__main__":
    main()
