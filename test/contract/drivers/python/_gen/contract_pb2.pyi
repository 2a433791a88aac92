from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from google.protobuf import any_pb2 as _any_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DriverRequest(_message.Message):
    __slots__ = ("id", "describe", "open_client", "close_client", "call", "open_stream", "pull", "cancel")
    ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIBE_FIELD_NUMBER: _ClassVar[int]
    OPEN_CLIENT_FIELD_NUMBER: _ClassVar[int]
    CLOSE_CLIENT_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    OPEN_STREAM_FIELD_NUMBER: _ClassVar[int]
    PULL_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    id: int
    describe: Describe
    open_client: OpenClient
    close_client: CloseClient
    call: UnaryCall
    open_stream: OpenStream
    pull: Pull
    cancel: Cancel
    def __init__(self, id: _Optional[int] = ..., describe: _Optional[_Union[Describe, _Mapping]] = ..., open_client: _Optional[_Union[OpenClient, _Mapping]] = ..., close_client: _Optional[_Union[CloseClient, _Mapping]] = ..., call: _Optional[_Union[UnaryCall, _Mapping]] = ..., open_stream: _Optional[_Union[OpenStream, _Mapping]] = ..., pull: _Optional[_Union[Pull, _Mapping]] = ..., cancel: _Optional[_Union[Cancel, _Mapping]] = ...) -> None: ...

class DriverResponse(_message.Message):
    __slots__ = ("id", "description", "client_opened", "client_closed", "call", "stream_item", "stream_end", "failure")
    ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CLIENT_OPENED_FIELD_NUMBER: _ClassVar[int]
    CLIENT_CLOSED_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    STREAM_ITEM_FIELD_NUMBER: _ClassVar[int]
    STREAM_END_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    id: int
    description: Description
    client_opened: ClientOpened
    client_closed: ClientClosed
    call: CallOutcome
    stream_item: StreamItem
    stream_end: StreamEnd
    failure: DriverFailure
    def __init__(self, id: _Optional[int] = ..., description: _Optional[_Union[Description, _Mapping]] = ..., client_opened: _Optional[_Union[ClientOpened, _Mapping]] = ..., client_closed: _Optional[_Union[ClientClosed, _Mapping]] = ..., call: _Optional[_Union[CallOutcome, _Mapping]] = ..., stream_item: _Optional[_Union[StreamItem, _Mapping]] = ..., stream_end: _Optional[_Union[StreamEnd, _Mapping]] = ..., failure: _Optional[_Union[DriverFailure, _Mapping]] = ...) -> None: ...

class Describe(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Description(_message.Message):
    __slots__ = ("implementation", "language", "methods")
    IMPLEMENTATION_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    implementation: str
    language: str
    methods: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, implementation: _Optional[str] = ..., language: _Optional[str] = ..., methods: _Optional[_Iterable[str]] = ...) -> None: ...

class OpenClient(_message.Message):
    __slots__ = ("url", "token", "namespace", "database_url", "ephemeral")
    URL_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    DATABASE_URL_FIELD_NUMBER: _ClassVar[int]
    EPHEMERAL_FIELD_NUMBER: _ClassVar[int]
    url: str
    token: str
    namespace: str
    database_url: str
    ephemeral: bool
    def __init__(self, url: _Optional[str] = ..., token: _Optional[str] = ..., namespace: _Optional[str] = ..., database_url: _Optional[str] = ..., ephemeral: bool = ...) -> None: ...

class ClientOpened(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CloseClient(_message.Message):
    __slots__ = ("client",)
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    client: int
    def __init__(self, client: _Optional[int] = ...) -> None: ...

class ClientClosed(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class UnaryCall(_message.Message):
    __slots__ = ("client", "method", "request", "timeout_ms", "retry")
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    client: int
    method: str
    request: _any_pb2.Any
    timeout_ms: int
    retry: bool
    def __init__(self, client: _Optional[int] = ..., method: _Optional[str] = ..., request: _Optional[_Union[_any_pb2.Any, _Mapping]] = ..., timeout_ms: _Optional[int] = ..., retry: bool = ...) -> None: ...

class CallOutcome(_message.Message):
    __slots__ = ("response", "error")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    response: _any_pb2.Any
    error: _common_pb2.ForgeError
    def __init__(self, response: _Optional[_Union[_any_pb2.Any, _Mapping]] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ...) -> None: ...

class OpenStream(_message.Message):
    __slots__ = ("client", "method", "request", "timeout_ms", "resume", "pull")
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    PULL_FIELD_NUMBER: _ClassVar[int]
    client: int
    method: str
    request: _any_pb2.Any
    timeout_ms: int
    resume: bool
    pull: int
    def __init__(self, client: _Optional[int] = ..., method: _Optional[str] = ..., request: _Optional[_Union[_any_pb2.Any, _Mapping]] = ..., timeout_ms: _Optional[int] = ..., resume: bool = ..., pull: _Optional[int] = ...) -> None: ...

class StreamItem(_message.Message):
    __slots__ = ("message",)
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: _any_pb2.Any
    def __init__(self, message: _Optional[_Union[_any_pb2.Any, _Mapping]] = ...) -> None: ...

class StreamEnd(_message.Message):
    __slots__ = ("error",)
    ERROR_FIELD_NUMBER: _ClassVar[int]
    error: _common_pb2.ForgeError
    def __init__(self, error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ...) -> None: ...

class Pull(_message.Message):
    __slots__ = ("stream", "count")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    stream: int
    count: int
    def __init__(self, stream: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class Cancel(_message.Message):
    __slots__ = ("target",)
    TARGET_FIELD_NUMBER: _ClassVar[int]
    target: int
    def __init__(self, target: _Optional[int] = ...) -> None: ...

class DriverFailure(_message.Message):
    __slots__ = ("message",)
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: str
    def __init__(self, message: _Optional[str] = ...) -> None: ...
