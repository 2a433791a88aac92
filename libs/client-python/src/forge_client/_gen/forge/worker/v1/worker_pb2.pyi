import datetime

from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from forge_client._gen.forge.event.v1 import session_events_pb2 as _session_events_pb2
from forge_client._gen.forge.session.v1 import session_pb2 as _session_pb2
from forge_client._gen.forge.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CapabilityKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CAPABILITY_KIND_UNSPECIFIED: _ClassVar[CapabilityKind]
    CAPABILITY_KIND_MODEL: _ClassVar[CapabilityKind]
    CAPABILITY_KIND_TOOL: _ClassVar[CapabilityKind]
    CAPABILITY_KIND_FUNCTION: _ClassVar[CapabilityKind]
    CAPABILITY_KIND_HOOK: _ClassVar[CapabilityKind]
    CAPABILITY_KIND_WORKSPACE: _ClassVar[CapabilityKind]
CAPABILITY_KIND_UNSPECIFIED: CapabilityKind
CAPABILITY_KIND_MODEL: CapabilityKind
CAPABILITY_KIND_TOOL: CapabilityKind
CAPABILITY_KIND_FUNCTION: CapabilityKind
CAPABILITY_KIND_HOOK: CapabilityKind
CAPABILITY_KIND_WORKSPACE: CapabilityKind

class Capability(_message.Message):
    __slots__ = ("kind", "name", "tool")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    kind: CapabilityKind
    name: str
    tool: _tool_pb2.ToolSpec
    def __init__(self, kind: _Optional[_Union[CapabilityKind, str]] = ..., name: _Optional[str] = ..., tool: _Optional[_Union[_tool_pb2.ToolSpec, _Mapping]] = ...) -> None: ...

class RegisterRequest(_message.Message):
    __slots__ = ("version", "worker_name", "queues", "capabilities", "slots", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    WORKER_NAME_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    version: _common_pb2.ProtocolVersion
    worker_name: str
    queues: _containers.RepeatedScalarFieldContainer[str]
    capabilities: _containers.RepeatedCompositeFieldContainer[Capability]
    slots: int
    labels: _containers.ScalarMap[str, str]
    def __init__(self, version: _Optional[_Union[_common_pb2.ProtocolVersion, _Mapping]] = ..., worker_name: _Optional[str] = ..., queues: _Optional[_Iterable[str]] = ..., capabilities: _Optional[_Iterable[_Union[Capability, _Mapping]]] = ..., slots: _Optional[int] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class RegisterResponse(_message.Message):
    __slots__ = ("worker_session_id", "heartbeat_interval", "lease_ttl")
    WORKER_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    LEASE_TTL_FIELD_NUMBER: _ClassVar[int]
    worker_session_id: str
    heartbeat_interval: _duration_pb2.Duration
    lease_ttl: _duration_pb2.Duration
    def __init__(self, worker_session_id: _Optional[str] = ..., heartbeat_interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., lease_ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class LeaseTasksRequest(_message.Message):
    __slots__ = ("worker_session_id", "slots", "wait")
    WORKER_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    worker_session_id: str
    slots: int
    wait: _duration_pb2.Duration
    def __init__(self, worker_session_id: _Optional[str] = ..., slots: _Optional[int] = ..., wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class LeaseTasksResponse(_message.Message):
    __slots__ = ("tasks",)
    TASKS_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[LeasedTask]
    def __init__(self, tasks: _Optional[_Iterable[_Union[LeasedTask, _Mapping]]] = ...) -> None: ...

class LeasedTask(_message.Message):
    __slots__ = ("task_id", "stream", "epoch", "lease_token", "task", "lease_until")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    LEASE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    LEASE_UNTIL_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    stream: _common_pb2.StreamRef
    epoch: int
    lease_token: bytes
    task: Task
    lease_until: _timestamp_pb2.Timestamp
    def __init__(self, task_id: _Optional[str] = ..., stream: _Optional[_Union[_common_pb2.StreamRef, _Mapping]] = ..., epoch: _Optional[int] = ..., lease_token: _Optional[bytes] = ..., task: _Optional[_Union[Task, _Mapping]] = ..., lease_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Task(_message.Message):
    __slots__ = ("model", "tool", "function", "hook", "compaction", "undo", "idempotency_key", "needs_start", "deadline_at", "artifact", "timeout", "heartbeat_timeout")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    HOOK_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_FIELD_NUMBER: _ClassVar[int]
    UNDO_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    NEEDS_START_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_AT_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    model: ModelTask
    tool: ToolTask
    function: FunctionTask
    hook: HookTask
    compaction: CompactionTask
    undo: UndoTask
    idempotency_key: str
    needs_start: bool
    deadline_at: _timestamp_pb2.Timestamp
    artifact: _common_pb2.ArtifactRef
    timeout: _duration_pb2.Duration
    heartbeat_timeout: _duration_pb2.Duration
    def __init__(self, model: _Optional[_Union[ModelTask, _Mapping]] = ..., tool: _Optional[_Union[ToolTask, _Mapping]] = ..., function: _Optional[_Union[FunctionTask, _Mapping]] = ..., hook: _Optional[_Union[HookTask, _Mapping]] = ..., compaction: _Optional[_Union[CompactionTask, _Mapping]] = ..., undo: _Optional[_Union[UndoTask, _Mapping]] = ..., idempotency_key: _Optional[str] = ..., needs_start: bool = ..., deadline_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., artifact: _Optional[_Union[_common_pb2.ArtifactRef, _Mapping]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., heartbeat_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ModelTask(_message.Message):
    __slots__ = ("session_id", "turn_id", "model_call_id", "model", "temperature", "max_output_tokens", "conversation_through_seq", "failed_attempts", "output_schema_json")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    FAILED_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    turn_id: str
    model_call_id: str
    model: str
    temperature: float
    max_output_tokens: int
    conversation_through_seq: int
    failed_attempts: int
    output_schema_json: str
    def __init__(self, session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., model_call_id: _Optional[str] = ..., model: _Optional[str] = ..., temperature: _Optional[float] = ..., max_output_tokens: _Optional[int] = ..., conversation_through_seq: _Optional[int] = ..., failed_attempts: _Optional[int] = ..., output_schema_json: _Optional[str] = ...) -> None: ...

class ToolTask(_message.Message):
    __slots__ = ("tool_call_id", "tool", "arguments_json", "session_id", "turn_id", "run_id", "step_id", "decision", "input", "preview", "previewed", "provided_inputs", "resume_json", "mode")
    class InputEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _common_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_common_pb2.Value, _Mapping]] = ...) -> None: ...
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    PREVIEWED_FIELD_NUMBER: _ClassVar[int]
    PROVIDED_INPUTS_FIELD_NUMBER: _ClassVar[int]
    RESUME_JSON_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    tool_call_id: str
    tool: str
    arguments_json: str
    session_id: str
    turn_id: str
    run_id: str
    step_id: str
    decision: _tool_pb2.CapabilityDecision
    input: _containers.MessageMap[str, _common_pb2.Value]
    preview: bool
    previewed: _tool_pb2.ToolPreview
    provided_inputs: _containers.RepeatedScalarFieldContainer[str]
    resume_json: str
    mode: _tool_pb2.ToolMode
    def __init__(self, tool_call_id: _Optional[str] = ..., tool: _Optional[str] = ..., arguments_json: _Optional[str] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., run_id: _Optional[str] = ..., step_id: _Optional[str] = ..., decision: _Optional[_Union[_tool_pb2.CapabilityDecision, _Mapping]] = ..., input: _Optional[_Mapping[str, _common_pb2.Value]] = ..., preview: bool = ..., previewed: _Optional[_Union[_tool_pb2.ToolPreview, _Mapping]] = ..., provided_inputs: _Optional[_Iterable[str]] = ..., resume_json: _Optional[str] = ..., mode: _Optional[_Union[_tool_pb2.ToolMode, str]] = ...) -> None: ...

class HookTask(_message.Message):
    __slots__ = ("session_id", "turn_id", "hook_call_id", "hook", "at", "config_json", "conversation_through_seq")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    HOOK_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    HOOK_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    turn_id: str
    hook_call_id: str
    hook: str
    at: _session_pb2.HookAt
    config_json: str
    conversation_through_seq: int
    def __init__(self, session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., hook_call_id: _Optional[str] = ..., hook: _Optional[str] = ..., at: _Optional[_Union[_session_pb2.HookAt, str]] = ..., config_json: _Optional[str] = ..., conversation_through_seq: _Optional[int] = ...) -> None: ...

class CompactionTask(_message.Message):
    __slots__ = ("session_id", "compaction_id", "model", "through_seq", "instructions", "turn_id", "context_window_tokens")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    compaction_id: str
    model: str
    through_seq: int
    instructions: str
    turn_id: str
    context_window_tokens: int
    def __init__(self, session_id: _Optional[str] = ..., compaction_id: _Optional[str] = ..., model: _Optional[str] = ..., through_seq: _Optional[int] = ..., instructions: _Optional[str] = ..., turn_id: _Optional[str] = ..., context_window_tokens: _Optional[int] = ...) -> None: ...

class UndoTask(_message.Message):
    __slots__ = ("session_id", "undo_id", "change_ids", "all_or_nothing")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    UNDO_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGE_IDS_FIELD_NUMBER: _ClassVar[int]
    ALL_OR_NOTHING_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    undo_id: str
    change_ids: _containers.RepeatedScalarFieldContainer[str]
    all_or_nothing: bool
    def __init__(self, session_id: _Optional[str] = ..., undo_id: _Optional[str] = ..., change_ids: _Optional[_Iterable[str]] = ..., all_or_nothing: bool = ...) -> None: ...

class FunctionTask(_message.Message):
    __slots__ = ("run_id", "step_id", "attempt", "name", "input")
    class InputEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _common_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_common_pb2.Value, _Mapping]] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    step_id: str
    attempt: int
    name: str
    input: _containers.MessageMap[str, _common_pb2.Value]
    def __init__(self, run_id: _Optional[str] = ..., step_id: _Optional[str] = ..., attempt: _Optional[int] = ..., name: _Optional[str] = ..., input: _Optional[_Mapping[str, _common_pb2.Value]] = ...) -> None: ...

class StartTasksRequest(_message.Message):
    __slots__ = ("worker_session_id", "starts")
    WORKER_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STARTS_FIELD_NUMBER: _ClassVar[int]
    worker_session_id: str
    starts: _containers.RepeatedCompositeFieldContainer[TaskStart]
    def __init__(self, worker_session_id: _Optional[str] = ..., starts: _Optional[_Iterable[_Union[TaskStart, _Mapping]]] = ...) -> None: ...

class TaskStart(_message.Message):
    __slots__ = ("lease", "model", "tool")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    lease: _common_pb2.TaskLease
    model: _session_events_pb2.ModelStarted
    tool: _session_events_pb2.ToolStarted
    def __init__(self, lease: _Optional[_Union[_common_pb2.TaskLease, _Mapping]] = ..., model: _Optional[_Union[_session_events_pb2.ModelStarted, _Mapping]] = ..., tool: _Optional[_Union[_session_events_pb2.ToolStarted, _Mapping]] = ...) -> None: ...

class StartTasksResponse(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[TaskAnswer]
    def __init__(self, answers: _Optional[_Iterable[_Union[TaskAnswer, _Mapping]]] = ...) -> None: ...

class TaskAnswer(_message.Message):
    __slots__ = ("task_id", "error")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    error: _common_pb2.ForgeError
    def __init__(self, task_id: _Optional[str] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ...) -> None: ...

class HeartbeatRequest(_message.Message):
    __slots__ = ("worker_session_id", "held")
    WORKER_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    worker_session_id: str
    held: _containers.RepeatedCompositeFieldContainer[_common_pb2.TaskLease]
    def __init__(self, worker_session_id: _Optional[str] = ..., held: _Optional[_Iterable[_Union[_common_pb2.TaskLease, _Mapping]]] = ...) -> None: ...

class HeartbeatResponse(_message.Message):
    __slots__ = ("cancel_task_ids", "lost_task_ids")
    CANCEL_TASK_IDS_FIELD_NUMBER: _ClassVar[int]
    LOST_TASK_IDS_FIELD_NUMBER: _ClassVar[int]
    cancel_task_ids: _containers.RepeatedScalarFieldContainer[str]
    lost_task_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, cancel_task_ids: _Optional[_Iterable[str]] = ..., lost_task_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ReportOutputRequest(_message.Message):
    __slots__ = ("worker_session_id", "deltas")
    WORKER_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    DELTAS_FIELD_NUMBER: _ClassVar[int]
    worker_session_id: str
    deltas: _containers.RepeatedCompositeFieldContainer[OutputDelta]
    def __init__(self, worker_session_id: _Optional[str] = ..., deltas: _Optional[_Iterable[_Union[OutputDelta, _Mapping]]] = ...) -> None: ...

class OutputDelta(_message.Message):
    __slots__ = ("lease", "turn", "tool", "progress", "structured")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_FIELD_NUMBER: _ClassVar[int]
    lease: _common_pb2.TaskLease
    turn: _session_events_pb2.TurnOutputDelta
    tool: _session_events_pb2.ToolOutputDelta
    progress: _session_events_pb2.UserProgressReported
    structured: _session_events_pb2.UserStructuredReported
    def __init__(self, lease: _Optional[_Union[_common_pb2.TaskLease, _Mapping]] = ..., turn: _Optional[_Union[_session_events_pb2.TurnOutputDelta, _Mapping]] = ..., tool: _Optional[_Union[_session_events_pb2.ToolOutputDelta, _Mapping]] = ..., progress: _Optional[_Union[_session_events_pb2.UserProgressReported, _Mapping]] = ..., structured: _Optional[_Union[_session_events_pb2.UserStructuredReported, _Mapping]] = ...) -> None: ...

class ReportOutputResponse(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[TaskAnswer]
    def __init__(self, answers: _Optional[_Iterable[_Union[TaskAnswer, _Mapping]]] = ...) -> None: ...

class SettleTasksRequest(_message.Message):
    __slots__ = ("worker_session_id", "settlements")
    WORKER_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENTS_FIELD_NUMBER: _ClassVar[int]
    worker_session_id: str
    settlements: _containers.RepeatedCompositeFieldContainer[Settlement]
    def __init__(self, worker_session_id: _Optional[str] = ..., settlements: _Optional[_Iterable[_Union[Settlement, _Mapping]]] = ...) -> None: ...

class Settlement(_message.Message):
    __slots__ = ("lease", "model", "tool", "function", "failure", "cancelled", "preview", "input_required", "hook", "compaction", "undo")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    INPUT_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    HOOK_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_FIELD_NUMBER: _ClassVar[int]
    UNDO_FIELD_NUMBER: _ClassVar[int]
    lease: _common_pb2.TaskLease
    model: ModelResult
    tool: ToolResult
    function: FunctionResult
    failure: TaskFailure
    cancelled: TaskCancelled
    preview: _tool_pb2.ToolPreview
    input_required: InputRequired
    hook: HookResult
    compaction: CompactionResult
    undo: UndoResult
    def __init__(self, lease: _Optional[_Union[_common_pb2.TaskLease, _Mapping]] = ..., model: _Optional[_Union[ModelResult, _Mapping]] = ..., tool: _Optional[_Union[ToolResult, _Mapping]] = ..., function: _Optional[_Union[FunctionResult, _Mapping]] = ..., failure: _Optional[_Union[TaskFailure, _Mapping]] = ..., cancelled: _Optional[_Union[TaskCancelled, _Mapping]] = ..., preview: _Optional[_Union[_tool_pb2.ToolPreview, _Mapping]] = ..., input_required: _Optional[_Union[InputRequired, _Mapping]] = ..., hook: _Optional[_Union[HookResult, _Mapping]] = ..., compaction: _Optional[_Union[CompactionResult, _Mapping]] = ..., undo: _Optional[_Union[UndoResult, _Mapping]] = ...) -> None: ...

class InputRequired(_message.Message):
    __slots__ = ("question", "resume_json")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    RESUME_JSON_FIELD_NUMBER: _ClassVar[int]
    question: str
    resume_json: str
    def __init__(self, question: _Optional[str] = ..., resume_json: _Optional[str] = ...) -> None: ...

class HookResult(_message.Message):
    __slots__ = ("edits", "duration_ms")
    EDITS_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    edits: _containers.RepeatedCompositeFieldContainer[_session_events_pb2.HookEdit]
    duration_ms: int
    def __init__(self, edits: _Optional[_Iterable[_Union[_session_events_pb2.HookEdit, _Mapping]]] = ..., duration_ms: _Optional[int] = ...) -> None: ...

class CompactionResult(_message.Message):
    __slots__ = ("summary", "usage")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    summary: str
    usage: _common_pb2.Usage
    def __init__(self, summary: _Optional[str] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ...) -> None: ...

class UndoResult(_message.Message):
    __slots__ = ("change_ids", "refused")
    CHANGE_IDS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    change_ids: _containers.RepeatedScalarFieldContainer[str]
    refused: _containers.RepeatedCompositeFieldContainer[_session_events_pb2.UndoRefusal]
    def __init__(self, change_ids: _Optional[_Iterable[str]] = ..., refused: _Optional[_Iterable[_Union[_session_events_pb2.UndoRefusal, _Mapping]]] = ...) -> None: ...

class ModelResult(_message.Message):
    __slots__ = ("completed", "usage")
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    completed: _session_events_pb2.ModelCompleted
    usage: _common_pb2.Usage
    def __init__(self, completed: _Optional[_Union[_session_events_pb2.ModelCompleted, _Mapping]] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("output", "duration_ms", "break_turn", "changes")
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    BREAK_TURN_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    output: _common_pb2.Value
    duration_ms: int
    break_turn: bool
    changes: _containers.RepeatedCompositeFieldContainer[_session_events_pb2.WorkspaceChangeRecorded]
    def __init__(self, output: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., duration_ms: _Optional[int] = ..., break_turn: bool = ..., changes: _Optional[_Iterable[_Union[_session_events_pb2.WorkspaceChangeRecorded, _Mapping]]] = ...) -> None: ...

class FunctionResult(_message.Message):
    __slots__ = ("output", "duration_ms")
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    output: _common_pb2.Value
    duration_ms: int
    def __init__(self, output: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., duration_ms: _Optional[int] = ...) -> None: ...

class TaskFailure(_message.Message):
    __slots__ = ("error", "duration_ms", "after_output", "unknown", "usage", "changes")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    AFTER_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    error: _common_pb2.ForgeError
    duration_ms: int
    after_output: bool
    unknown: bool
    usage: _common_pb2.Usage
    changes: _containers.RepeatedCompositeFieldContainer[_session_events_pb2.WorkspaceChangeRecorded]
    def __init__(self, error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., duration_ms: _Optional[int] = ..., after_output: bool = ..., unknown: bool = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ..., changes: _Optional[_Iterable[_Union[_session_events_pb2.WorkspaceChangeRecorded, _Mapping]]] = ...) -> None: ...

class TaskCancelled(_message.Message):
    __slots__ = ("changes",)
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[_session_events_pb2.WorkspaceChangeRecorded]
    def __init__(self, changes: _Optional[_Iterable[_Union[_session_events_pb2.WorkspaceChangeRecorded, _Mapping]]] = ...) -> None: ...

class SettleTasksResponse(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[TaskAnswer]
    def __init__(self, answers: _Optional[_Iterable[_Union[TaskAnswer, _Mapping]]] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = ("worker_session_id",)
    WORKER_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    worker_session_id: str
    def __init__(self, worker_session_id: _Optional[str] = ...) -> None: ...

class DrainResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
