"""What user code returned, as JSON text."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, cast

from forge_project.refusal import RefusalError

# Deeper values are refused: whoever reads them recurses.
_DEPTH_MAX = 200
# What an artifact may hold.
_RESULT_BYTES_MAX = 16 * 1024 * 1024
# The parts of a run's state: whoever writes to them means to change it, which a step can't.
_RESERVED = ("inputs", "runtime", "steps")
_SURROGATE = re.compile("[\ud800-\udfff]")


def result_json(result: object) -> str:
    """The JSON text of a step's output, which is a dict. Raises RefusalError `result`, naming the path, where JSON can't hold it; a tuple becomes a list."""
    if result is None:
        raise RefusalError("result", "it returned None; a step's output is a dict, so it must return one")
    if not isinstance(result, dict):
        raise RefusalError("result", f"it returned an instance of {type(result).__name__}; a step's output is a dict")
    reserved = [name for name in _RESERVED if name in result]
    if reserved:
        raise RefusalError("result", f"a step's output can't have the key {reserved[0]}: that is the name of a part of the state")
    text = json.dumps(_plain(cast("object", result), "result", 0), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    size = len(text.encode())
    if size > _RESULT_BYTES_MAX:
        raise RefusalError("result", f"the result has {size} bytes, more than {_RESULT_BYTES_MAX}")
    return text


def _plain(value: object, path: str, depth: int) -> object:
    if depth > _DEPTH_MAX:
        raise RefusalError("result", f"{path[:200]} is nested more than {_DEPTH_MAX} levels deep, or contains itself")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise RefusalError("result", f"{path} holds half of a character (a lone surrogate)")
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RefusalError("result", f"{path} is {value}, which JSON does not have")
        return float(value)
    if isinstance(value, (list, tuple)):
        items = cast("list[object]", value)
        return [_plain(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(items)]
    if isinstance(value, dict):
        members = cast("Mapping[object, object]", value)
        return {_key(key, path): _plain(item, f"{path}.{key}", depth + 1) for key, item in members.items()}
    raise RefusalError("result", f"{path} is an instance of {type(value).__name__}, which JSON does not have")


def _key(key: object, path: str) -> str:
    """Keys that are no strings become what `json.dumps` makes of them."""
    if isinstance(key, str):
        return cast("str", _plain(key, f"a key of {path}", 0))
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(_plain(key, f"a key of {path}", 0))
    raise RefusalError("result", f"{path} has a key of type {type(key).__name__}, which JSON does not have")


def schema_json(schema: Any) -> Any:
    """A tool's schema as plain JSON values. Raises RefusalError `result` where it is none."""
    return _plain(schema, "input_schema", 0)
