"""User code in its child process: loading it, and finding in it what a worker serves."""

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from forge_client.worker.capability import Marked, marked, offered_by
from forge_client.worker.describe import describe_raised


class LoadError(Exception):
    """A source that could not be loaded; `answer` is what the worker is told."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(answer["message"])
        self.answer = answer


class Sources:
    """What was loaded into this process."""

    def __init__(self) -> None:
        self._offered: dict[tuple[str, str], Marked] = {}

    def load(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """
        Imports the sources, each `{"path"}` or `{"module"}`, and returns what they offer. `names` narrows a source to functions of its own, by their names.
        Files that `texts` holds are read from there: a worker serves the code that it has registered, whatever happens to the file meanwhile.
        """
        sys.path[:] = request["import_path"]
        # User code sees the arguments of a script that was started without any.
        sys.argv[1:] = []
        _read_from(request["texts"])
        for source in request["sources"]:
            for offered in self._offers(source):
                self._offered[(offered.capability.kind, offered.capability.name)] = offered
        return [_described(offered) for offered in self._offered.values()]

    def find(self, capability: list[str]) -> Marked:
        kind, name = capability
        return self._offered[(kind, name)]

    def _offers(self, source: dict[str, Any]) -> list[Marked]:
        label = source.get("path") or source["module"]
        try:
            module = _import_path(source["path"]) if "path" in source else importlib.import_module(source["module"])
            names = source.get("names")
            return offered_by(module) if names is None else [_named(module, name) for name in names]
        # A module may call sys.exit while it is imported, for example because it has no guard around its main program.
        except BaseException as error:
            raise LoadError({"kind": "load", "message": f"{label} could not be loaded: {describe_raised(error)}", **_place(error, label)}) from error


def _import_path(path: str) -> ModuleType:
    name = os.path.splitext(os.path.basename(path))[0]
    # Under its own name, so that other files can import it, and it is not loaded twice; not under one that is somebody else's.
    if not name.isidentifier() or name in sys.builtin_module_names or name in sys.modules:
        name = "__forge_source__"
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, loader, origin=path))
    module.__file__ = path
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def _named(module: ModuleType, name: str) -> Marked:
    offered = marked(getattr(module, name, None))
    if offered is None:
        raise LookupError(f"{module.__name__} has no decorated function {name} once it is imported; define it at the module's top level")
    return offered


def _described(offered: Marked) -> dict[str, Any]:
    capability = offered.capability
    return {
        "kind": capability.kind,
        "name": capability.name,
        "description": capability.description,
        "schema": capability.schema,
        "idempotent": capability.idempotent,
        "risk": capability.risk,
        "timeout": capability.timeout,
        "previews": capability.previews,
        "at": list(capability.at),
    }


def _place(error: BaseException, label: str) -> dict[str, Any]:
    """File and line of what went wrong: of a syntax error its own, else those of the last frame of the user's code."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return {"file": error.filename or label, "line": error.lineno}
    own = os.path.dirname(os.path.abspath(__file__))
    place: dict[str, Any] = {"file": label}
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith((own, "<")):
            place = {"file": file, "line": trace.tb_lineno}
        trace = trace.tb_next
    return place


def _read_from(texts: dict[str, str]) -> None:
    """Gives the import system these texts in place of their files. Compiled files are left alone: they may be of another content."""
    if not texts:
        return
    sys.dont_write_bytecode = True
    loader: Any = importlib.machinery.SourceFileLoader
    get_data, path_stats = loader.get_data, loader.path_stats

    def get_kept(self: Any, path: str) -> bytes:
        kept = texts.get(path)
        return get_data(self, path) if kept is None else kept.encode()

    def stats_of_file(self: Any, path: str) -> Any:
        # OSError is how a loader says that it knows no times: then no compiled file is looked for.
        if path in texts:
            raise OSError(path)
        return path_stats(self, path)

    loader.get_data, loader.path_stats = get_kept, stats_of_file
