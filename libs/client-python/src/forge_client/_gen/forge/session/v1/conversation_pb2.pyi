from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    ROLE_SYSTEM: _ClassVar[Role]
    ROLE_USER: _ClassVar[Role]
    ROLE_ASSISTANT: _ClassVar[Role]
    ROLE_TOOL: _ClassVar[Role]
ROLE_UNSPECIFIED: Role
ROLE_SYSTEM: Role
ROLE_USER: Role
ROLE_ASSISTANT: Role
ROLE_TOOL: Role

class Message(_message.Message):
    __slots__ = ("role", "parts", "seq", "ephemeral", "turn_id")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    EPHEMERAL_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    role: Role
    parts: _containers.RepeatedCompositeFieldContainer[Part]
    seq: int
    ephemeral: bool
    turn_id: str
    def __init__(self, role: _Optional[_Union[Role, str]] = ..., parts: _Optional[_Iterable[_Union[Part, _Mapping]]] = ..., seq: _Optional[int] = ..., ephemeral: bool = ..., turn_id: _Optional[str] = ...) -> None: ...

class Part(_message.Message):
    __slots__ = ("text", "reasoning", "tool_call", "tool_result", "artifact", "provider_metadata_json")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    text: TextPart
    reasoning: ReasoningPart
    tool_call: ToolCallPart
    tool_result: ToolResultPart
    artifact: _common_pb2.ArtifactRef
    provider_metadata_json: str
    def __init__(self, text: _Optional[_Union[TextPart, _Mapping]] = ..., reasoning: _Optional[_Union[ReasoningPart, _Mapping]] = ..., tool_call: _Optional[_Union[ToolCallPart, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResultPart, _Mapping]] = ..., artifact: _Optional[_Union[_common_pb2.ArtifactRef, _Mapping]] = ..., provider_metadata_json: _Optional[str] = ...) -> None: ...

class TextPart(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ReasoningPart(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ToolCallPart(_message.Message):
    __slots__ = ("tool_call_id", "provider_call_id", "tool", "arguments_json")
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    tool_call_id: str
    provider_call_id: str
    tool: str
    arguments_json: str
    def __init__(self, tool_call_id: _Optional[str] = ..., provider_call_id: _Optional[str] = ..., tool: _Optional[str] = ..., arguments_json: _Optional[str] = ...) -> None: ...

class ToolResultPart(_message.Message):
    __slots__ = ("tool_call_id", "provider_call_id", "tool", "is_error", "output", "artifact")
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    tool_call_id: str
    provider_call_id: str
    tool: str
    is_error: bool
    output: str
    artifact: _common_pb2.ArtifactRef
    def __init__(self, tool_call_id: _Optional[str] = ..., provider_call_id: _Optional[str] = ..., tool: _Optional[str] = ..., is_error: bool = ..., output: _Optional[str] = ..., artifact: _Optional[_Union[_common_pb2.ArtifactRef, _Mapping]] = ...) -> None: ...
