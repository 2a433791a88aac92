"""Python values as JSON ones, with nothing changed or dropped on the way."""

import dataclasses
import enum
import json
import math
import re
from typing import Any

# Deeper values are refused: whoever reads them recurses.
DEPTH_MAX = 200

_SURROGATE = re.compile("[\ud800-\udfff]")


def to_json(value: Any) -> str:
    """The JSON text of a value. Raises ValueError, naming the path, where JSON can't hold it exactly."""
    return json.dumps(to_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_plain(value: Any) -> Any:
    """
    The value as dict, list, str, int, float, bool and None: a dataclass becomes its fields, an Enum its value, a tuple a list. Raises ValueError, naming the
    path, for anything else; `json.dumps` alone would turn keys into strings, and let NaN and halves of characters through.
    """
    return _plain(value, "result", 0)


def well_formed(text: str) -> str:
    """Text that every store and wire can hold: NUL and halves of characters become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text).replace("\0", "\ufffd")


def utf16_length(text: str) -> int:
    """Code units of UTF-16, as offsets in output are counted."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)


def _plain(value: Any, path: str, depth: int) -> Any:
    if depth > DEPTH_MAX:
        raise ValueError(f"{path[:200]} is nested more than {DEPTH_MAX} levels deep, or contains itself")
    if isinstance(value, enum.Enum):
        return _plain(value.value, path, depth + 1)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{path} is {value}, which JSON does not have")
        return float(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {_key(key, path): _plain(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    raise ValueError(f"{path} is an instance of {type(value).__name__}, which JSON does not have")


def _text(value: str, path: str) -> str:
    if _SURROGATE.search(value):
        raise ValueError(f"{path} holds half of a character (a lone surrogate)")
    return str(value)


def _key(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{path} has the key {key!r}, which is no string")
    return _text(key, f"a key of {path}")
