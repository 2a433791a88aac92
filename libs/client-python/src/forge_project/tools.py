"""The tools that a file of Python offers: its classes with a name, a description, an input_schema and an execute."""

import asyncio
import importlib
import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from forge_project.awaiting import Awaiting
from forge_project.context import Logger
from forge_project.inputs import State
from forge_project.refusal import RefusalError, describe_raised
from forge_project.values import schema_json

_PARTS = ("name", "description", "input_schema", "execute")
_RISKS = ("read", "change", "execute")
# JSON's types as Python has them; a bool is an int there.
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def tools_of(module: ModuleType) -> tuple[dict[str, Any], list[str]]:
    """A module's tools by name, instantiated, and what is wrong with the others. A class that begins with an underscore or was imported is none."""
    tools: dict[str, Any] = {}
    errors: list[str] = []
    for class_name in dir(module):
        found = getattr(module, class_name)
        if class_name.startswith("_") or not isinstance(found, type) or found.__module__ != module.__name__:
            continue
        if not all(hasattr(found, part) for part in _PARTS) or not callable(getattr(found, "execute", None)):
            continue
        try:
            tool = found()
            tools[str(tool.name)] = tool
        except BaseException as error:
            errors.append(f"{class_name} could not be made: {describe_raised(error)}")
    return tools, errors


def described(name: str, tool: Any) -> dict[str, Any]:
    """What is served of a tool. Raises RefusalError `result` where its schema is no JSON."""
    risk, timeout, retries = getattr(tool, "risk", None), getattr(tool, "timeout", None), _retries(tool)
    return {
        "name": name,
        "description": str(tool.description or ""),
        "schema": schema_json(tool.input_schema) or {"type": "object"},
        "idempotent": getattr(tool, "idempotent", False) is True,
        "risk": risk if risk in _RISKS else "execute",
        # Seconds of all its attempts together; None: no bound of its own.
        "timeout": float(timeout) * (retries + 1) if isinstance(timeout, (int, float)) and timeout > 0 and math.isfinite(timeout) else None,
    }


def call_tool(tool: Any, arguments: dict[str, Any], ids: Mapping[str, Any], fetch: Callable[[], State], awaiting: Awaiting) -> dict[str, Any]:
    """Calls a tool, again as often as its `retries` say; its output. Raises RefusalError `arguments`, or what the last attempt failed with."""
    _check_arguments(arguments, tool.input_schema)
    base = importlib.import_module("agent_runtime.tools.base")
    context = _context(base, ids, fetch)
    attempts = _retries(tool) + 1
    for attempt in range(1, attempts + 1):
        try:
            return _output(awaiting.result(tool.execute(arguments, context), getattr(tool, "timeout", None) or None), base)
        except (TimeoutError, asyncio.TimeoutError) as error:
            if attempt == attempts:
                raise RefusalError("threw", f"it did not end within {tool.timeout} s") from error
        except Exception:
            if attempt == attempts:
                raise
    raise AssertionError("a call without attempts")


def _retries(tool: Any) -> int:
    retries = getattr(tool, "retries", None)
    return retries if isinstance(retries, int) and retries > 0 else 0


def _context(base: Any, ids: Mapping[str, Any], fetch: Callable[[], State]) -> Any:
    """A RuntimeContext whose state is fetched when it is looked at: few tools do, and a long run's state is large."""

    class Context(base.RuntimeContext):
        _state: State | None = None

        @property
        def state(self) -> State:
            if self._state is None:
                self._state = fetch()
            return self._state

        @state.setter
        def state(self, value: State | None) -> None:
            self._state = value

    context = Context(run_id=ids["runId"], step_id=ids["stepId"], state=None, logger=Logger())
    # The same for every attempt of one call: for services that deduplicate.
    context.idempotency_key = ids["idempotencyKey"]
    return context


def _output(result: Any, base: Any) -> dict[str, Any]:
    if not isinstance(result, base.ToolResult):
        raise RefusalError("result", f"it returned an instance of {type(result).__name__}; a tool must return a ToolResult")
    if not result.success:
        raise RefusalError("threw", str(result.error or "Tool execution failed."))
    output: dict[str, Any] = result.output or {}
    return output


def _check_arguments(arguments: Mapping[str, Any], schema: Any) -> None:
    """What the convention checks: what is required, and the types of the first level."""
    if not schema:
        return
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise RefusalError("arguments", "the tool's input_schema must be of type object; the tool was not called")
    for name in schema.get("required", []):
        if name not in arguments:
            raise RefusalError("arguments", f"arguments.{name} is missing; the tool was not called")
    for name, rule in schema.get("properties", {}).items():
        value = arguments.get(name)
        expected = rule.get("type") if isinstance(rule, dict) else None
        types = _TYPES.get(expected) if isinstance(expected, str) else None
        if value is None or types is None:
            continue
        if not isinstance(value, types) or (isinstance(value, bool) and expected != "boolean"):
            raise RefusalError("arguments", f"arguments.{name} must be of type {expected}, not {type(value).__name__}; the tool was not called")
