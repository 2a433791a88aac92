"""What a call would do, as it is settled."""

from collections.abc import Mapping
from typing import Any

from forge_client.protocol.tool import RiskLevel, ToolPreview
from forge_client.worker.payloads import Payloads

_DIFF_BYTES_MAX = 32 * 1024
_RISKS = {"read": RiskLevel.RISK_LEVEL_READ, "change": RiskLevel.RISK_LEVEL_CHANGE, "execute": RiskLevel.RISK_LEVEL_EXECUTE}


async def preview_of(told: Mapping[str, Any], payloads: Payloads) -> ToolPreview:
    """Of a diff that is larger than 32 KiB the beginning, and the whole as an artifact."""
    whole = told["diff"].encode()
    is_cut = len(whole) > _DIFF_BYTES_MAX
    return ToolPreview(
        title=told["title"],
        diff=whole[:_DIFF_BYTES_MAX].decode("utf-8", "ignore"),
        diff_artifact=await payloads.put(whole, "text/x-diff") if is_cut else None,
        risk=_RISKS.get(told["risk"]),
        facts_json=told["facts"],
        rule_key=told["rule_key"],
        rule_title=told["rule_title"],
        paths=told["paths"],
    )
