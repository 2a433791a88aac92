"""Why there is no result, and what user code raised, in words."""

import os
import traceback
from typing import Literal

# Leaves room in an error's message of 4,096 characters for what is said around it.
_LENGTH_MAX = 3000
_FRAMES_MAX = 10

_OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))

Kind = Literal["load", "missing", "threw", "result", "arguments"]


class RefusalError(Exception):
    """
    - `load`: a file could not be imported. `missing`: it has no such function or tool. `threw`: user code raised.
    - `result`: what it returned is no JSON object. `arguments`: they don't match the tool's schema, and nothing was called.
    """

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def describe_raised(error: BaseException) -> str:
    """What was raised, and where in the user's code; bounded. Causes are named as Python names them."""
    try:
        lines = [_in_one_line(error), *_where(error)]
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is not None:
            lines += ["caused by " + _in_one_line(cause), *_where(cause)]
        return "\n".join(lines)[:_LENGTH_MAX]
    except Exception:
        # An error whose own methods raise.
        return type(error).__name__


def _in_one_line(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def _where(error: BaseException) -> list[str]:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith((_OWN_DIRECTORY, "<frozen "))]
    return [f"    at {frame.name} ({frame.filename}:{frame.lineno})" for frame in reversed(frames[-_FRAMES_MAX:])]
