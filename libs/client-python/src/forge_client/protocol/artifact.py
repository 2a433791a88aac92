# Generated from proto/ by codegen/generate.py; do not edit.
"""Messages and enums of forge.artifact.v1, as in proto/forge/artifact/v1."""

from forge_client._gen.forge.artifact.v1.artifact_pb2 import (
    GetArtifactRequest,
    GetArtifactResponse,
    PutArtifactRequest,
    PutArtifactResponse,
)

__all__ = [
    "GetArtifactRequest",
    "GetArtifactResponse",
    "PutArtifactRequest",
    "PutArtifactResponse",
]
