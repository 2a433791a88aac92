"""Reads and writes the payloads of one task."""

import json
from typing import Any

from forge_client.async_client import AsyncForgeClient
from forge_client.errors import ErrorCode, ForgeError
from forge_client.protocol.common import ArtifactRef, TaskLease, Value
from forge_client.protocol.session import ReadConversationRequest, ReadConversationResponse
from forge_client.worker.persist import persist
from forge_client.worker.stop import Stop

# A value up to here travels inline, in bytes.
INLINE_MAX = 64 * 1024


class Payloads:
    """Everything is given up when the task is to stop; then the stop's reason is raised."""

    def __init__(self, client: AsyncForgeClient, lease: TaskLease, stop: Stop) -> None:
        self._client = client
        self._lease = lease
        self._stop = stop

    async def put(self, content: bytes, media_type: str) -> ArtifactRef:
        async def call() -> ArtifactRef:
            answer = await self._client.artifact.put_artifact(content=content, media_type=media_type, lease=self._lease)
            return answer.artifact

        return await self._stop.first(persist(call))

    async def get(self, sha256: str) -> bytes:
        async def call() -> bytes:
            pieces: list[bytes] = []
            async with self._client.artifact.get_artifact(sha256=sha256, lease=self._lease) as stream:
                async for piece in stream:
                    pieces.append(piece.content)
            return b"".join(pieces)

        return await self._stop.first(persist(call))

    async def read_conversation(self, request: ReadConversationRequest) -> ReadConversationResponse:
        request.lease.CopyFrom(self._lease)
        return await self._stop.first(persist(lambda: self._client.session.read_conversation(request)))

    async def to_value(self, text: str) -> Value:
        """JSON text as a Value: inline up to 64 KiB, else stored as an artifact."""
        content = text.encode()
        if len(content) <= INLINE_MAX:
            return Value(json=text)
        return Value(artifact=await self.put(content, "application/json"))

    async def from_value(self, value: Value, field: str) -> Any:
        """What a Value holds. Raises validation, naming the field, where that is no JSON."""
        kind = value.WhichOneof("kind")
        if kind is None:
            raise ForgeError.validation(field, f"{field} is neither JSON text nor an artifact", origin="worker")
        text = value.json if kind == "json" else (await self.get(value.artifact.sha256)).decode()
        found = parse_json(text, field)
        return _within(found, value.path) if kind == "artifact" else found


def parse_json(text: str, field: str) -> Any:
    """Raises validation, naming the field, for what is no JSON; Python's parser alone would take NaN."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        message = f"{field} is not JSON: {error}; nothing was called"
        raise ForgeError(ErrorCode.VALIDATION, message, reason="TOOL_ARGUMENTS", origin="tool", metadata={"field": field}) from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"JSON has no {name}")


def _within(value: Any, path: Any) -> Any:
    """The value at a path of keys and indexes; only what the value itself has is followed."""
    found = value
    for key in path:
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isascii() and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise ForgeError.validation("value.path", f"the artifact has no {'.'.join(path)}", origin="worker")
    return found
