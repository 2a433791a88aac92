from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PutArtifactRequest(_message.Message):
    __slots__ = ("content", "media_type", "sha256", "lease")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    content: bytes
    media_type: str
    sha256: str
    lease: _common_pb2.TaskLease
    def __init__(self, content: _Optional[bytes] = ..., media_type: _Optional[str] = ..., sha256: _Optional[str] = ..., lease: _Optional[_Union[_common_pb2.TaskLease, _Mapping]] = ...) -> None: ...

class PutArtifactResponse(_message.Message):
    __slots__ = ("artifact",)
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    artifact: _common_pb2.ArtifactRef
    def __init__(self, artifact: _Optional[_Union[_common_pb2.ArtifactRef, _Mapping]] = ...) -> None: ...

class GetArtifactRequest(_message.Message):
    __slots__ = ("sha256", "offset", "length", "lease")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    sha256: str
    offset: int
    length: int
    lease: _common_pb2.TaskLease
    def __init__(self, sha256: _Optional[str] = ..., offset: _Optional[int] = ..., length: _Optional[int] = ..., lease: _Optional[_Union[_common_pb2.TaskLease, _Mapping]] = ...) -> None: ...

class GetArtifactResponse(_message.Message):
    __slots__ = ("artifact", "content")
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    artifact: _common_pb2.ArtifactRef
    content: bytes
    def __init__(self, artifact: _Optional[_Union[_common_pb2.ArtifactRef, _Mapping]] = ..., content: _Optional[bytes] = ...) -> None: ...
