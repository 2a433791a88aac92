"""
Answers one request at a time on the channel, and leaves standard output and error to user code, whose mistakes end this process and never the server's.

Requests: D names a file's functions; T describes a file's tools; C calls a function, or, where it names a `tool`, a tool. While a call runs, this end may ask
Q, and is answered V: the run's state. Before each answer comes S, the files that were read since the last one. R is a result, E says why there is none.
"""

import asyncio
import ctypes
import functools
import hashlib
import inspect
import json
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from forge_project.awaiting import Awaiting
from forge_project.channel import Channel
from forge_project.context import FunctionContext
from forge_project.inputs import Inputs, State, is_whole_state
from forge_project.names import function_names
from forge_project.refusal import RefusalError, describe_raised
from forge_project.sources import load, prepare, take_stamps
from forge_project.tools import call_tool, described, tools_of
from forge_project.values import result_json

_CHANNEL_DESCRIPTOR = 3
_PR_SET_PDEATHSIG = 1
# What a step did to the world, as some steps tell it beside their output: it is no part of the state.
_SIDE_EFFECTS = "__side_effects__"


def main(root: str) -> None:
    """Serves the channel until it is closed. `root` is the project's."""
    _die_with_parent()
    prepare(root)
    channel = Channel(_CHANNEL_DESCRIPTOR)
    child = Child(channel)
    while True:
        kind, request = channel.receive()
        answer, text = child.answer(kind, request)
        stamps = take_stamps()
        if stamps:
            channel.send("S", json.dumps(stamps))
        channel.send(answer, text)


class Child:
    """What this process has loaded, and how it answers."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._awaiting = Awaiting()
        self._tools: dict[str, dict[str, Any]] = {}
        # Counts the calls that have ended. Questions about a call are asked under the lock, so that none is in flight when it ends.
        self._ended = 0
        self._asking = threading.Lock()
        channel.on_stop = self._awaiting.stop

    def answer(self, kind: str, request: dict[str, Any]) -> tuple[str, str]:
        self._awaiting.begin()
        try:
            if kind == "D":
                return "R", json.dumps(function_names(request["file"]))
            if kind == "T":
                return "R", json.dumps(self._describe(request["file"]))
            return "R", result_json(self._without_side_effects(self._call(request)))
        except RefusalError as refusal:
            return "E", _error(refusal.kind, str(refusal))
        except asyncio.CancelledError:
            return "E", _error("threw", "CancelledError")
        # SystemExit, KeyboardInterrupt and the like end a call here, not the process.
        except BaseException as error:
            return "E", _error("threw", describe_raised(error))
        finally:
            with self._asking:
                self._ended += 1

    def _call(self, request: dict[str, Any]) -> Any:
        inputs, context = request["inputs"], request["context"]
        fetch = functools.partial(self._state, self._ended)
        if "tool" in request:
            tool = self._tools_in(request["file"])[0].get(request["tool"])
            if tool is None:
                raise RefusalError("missing", f"{request['file']} has no tool {request['tool']} any more")
            # A step that maps nothing gives its tool nothing.
            is_state = is_whole_state(inputs, context["runId"])
            return call_tool(tool, {} if is_state else inputs, context, (lambda: inputs) if is_state else fetch, self._awaiting)
        function = _function_in(request["file"], request["name"])
        given = inputs if is_whole_state(inputs, context["runId"]) else Inputs(inputs, fetch)
        arguments = (given, FunctionContext(context)) if _takes_context(function) else (given,)
        return self._awaiting.result(function(*arguments))

    def _state(self, ended: int) -> State:
        """The state of the run whose call began after so many had ended. What a call left behind must not be told of another's."""
        with self._asking:
            if self._ended != ended:
                raise RuntimeError("the call that was given this has ended: read the run's state while it runs")
            state = self._channel.ask("Q")
        if not isinstance(state, dict):
            raise RuntimeError("the run's state can't be read here: map what is needed as inputs of the step")
        return state

    def _describe(self, file: str) -> dict[str, Any]:
        tools, errors = self._tools_in(file)
        served: list[dict[str, Any]] = []
        for name, tool in tools.items():
            try:
                served.append(described(name, tool))
            except Exception as error:
                errors = [*errors, f"{name}: {error}"]
        return {"tools": served, "errors": errors}

    def _tools_in(self, file: str) -> tuple[dict[str, Any], list[str]]:
        known = self._tools.get(file)
        if known is None:
            tools, errors = tools_of(load(file, _module_name("_discovered_tools", file)))
            known = self._tools[file] = {"tools": tools, "errors": errors}
        return known["tools"], known["errors"]

    @staticmethod
    def _without_side_effects(output: Any) -> Any:
        return {name: value for name, value in output.items() if name != _SIDE_EFFECTS} if isinstance(output, dict) else output


def _function_in(file: str, name: str) -> Callable[..., Any]:
    function = getattr(load(file, _module_name("_runtime_functions", file)), name, None)
    if not callable(function):
        raise RefusalError("missing", f"{file} has no function {name}")
    return function


def _takes_context(function: Callable[..., Any]) -> bool:
    """Whether a function must be given a second argument."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    return (
        len(parameters) > 1
        and parameters[1].default is inspect.Parameter.empty
        and parameters[1].kind
        in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
    )


def _module_name(package: str, file: str) -> str:
    """One that no other module has: two directories may hold files of one name."""
    stem = "".join(character if character.isalnum() else "_" for character in file.rpartition("/")[2].removesuffix(".py"))
    return f"{package}.{stem}_{hashlib.sha256(file.encode()).hexdigest()[:8]}"


def _error(kind: str, message: str) -> str:
    # What was raised may hold halves of characters, which no wire can.
    return json.dumps({"kind": kind, "message": message.encode("utf-8", "replace").decode()})


def _die_with_parent() -> None:
    """A function that never lets go of the interpreter lock keeps the channel's end from being seen; the kernel needs no lock."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
