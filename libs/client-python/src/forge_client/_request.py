"""Makes the request of a call, and says which field is to blame where that can't be done."""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from google.protobuf.message import Message

from forge_client.errors import ForgeError

M = TypeVar("M", bound=Message)

_DEPTH_MAX = 64
_TIMEOUT_MAX = 2_147_483.0
"""Seconds; the same bound as in every client."""


def to_request(kind: type[M], request: M | None, fields: Mapping[str, object]) -> M:
    """The request: the message as it is, or one with these fields, of which None means absent.

    Raises:
        ForgeError: validation of what no message can hold, such as a text with a lone surrogate; it names the field.
        TypeError: both were given, or a message of another kind.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    if request is not None:
        if given:
            raise TypeError(f"give a {kind.__name__} or its fields, not both: {', '.join(given)}")
        if not isinstance(request, kind):
            raise TypeError(f"a {kind.__name__} is wanted, not a {type(request).__name__}")
        return request
    try:
        return kind(**given)
    except (TypeError, ValueError) as error:
        raise _validation(kind, given, error) from error


def check_timeout(timeout: float | None) -> float | None:
    """Raises: ForgeError: validation of what is no duration."""
    if timeout is not None and (math.isnan(timeout) or not 0 <= timeout <= _TIMEOUT_MAX):
        raise ForgeError.validation("timeout", f"timeout must be 0 to {_TIMEOUT_MAX:.0f} seconds, not {timeout}")
    return timeout


def _validation(kind: type[Message], given: Mapping[str, object], error: Exception) -> ForgeError:
    lone = _lone_surrogate(given, "", 0)
    if lone is not None:
        return ForgeError.validation(lone, f"{lone} holds a lone surrogate, which is no text: send whole characters")
    for name, value in given.items():
        try:
            kind(**{name: value})
        except (TypeError, ValueError) as reason:
            return ForgeError.validation(name, f"{name} can't be sent: {reason}")
    return ForgeError.validation("", str(error))


def _lone_surrogate(value: Any, path: str, depth: int) -> str | None:
    """The path of the first text that has no UTF-8; None where there is none, or only deeper than any request is."""
    if isinstance(value, str):
        return path if any("\ud800" <= character <= "\udfff" for character in value) else None
    if depth > _DEPTH_MAX:
        return None
    parts: list[tuple[Any, str]] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            parts += [(key, path), (item, f"{path}.{key}" if path else str(key))]
    elif isinstance(value, (list, tuple)):
        parts = [(item, f"{path}[{index}]") for index, item in enumerate(value)]
    for part, name in parts:
        found = _lone_surrogate(part, name, depth + 1)
        if found is not None:
            return found
    return None
