"""What a call tells people and applications beside its output."""

import math
from collections.abc import Callable
from typing import Any

from forge_client.worker.json_values import to_json, well_formed

# Of one call, both kinds together.
_NOTES_MAX = 1000
_MESSAGE_LENGTH_MAX = 1024
_TYPE_LENGTH_MAX = 128
_JSON_BYTES_MAX = 16 * 1024


class UserNotes:
    """In the call's process. Beyond 1,000 pieces nothing more is told."""

    def __init__(self, send: Callable[[str, Any], None]) -> None:
        self._send = send
        self._progressed = 0
        self._structured = 0

    def progress(self, message: object, fraction: float | None) -> None:
        if not isinstance(message, str):
            raise TypeError(f"the message of a progress must be a str, not {type(message).__name__}")
        if fraction is not None:
            fraction = None if math.isnan(fraction) else min(1.0, max(0.0, float(fraction)))
        if self._is_full():
            return
        self._send("N", {"progress": well_formed(message)[:_MESSAGE_LENGTH_MAX], "fraction": fraction, "offset": self._progressed})
        self._progressed += 1

    def structured(self, kind: str, value: Any) -> None:
        text = to_json(value)
        if not 0 < len(kind) <= _TYPE_LENGTH_MAX or len(text.encode()) > _JSON_BYTES_MAX:
            raise ValueError(f"a report has a type of 1 to {_TYPE_LENGTH_MAX} characters and at most {_JSON_BYTES_MAX} bytes of JSON")
        if self._is_full():
            return
        self._send("N", {"structured": well_formed(kind), "json": text, "offset": self._structured})
        self._structured += 1

    def _is_full(self) -> bool:
        return self._progressed + self._structured >= _NOTES_MAX
