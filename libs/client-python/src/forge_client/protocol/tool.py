# Generated from proto/ by codegen/generate.py; do not edit.
"""Messages and enums of forge.tool.v1, as in proto/forge/tool/v1."""

from forge_client._gen.forge.tool.v1.tool_pb2 import (
    CapabilityDecision,
    Decision,
    PendingApproval,
    RiskLevel,
    ToolPolicy,
    ToolRule,
    ToolSpec,
)

__all__ = [
    "CapabilityDecision",
    "Decision",
    "PendingApproval",
    "RiskLevel",
    "ToolPolicy",
    "ToolRule",
    "ToolSpec",
]
