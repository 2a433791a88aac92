"""A conversation as text, for a model that is to summarise it."""

from collections.abc import Sequence

from forge_client.protocol.common import ArtifactRef
from forge_client.protocol.session import Message, Part, Role
from forge_client.worker.payloads import Payloads

# Of one part: a summary needs what a tool found, not all of it.
_PART_BYTES_MAX = 16 * 1024
_SPEAKERS = {Role.ROLE_SYSTEM: "System", Role.ROLE_USER: "User", Role.ROLE_ASSISTANT: "Agent", Role.ROLE_TOOL: "Tool"}


async def transcript_of(messages: Sequence[Message], payloads: Payloads) -> list[str]:
    """The messages as text, one entry each; long parts without their middle."""
    entries: list[str] = []
    for message in messages:
        texts = [cut_middle(text, _PART_BYTES_MAX) for text in [await _part(part, payloads) for part in message.parts] if text.strip()]
        if texts:
            entries.append(f"{_SPEAKERS.get(message.role, 'Unknown')}: " + "\n".join(texts))
    return entries


def chunks_of(entries: Sequence[str], bytes_max: int) -> list[str]:
    """The entries in order, as few texts of at most so many bytes as hold them; an entry that is larger alone loses its middle."""
    chunks: list[str] = []
    for entry in entries:
        text = cut_middle(entry, bytes_max)
        joined = f"{chunks[-1]}\n\n{text}" if chunks else ""
        if joined and len(joined.encode()) <= bytes_max:
            chunks[-1] = joined
        else:
            chunks.append(text)
    return chunks


def cut_middle(text: str, bytes_max: int) -> str:
    """A text of at most so many bytes, with a mark that says how much is left out."""
    content = text.encode()
    if len(content) <= bytes_max:
        return text
    room = max(0, bytes_max - 40)
    head = content[: room * 3 // 5].decode("utf-8", "ignore")
    tail = content[len(content) - room * 2 // 5 :].decode("utf-8", "ignore")
    return f"{head}\n[{len(content) - room} bytes left out]\n{tail}"


async def _part(part: Part, payloads: Payloads) -> str:
    match part.WhichOneof("kind"):
        case "text":
            return part.text.text
        case "tool_call":
            return f"Call of {part.tool_call.tool} with {part.tool_call.arguments_json}"
        case "tool_result":
            result = part.tool_result
            output = await _artifact(result.artifact, payloads) if result.HasField("artifact") else result.output
            return f"{'Error of' if result.is_error else 'Result of'} {result.tool}: {output}"
        case "artifact":
            return await _artifact(part.artifact, payloads)
        case _:
            # What the model thought is not part of what was said.
            return ""


async def _artifact(artifact: ArtifactRef, payloads: Payloads) -> str:
    essence = artifact.media_type.partition(";")[0].strip().lower()
    if not (essence.startswith("text/") or essence == "application/json"):
        return f"[a file of type {artifact.media_type}, {artifact.size} bytes]"
    return (await payloads.get(artifact.sha256)).decode("utf-8", "replace")
