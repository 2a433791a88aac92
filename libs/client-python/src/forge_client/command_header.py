"""What makes a command idempotent."""

import uuid

from forge_client._gen.forge.common.v1 import common_pb2

VERSION_MAJOR = 1
VERSION_MINOR = 0
"""The version of the protocol that this package speaks."""


def command_header(command_id: str | None = None, *, expected_seq: int | None = None, correlation_id: str = "") -> common_pb2.CommandHeader:
    """A header for one command, with a fresh id unless one is given; keep it to send the same command again.

    Args:
        command_id: 1 to 128 visible ASCII characters, unique within namespace and stream.
        expected_seq: The stream's seq that the caller has seen; where it has moved on, the command fails with `conflict`.
        correlation_id: Ties together everything that one request of a person caused; at most 128 characters.
    """
    return common_pb2.CommandHeader(
        version=common_pb2.ProtocolVersion(major=VERSION_MAJOR, minor=VERSION_MINOR),
        command_id=str(uuid.uuid4()) if command_id is None else command_id,
        expected_seq=expected_seq,
        correlation_id=correlation_id,
    )
