"""What a worker says of itself while it serves."""

import contextlib
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import json_format

from forge_client.errors import ErrorCode, ForgeError
from forge_client.protocol.common import ErrorCode as ErrorCodeMessage
from forge_client.protocol.worker import Task
from forge_client.worker.outcomes import Outcome

logger = logging.getLogger("forge.worker")

_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))


class WorkerView:
    """Into the log `forge.worker`."""

    def serving(self, name: str, queues: Sequence[str], url: str, offered: Sequence[Mapping[str, Any]], *, reloaded: bool) -> None:
        served = ", ".join(f"{each['kind']} {capability_name(each)}" for each in offered)
        logger.info("%s serves %s%s at %s, of queue %s", name, served, " anew" if reloaded else "", url, ", ".join(queues))

    def called(self, name: str, task: Task, outcome: Outcome, seconds: float) -> None:
        facts = call_facts(name, task, outcome, seconds)
        error = f": {facts['error'].message}" if "error" in facts else ""
        where = f"session {facts['session_id']}" if "session_id" in facts else f"run {facts.get('run_id', '')} {facts.get('step_id', '')}".rstrip()
        level = logging.INFO if facts["outcome"] in ("completed", "cancelled") else logging.WARNING
        logger.log(level, "%s %s after %d ms, %s%s", facts["name"], facts["outcome"], facts["duration_ms"], where, error)

    def waiting(self, calls: int) -> None:
        logger.info("waiting for %d that run; another signal ends them at once", calls)

    def problem(self, error: BaseException) -> None:
        """What went wrong beside any call."""
        if isinstance(error, ForgeError):
            logger.warning("%s", located(error))
        else:
            logger.error("a problem in the worker", exc_info=error)

    def log(self, name: str, call: str, level: int, message: str) -> None:
        """What user code logs with its context's logger."""
        logger.log(level, "%s %s: %s", name, call, message)

    def output(self, name: str, call: str, stream: str, line: str) -> None:
        """A line that user code printed."""
        logger.info("%s %s %s: %s", name, call, stream, line)

    def replaced(self, name: str) -> None:
        logger.warning("another worker has joined as %s: this one ends", name)


class JsonWorkerView(WorkerView):
    """One JSON object a line on standard output, named for what it tells."""

    def __init__(self, file: str) -> None:
        self._file = file

    def serving(self, name: str, queues: Sequence[str], url: str, offered: Sequence[Mapping[str, Any]], *, reloaded: bool) -> None:
        kinds = {f"{kind}s": [capability_name(each) for each in offered if each["kind"] == kind] for kind in ("tool", "function", "model", "hook")}
        facts = {"name": name, "queues": list(queues), "url": url, "file": self._file, "pid": os.getpid(), "reloaded": reloaded}
        self._print("serving", {**facts, **kinds})

    def called(self, name: str, task: Task, outcome: Outcome, seconds: float) -> None:
        facts = call_facts(name, task, outcome, seconds)
        if "error" in facts:
            facts["error"] = error_json(facts["error"])
        self._print("call", facts)

    def waiting(self, calls: int) -> None:
        self._print("waiting", {"calls": calls})

    def problem(self, error: BaseException) -> None:
        known = error if isinstance(error, ForgeError) else ForgeError(ErrorCode.INTERNAL, f"{type(error).__name__}: {error}"[:4096], origin="worker")
        self._print("problem", {"error": error_json(known)})

    def log(self, name: str, call: str, level: int, message: str) -> None:
        self._print("log", {"level": next((word for number, word in _LEVELS if level >= number), "debug"), "message": message})

    def output(self, name: str, call: str, stream: str, line: str) -> None:
        self._print("output", {"stream": stream, "line": line})

    def replaced(self, name: str) -> None:
        self._print("replaced", {"name": name})

    def _print(self, name: str, value: Mapping[str, Any]) -> None:
        # Where nobody reads any more, the calls go on all the same.
        with contextlib.suppress(OSError):
            sys.stdout.write(f"{json.dumps({name: value}, ensure_ascii=False, separators=(',', ':'))}\n")
            sys.stdout.flush()


def capability_name(offered: Mapping[str, Any]) -> str:
    """As it is registered: a provider's stands for all of its models."""
    name: str = offered["name"]
    return f"{name}/*" if offered["kind"] == "model" else name


def call_facts(name: str, task: Task, outcome: Outcome, seconds: float) -> dict[str, Any]:
    """How a call ended: `error` is a ForgeError where it did not complete and was not cancelled."""
    facts: dict[str, Any] = {"name": task.model.model if task.HasField("model") else name, "outcome": "completed", "duration_ms": round(seconds * 1000)}
    of_kind = getattr(task, task.WhichOneof("kind") or "tool")
    ids = ("session_id",) if getattr(of_kind, "session_id", "") else ("run_id", "step_id")
    facts |= {field: getattr(of_kind, field) for field in ids if getattr(of_kind, field, "")}
    if "cancelled" in outcome:
        facts["outcome"] = "cancelled"
    elif "failure" in outcome:
        facts["outcome"] = "unknown" if outcome["failure"].unknown else "failed"
        facts["error"] = ForgeError.from_detail(outcome["failure"].error)
    return facts


def error_json(error: ForgeError) -> dict[str, Any]:
    """As the command line writes it: fields as in the proto files, the code without its prefix."""
    value: dict[str, Any] = json_format.MessageToDict(error.detail, preserving_proto_field_name=True)
    if "code" in value:
        value["code"] = ErrorCodeMessage.Name(error.detail.code).removeprefix("ERROR_CODE_")
    return value


def located(error: ForgeError) -> str:
    """The error's message, after file and line where it has them, as editors find them."""
    file, line = error.metadata.get("file"), error.metadata.get("line")
    return f"{file}:{line}: {error.message}" if file and line else str(error)
