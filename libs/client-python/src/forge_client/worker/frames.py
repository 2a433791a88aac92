"""The frames between worker and child: the payload's length (4 bytes, big endian), one byte that says what it is, and the payload, JSON in UTF-8."""

import struct

_HEADER = struct.Struct(">IB")

# What an artifact may hold, and so a call's arguments or result; plus the names around it.
PAYLOAD_BYTES_MAX = 16 * 1024 * 1024 + 64 * 1024

HEADER_BYTES = _HEADER.size


def encode_frame(kind: str, payload: bytes) -> bytes:
    """`kind` is one ASCII character."""
    return _HEADER.pack(len(payload), ord(kind)) + payload


def decode_header(header: bytes) -> tuple[str, int]:
    """The kind, and the payload's length. Raises ValueError for a frame that is longer than allowed; the stream is useless then."""
    length, kind = _HEADER.unpack(header)
    if length > PAYLOAD_BYTES_MAX:
        raise ValueError(f"a frame of {length} bytes")
    return chr(kind), length


# To the child:
#   I  load sources: LoadRequest. Answered by D (what they offer) or E.
#   C  prepare a call: CallRequest. Answered by P (its arguments match) or E.
#   G  run what was prepared. Answered by R (its result) or E.
#   X  do not run what was prepared.
#   A  the call is to stop.
# From the child, beside these answers, while a call runs:
#   H  a sign of life.   N  a note: {"progress", "fraction", "offset"} or {"structured", "json", "offset"}.
#   O  a piece of output: {"text"}.   M  a piece of a model's answer.   L  a log record: {"level", "message"}.
