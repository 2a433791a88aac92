import datetime

from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RiskLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RISK_LEVEL_UNSPECIFIED: _ClassVar[RiskLevel]
    RISK_LEVEL_READ: _ClassVar[RiskLevel]
    RISK_LEVEL_CHANGE: _ClassVar[RiskLevel]
    RISK_LEVEL_EXECUTE: _ClassVar[RiskLevel]

class ApprovalCategory(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_CATEGORY_UNSPECIFIED: _ClassVar[ApprovalCategory]
    APPROVAL_CATEGORY_CHANGES: _ClassVar[ApprovalCategory]
    APPROVAL_CATEGORY_EXECUTION: _ClassVar[ApprovalCategory]
    APPROVAL_CATEGORY_EVIDENCE: _ClassVar[ApprovalCategory]
    APPROVAL_CATEGORY_ALL: _ClassVar[ApprovalCategory]

class Decision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_UNSPECIFIED: _ClassVar[Decision]
    DECISION_ALLOW: _ClassVar[Decision]
    DECISION_ASK: _ClassVar[Decision]
    DECISION_DENY: _ClassVar[Decision]
    DECISION_PREVIEW: _ClassVar[Decision]

class ToolMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_MODE_UNSPECIFIED: _ClassVar[ToolMode]
    TOOL_MODE_PLAN: _ClassVar[ToolMode]
    TOOL_MODE_ACT: _ClassVar[ToolMode]
    TOOL_MODE_BYPASS: _ClassVar[ToolMode]

class ApprovalScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_SCOPE_UNSPECIFIED: _ClassVar[ApprovalScope]
    APPROVAL_SCOPE_ONCE: _ClassVar[ApprovalScope]
    APPROVAL_SCOPE_TURN: _ClassVar[ApprovalScope]
    APPROVAL_SCOPE_SESSION: _ClassVar[ApprovalScope]
RISK_LEVEL_UNSPECIFIED: RiskLevel
RISK_LEVEL_READ: RiskLevel
RISK_LEVEL_CHANGE: RiskLevel
RISK_LEVEL_EXECUTE: RiskLevel
APPROVAL_CATEGORY_UNSPECIFIED: ApprovalCategory
APPROVAL_CATEGORY_CHANGES: ApprovalCategory
APPROVAL_CATEGORY_EXECUTION: ApprovalCategory
APPROVAL_CATEGORY_EVIDENCE: ApprovalCategory
APPROVAL_CATEGORY_ALL: ApprovalCategory
DECISION_UNSPECIFIED: Decision
DECISION_ALLOW: Decision
DECISION_ASK: Decision
DECISION_DENY: Decision
DECISION_PREVIEW: Decision
TOOL_MODE_UNSPECIFIED: ToolMode
TOOL_MODE_PLAN: ToolMode
TOOL_MODE_ACT: ToolMode
TOOL_MODE_BYPASS: ToolMode
APPROVAL_SCOPE_UNSPECIFIED: ApprovalScope
APPROVAL_SCOPE_ONCE: ApprovalScope
APPROVAL_SCOPE_TURN: ApprovalScope
APPROVAL_SCOPE_SESSION: ApprovalScope

class ToolSpec(_message.Message):
    __slots__ = ("name", "description", "input_schema_json", "idempotent", "risk", "timeout", "previews", "category", "source_digest")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    RISK_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    PREVIEWS_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_DIGEST_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    input_schema_json: str
    idempotent: bool
    risk: RiskLevel
    timeout: _duration_pb2.Duration
    previews: bool
    category: ApprovalCategory
    source_digest: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., input_schema_json: _Optional[str] = ..., idempotent: bool = ..., risk: _Optional[_Union[RiskLevel, str]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., previews: bool = ..., category: _Optional[_Union[ApprovalCategory, str]] = ..., source_digest: _Optional[str] = ...) -> None: ...

class ToolPreview(_message.Message):
    __slots__ = ("title", "diff", "diff_artifact", "risk", "facts_json", "rule_key", "rule_title", "paths")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DIFF_FIELD_NUMBER: _ClassVar[int]
    DIFF_ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    RISK_FIELD_NUMBER: _ClassVar[int]
    FACTS_JSON_FIELD_NUMBER: _ClassVar[int]
    RULE_KEY_FIELD_NUMBER: _ClassVar[int]
    RULE_TITLE_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    title: str
    diff: str
    diff_artifact: _common_pb2.ArtifactRef
    risk: RiskLevel
    facts_json: str
    rule_key: str
    rule_title: str
    paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, title: _Optional[str] = ..., diff: _Optional[str] = ..., diff_artifact: _Optional[_Union[_common_pb2.ArtifactRef, _Mapping]] = ..., risk: _Optional[_Union[RiskLevel, str]] = ..., facts_json: _Optional[str] = ..., rule_key: _Optional[str] = ..., rule_title: _Optional[str] = ..., paths: _Optional[_Iterable[str]] = ...) -> None: ...

class ToolRule(_message.Message):
    __slots__ = ("tool", "decision", "rule_key")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    RULE_KEY_FIELD_NUMBER: _ClassVar[int]
    tool: str
    decision: Decision
    rule_key: str
    def __init__(self, tool: _Optional[str] = ..., decision: _Optional[_Union[Decision, str]] = ..., rule_key: _Optional[str] = ...) -> None: ...

class Grant(_message.Message):
    __slots__ = ("approval_id", "scope", "category", "tool", "tool_digest", "rule_key", "rule_title", "granted_by", "granted_at", "turn_id")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    TOOL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    RULE_KEY_FIELD_NUMBER: _ClassVar[int]
    RULE_TITLE_FIELD_NUMBER: _ClassVar[int]
    GRANTED_BY_FIELD_NUMBER: _ClassVar[int]
    GRANTED_AT_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    scope: ApprovalScope
    category: ApprovalCategory
    tool: str
    tool_digest: str
    rule_key: str
    rule_title: str
    granted_by: str
    granted_at: _timestamp_pb2.Timestamp
    turn_id: str
    def __init__(self, approval_id: _Optional[str] = ..., scope: _Optional[_Union[ApprovalScope, str]] = ..., category: _Optional[_Union[ApprovalCategory, str]] = ..., tool: _Optional[str] = ..., tool_digest: _Optional[str] = ..., rule_key: _Optional[str] = ..., rule_title: _Optional[str] = ..., granted_by: _Optional[str] = ..., granted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., turn_id: _Optional[str] = ...) -> None: ...

class ToolPolicy(_message.Message):
    __slots__ = ("rules", "default_decision", "approval_ttl", "answer", "mode")
    RULES_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_DECISION_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_TTL_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    rules: _containers.RepeatedCompositeFieldContainer[ToolRule]
    default_decision: Decision
    approval_ttl: _duration_pb2.Duration
    answer: Decision
    mode: ToolMode
    def __init__(self, rules: _Optional[_Iterable[_Union[ToolRule, _Mapping]]] = ..., default_decision: _Optional[_Union[Decision, str]] = ..., approval_ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., answer: _Optional[_Union[Decision, str]] = ..., mode: _Optional[_Union[ToolMode, str]] = ...) -> None: ...

class CapabilityDecision(_message.Message):
    __slots__ = ("decision", "subject", "tool", "tool_digest", "arguments_digest", "source", "decided_by", "expires_at", "preview_digest")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    TOOL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_DIGEST_FIELD_NUMBER: _ClassVar[int]
    decision: Decision
    subject: str
    tool: str
    tool_digest: str
    arguments_digest: str
    source: str
    decided_by: str
    expires_at: _timestamp_pb2.Timestamp
    preview_digest: str
    def __init__(self, decision: _Optional[_Union[Decision, str]] = ..., subject: _Optional[str] = ..., tool: _Optional[str] = ..., tool_digest: _Optional[str] = ..., arguments_digest: _Optional[str] = ..., source: _Optional[str] = ..., decided_by: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., preview_digest: _Optional[str] = ...) -> None: ...

class PendingApproval(_message.Message):
    __slots__ = ("stream", "approval_id", "turn_id", "tool_call_id", "tool", "arguments_preview", "risk", "requested_at", "expires_at", "step_id", "question", "preview", "category")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    RISK_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    stream: _common_pb2.StreamRef
    approval_id: str
    turn_id: str
    tool_call_id: str
    tool: str
    arguments_preview: str
    risk: RiskLevel
    requested_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    step_id: str
    question: str
    preview: ToolPreview
    category: ApprovalCategory
    def __init__(self, stream: _Optional[_Union[_common_pb2.StreamRef, _Mapping]] = ..., approval_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., tool_call_id: _Optional[str] = ..., tool: _Optional[str] = ..., arguments_preview: _Optional[str] = ..., risk: _Optional[_Union[RiskLevel, str]] = ..., requested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., step_id: _Optional[str] = ..., question: _Optional[str] = ..., preview: _Optional[_Union[ToolPreview, _Mapping]] = ..., category: _Optional[_Union[ApprovalCategory, str]] = ...) -> None: ...
