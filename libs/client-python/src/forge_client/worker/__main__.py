"""`python -m forge_client.worker my_tools.py`: serves a file's tools, functions and model providers."""

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Coroutine
from pathlib import Path

from forge_client.errors import ErrorCode, ForgeError
from forge_client.worker.run import end_with_input, serve, serve_reloading
from forge_client.worker.view import JsonWorkerView, WorkerView, error_json, located
from forge_client.worker.worker import DEFAULT_SLOTS, worker_options

# As the command line has them.
_EXIT_CODES = {ErrorCode.VALIDATION: 2, ErrorCode.NOT_FOUND: 3, ErrorCode.CONFLICT: 4, ErrorCode.STORAGE_ERROR: 5}


def main(arguments: list[str] | None = None) -> int:
    """Returns the process's exit code: 0 ended in order, 2 wrong words or a file that can't be served, 4 another worker has taken its name, 1 anything else."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    try:
        asyncio.run(_serving(given))
    except ForgeError as error:
        sys.stderr.write(f"{json.dumps({'error': error_json(error)}) if given.json else located(error)}\n")
        return _EXIT_CODES.get(error.code, 1)
    return 0


def _serving(given: argparse.Namespace) -> Coroutine[None, None, None]:
    file: Path = given.file
    if not file.is_file():
        raise ForgeError(ErrorCode.NOT_FOUND, f"there is no file {file}", reason="FILE_NOT_FOUND", origin="client", metadata={"file": str(file)})
    token = None if given.token_file is None else _read_token(given.token_file)
    options = worker_options(file, given.url, token, given.name, given.queue, given.slots, given.namespace)
    view = JsonWorkerView(str(file)) if given.json else WorkerView()
    end_with_input()
    return serve_reloading(file.resolve(), options, view) if given.reload else serve(file, options, view)


def _read_token(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError as error:
        raise ForgeError.validation("token-file", f"{file} can't be read: {error.strerror}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m forge_client.worker", description="Serves a file's tools, functions and model providers.")
    parser.add_argument("file", type=Path, help="a Python file with decorated functions")
    parser.add_argument("--url", help="of the control plane; else FORGE_URL, else the project's server")
    parser.add_argument("--token-file", type=Path, help="a file with the token; else FORGE_TOKEN, else the project's own where no other server is named")
    parser.add_argument("--name", help="stable over restarts; else the file's and the machine's")
    parser.add_argument("--queue", action="append", help="whose calls it takes; may be repeated; else default, and the project's own")
    parser.add_argument("--slots", type=int, default=DEFAULT_SLOTS, help=f"calls at once, each in a process of its own; else {DEFAULT_SLOTS}")
    parser.add_argument("--namespace", help="else FORGE_NAMESPACE, else the token's first")
    parser.add_argument("--reload", action="store_true", help="serve anew when the file or a Python file beside it has changed")
    parser.add_argument("--json", action="store_true", help="one JSON object a line on standard output for everything that happens")
    return parser


if __name__ == "__main__":
    sys.exit(main())
