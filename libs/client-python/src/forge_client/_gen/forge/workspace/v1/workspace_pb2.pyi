import datetime

from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EntryType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENTRY_TYPE_UNSPECIFIED: _ClassVar[EntryType]
    ENTRY_TYPE_FILE: _ClassVar[EntryType]
    ENTRY_TYPE_DIRECTORY: _ClassVar[EntryType]
    ENTRY_TYPE_SYMLINK: _ClassVar[EntryType]
ENTRY_TYPE_UNSPECIFIED: EntryType
ENTRY_TYPE_FILE: EntryType
ENTRY_TYPE_DIRECTORY: EntryType
ENTRY_TYPE_SYMLINK: EntryType

class Entry(_message.Message):
    __slots__ = ("path", "type", "mode", "size", "sha256", "target")
    PATH_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    path: str
    type: EntryType
    mode: int
    size: int
    sha256: str
    target: str
    def __init__(self, path: _Optional[str] = ..., type: _Optional[_Union[EntryType, str]] = ..., mode: _Optional[int] = ..., size: _Optional[int] = ..., sha256: _Optional[str] = ..., target: _Optional[str] = ...) -> None: ...

class Manifest(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[Entry]
    def __init__(self, entries: _Optional[_Iterable[_Union[Entry, _Mapping]]] = ...) -> None: ...

class Revision(_message.Message):
    __slots__ = ("revision_id", "parent_id", "label", "entry_count", "size", "created_at")
    REVISION_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    ENTRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    revision_id: str
    parent_id: str
    label: str
    entry_count: int
    size: int
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, revision_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., label: _Optional[str] = ..., entry_count: _Optional[int] = ..., size: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateRevisionRequest(_message.Message):
    __slots__ = ("manifest", "manifest_artifact", "parent_id", "label")
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    manifest: Manifest
    manifest_artifact: _common_pb2.ArtifactRef
    parent_id: str
    label: str
    def __init__(self, manifest: _Optional[_Union[Manifest, _Mapping]] = ..., manifest_artifact: _Optional[_Union[_common_pb2.ArtifactRef, _Mapping]] = ..., parent_id: _Optional[str] = ..., label: _Optional[str] = ...) -> None: ...

class CreateRevisionResponse(_message.Message):
    __slots__ = ("revision",)
    REVISION_FIELD_NUMBER: _ClassVar[int]
    revision: Revision
    def __init__(self, revision: _Optional[_Union[Revision, _Mapping]] = ...) -> None: ...

class GetRevisionRequest(_message.Message):
    __slots__ = ("revision_id", "after_path", "page_size")
    REVISION_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_PATH_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    revision_id: str
    after_path: str
    page_size: int
    def __init__(self, revision_id: _Optional[str] = ..., after_path: _Optional[str] = ..., page_size: _Optional[int] = ...) -> None: ...

class GetRevisionResponse(_message.Message):
    __slots__ = ("revision", "entries", "next_after_path")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_AFTER_PATH_FIELD_NUMBER: _ClassVar[int]
    revision: Revision
    entries: _containers.RepeatedCompositeFieldContainer[Entry]
    next_after_path: str
    def __init__(self, revision: _Optional[_Union[Revision, _Mapping]] = ..., entries: _Optional[_Iterable[_Union[Entry, _Mapping]]] = ..., next_after_path: _Optional[str] = ...) -> None: ...

class ListRevisionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "label")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    label: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., label: _Optional[str] = ...) -> None: ...

class ListRevisionsResponse(_message.Message):
    __slots__ = ("revisions", "next_page_token")
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    revisions: _containers.RepeatedCompositeFieldContainer[Revision]
    next_page_token: str
    def __init__(self, revisions: _Optional[_Iterable[_Union[Revision, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
