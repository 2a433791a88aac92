import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StreamKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STREAM_KIND_UNSPECIFIED: _ClassVar[StreamKind]
    STREAM_KIND_SESSION: _ClassVar[StreamKind]
    STREAM_KIND_RUN: _ClassVar[StreamKind]
    STREAM_KIND_CONCURRENCY: _ClassVar[StreamKind]

class ErrorCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_CODE_UNSPECIFIED: _ClassVar[ErrorCode]
    ERROR_CODE_VALIDATION: _ClassVar[ErrorCode]
    ERROR_CODE_NOT_FOUND: _ClassVar[ErrorCode]
    ERROR_CODE_CONFLICT: _ClassVar[ErrorCode]
    ERROR_CODE_UNSUPPORTED: _ClassVar[ErrorCode]
    ERROR_CODE_UNSUPPORTED_VERSION: _ClassVar[ErrorCode]
    ERROR_CODE_UNAUTHENTICATED: _ClassVar[ErrorCode]
    ERROR_CODE_PERMISSION_DENIED: _ClassVar[ErrorCode]
    ERROR_CODE_SANDBOX_VIOLATION: _ClassVar[ErrorCode]
    ERROR_CODE_RESOURCE_EXHAUSTED: _ClassVar[ErrorCode]
    ERROR_CODE_DEADLINE_EXCEEDED: _ClassVar[ErrorCode]
    ERROR_CODE_CANCELLED: _ClassVar[ErrorCode]
    ERROR_CODE_WORKER_LOST: _ClassVar[ErrorCode]
    ERROR_CODE_PROVIDER_ERROR: _ClassVar[ErrorCode]
    ERROR_CODE_STORAGE_ERROR: _ClassVar[ErrorCode]
    ERROR_CODE_INTERNAL: _ClassVar[ErrorCode]

class RedactionClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REDACTION_CLASS_UNSPECIFIED: _ClassVar[RedactionClass]
    REDACTION_CLASS_PUBLIC: _ClassVar[RedactionClass]
    REDACTION_CLASS_INTERNAL: _ClassVar[RedactionClass]
    REDACTION_CLASS_SENSITIVE: _ClassVar[RedactionClass]

class Backoff(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BACKOFF_UNSPECIFIED: _ClassVar[Backoff]
    BACKOFF_FIXED: _ClassVar[Backoff]
    BACKOFF_EXPONENTIAL: _ClassVar[Backoff]

class AccessRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_ROLE_UNSPECIFIED: _ClassVar[AccessRole]
    ACCESS_ROLE_VIEWER: _ClassVar[AccessRole]
    ACCESS_ROLE_OPERATOR: _ClassVar[AccessRole]
    ACCESS_ROLE_APPROVER: _ClassVar[AccessRole]
    ACCESS_ROLE_ADMIN: _ClassVar[AccessRole]
    ACCESS_ROLE_WORKER: _ClassVar[AccessRole]
STREAM_KIND_UNSPECIFIED: StreamKind
STREAM_KIND_SESSION: StreamKind
STREAM_KIND_RUN: StreamKind
STREAM_KIND_CONCURRENCY: StreamKind
ERROR_CODE_UNSPECIFIED: ErrorCode
ERROR_CODE_VALIDATION: ErrorCode
ERROR_CODE_NOT_FOUND: ErrorCode
ERROR_CODE_CONFLICT: ErrorCode
ERROR_CODE_UNSUPPORTED: ErrorCode
ERROR_CODE_UNSUPPORTED_VERSION: ErrorCode
ERROR_CODE_UNAUTHENTICATED: ErrorCode
ERROR_CODE_PERMISSION_DENIED: ErrorCode
ERROR_CODE_SANDBOX_VIOLATION: ErrorCode
ERROR_CODE_RESOURCE_EXHAUSTED: ErrorCode
ERROR_CODE_DEADLINE_EXCEEDED: ErrorCode
ERROR_CODE_CANCELLED: ErrorCode
ERROR_CODE_WORKER_LOST: ErrorCode
ERROR_CODE_PROVIDER_ERROR: ErrorCode
ERROR_CODE_STORAGE_ERROR: ErrorCode
ERROR_CODE_INTERNAL: ErrorCode
REDACTION_CLASS_UNSPECIFIED: RedactionClass
REDACTION_CLASS_PUBLIC: RedactionClass
REDACTION_CLASS_INTERNAL: RedactionClass
REDACTION_CLASS_SENSITIVE: RedactionClass
BACKOFF_UNSPECIFIED: Backoff
BACKOFF_FIXED: Backoff
BACKOFF_EXPONENTIAL: Backoff
ACCESS_ROLE_UNSPECIFIED: AccessRole
ACCESS_ROLE_VIEWER: AccessRole
ACCESS_ROLE_OPERATOR: AccessRole
ACCESS_ROLE_APPROVER: AccessRole
ACCESS_ROLE_ADMIN: AccessRole
ACCESS_ROLE_WORKER: AccessRole

class ProtocolVersion(_message.Message):
    __slots__ = ("major", "minor")
    MAJOR_FIELD_NUMBER: _ClassVar[int]
    MINOR_FIELD_NUMBER: _ClassVar[int]
    major: int
    minor: int
    def __init__(self, major: _Optional[int] = ..., minor: _Optional[int] = ...) -> None: ...

class CommandHeader(_message.Message):
    __slots__ = ("version", "command_id", "expected_seq", "correlation_id", "causation_id")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_SEQ_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    CAUSATION_ID_FIELD_NUMBER: _ClassVar[int]
    version: ProtocolVersion
    command_id: str
    expected_seq: int
    correlation_id: str
    causation_id: str
    def __init__(self, version: _Optional[_Union[ProtocolVersion, _Mapping]] = ..., command_id: _Optional[str] = ..., expected_seq: _Optional[int] = ..., correlation_id: _Optional[str] = ..., causation_id: _Optional[str] = ...) -> None: ...

class StreamRef(_message.Message):
    __slots__ = ("kind", "id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    kind: StreamKind
    id: str
    def __init__(self, kind: _Optional[_Union[StreamKind, str]] = ..., id: _Optional[str] = ...) -> None: ...

class ForgeError(_message.Message):
    __slots__ = ("code", "reason", "message", "retryable", "origin", "related_ids", "metadata", "retry_after")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    RELATED_IDS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    code: ErrorCode
    reason: str
    message: str
    retryable: bool
    origin: str
    related_ids: _containers.RepeatedScalarFieldContainer[str]
    metadata: _containers.ScalarMap[str, str]
    retry_after: _duration_pb2.Duration
    def __init__(self, code: _Optional[_Union[ErrorCode, str]] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., retryable: bool = ..., origin: _Optional[str] = ..., related_ids: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Redaction(_message.Message):
    __slots__ = ()
    CLASS_FIELD_NUMBER: _ClassVar[int]
    def __init__(self, **kwargs) -> None: ...

class ArtifactRef(_message.Message):
    __slots__ = ("sha256", "size", "media_type", "preview")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    sha256: str
    size: int
    media_type: str
    preview: str
    def __init__(self, sha256: _Optional[str] = ..., size: _Optional[int] = ..., media_type: _Optional[str] = ..., preview: _Optional[str] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("json", "artifact", "path")
    JSON_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    json: str
    artifact: ArtifactRef
    path: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, json: _Optional[str] = ..., artifact: _Optional[_Union[ArtifactRef, _Mapping]] = ..., path: _Optional[_Iterable[str]] = ...) -> None: ...

class Principal(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens", "cost_micro_usd")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REASONING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int
    reasoning_tokens: int
    cost_micro_usd: int
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cached_input_tokens: _Optional[int] = ..., reasoning_tokens: _Optional[int] = ..., cost_micro_usd: _Optional[int] = ...) -> None: ...

class RetryPolicy(_message.Message):
    __slots__ = ("attempts", "backoff", "initial_delay", "jitter")
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    BACKOFF_FIELD_NUMBER: _ClassVar[int]
    INITIAL_DELAY_FIELD_NUMBER: _ClassVar[int]
    JITTER_FIELD_NUMBER: _ClassVar[int]
    attempts: int
    backoff: Backoff
    initial_delay: _duration_pb2.Duration
    jitter: float
    def __init__(self, attempts: _Optional[int] = ..., backoff: _Optional[_Union[Backoff, str]] = ..., initial_delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., jitter: _Optional[float] = ...) -> None: ...

class TaskLease(_message.Message):
    __slots__ = ("task_id", "epoch", "lease_token")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    LEASE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    epoch: int
    lease_token: bytes
    def __init__(self, task_id: _Optional[str] = ..., epoch: _Optional[int] = ..., lease_token: _Optional[bytes] = ...) -> None: ...
