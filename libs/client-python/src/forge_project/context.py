"""What user code is given beside its inputs."""

import json
import sys
from collections.abc import Mapping
from typing import Any


class Logger:
    """Writes an event and its payload as one line of JSON; the line goes to the server's log."""

    def debug(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        self._write("debug", event, payload)

    def info(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        self._write("info", event, payload)

    def warning(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        self._write("warning", event, payload)

    def error(self, event: str, payload: Mapping[str, Any] | None = None) -> None:
        self._write("error", event, payload)

    def _write(self, level: str, event: str, payload: Mapping[str, Any] | None) -> None:
        line = {"level": level, "event": event, **(payload or {})}
        sys.stderr.write(f"{json.dumps(line, ensure_ascii=False, default=str)}\n")


class FunctionContext:
    """The second argument of a function that takes two."""

    def __init__(self, ids: Mapping[str, Any]) -> None:
        self.run_id: str = ids["runId"]
        self.step_id: str = ids["stepId"]
        # 1 for the first.
        self.attempt: int = ids["attempt"]
        # The same for every attempt of one step: hand it to services that deduplicate.
        self.idempotency_key: str = ids["idempotencyKey"]
        self.logger = Logger()
