"""How far a reader has come."""

from collections.abc import Iterable

from forge_client._gen.forge.common.v1 import common_pb2
from forge_client._gen.forge.event.v1 import event_pb2, event_service_pb2

# What one subscription may name. Children beyond it are followed from their beginning again, and what has come of them is passed over.
_STREAMS_MAX = 1_000


class Cursors:
    """How far a reader has come in each stream that it follows, children that it met on the way included."""

    def __init__(self, streams: Iterable[event_service_pb2.StreamCursor | common_pb2.StreamRef], follow_children: bool) -> None:
        self._follows_children = follow_children
        self._streams: dict[str, common_pb2.StreamRef] = {}
        self._seqs: dict[str, int] = {}
        # Children of which nothing has come yet: the parent, and the seq of the event there that names the child.
        self._unseen: dict[str, tuple[str, int]] = {}
        for start in streams:
            stream, after_seq = (start.stream, start.after_seq) if isinstance(start, event_service_pb2.StreamCursor) else (start, 0)
            self._streams[stream.id] = stream
            self._seqs[stream.id] = after_seq
        # Streams that the reader named: they are asked for however many they are, so that too many are refused and none is left out.
        self._named = len(self._streams)

    def is_new(self, event: event_pb2.Event) -> bool:
        """Moves past an event; False where it was passed before."""
        if not event.HasField("stream") or not self._move(event.stream, event.seq):
            return False
        child = _child_of(event) if self._follows_children else ""
        if child and child not in self._seqs:
            self._unseen[child] = event.stream.id, event.seq
        return True

    def move_to(self, position: event_service_pb2.Position) -> None:
        if position.HasField("stream"):
            self._move(position.stream, position.seq)

    def to_ask(self) -> list[event_service_pb2.StreamCursor]:
        """What to ask for in a new subscription.

        A child that has come is asked for by itself. One that has not may not be there yet, which would be an error: the event that names it is asked for once
        more instead.
        """
        cursors: list[event_service_pb2.StreamCursor] = []
        for stream_id, stream in list(self._streams.items())[: max(self._named, _STREAMS_MAX)]:
            named = [seq - 1 for parent, seq in self._unseen.values() if parent == stream_id]
            cursors.append(event_service_pb2.StreamCursor(stream=stream, after_seq=min([self._seqs[stream_id], *named])))
        return cursors

    def _move(self, stream: common_pb2.StreamRef, seq: int) -> bool:
        if seq <= self._seqs.get(stream.id, 0):
            return False
        self._streams.setdefault(stream.id, stream)
        self._seqs[stream.id] = seq
        self._unseen.pop(stream.id, None)
        return True


def _child_of(event: event_pb2.Event) -> str:
    """The id of the stream that begins to work for an event's own; empty: none does."""
    kind = event.WhichOneof("payload")
    if kind == "tool_started":
        return event.tool_started.child_session_id
    if kind == "step_started":
        return event.step_started.session_id or event.step_started.child_run_id
    return ""
