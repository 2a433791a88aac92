# Generated from proto/ by codegen/generate.py; do not edit.
"""Messages and enums of forge.tool.v1, as in proto/forge/tool/v1."""

from forge_client._gen.forge.tool.v1.tool_pb2 import (
    ApprovalCategory,
    ApprovalScope,
    CapabilityDecision,
    Decision,
    Grant,
    PendingApproval,
    RiskLevel,
    ToolMode,
    ToolPolicy,
    ToolPreview,
    ToolRule,
    ToolSpec,
)

__all__ = [
    "ApprovalCategory",
    "ApprovalScope",
    "CapabilityDecision",
    "Decision",
    "Grant",
    "PendingApproval",
    "RiskLevel",
    "ToolMode",
    "ToolPolicy",
    "ToolPreview",
    "ToolRule",
    "ToolSpec",
]
