"""What user code raised, in words."""

import os
import traceback

# Leaves room in an error's message of 4,096 characters for what is said around it.
_LENGTH_MAX = 3000

_OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__))


def describe_raised(error: BaseException) -> str:
    """The error's kind and what it says, bounded."""
    try:
        said = str(error)
    except Exception:
        # An error whose own methods raise.
        said = "something that can't be shown"
    name = type(error).__name__
    return (f"{name}: {said}" if said else name)[:_LENGTH_MAX]


def trace_of(error: BaseException) -> str:
    """The traceback with its causes, without the frames that are not the user's; bounded, its middle left out where it is too long. For the log."""
    try:
        trace = _without_own_frames(traceback.TracebackException.from_exception(error, limit=-30))
    except Exception:
        return ""
    if len(trace) <= _LENGTH_MAX:
        return trace
    kept = _LENGTH_MAX // 2 - 10
    return f"{trace[:kept]}\n[...]\n{trace[-kept:]}"


def _without_own_frames(raised: traceback.TracebackException) -> str:
    seen: list[traceback.TracebackException] = [raised]
    for each in seen:
        each.stack = traceback.StackSummary.from_list(frame for frame in each.stack if not frame.filename.startswith((_OWN_DIRECTORY, "<frozen ")))
        seen.extend(linked for linked in (each.__cause__, each.__context__) if linked is not None)
    return "".join(raised.format()).rstrip() if any(each.stack for each in seen) else ""
