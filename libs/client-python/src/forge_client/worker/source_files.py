"""The Python files beside a source, as they are now."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

# Files that are watched and kept at most; what is beyond is read when it is needed, and its changes are not seen.
_FILES_MAX = 2000
_DEPTH_MAX = 5
_TEXT_BYTES_MAX = 8 * 1024 * 1024

Stamps = Mapping[Path, tuple[int, int, int]]


def stamps_of(source: Path) -> Stamps:
    """What tells one content of a file from another without reading it, for the source and the .py files of its directory and below."""
    stamps = {}
    for file in [source, *_python_files(source.parent)]:
        try:
            stat = file.stat()
        except OSError:
            # It is gone again: an editor's temporary file, or one that is being replaced.
            continue
        stamps[file] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return stamps


def texts_of(files: Stamps) -> dict[str, str]:
    """The files' texts, by path; without those that can't be read as UTF-8."""
    texts: dict[str, str] = {}
    size = 0
    for file in files:
        try:
            text = file.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue
        size += len(text)
        if size > _TEXT_BYTES_MAX:
            break
        texts[str(file)] = text
    return texts


def _python_files(directory: Path) -> Iterator[Path]:
    count = 0
    for place, directories, files in os.walk(directory):
        depth = len(Path(place).relative_to(directory).parts)
        directories[:] = sorted(name for name in directories if depth < _DEPTH_MAX and _is_source(Path(place, name)))
        for name in sorted(files):
            if not name.endswith(".py"):
                continue
            count += 1
            if count > _FILES_MAX:
                return
            yield Path(place, name)


def _is_source(directory: Path) -> bool:
    """Not caches, dependencies and environments."""
    name = directory.name
    return not (name.startswith(".") or name in ("__pycache__", "node_modules") or (directory / "pyvenv.cfg").exists())
