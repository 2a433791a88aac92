"""What a provider has written so far, in its order."""

import json
from typing import Any

from forge_client.errors import ErrorCode
from forge_client.protocol.common import Usage
from forge_client.protocol.event import FinishReason
from forge_client.protocol.session import Part, ReasoningPart, TextPart, ToolCallPart
from forge_client.worker.outcomes import worker_error
from forge_client.worker.output import Output
from forge_client.worker.payloads import Payloads

# Characters of one answer, all parts together: ten times what the longest-winded models write.
_CHARACTERS_MAX = 4 * 1024 * 1024
_PARTS_MAX = 4096
# Of one part's text, in bytes of UTF-8; a larger one is kept as an artifact.
_INLINE_TEXT_MAX = 64 * 1024
# Of all parts' text together, so that an answer of many parts still fits one event.
_INLINE_ANSWER_MAX = 256 * 1024

_FINISH = {
    "stop": FinishReason.FINISH_REASON_STOP,
    "length": FinishReason.FINISH_REASON_LENGTH,
    "tool_calls": FinishReason.FINISH_REASON_TOOL_CALLS,
    "content_filter": FinishReason.FINISH_REASON_CONTENT_FILTER,
    "error": FinishReason.FINISH_REASON_ERROR,
    "other": FinishReason.FINISH_REASON_OTHER,
}


class ModelAnswer:
    def __init__(self, provider: str, model: str, output: Output) -> None:
        self._provider = provider
        self._model = model
        self._output = output
        self._parts: list[dict[str, Any]] = []
        self._characters = 0
        self._finish: str | None = None
        self._too_large = False
        self.provider_model = ""
        self.usage: Usage | None = None
        self.has_output = False

    def accept(self, piece: dict[str, Any]) -> None:
        """Takes the next piece; what is beyond a bound is dropped, and the answer can't be kept then."""
        kind = piece["kind"]
        if kind == "usage":
            self.usage = Usage(**{name: value for name, value in piece.items() if name != "kind"})
        elif kind == "finish":
            self._finish = piece["reason"]
            self.provider_model = piece["provider_model"]
        elif self._fits(piece.get("text", "") + piece.get("arguments", "")):
            self._add(kind, piece)

    def _fits(self, text: str) -> bool:
        self._characters += len(text)
        self._too_large = self._too_large or self._characters > _CHARACTERS_MAX or len(self._parts) >= _PARTS_MAX
        return not self._too_large

    def _add(self, kind: str, piece: dict[str, Any]) -> None:
        self.has_output = True
        if kind == "tool_call":
            call_id = piece["call_id"] or f"call_{len(self._parts) + 1}"
            self._parts.append({**piece, "call_id": call_id})
            self._output.push((call_id, piece["tool"]), piece["arguments"])
            return
        if self._parts and self._parts[-1]["kind"] == kind:
            self._parts[-1]["text"] += piece["text"]
        elif piece["text"]:
            self._parts.append({"kind": kind, "text": piece["text"]})
        self._output.push(kind, piece["text"])

    @property
    def finish_reason(self) -> FinishReason:
        has_calls = any(part["kind"] == "tool_call" for part in self._parts)
        return _FINISH[self._finish or ("tool_calls" if has_calls else "stop")]

    async def parts(self, payloads: Payloads) -> list[Part]:
        """As the conversation keeps them; our ids of calls stay empty, whoever decides on the calls gives them. Raises resource_exhausted, validation."""
        if self._too_large:
            message = f"the answer has more than {_CHARACTERS_MAX} characters or {_PARTS_MAX} parts"
            raise worker_error(ErrorCode.RESOURCE_EXHAUSTED, message, origin="provider", retryable=False)
        kept: list[Part] = []
        inline = 0
        for part in self._parts:
            if part["kind"] == "tool_call":
                call = ToolCallPart(provider_call_id=part["call_id"], tool=part["tool"], arguments_json=part["arguments"])
                kept.append(Part(tool_call=call, provider_metadata_json=self._origin()))
                continue
            content = part["text"].encode()
            is_reasoning = part["kind"] == "reasoning"
            if len(content) > _INLINE_TEXT_MAX or inline + len(content) > _INLINE_ANSWER_MAX:
                artifact = await payloads.put(content, "text/plain;charset=utf-8")
                kept.append(Part(artifact=artifact, provider_metadata_json=self._origin(**({"kind": "reasoning"} if is_reasoning else {}))))
                continue
            inline += len(content)
            if is_reasoning:
                kept.append(Part(reasoning=ReasoningPart(text=part["text"]), provider_metadata_json=self._origin()))
            else:
                # Plain text goes back to whoever is asked next.
                kept.append(Part(text=TextPart(text=part["text"])))
        return kept

    def _origin(self, **more: str) -> str:
        return json.dumps({"provider": self._provider, "model": self._model, **more})
