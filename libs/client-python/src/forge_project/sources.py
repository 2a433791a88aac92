"""Imports a project's files, and keeps account of what was read, so that a change of a file is seen."""

import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from forge_project.refusal import RefusalError, describe_raised

# The packages that answer for the product's own where a project brings them not.
_SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim")

_stamps: list[tuple[str, str]] = []


def prepare(root: str) -> None:
    """Makes the project's root the first place that modules are looked for."""
    sys.path[0] = root
    # User code sees the arguments of a script that was started without any.
    sys.argv[1:] = []
    sys.dont_write_bytecode = True
    _watch(root)
    if importlib.util.find_spec("agent_runtime") is None:
        sys.path.append(_SHIM)


def load(path: str, name: str) -> ModuleType:
    """The module of a file, once for each process. Raises RefusalError `load`."""
    known = sys.modules.get(name)
    if known is not None:
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise RefusalError("load", f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    # A module may call sys.exit while it is imported, for example because it has no guard around its main program.
    except BaseException as error:
        sys.modules.pop(name, None)
        raise RefusalError("load", describe_raised(error)) from error
    return module


def stamp_of(path: str) -> str:
    """Tells one content of a file from another without reading it; empty where it is missing."""
    try:
        stat = os.stat(path)
    except OSError:
        return ""
    return f"{stat.st_mtime_ns}:{stat.st_size}:{stat.st_ino}"


def take_stamps() -> list[tuple[str, str]]:
    """The project's files that were read since this was asked last, each with its stamp at that time."""
    taken = _stamps[:]
    _stamps.clear()
    return taken


def _watch(root: str) -> None:
    """Notes what the import system reads of the project. Its compiled files are left alone: they tell two changes within a second not apart."""
    loader: Any = importlib.machinery.SourceFileLoader
    get_code, path_stats = loader.get_code, loader.path_stats
    inside = os.path.join(root, "")

    def is_own(path: str) -> bool:
        return path.startswith(inside) and f"{os.sep}site-packages{os.sep}" not in path

    def noted_code(self: Any, name: str) -> Any:
        if is_own(self.path):
            # Before it is read: a change in between is then seen as a change.
            _stamps.append((self.path, stamp_of(self.path)))
        return get_code(self, name)

    def stats(self: Any, path: str) -> Any:
        # OSError is how a loader says that it knows no times: then no compiled file is looked for.
        if is_own(path):
            raise OSError(path)
        return path_stats(self, path)

    loader.get_code, loader.path_stats = noted_code, stats
