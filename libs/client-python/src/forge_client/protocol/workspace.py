# Generated from proto/ by codegen/generate.py; do not edit.
"""Messages and enums of forge.workspace.v1, as in proto/forge/workspace/v1."""

from forge_client._gen.forge.workspace.v1.workspace_pb2 import (
    CreateRevisionRequest,
    CreateRevisionResponse,
    Entry,
    EntryType,
    GetRevisionRequest,
    GetRevisionResponse,
    ListRevisionsRequest,
    ListRevisionsResponse,
    Manifest,
    Revision,
)

__all__ = [
    "CreateRevisionRequest",
    "CreateRevisionResponse",
    "Entry",
    "EntryType",
    "GetRevisionRequest",
    "GetRevisionResponse",
    "ListRevisionsRequest",
    "ListRevisionsResponse",
    "Manifest",
    "Revision",
]
