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

class CompactionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPACTION_REASON_UNSPECIFIED: _ClassVar[CompactionReason]
    COMPACTION_REASON_REQUESTED: _ClassVar[CompactionReason]
    COMPACTION_REASON_WINDOW: _ClassVar[CompactionReason]
    COMPACTION_REASON_OVERFLOW: _ClassVar[CompactionReason]

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
COMPACTION_REASON_UNSPECIFIED: CompactionReason
COMPACTION_REASON_REQUESTED: CompactionReason
COMPACTION_REASON_WINDOW: CompactionReason
COMPACTION_REASON_OVERFLOW: CompactionReason
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
    __slots__ = ("agent", "policy", "labels", "queue", "title", "parent", "parent_call")
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
    PARENT_CALL_FIELD_NUMBER: _ClassVar[int]
    agent: _session_pb2.AgentSpec
    policy: _tool_pb2.ToolPolicy
    labels: _containers.ScalarMap[str, str]
    queue: str
    title: str
    parent: _session_pb2.ParentStep
    parent_call: _session_pb2.ParentCall
    def __init__(self, agent: _Optional[_Union[_session_pb2.AgentSpec, _Mapping]] = ..., policy: _Optional[_Union[_tool_pb2.ToolPolicy, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., queue: _Optional[str] = ..., title: _Optional[str] = ..., parent: _Optional[_Union[_session_pb2.ParentStep, _Mapping]] = ..., parent_call: _Optional[_Union[_session_pb2.ParentCall, _Mapping]] = ...) -> None: ...

class SessionClosed(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SessionPolicyUpdated(_message.Message):
    __slots__ = ("policy", "grants_revoked")
    POLICY_FIELD_NUMBER: _ClassVar[int]
    GRANTS_REVOKED_FIELD_NUMBER: _ClassVar[int]
    policy: _tool_pb2.ToolPolicy
    grants_revoked: bool
    def __init__(self, policy: _Optional[_Union[_tool_pb2.ToolPolicy, _Mapping]] = ..., grants_revoked: bool = ...) -> None: ...

class SessionCompacted(_message.Message):
    __slots__ = ("summary", "through_seq", "compaction_id", "model", "usage")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    summary: str
    through_seq: int
    compaction_id: str
    model: str
    usage: _common_pb2.Usage
    def __init__(self, summary: _Optional[str] = ..., through_seq: _Optional[int] = ..., compaction_id: _Optional[str] = ..., model: _Optional[str] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ...) -> None: ...

class SessionCompactionRequested(_message.Message):
    __slots__ = ("compaction_id", "through_seq", "reason", "instructions", "model")
    COMPACTION_ID_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    compaction_id: str
    through_seq: int
    reason: CompactionReason
    instructions: str
    model: str
    def __init__(self, compaction_id: _Optional[str] = ..., through_seq: _Optional[int] = ..., reason: _Optional[_Union[CompactionReason, str]] = ..., instructions: _Optional[str] = ..., model: _Optional[str] = ...) -> None: ...

class SessionCompactionFailed(_message.Message):
    __slots__ = ("compaction_id", "error")
    COMPACTION_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    compaction_id: str
    error: _common_pb2.ForgeError
    def __init__(self, compaction_id: _Optional[str] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ...) -> None: ...

class SessionRewound(_message.Message):
    __slots__ = ("through_seq", "undo_id")
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    UNDO_ID_FIELD_NUMBER: _ClassVar[int]
    through_seq: int
    undo_id: str
    def __init__(self, through_seq: _Optional[int] = ..., undo_id: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("tools", "deadline_at", "context_sources")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_AT_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_SOURCES_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[_tool_pb2.ToolSpec]
    deadline_at: _timestamp_pb2.Timestamp
    context_sources: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tools: _Optional[_Iterable[_Union[_tool_pb2.ToolSpec, _Mapping]]] = ..., deadline_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., context_sources: _Optional[_Iterable[str]] = ...) -> None: ...

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
    __slots__ = ("input_id", "question", "expires_at", "error", "resume_json")
    INPUT_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    RESUME_JSON_FIELD_NUMBER: _ClassVar[int]
    input_id: str
    question: str
    expires_at: _timestamp_pb2.Timestamp
    error: _common_pb2.ForgeError
    resume_json: str
    def __init__(self, input_id: _Optional[str] = ..., question: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., resume_json: _Optional[str] = ...) -> None: ...

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

class WorkspaceChangeRecorded(_message.Message):
    __slots__ = ("change_id", "files", "observed", "not_undoable", "tool")
    CHANGE_ID_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_FIELD_NUMBER: _ClassVar[int]
    NOT_UNDOABLE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    change_id: str
    files: _containers.RepeatedCompositeFieldContainer[_session_pb2.FileChange]
    observed: bool
    not_undoable: _containers.RepeatedScalarFieldContainer[str]
    tool: str
    def __init__(self, change_id: _Optional[str] = ..., files: _Optional[_Iterable[_Union[_session_pb2.FileChange, _Mapping]]] = ..., observed: bool = ..., not_undoable: _Optional[_Iterable[str]] = ..., tool: _Optional[str] = ...) -> None: ...

class WorkspaceUndoRequested(_message.Message):
    __slots__ = ("undo_id", "change_ids", "rewind_through_seq")
    UNDO_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGE_IDS_FIELD_NUMBER: _ClassVar[int]
    REWIND_THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    undo_id: str
    change_ids: _containers.RepeatedScalarFieldContainer[str]
    rewind_through_seq: int
    def __init__(self, undo_id: _Optional[str] = ..., change_ids: _Optional[_Iterable[str]] = ..., rewind_through_seq: _Optional[int] = ...) -> None: ...

class UndoRefusal(_message.Message):
    __slots__ = ("change_id", "path", "reason")
    CHANGE_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    change_id: str
    path: str
    reason: str
    def __init__(self, change_id: _Optional[str] = ..., path: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class WorkspaceChangeUndone(_message.Message):
    __slots__ = ("undo_id", "change_ids", "refused")
    UNDO_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGE_IDS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    undo_id: str
    change_ids: _containers.RepeatedScalarFieldContainer[str]
    refused: _containers.RepeatedCompositeFieldContainer[UndoRefusal]
    def __init__(self, undo_id: _Optional[str] = ..., change_ids: _Optional[_Iterable[str]] = ..., refused: _Optional[_Iterable[_Union[UndoRefusal, _Mapping]]] = ...) -> None: ...

class WorkspaceUndoFailed(_message.Message):
    __slots__ = ("undo_id", "error")
    UNDO_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    undo_id: str
    error: _common_pb2.ForgeError
    def __init__(self, undo_id: _Optional[str] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ...) -> None: ...

class PlanUpdated(_message.Message):
    __slots__ = ("plan",)
    PLAN_FIELD_NUMBER: _ClassVar[int]
    plan: _session_pb2.Plan
    def __init__(self, plan: _Optional[_Union[_session_pb2.Plan, _Mapping]] = ...) -> None: ...

class UserProgressReported(_message.Message):
    __slots__ = ("message", "fraction", "epoch", "offset")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FRACTION_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    message: str
    fraction: float
    epoch: int
    offset: int
    def __init__(self, message: _Optional[str] = ..., fraction: _Optional[float] = ..., epoch: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class UserStructuredReported(_message.Message):
    __slots__ = ("type", "json", "epoch", "offset")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    type: str
    json: str
    epoch: int
    offset: int
    def __init__(self, type: _Optional[str] = ..., json: _Optional[str] = ..., epoch: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class HookEdit(_message.Message):
    __slots__ = ("add_message", "replace_text", "block", "go_on", "deny_call")
    ADD_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REPLACE_TEXT_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    GO_ON_FIELD_NUMBER: _ClassVar[int]
    DENY_CALL_FIELD_NUMBER: _ClassVar[int]
    add_message: _conversation_pb2.Message
    replace_text: str
    block: str
    go_on: bool
    deny_call: HookDeniedCall
    def __init__(self, add_message: _Optional[_Union[_conversation_pb2.Message, _Mapping]] = ..., replace_text: _Optional[str] = ..., block: _Optional[str] = ..., go_on: bool = ..., deny_call: _Optional[_Union[HookDeniedCall, _Mapping]] = ...) -> None: ...

class HookDeniedCall(_message.Message):
    __slots__ = ("tool_call_id", "reason")
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    tool_call_id: str
    reason: str
    def __init__(self, tool_call_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class HookRequested(_message.Message):
    __slots__ = ("hook_call_id", "hook", "at", "index", "about_seq")
    HOOK_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    HOOK_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ABOUT_SEQ_FIELD_NUMBER: _ClassVar[int]
    hook_call_id: str
    hook: str
    at: _session_pb2.HookAt
    index: int
    about_seq: int
    def __init__(self, hook_call_id: _Optional[str] = ..., hook: _Optional[str] = ..., at: _Optional[_Union[_session_pb2.HookAt, str]] = ..., index: _Optional[int] = ..., about_seq: _Optional[int] = ...) -> None: ...

class HookCompleted(_message.Message):
    __slots__ = ("hook_call_id", "hook", "at", "edits", "duration_ms", "index", "about_seq")
    HOOK_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    HOOK_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ABOUT_SEQ_FIELD_NUMBER: _ClassVar[int]
    hook_call_id: str
    hook: str
    at: _session_pb2.HookAt
    edits: _containers.RepeatedCompositeFieldContainer[HookEdit]
    duration_ms: int
    index: int
    about_seq: int
    def __init__(self, hook_call_id: _Optional[str] = ..., hook: _Optional[str] = ..., at: _Optional[_Union[_session_pb2.HookAt, str]] = ..., edits: _Optional[_Iterable[_Union[HookEdit, _Mapping]]] = ..., duration_ms: _Optional[int] = ..., index: _Optional[int] = ..., about_seq: _Optional[int] = ...) -> None: ...

class HookFailed(_message.Message):
    __slots__ = ("hook_call_id", "hook", "at", "error", "index")
    HOOK_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    HOOK_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    hook_call_id: str
    hook: str
    at: _session_pb2.HookAt
    error: _common_pb2.ForgeError
    index: int
    def __init__(self, hook_call_id: _Optional[str] = ..., hook: _Optional[str] = ..., at: _Optional[_Union[_session_pb2.HookAt, str]] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., index: _Optional[int] = ...) -> None: ...

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
    __slots__ = ("parts", "finish_reason", "provider_model", "provider_metadata_json", "duration_ms", "first_output_ms", "context_window_tokens")
    PARTS_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_MODEL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    FIRST_OUTPUT_MS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    parts: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Part]
    finish_reason: FinishReason
    provider_model: str
    provider_metadata_json: str
    duration_ms: int
    first_output_ms: int
    context_window_tokens: int
    def __init__(self, parts: _Optional[_Iterable[_Union[_conversation_pb2.Part, _Mapping]]] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., provider_model: _Optional[str] = ..., provider_metadata_json: _Optional[str] = ..., duration_ms: _Optional[int] = ..., first_output_ms: _Optional[int] = ..., context_window_tokens: _Optional[int] = ...) -> None: ...

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

class ToolPreviewed(_message.Message):
    __slots__ = ("preview", "decision", "worker")
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    preview: _tool_pb2.ToolPreview
    decision: _tool_pb2.CapabilityDecision
    worker: str
    def __init__(self, preview: _Optional[_Union[_tool_pb2.ToolPreview, _Mapping]] = ..., decision: _Optional[_Union[_tool_pb2.CapabilityDecision, _Mapping]] = ..., worker: _Optional[str] = ...) -> None: ...

class ToolArgumentsEdited(_message.Message):
    __slots__ = ("arguments_json", "arguments_digest", "edited_by")
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    EDITED_BY_FIELD_NUMBER: _ClassVar[int]
    arguments_json: str
    arguments_digest: str
    edited_by: str
    def __init__(self, arguments_json: _Optional[str] = ..., arguments_digest: _Optional[str] = ..., edited_by: _Optional[str] = ...) -> None: ...

class ToolRetried(_message.Message):
    __slots__ = ("error", "attempt", "next_attempt_at")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    error: _common_pb2.ForgeError
    attempt: int
    next_attempt_at: _timestamp_pb2.Timestamp
    def __init__(self, error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., attempt: _Optional[int] = ..., next_attempt_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("worker", "epoch", "child_session_id")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    CHILD_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    worker: str
    epoch: int
    child_session_id: str
    def __init__(self, worker: _Optional[str] = ..., epoch: _Optional[int] = ..., child_session_id: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("output", "duration_ms", "break_turn")
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    BREAK_TURN_FIELD_NUMBER: _ClassVar[int]
    output: _common_pb2.Value
    duration_ms: int
    break_turn: bool
    def __init__(self, output: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., duration_ms: _Optional[int] = ..., break_turn: bool = ...) -> None: ...

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
    __slots__ = ("approval_id", "decision", "comment", "grant", "stop_turn")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    STOP_TURN_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    decision: _tool_pb2.CapabilityDecision
    comment: str
    grant: _tool_pb2.Grant
    stop_turn: bool
    def __init__(self, approval_id: _Optional[str] = ..., decision: _Optional[_Union[_tool_pb2.CapabilityDecision, _Mapping]] = ..., comment: _Optional[str] = ..., grant: _Optional[_Union[_tool_pb2.Grant, _Mapping]] = ..., stop_turn: bool = ...) -> None: ...

class ApprovalExpired(_message.Message):
    __slots__ = ("approval_id",)
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    def __init__(self, approval_id: _Optional[str] = ...) -> None: ...
