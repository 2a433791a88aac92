import datetime

from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from forge_client._gen.forge.session.v1 import conversation_pb2 as _conversation_pb2
from forge_client._gen.forge.session.v1 import session_pb2 as _session_pb2
from forge_client._gen.forge.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CheckpointKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHECKPOINT_KIND_UNSPECIFIED: _ClassVar[CheckpointKind]
    CHECKPOINT_KIND_AFTER_USER_INPUT: _ClassVar[CheckpointKind]
    CHECKPOINT_KIND_BEFORE_MODEL_CALL: _ClassVar[CheckpointKind]
    CHECKPOINT_KIND_BEFORE_TOOL_CALLS: _ClassVar[CheckpointKind]

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINISH_REASON_UNSPECIFIED: _ClassVar[FinishReason]
    FINISH_REASON_STOP: _ClassVar[FinishReason]
    FINISH_REASON_LENGTH: _ClassVar[FinishReason]
    FINISH_REASON_TOOL_CALLS: _ClassVar[FinishReason]
    FINISH_REASON_CONTENT_FILTER: _ClassVar[FinishReason]
    FINISH_REASON_ERROR: _ClassVar[FinishReason]
    FINISH_REASON_OTHER: _ClassVar[FinishReason]
CHECKPOINT_KIND_UNSPECIFIED: CheckpointKind
CHECKPOINT_KIND_AFTER_USER_INPUT: CheckpointKind
CHECKPOINT_KIND_BEFORE_MODEL_CALL: CheckpointKind
CHECKPOINT_KIND_BEFORE_TOOL_CALLS: CheckpointKind
FINISH_REASON_UNSPECIFIED: FinishReason
FINISH_REASON_STOP: FinishReason
FINISH_REASON_LENGTH: FinishReason
FINISH_REASON_TOOL_CALLS: FinishReason
FINISH_REASON_CONTENT_FILTER: FinishReason
FINISH_REASON_ERROR: FinishReason
FINISH_REASON_OTHER: FinishReason

class SessionCreated(_message.Message):
    __slots__ = ("agent", "policy", "labels", "queue", "title", "parent")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    agent: _session_pb2.AgentSpec
    policy: _tool_pb2.ToolPolicy
    labels: _containers.ScalarMap[str, str]
    queue: str
    title: str
    parent: _session_pb2.ParentStep
    def __init__(self, agent: _Optional[_Union[_session_pb2.AgentSpec, _Mapping]] = ..., policy: _Optional[_Union[_tool_pb2.ToolPolicy, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., queue: _Optional[str] = ..., title: _Optional[str] = ..., parent: _Optional[_Union[_session_pb2.ParentStep, _Mapping]] = ...) -> None: ...

class SessionClosed(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SessionPolicyUpdated(_message.Message):
    __slots__ = ("policy",)
    POLICY_FIELD_NUMBER: _ClassVar[int]
    policy: _tool_pb2.ToolPolicy
    def __init__(self, policy: _Optional[_Union[_tool_pb2.ToolPolicy, _Mapping]] = ...) -> None: ...

class SessionCompacted(_message.Message):
    __slots__ = ("summary", "through_seq")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    summary: str
    through_seq: int
    def __init__(self, summary: _Optional[str] = ..., through_seq: _Optional[int] = ...) -> None: ...

class SessionForked(_message.Message):
    __slots__ = ("source_session_id", "through_seq")
    SOURCE_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    source_session_id: str
    through_seq: int
    def __init__(self, source_session_id: _Optional[str] = ..., through_seq: _Optional[int] = ...) -> None: ...

class MessageAdded(_message.Message):
    __slots__ = ("message",)
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: _conversation_pb2.Message
    def __init__(self, message: _Optional[_Union[_conversation_pb2.Message, _Mapping]] = ...) -> None: ...

class TurnStarted(_message.Message):
    __slots__ = ("tools", "deadline_at")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_AT_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[_tool_pb2.ToolSpec]
    deadline_at: _timestamp_pb2.Timestamp
    def __init__(self, tools: _Optional[_Iterable[_Union[_tool_pb2.ToolSpec, _Mapping]]] = ..., deadline_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TurnOutputDelta(_message.Message):
    __slots__ = ("offset", "text", "reasoning", "tool_arguments", "epoch")
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    TOOL_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    offset: int
    text: str
    reasoning: str
    tool_arguments: ToolArgumentsDelta
    epoch: int
    def __init__(self, offset: _Optional[int] = ..., text: _Optional[str] = ..., reasoning: _Optional[str] = ..., tool_arguments: _Optional[_Union[ToolArgumentsDelta, _Mapping]] = ..., epoch: _Optional[int] = ...) -> None: ...

class ToolArgumentsDelta(_message.Message):
    __slots__ = ("provider_call_id", "tool", "arguments_json")
    PROVIDER_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    provider_call_id: str
    tool: str
    arguments_json: str
    def __init__(self, provider_call_id: _Optional[str] = ..., tool: _Optional[str] = ..., arguments_json: _Optional[str] = ...) -> None: ...

class TurnCompleted(_message.Message):
    __slots__ = ("outcome", "text_preview", "usage")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    TEXT_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    outcome: _session_pb2.TurnOutcome
    text_preview: str
    usage: _common_pb2.Usage
    def __init__(self, outcome: _Optional[_Union[_session_pb2.TurnOutcome, str]] = ..., text_preview: _Optional[str] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ...) -> None: ...

class TurnFailed(_message.Message):
    __slots__ = ("outcome", "error", "usage")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    outcome: _session_pb2.TurnOutcome
    error: _common_pb2.ForgeError
    usage: _common_pb2.Usage
    def __init__(self, outcome: _Optional[_Union[_session_pb2.TurnOutcome, str]] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ...) -> None: ...

class TurnCancelRequested(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class TurnCancelled(_message.Message):
    __slots__ = ("usage",)
    USAGE_FIELD_NUMBER: _ClassVar[int]
    usage: _common_pb2.Usage
    def __init__(self, usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ...) -> None: ...

class TurnAbandoned(_message.Message):
    __slots__ = ("reason", "usage")
    REASON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    usage: _common_pb2.Usage
    def __init__(self, reason: _Optional[str] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ...) -> None: ...

class TurnInputRequested(_message.Message):
    __slots__ = ("input_id", "question", "expires_at")
    INPUT_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    input_id: str
    question: str
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, input_id: _Optional[str] = ..., question: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class TurnInputProvided(_message.Message):
    __slots__ = ("input_id", "text")
    INPUT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    input_id: str
    text: str
    def __init__(self, input_id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class TurnSteered(_message.Message):
    __slots__ = ("message",)
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: _conversation_pb2.Message
    def __init__(self, message: _Optional[_Union[_conversation_pb2.Message, _Mapping]] = ...) -> None: ...

class TurnPaused(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TurnContinued(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TurnCheckpointed(_message.Message):
    __slots__ = ("kind",)
    KIND_FIELD_NUMBER: _ClassVar[int]
    kind: CheckpointKind
    def __init__(self, kind: _Optional[_Union[CheckpointKind, str]] = ...) -> None: ...

class ModelRequested(_message.Message):
    __slots__ = ("model", "conversation_through_seq", "call_index")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    CALL_INDEX_FIELD_NUMBER: _ClassVar[int]
    model: str
    conversation_through_seq: int
    call_index: int
    def __init__(self, model: _Optional[str] = ..., conversation_through_seq: _Optional[int] = ..., call_index: _Optional[int] = ...) -> None: ...

class ModelStarted(_message.Message):
    __slots__ = ("request_digest", "part_digests", "tool_catalogue_digest", "parameters_json", "cache_breakpoints", "versions", "worker", "epoch")
    class VersionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PART_DIGESTS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CATALOGUE_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_JSON_FIELD_NUMBER: _ClassVar[int]
    CACHE_BREAKPOINTS_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    request_digest: str
    part_digests: _containers.RepeatedScalarFieldContainer[str]
    tool_catalogue_digest: str
    parameters_json: str
    cache_breakpoints: _containers.RepeatedScalarFieldContainer[int]
    versions: _containers.ScalarMap[str, str]
    worker: str
    epoch: int
    def __init__(self, request_digest: _Optional[str] = ..., part_digests: _Optional[_Iterable[str]] = ..., tool_catalogue_digest: _Optional[str] = ..., parameters_json: _Optional[str] = ..., cache_breakpoints: _Optional[_Iterable[int]] = ..., versions: _Optional[_Mapping[str, str]] = ..., worker: _Optional[str] = ..., epoch: _Optional[int] = ...) -> None: ...

class ModelAttemptFailed(_message.Message):
    __slots__ = ("error", "attempt", "next_attempt_at")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    error: _common_pb2.ForgeError
    attempt: int
    next_attempt_at: _timestamp_pb2.Timestamp
    def __init__(self, error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., attempt: _Optional[int] = ..., next_attempt_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ModelCompleted(_message.Message):
    __slots__ = ("parts", "finish_reason", "provider_model", "provider_metadata_json", "duration_ms", "first_output_ms")
    PARTS_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_MODEL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    FIRST_OUTPUT_MS_FIELD_NUMBER: _ClassVar[int]
    parts: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Part]
    finish_reason: FinishReason
    provider_model: str
    provider_metadata_json: str
    duration_ms: int
    first_output_ms: int
    def __init__(self, parts: _Optional[_Iterable[_Union[_conversation_pb2.Part, _Mapping]]] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., provider_model: _Optional[str] = ..., provider_metadata_json: _Optional[str] = ..., duration_ms: _Optional[int] = ..., first_output_ms: _Optional[int] = ...) -> None: ...

class ModelFailed(_message.Message):
    __slots__ = ("error",)
    ERROR_FIELD_NUMBER: _ClassVar[int]
    error: _common_pb2.ForgeError
    def __init__(self, error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ...) -> None: ...

class ModelCancelled(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ModelUsageRecorded(_message.Message):
    __slots__ = ("model", "usage")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    model: str
    usage: _common_pb2.Usage
    def __init__(self, model: _Optional[str] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ...) -> None: ...

class ToolRequested(_message.Message):
    __slots__ = ("tool", "arguments_json", "provider_call_id", "decision", "idempotent", "execution_index")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    tool: str
    arguments_json: str
    provider_call_id: str
    decision: _tool_pb2.CapabilityDecision
    idempotent: bool
    execution_index: int
    def __init__(self, tool: _Optional[str] = ..., arguments_json: _Optional[str] = ..., provider_call_id: _Optional[str] = ..., decision: _Optional[_Union[_tool_pb2.CapabilityDecision, _Mapping]] = ..., idempotent: bool = ..., execution_index: _Optional[int] = ...) -> None: ...

class ToolApprovalRequired(_message.Message):
    __slots__ = ("approval_id", "expires_at")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, approval_id: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ToolDenied(_message.Message):
    __slots__ = ("decision", "reason")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    decision: _tool_pb2.CapabilityDecision
    reason: str
    def __init__(self, decision: _Optional[_Union[_tool_pb2.CapabilityDecision, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class ToolStarted(_message.Message):
    __slots__ = ("worker", "epoch")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    worker: str
    epoch: int
    def __init__(self, worker: _Optional[str] = ..., epoch: _Optional[int] = ...) -> None: ...

class ToolOutputDelta(_message.Message):
    __slots__ = ("offset", "text", "epoch")
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    offset: int
    text: str
    epoch: int
    def __init__(self, offset: _Optional[int] = ..., text: _Optional[str] = ..., epoch: _Optional[int] = ...) -> None: ...

class ToolCompleted(_message.Message):
    __slots__ = ("output", "duration_ms")
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    output: _common_pb2.Value
    duration_ms: int
    def __init__(self, output: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., duration_ms: _Optional[int] = ...) -> None: ...

class ToolFailed(_message.Message):
    __slots__ = ("error", "duration_ms")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    error: _common_pb2.ForgeError
    duration_ms: int
    def __init__(self, error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., duration_ms: _Optional[int] = ...) -> None: ...

class ToolCancelled(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class ToolSettledUnknown(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class ToolReportedLate(_message.Message):
    __slots__ = ("worker", "outcome", "preview")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    worker: str
    outcome: str
    preview: str
    def __init__(self, worker: _Optional[str] = ..., outcome: _Optional[str] = ..., preview: _Optional[str] = ...) -> None: ...

class ApprovalResolved(_message.Message):
    __slots__ = ("approval_id", "decision", "comment")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    decision: _tool_pb2.CapabilityDecision
    comment: str
    def __init__(self, approval_id: _Optional[str] = ..., decision: _Optional[_Union[_tool_pb2.CapabilityDecision, _Mapping]] = ..., comment: _Optional[str] = ...) -> None: ...

class ApprovalExpired(_message.Message):
    __slots__ = ("approval_id",)
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    def __init__(self, approval_id: _Optional[str] = ...) -> None: ...
