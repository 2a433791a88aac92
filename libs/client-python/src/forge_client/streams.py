"""Short ways to write what most requests hold."""

from forge_client._gen.forge.common.v1 import common_pb2
from forge_client._gen.forge.session.v1 import conversation_pb2


def session_stream(session_id: str) -> common_pb2.StreamRef:
    """Names a session's stream."""
    return common_pb2.StreamRef(kind=common_pb2.STREAM_KIND_SESSION, id=session_id)


def run_stream(run_id: str) -> common_pb2.StreamRef:
    """Names a run's stream."""
    return common_pb2.StreamRef(kind=common_pb2.STREAM_KIND_RUN, id=run_id)


def text_part(text: str) -> conversation_pb2.Part:
    """A piece of a message: plain text."""
    return conversation_pb2.Part(text=conversation_pb2.TextPart(text=text))
