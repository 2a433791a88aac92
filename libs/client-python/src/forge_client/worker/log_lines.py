"""What a stream carries as lines, bounded in length and number."""

import codecs
from collections.abc import Callable

from forge_client.worker.json_values import well_formed

# Of one line; what is longer is cut.
_LINE_LENGTH_MAX = 4096
# Of one call; what follows is left out.
_LINES_MAX = 1000


class LogLines:
    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self.begin()

    def begin(self) -> None:
        """Starts the count anew, for the next call."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._count = 0

    def push(self, data: bytes) -> str:
        """Takes what was read, and returns it as text."""
        text = well_formed(self._decoder.decode(data))
        *lines, rest = (self._pending + text).replace("\r\n", "\n").split("\n")
        # A line without an end is kept only as far as it will be shown.
        self._pending = rest[: _LINE_LENGTH_MAX + 1]
        for line in lines:
            self._emit(line)
        return text

    def flush(self) -> None:
        """Tells a line that has no end yet."""
        if self._pending:
            self._emit(self._pending)
        self._pending = ""

    def _emit(self, line: str) -> None:
        self._count += 1
        if self._count <= _LINES_MAX:
            self._on_line(line if len(line) <= _LINE_LENGTH_MAX else f"{line[:_LINE_LENGTH_MAX]}...")
        elif self._count == _LINES_MAX + 1:
            self._on_line(f"[more than {_LINES_MAX} lines; the rest is left out]")
