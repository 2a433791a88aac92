"""What a module offers to a worker: functions that a decorator has marked."""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, get_args

from forge_client.worker.context import FunctionContext, ModelCall, ToolContext
from forge_client.worker.hook_context import HookContext, HookPoint
from forge_client.worker.schema import Parameters, parameters_of

Kind = Literal["tool", "function", "model", "hook"]
Risk = Literal["read", "change", "execute"]

# The attribute that a decorator leaves on a function, which stays a plain function otherwise.
_MARK = "__forge_capability__"

_NAME = re.compile(r"[\x21-\x7e]{1,128}")
_DESCRIPTION_LENGTH_MAX = 4096


@dataclass(frozen=True)
class Capability:
    """Something that a worker can do, beside the function that does it."""

    kind: Kind
    name: str
    description: str = ""
    schema: dict[str, Any] = field(default_factory=dict)
    idempotent: bool = False
    risk: Risk = "execute"
    # Seconds that one call may take; None: no bound but the task's own.
    timeout: float | None = None
    # Of a tool: whether it can tell what a call would do.
    previews: bool = False
    # Of a hook: where it can be called.
    at: tuple[HookPoint, ...] = ()


@dataclass(frozen=True)
class Previewing:
    """What tells what a call would do, and what it is called with: some or all of the tool's arguments, by name."""

    function: Callable[..., Any]
    parameters: Parameters

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.parameters.schema["properties"])


@dataclass(frozen=True)
class Marked:
    """A function with the capability that it has, and what it is called with."""

    capability: Capability
    function: Callable[..., Any]
    # None for a model provider and a hook, which are called with a ModelCall and a HookContext.
    parameters: Parameters | None
    # Of a tool that can tell what a call would do.
    preview: Previewing | None = None


def mark_tool(
    function: Callable[..., Any],
    name: str | None,
    description: str | None,
    idempotent: bool,
    risk: Risk,
    timeout: float,
    preview: Callable[..., Any] | None,
) -> None:
    """Raises TypeError for a function that can't be a tool, ValueError for a value that a tool can't have."""
    parameters = parameters_of(function, (ToolContext,))
    text = inspect.getdoc(function) or "" if description is None else description
    if len(text) > _DESCRIPTION_LENGTH_MAX:
        raise ValueError(f"the description of {function.__qualname__} has {len(text)} characters: at most {_DESCRIPTION_LENGTH_MAX}")
    if risk not in ("read", "change", "execute"):
        raise ValueError(f'the risk of {function.__qualname__} is "{risk}": it must be read, change or execute')
    if not timeout > 0:
        raise ValueError(f"the timeout of {function.__qualname__} is {timeout} s: it must be more than 0")
    previewing = None if preview is None else _previewing(function, parameters, preview)
    capability = Capability("tool", _checked(name or function.__name__), text, parameters.schema, idempotent, risk, timeout, previewing is not None)
    setattr(function, _MARK, Marked(capability, function, parameters, previewing))


def _previewing(function: Callable[..., Any], parameters: Parameters, preview: Callable[..., Any]) -> Previewing:
    found = Previewing(preview, parameters_of(preview, (ToolContext,)))
    more = sorted(found.names - set(parameters.schema["properties"]))
    if more:
        raise TypeError(f"the preview of {function.__qualname__} takes {', '.join(more)}, which is no argument of the tool")
    return found


def mark_function(function: Callable[..., Any], name: str | None) -> None:
    """Raises TypeError for a function that can't be a workflow function."""
    parameters = parameters_of(function, (FunctionContext,))
    # Workflow functions are deterministic logic, so they count as idempotent.
    capability = Capability("function", _checked(name or function.__name__), idempotent=True)
    setattr(function, _MARK, Marked(capability, function, parameters))


def mark_provider(function: Callable[..., Any], name: str) -> None:
    """Raises TypeError for a function that does not take a ModelCall, ValueError for a name that no model can have."""
    if not (inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)):
        raise TypeError(f"{function.__qualname__} must be a generator: it yields the pieces of the answer")
    if len(inspect.signature(function).parameters) != 1:
        raise TypeError(f"{function.__qualname__} must take one argument, the {ModelCall.__name__}")
    if "/" in name:
        raise ValueError(f'the provider "{name}" has a slash: a model\'s name begins with its provider and a slash')
    setattr(function, _MARK, Marked(Capability("model", _checked(name)), function, None))


def mark_hook(function: Callable[..., Any], name: str, at: Sequence[HookPoint]) -> None:
    """Raises TypeError for a function that does not take a HookContext, ValueError for a name or a point that no hook can have."""
    if len(inspect.signature(function).parameters) != 1:
        raise TypeError(f"{function.__qualname__} must take one argument, the {HookContext.__name__}")
    if isinstance(at, str) or not at or not set(at) <= set(get_args(HookPoint)):
        raise ValueError(f"at of {function.__qualname__} must be a list of one or more of {', '.join(get_args(HookPoint))}")
    if name.startswith("forge."):
        raise ValueError(f'the hook "{name}": names that begin with forge. are Forge\'s own')
    setattr(function, _MARK, Marked(Capability("hook", _checked(name), at=tuple(dict.fromkeys(at))), function, None))


def marked(value: object) -> Marked | None:
    """The capability of a marked function."""
    # A module may hold anything, also what answers to every name.
    found = getattr(value, "__dict__", {}).get(_MARK) if inspect.isfunction(value) else None
    return found if isinstance(found, Marked) else None


def offered_by(module: ModuleType) -> list[Marked]:
    """What a module's names lead to, each once, in the order of the names. Raises ValueError where two share kind and name."""
    found: dict[tuple[Kind, str], Marked] = {}
    for value in list(vars(module).values()):
        offered = marked(value)
        if offered is None:
            continue
        key = (offered.capability.kind, offered.capability.name)
        if found.setdefault(key, offered).function is not offered.function:
            raise ValueError(f"{module.__name__} has two of the {key[0]} {key[1]}")
    return list(found.values())


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f'"{name[:40]}" must be 1 to 128 visible ASCII characters to be a name')
    return name
