"""`ai` of the package forrestrun with the given words, in this directory; then its newest run, as it kept it, as one JSON object on standard output."""

import contextlib
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

from agent_runtime.cli import main

JSON_SUFFIX = "_json"


def ran() -> str | None:
    """What the command failed with, where no run tells it."""
    with contextlib.redirect_stdout(sys.stderr):
        try:
            main()
        except SystemExit as error:
            return None if error.code in (0, 1, None) else str(error.code)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None


def rows(query: str, *values: Any) -> list[dict[str, Any]]:
    """A table's rows, what is JSON in them read."""
    database = sqlite3.connect("runtime.db")
    database.row_factory = sqlite3.Row
    try:
        found = [dict(row) for row in database.execute(query, values)]
    finally:
        database.close()
    return [
        {name.removesuffix(JSON_SUFFIX): json.loads(value) if name.endswith(JSON_SUFFIX) and value is not None else value for name, value in row.items()}
        for row in found
    ]


Path("runtime.db").unlink(missing_ok=True)
failure = ran()
runs = rows("select * from runs") if Path("runtime.db").exists() else []
run = runs[0] if runs else None
steps = rows("select * from steps where run_id = ? order by execution_index", run["id"]) if run else []
states = rows("select * from state_versions where run_id = ? order by version", run["id"]) if run else []
sys.stdout.write(json.dumps({"failure": failure, "run": run, "steps": steps, "states": states}))
