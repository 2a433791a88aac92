"""The decorators that make functions a worker's capabilities."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from forge_client.worker.capability import Risk, mark_function, mark_hook, mark_provider, mark_tool
from forge_client.worker.hook_context import HookPoint

F = TypeVar("F", bound=Callable[..., Any])

# As the protocol has it for a tool that says nothing.
_TIMEOUT_S = 60.0


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    idempotent: bool = False,
    risk: Risk = "execute",
    timeout: float = _TIMEOUT_S,
    preview: Callable[..., Any] | None = None,
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    idempotent: bool = False,
    risk: Risk = "execute",
    timeout: float = _TIMEOUT_S,
    preview: Callable[..., Any] | None = None,
) -> F | Callable[[F], F]:
    """Makes a sync or async function a tool. It stays a function that can be called as before.

    The schema of its arguments is made of the type hints: str, int, float, bool, list, dict, Optional, unions, Literal, Enum, dataclasses, TypedDict;
    `Annotated[str, "..."]` describes one. A parameter of type ToolContext gets the call's context. What it returns must be JSON: the same types.

    Args:
        name: Dotted, 1 to 128 visible ASCII characters; the function's name where absent.
        description: What a model is told of it, at most 4,096 characters; the docstring where absent.
        idempotent: True only where calling twice with one idempotency key has the effect of once: then a call whose worker was lost is made again.
        risk: "read" (reads only), "change" (changes files in the workspace) or "execute" (executes commands, reaches the network). The gate decides by it.
        timeout: Seconds that one call may take.
        preview: Tells what a call would do, and does nothing: a sync or async function of the tool's arguments, or of some of them, that returns a Preview.
            What it raises is the call's error. Where the call was decided on a preview it is asked again right before the call is made, and where its facts
            differ the call fails with PREVIEW_STALE.

    Raises:
        TypeError: a parameter has no type hint, or one without a JSON form; a preview that takes what is no argument of the tool.
        ValueError: a name, a risk or a timeout that a tool can't have.
    """

    def decorate(decorated: F) -> F:
        mark_tool(decorated, name, description, idempotent, risk, timeout, preview)
        return decorated

    return decorate if function is None else decorate(function)


@overload
def function(decorated: F, /) -> F: ...
@overload
def function(*, name: str | None = None) -> Callable[[F], F]: ...
def function(decorated: F | None = None, /, *, name: str | None = None) -> F | Callable[[F], F]:
    """Makes a sync or async function a workflow function, which steps of kind `function` call by its name.

    Its parameters are the step's inputs; one of type FunctionContext gets the call's context. It returns a dict, or a dataclass: the step's outputs. It counts
    as idempotent: when its worker is lost it is called again, with the same idempotency key.

    Raises:
        TypeError: a parameter has no type hint, or one without a JSON form.
        ValueError: a name that a function can't have.
    """

    def decorate(plain: F) -> F:
        mark_function(plain, name)
        return plain

    return decorate if decorated is None else decorate(decorated)


def model_provider(name: str, /) -> Callable[[F], F]:
    """Makes a sync or async generator the provider of all models `<name>/...`.

    It is called with a ModelCall and yields the answer's pieces in order: str (or Text), Reasoning, ToolCall, Usage, and Finish where the model did not
    simply end.

    Raises:
        TypeError: it is no generator of one parameter.
        ValueError: a name that a provider can't have.
    """

    def decorate(decorated: F) -> F:
        mark_provider(decorated, name)
        return decorated

    return decorate


def hook(name: str, /, *, at: Sequence[HookPoint]) -> Callable[[F], F]:
    """Makes a sync or async function of one parameter, a HookContext, a hook that agents may name.

    It returns what is to be changed: nothing, or one or a list of AddMessage, ReplaceText, Block, GoOn and DenyCall. What it raises fails the hook: before a
    model call the turn ends with that, after one it goes on.

    Args:
        name: 1 to 128 visible ASCII characters.
        at: Where it can be called: "on_user_message", "on_pre_llm", "on_post_llm". An agent that names it elsewhere gets an error.

    Raises:
        TypeError: it does not take one parameter.
        ValueError: a name or a point that a hook can't have.
    """

    def decorate(decorated: F) -> F:
        mark_hook(decorated, name, at)
        return decorated

    return decorate
