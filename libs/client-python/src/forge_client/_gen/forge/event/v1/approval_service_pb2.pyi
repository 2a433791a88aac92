from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from forge_client._gen.forge.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ResolveApprovalRequest(_message.Message):
    __slots__ = ("header", "stream", "approval_id", "decision", "comment", "scope", "category", "remember_rule", "edited_arguments_json", "stop_turn")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    REMEMBER_RULE_FIELD_NUMBER: _ClassVar[int]
    EDITED_ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    STOP_TURN_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    stream: _common_pb2.StreamRef
    approval_id: str
    decision: _tool_pb2.Decision
    comment: str
    scope: _tool_pb2.ApprovalScope
    category: _tool_pb2.ApprovalCategory
    remember_rule: bool
    edited_arguments_json: str
    stop_turn: bool
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., stream: _Optional[_Union[_common_pb2.StreamRef, _Mapping]] = ..., approval_id: _Optional[str] = ..., decision: _Optional[_Union[_tool_pb2.Decision, str]] = ..., comment: _Optional[str] = ..., scope: _Optional[_Union[_tool_pb2.ApprovalScope, str]] = ..., category: _Optional[_Union[_tool_pb2.ApprovalCategory, str]] = ..., remember_rule: bool = ..., edited_arguments_json: _Optional[str] = ..., stop_turn: bool = ...) -> None: ...

class ResolveApprovalResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class ListPendingApprovalsRequest(_message.Message):
    __slots__ = ("stream", "page_size", "page_token")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    stream: _common_pb2.StreamRef
    page_size: int
    page_token: str
    def __init__(self, stream: _Optional[_Union[_common_pb2.StreamRef, _Mapping]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPendingApprovalsResponse(_message.Message):
    __slots__ = ("approvals", "next_page_token")
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    approvals: _containers.RepeatedCompositeFieldContainer[_tool_pb2.PendingApproval]
    next_page_token: str
    def __init__(self, approvals: _Optional[_Iterable[_Union[_tool_pb2.PendingApproval, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
