# Generated from proto/ by codegen/generate.py; do not edit.
"""Messages and enums of forge.common.v1, as in proto/forge/common/v1."""

from forge_client._gen.forge.common.v1.common_pb2 import (
    AccessRole,
    ArtifactRef,
    Backoff,
    CommandHeader,
    ErrorCode,
    ForgeError,
    Principal,
    ProtocolVersion,
    Redaction,
    RedactionClass,
    RetryPolicy,
    StreamKind,
    StreamRef,
    TaskLease,
    Usage,
    Value,
)

__all__ = [
    "AccessRole",
    "ArtifactRef",
    "Backoff",
    "CommandHeader",
    "ErrorCode",
    "ForgeError",
    "Principal",
    "ProtocolVersion",
    "Redaction",
    "RedactionClass",
    "RetryPolicy",
    "StreamKind",
    "StreamRef",
    "TaskLease",
    "Usage",
    "Value",
]
