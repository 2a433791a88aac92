import datetime

from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from forge_client._gen.forge.event.v1 import event_pb2 as _event_pb2
from forge_client._gen.forge.session.v1 import session_pb2 as _session_pb2
from forge_client._gen.forge.workflow.v1 import workflow_pb2 as _workflow_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StreamCursor(_message.Message):
    __slots__ = ("stream", "after_seq")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    stream: _common_pb2.StreamRef
    after_seq: int
    def __init__(self, stream: _Optional[_Union[_common_pb2.StreamRef, _Mapping]] = ..., after_seq: _Optional[int] = ...) -> None: ...

class EventFilter(_message.Message):
    __slots__ = ("exclude_kinds",)
    EXCLUDE_KINDS_FIELD_NUMBER: _ClassVar[int]
    exclude_kinds: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, exclude_kinds: _Optional[_Iterable[str]] = ...) -> None: ...

class SubscribeEventsRequest(_message.Message):
    __slots__ = ("streams", "follow_children", "filter", "no_follow")
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    FOLLOW_CHILDREN_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    NO_FOLLOW_FIELD_NUMBER: _ClassVar[int]
    streams: _containers.RepeatedCompositeFieldContainer[StreamCursor]
    follow_children: bool
    filter: EventFilter
    no_follow: bool
    def __init__(self, streams: _Optional[_Iterable[_Union[StreamCursor, _Mapping]]] = ..., follow_children: bool = ..., filter: _Optional[_Union[EventFilter, _Mapping]] = ..., no_follow: bool = ...) -> None: ...

class SubscribeEventsResponse(_message.Message):
    __slots__ = ("event", "caught_up", "position")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    CAUGHT_UP_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.Event
    caught_up: CaughtUp
    position: Position
    def __init__(self, event: _Optional[_Union[_event_pb2.Event, _Mapping]] = ..., caught_up: _Optional[_Union[CaughtUp, _Mapping]] = ..., position: _Optional[_Union[Position, _Mapping]] = ...) -> None: ...

class CaughtUp(_message.Message):
    __slots__ = ("incarnation", "positions")
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    incarnation: str
    positions: _containers.RepeatedCompositeFieldContainer[Position]
    def __init__(self, incarnation: _Optional[str] = ..., positions: _Optional[_Iterable[_Union[Position, _Mapping]]] = ...) -> None: ...

class Position(_message.Message):
    __slots__ = ("stream", "seq", "pruned_through_seq")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    PRUNED_THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    stream: _common_pb2.StreamRef
    seq: int
    pruned_through_seq: int
    def __init__(self, stream: _Optional[_Union[_common_pb2.StreamRef, _Mapping]] = ..., seq: _Optional[int] = ..., pruned_through_seq: _Optional[int] = ...) -> None: ...

class GetCommandResultRequest(_message.Message):
    __slots__ = ("stream", "command_id", "create_kind")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_KIND_FIELD_NUMBER: _ClassVar[int]
    stream: _common_pb2.StreamRef
    command_id: str
    create_kind: _common_pb2.StreamKind
    def __init__(self, stream: _Optional[_Union[_common_pb2.StreamRef, _Mapping]] = ..., command_id: _Optional[str] = ..., create_kind: _Optional[_Union[_common_pb2.StreamKind, str]] = ...) -> None: ...

class GetCommandResultResponse(_message.Message):
    __slots__ = ("stream", "seq", "result", "result_type", "decided_at")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    RESULT_TYPE_FIELD_NUMBER: _ClassVar[int]
    DECIDED_AT_FIELD_NUMBER: _ClassVar[int]
    stream: _common_pb2.StreamRef
    seq: int
    result: bytes
    result_type: str
    decided_at: _timestamp_pb2.Timestamp
    def __init__(self, stream: _Optional[_Union[_common_pb2.StreamRef, _Mapping]] = ..., seq: _Optional[int] = ..., result: _Optional[bytes] = ..., result_type: _Optional[str] = ..., decided_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WatchStreamsRequest(_message.Message):
    __slots__ = ("kind", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    KIND_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    kind: _common_pb2.StreamKind
    labels: _containers.ScalarMap[str, str]
    def __init__(self, kind: _Optional[_Union[_common_pb2.StreamKind, str]] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class WatchStreamsResponse(_message.Message):
    __slots__ = ("ready", "changed", "heartbeat")
    READY_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    ready: WatchReady
    changed: StreamChanged
    heartbeat: WatchHeartbeat
    def __init__(self, ready: _Optional[_Union[WatchReady, _Mapping]] = ..., changed: _Optional[_Union[StreamChanged, _Mapping]] = ..., heartbeat: _Optional[_Union[WatchHeartbeat, _Mapping]] = ...) -> None: ...

class WatchReady(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchHeartbeat(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StreamChanged(_message.Message):
    __slots__ = ("stream", "session", "run")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    stream: _common_pb2.StreamRef
    session: _session_pb2.SessionSummary
    run: _workflow_pb2.RunSummary
    def __init__(self, stream: _Optional[_Union[_common_pb2.StreamRef, _Mapping]] = ..., session: _Optional[_Union[_session_pb2.SessionSummary, _Mapping]] = ..., run: _Optional[_Union[_workflow_pb2.RunSummary, _Mapping]] = ...) -> None: ...
