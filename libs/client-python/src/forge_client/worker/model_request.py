"""The request of one model call, made of the conversation and the task alone, so that what was sent can be rebuilt and compared with its digest."""

import json
from typing import Any

from forge_client.errors import ErrorCode
from forge_client.protocol.common import ArtifactRef
from forge_client.protocol.event import ModelStarted
from forge_client.protocol.session import Part, ReadConversationRequest, ReadConversationResponse, Role
from forge_client.protocol.worker import ModelTask
from forge_client.worker.canonical import canonical_json, digest_of
from forge_client.worker.outcomes import worker_error
from forge_client.worker.payloads import Payloads

# Text of artifacts in one request, all together, in bytes: about a million tokens, more than models read.
_INLINED_BYTES_MAX = 4 * 1024 * 1024
# Of one tool result's artifact; the rest is left out and the model is told.
_TOOL_RESULT_BYTES_MAX = 64 * 1024

_ROLES = {Role.ROLE_SYSTEM: "system", Role.ROLE_USER: "user", Role.ROLE_ASSISTANT: "assistant", Role.ROLE_TOOL: "tool"}


class ModelRequest:
    def __init__(self, task: ModelTask, system: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> None:
        self._task = task
        self.messages = messages
        self.system = system
        self.tools = tools
        self.parameters: dict[str, Any] = {"model": task.model}
        if task.HasField("temperature"):
            self.parameters["temperature"] = task.temperature
        if task.HasField("max_output_tokens"):
            self.parameters["max_output_tokens"] = task.max_output_tokens

    @property
    def model(self) -> str:
        """Without the provider's name."""
        return self._task.model.partition("/")[2]

    def to_call(self) -> dict[str, Any]:
        """What a ModelCall is made of in the child."""
        task = self._task
        given = {"session_id": task.session_id, "turn_id": task.turn_id, "failed_attempts": task.failed_attempts}
        return {**self.parameters, **given, "model": self.model, "system": self.system, "messages": self.messages, "tools": self.tools}

    def started(self, epoch: int, versions: dict[str, str]) -> ModelStarted:
        """What is recorded of it."""
        prompt = [*([{"role": "system", "text": self.system}] if self.system else []), *self.messages]
        return ModelStarted(
            request_digest=digest_of({"parameters": self.parameters, "tools": self.tools, "prompt": prompt}),
            part_digests=[digest_of(message) for message in prompt],
            tool_catalogue_digest=digest_of(self.tools),
            parameters_json=canonical_json(self.parameters),
            versions=versions,
            epoch=epoch,
        )


async def read_request(task: ModelTask, payloads: Payloads) -> ModelRequest:
    """Reads the conversation, with its artifacts as text. Raises validation for what a model can't be given."""
    request = ReadConversationRequest(session_id=task.session_id, turn_id=task.turn_id, through_seq=task.conversation_through_seq)
    conversation = await payloads.read_conversation(request)
    reader = _Reader(task, payloads)
    messages = await reader.messages(conversation)
    tools = [{"name": tool.name, "description": tool.description, "input_schema": _schema(tool.name, tool.input_schema_json)} for tool in conversation.tools]
    return ModelRequest(task, conversation.system, messages, tools)


class _Reader:
    def __init__(self, task: ModelTask, payloads: Payloads) -> None:
        self._provider, _, self._model = task.model.partition("/")
        self._payloads = payloads
        self._left = _INLINED_BYTES_MAX

    async def messages(self, conversation: ReadConversationResponse) -> list[dict[str, Any]]:
        messages = []
        for message in conversation.messages:
            parts = [part for part in [await self._part(part) for part in message.parts] if part is not None]
            if parts:
                messages.append({"role": _ROLES[message.role], "parts": parts})
        return messages

    async def _part(self, part: Part) -> dict[str, Any] | None:
        match part.WhichOneof("kind"):
            case "text":
                return {"kind": "text", "value": {"text": part.text.text}}
            case "reasoning":
                return self._reasoning(part, part.reasoning.text)
            case "tool_call":
                call = part.tool_call
                return {"kind": "tool_call", "value": {"tool": call.tool, "arguments": call.arguments_json, "call_id": _call_id(call)}}
            case "tool_result":
                result = part.tool_result
                output = await self._cut(result.artifact) if result.HasField("artifact") else result.output
                return {"kind": "tool_result", "value": {"call_id": _call_id(result), "tool": result.tool, "output": output, "is_error": result.is_error}}
            case "artifact":
                text = await self._text(part.artifact)
                is_reasoning = origin_of(part).get("kind") == "reasoning"
                return self._reasoning(part, text) if is_reasoning else {"kind": "text", "value": {"text": text}}
            case _:
                raise worker_error(ErrorCode.UNSUPPORTED, "the conversation holds a part that this worker does not know: it needs a newer version")

    def _reasoning(self, part: Part, text: str) -> dict[str, Any] | None:
        """Sent back only to the model that wrote it."""
        origin = origin_of(part)
        is_own = (origin.get("provider"), origin.get("model")) == (self._provider, self._model)
        return {"kind": "reasoning", "value": {"text": text}} if is_own else None

    async def _text(self, artifact: ArtifactRef) -> str:
        essence = artifact.media_type.partition(";")[0].strip().lower()
        if not (essence.startswith("text/") or essence == "application/json"):
            message = f"artifact {artifact.sha256} is {artifact.media_type}; a model can be given text only (text/* or application/json)"
            raise worker_error(ErrorCode.VALIDATION, message, field="artifact")
        self._take(artifact.size)
        try:
            return (await self._payloads.get(artifact.sha256)).decode()
        except UnicodeDecodeError as error:
            message = f"artifact {artifact.sha256} says it is {artifact.media_type} but is not UTF-8 text"
            raise worker_error(ErrorCode.VALIDATION, message, field="artifact") from error

    async def _cut(self, artifact: ArtifactRef) -> str:
        self._take(min(artifact.size, _TOOL_RESULT_BYTES_MAX))
        content = await self._payloads.get(artifact.sha256)
        left = len(content) - _TOOL_RESULT_BYTES_MAX
        if left <= 0:
            return content.decode("utf-8", "replace")
        return f"{content[:_TOOL_RESULT_BYTES_MAX].decode('utf-8', 'ignore')}\n[{left} more bytes left out]"

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            message = f"the conversation's artifacts hold more than {_INLINED_BYTES_MAX} bytes of text, too much for one model call"
            raise worker_error(ErrorCode.VALIDATION, message, field="artifact")


def origin_of(part: Part) -> dict[str, Any]:
    """Which model wrote a part; empty where that is not known."""
    try:
        value = json.loads(part.provider_metadata_json or "{}")
    except ValueError:
        # Not written by a worker of this kind; its notes are not ours to send.
        return {}
    return value if isinstance(value, dict) else {}


def _call_id(part: Any) -> str:
    return part.provider_call_id or part.tool_call_id


def _schema(tool: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise worker_error(ErrorCode.VALIDATION, f"the input schema of tool {tool} is not JSON", field="tools") from error
