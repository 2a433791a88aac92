import datetime

from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from forge_client._gen.forge.tool.v1 import tool_pb2 as _tool_pb2
from forge_client._gen.forge.workflow.v1 import definition_pb2 as _definition_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OverwritePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OVERWRITE_POLICY_UNSPECIFIED: _ClassVar[OverwritePolicy]
    OVERWRITE_POLICY_WARN: _ClassVar[OverwritePolicy]
    OVERWRITE_POLICY_STRICT: _ClassVar[OverwritePolicy]
    OVERWRITE_POLICY_ALLOW: _ClassVar[OverwritePolicy]

class RunStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATUS_UNSPECIFIED: _ClassVar[RunStatus]
    RUN_STATUS_RUNNING: _ClassVar[RunStatus]
    RUN_STATUS_CANCELLING: _ClassVar[RunStatus]
    RUN_STATUS_COMPLETED: _ClassVar[RunStatus]
    RUN_STATUS_COMPLETED_WITH_ERRORS: _ClassVar[RunStatus]
    RUN_STATUS_FAILED: _ClassVar[RunStatus]
    RUN_STATUS_CANCELLED: _ClassVar[RunStatus]
    RUN_STATUS_PAUSED: _ClassVar[RunStatus]
    RUN_STATUS_WAITING: _ClassVar[RunStatus]
    RUN_STATUS_QUEUED: _ClassVar[RunStatus]

class StepStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STEP_STATUS_UNSPECIFIED: _ClassVar[StepStatus]
    STEP_STATUS_RUNNING: _ClassVar[StepStatus]
    STEP_STATUS_RETRYING: _ClassVar[StepStatus]
    STEP_STATUS_COMPLETED: _ClassVar[StepStatus]
    STEP_STATUS_FAILED: _ClassVar[StepStatus]
    STEP_STATUS_CANCELLED: _ClassVar[StepStatus]
    STEP_STATUS_SKIPPED: _ClassVar[StepStatus]
    STEP_STATUS_WAITING: _ClassVar[StepStatus]
OVERWRITE_POLICY_UNSPECIFIED: OverwritePolicy
OVERWRITE_POLICY_WARN: OverwritePolicy
OVERWRITE_POLICY_STRICT: OverwritePolicy
OVERWRITE_POLICY_ALLOW: OverwritePolicy
RUN_STATUS_UNSPECIFIED: RunStatus
RUN_STATUS_RUNNING: RunStatus
RUN_STATUS_CANCELLING: RunStatus
RUN_STATUS_COMPLETED: RunStatus
RUN_STATUS_COMPLETED_WITH_ERRORS: RunStatus
RUN_STATUS_FAILED: RunStatus
RUN_STATUS_CANCELLED: RunStatus
RUN_STATUS_PAUSED: RunStatus
RUN_STATUS_WAITING: RunStatus
RUN_STATUS_QUEUED: RunStatus
STEP_STATUS_UNSPECIFIED: StepStatus
STEP_STATUS_RUNNING: StepStatus
STEP_STATUS_RETRYING: StepStatus
STEP_STATUS_COMPLETED: StepStatus
STEP_STATUS_FAILED: StepStatus
STEP_STATUS_CANCELLED: StepStatus
STEP_STATUS_SKIPPED: StepStatus
STEP_STATUS_WAITING: StepStatus

class StartRunRequest(_message.Message):
    __slots__ = ("header", "definition", "inputs", "labels", "queue", "model_override", "policy", "workflow", "concurrency_key", "concurrency_limit", "priority", "overwrite_policy")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    MODEL_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_LIMIT_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    OVERWRITE_POLICY_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    definition: _definition_pb2.WorkflowDefinition
    inputs: _common_pb2.Value
    labels: _containers.ScalarMap[str, str]
    queue: str
    model_override: str
    policy: _tool_pb2.ToolPolicy
    workflow: str
    concurrency_key: str
    concurrency_limit: int
    priority: int
    overwrite_policy: OverwritePolicy
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., definition: _Optional[_Union[_definition_pb2.WorkflowDefinition, _Mapping]] = ..., inputs: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., queue: _Optional[str] = ..., model_override: _Optional[str] = ..., policy: _Optional[_Union[_tool_pb2.ToolPolicy, _Mapping]] = ..., workflow: _Optional[str] = ..., concurrency_key: _Optional[str] = ..., concurrency_limit: _Optional[int] = ..., priority: _Optional[int] = ..., overwrite_policy: _Optional[_Union[OverwritePolicy, str]] = ...) -> None: ...

class StartRunResponse(_message.Message):
    __slots__ = ("run_id", "seq", "warnings")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    seq: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_id: _Optional[str] = ..., seq: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("header", "run_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    run_id: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., run_id: _Optional[str] = ...) -> None: ...

class CancelRunResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class SignalRunRequest(_message.Message):
    __slots__ = ("header", "run_id", "name", "payload")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    run_id: str
    name: str
    payload: _common_pb2.Value
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., run_id: _Optional[str] = ..., name: _Optional[str] = ..., payload: _Optional[_Union[_common_pb2.Value, _Mapping]] = ...) -> None: ...

class SignalRunResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class PauseRunRequest(_message.Message):
    __slots__ = ("header", "run_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    run_id: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., run_id: _Optional[str] = ...) -> None: ...

class PauseRunResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class ContinueRunRequest(_message.Message):
    __slots__ = ("header", "run_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    run_id: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., run_id: _Optional[str] = ...) -> None: ...

class ContinueRunResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class ResumeRunRequest(_message.Message):
    __slots__ = ("header", "run_id", "workflow_hash")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_HASH_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    run_id: str
    workflow_hash: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., run_id: _Optional[str] = ..., workflow_hash: _Optional[str] = ...) -> None: ...

class ResumeRunResponse(_message.Message):
    __slots__ = ("seq", "step_ids", "warnings")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    STEP_IDS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    seq: int
    step_ids: _containers.RepeatedScalarFieldContainer[str]
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, seq: _Optional[int] = ..., step_ids: _Optional[_Iterable[str]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class ForkRunRequest(_message.Message):
    __slots__ = ("header", "run_id", "step_id", "workflow_hash", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_HASH_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    run_id: str
    step_id: str
    workflow_hash: str
    labels: _containers.ScalarMap[str, str]
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., run_id: _Optional[str] = ..., step_id: _Optional[str] = ..., workflow_hash: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class ForkRunResponse(_message.Message):
    __slots__ = ("run_id", "seq", "warnings")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    seq: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_id: _Optional[str] = ..., seq: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class ReplayRunRequest(_message.Message):
    __slots__ = ("run_id", "verify_state")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    VERIFY_STATE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    verify_state: bool
    def __init__(self, run_id: _Optional[str] = ..., verify_state: bool = ...) -> None: ...

class ReplayRunResponse(_message.Message):
    __slots__ = ("events", "steps", "mismatches", "status", "state")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    MISMATCHES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    events: int
    steps: _containers.RepeatedCompositeFieldContainer[ReplayedStep]
    mismatches: _containers.RepeatedCompositeFieldContainer[ReplayMismatch]
    status: RunStatus
    state: _common_pb2.Value
    def __init__(self, events: _Optional[int] = ..., steps: _Optional[_Iterable[_Union[ReplayedStep, _Mapping]]] = ..., mismatches: _Optional[_Iterable[_Union[ReplayMismatch, _Mapping]]] = ..., status: _Optional[_Union[RunStatus, str]] = ..., state: _Optional[_Union[_common_pb2.Value, _Mapping]] = ...) -> None: ...

class ReplayedStep(_message.Message):
    __slots__ = ("step_id", "execution_index", "status", "state_before_hash", "state_after_hash", "seq")
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATE_BEFORE_HASH_FIELD_NUMBER: _ClassVar[int]
    STATE_AFTER_HASH_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    step_id: str
    execution_index: int
    status: StepStatus
    state_before_hash: str
    state_after_hash: str
    seq: int
    def __init__(self, step_id: _Optional[str] = ..., execution_index: _Optional[int] = ..., status: _Optional[_Union[StepStatus, str]] = ..., state_before_hash: _Optional[str] = ..., state_after_hash: _Optional[str] = ..., seq: _Optional[int] = ...) -> None: ...

class ReplayMismatch(_message.Message):
    __slots__ = ("seq", "step_id", "path", "recorded_json", "recomputed_json")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    RECORDED_JSON_FIELD_NUMBER: _ClassVar[int]
    RECOMPUTED_JSON_FIELD_NUMBER: _ClassVar[int]
    seq: int
    step_id: str
    path: str
    recorded_json: str
    recomputed_json: str
    def __init__(self, seq: _Optional[int] = ..., step_id: _Optional[str] = ..., path: _Optional[str] = ..., recorded_json: _Optional[str] = ..., recomputed_json: _Optional[str] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("run_id", "seq", "workflow_id", "workflow_version", "workflow_hash", "status", "inputs", "output", "error", "created_at", "started_at", "completed_at", "labels", "queue", "steps", "usage", "input_hash", "definition", "parent", "origin", "waiting_signals", "concurrency_key", "priority")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_VERSION_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_HASH_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    INPUT_HASH_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    WAITING_SIGNALS_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    seq: int
    workflow_id: str
    workflow_version: str
    workflow_hash: str
    status: RunStatus
    inputs: _common_pb2.Value
    output: _common_pb2.Value
    error: _common_pb2.ForgeError
    created_at: _timestamp_pb2.Timestamp
    started_at: _timestamp_pb2.Timestamp
    completed_at: _timestamp_pb2.Timestamp
    labels: _containers.ScalarMap[str, str]
    queue: str
    steps: _containers.RepeatedCompositeFieldContainer[StepExecution]
    usage: _common_pb2.Usage
    input_hash: str
    definition: _definition_pb2.WorkflowDefinition
    parent: RunParent
    origin: RunOrigin
    waiting_signals: _containers.RepeatedScalarFieldContainer[str]
    concurrency_key: str
    priority: int
    def __init__(self, run_id: _Optional[str] = ..., seq: _Optional[int] = ..., workflow_id: _Optional[str] = ..., workflow_version: _Optional[str] = ..., workflow_hash: _Optional[str] = ..., status: _Optional[_Union[RunStatus, str]] = ..., inputs: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., output: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., completed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., queue: _Optional[str] = ..., steps: _Optional[_Iterable[_Union[StepExecution, _Mapping]]] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ..., input_hash: _Optional[str] = ..., definition: _Optional[_Union[_definition_pb2.WorkflowDefinition, _Mapping]] = ..., parent: _Optional[_Union[RunParent, _Mapping]] = ..., origin: _Optional[_Union[RunOrigin, _Mapping]] = ..., waiting_signals: _Optional[_Iterable[str]] = ..., concurrency_key: _Optional[str] = ..., priority: _Optional[int] = ...) -> None: ...

class RunParent(_message.Message):
    __slots__ = ("run_id", "step_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    step_id: str
    def __init__(self, run_id: _Optional[str] = ..., step_id: _Optional[str] = ...) -> None: ...

class RunOrigin(_message.Message):
    __slots__ = ("run_id", "seq", "step_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    seq: int
    step_id: str
    def __init__(self, run_id: _Optional[str] = ..., seq: _Optional[int] = ..., step_id: _Optional[str] = ...) -> None: ...

class StepExecution(_message.Message):
    __slots__ = ("step_id", "step_type", "execution_index", "status", "attempt_count", "input", "output", "error", "last_error", "started_at", "finished_at", "duration_ms", "handler_duration_ms", "tool_duration_ms", "usage", "session_id", "next_step_id", "next_source", "child_run_id", "group_index", "item_index", "item_count", "skip_reason", "waits_until", "waits_for_signal", "approval_id", "inherited", "prompt_variant", "overwrote")
    class InputEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _common_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_common_pb2.Value, _Mapping]] = ...) -> None: ...
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_TYPE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    LAST_ERROR_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    HANDLER_DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    TOOL_DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_STEP_ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    CHILD_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_INDEX_FIELD_NUMBER: _ClassVar[int]
    ITEM_INDEX_FIELD_NUMBER: _ClassVar[int]
    ITEM_COUNT_FIELD_NUMBER: _ClassVar[int]
    SKIP_REASON_FIELD_NUMBER: _ClassVar[int]
    WAITS_UNTIL_FIELD_NUMBER: _ClassVar[int]
    WAITS_FOR_SIGNAL_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    INHERITED_FIELD_NUMBER: _ClassVar[int]
    PROMPT_VARIANT_FIELD_NUMBER: _ClassVar[int]
    OVERWROTE_FIELD_NUMBER: _ClassVar[int]
    step_id: str
    step_type: _definition_pb2.StepType
    execution_index: int
    status: StepStatus
    attempt_count: int
    input: _containers.MessageMap[str, _common_pb2.Value]
    output: _common_pb2.Value
    error: _common_pb2.ForgeError
    last_error: _common_pb2.ForgeError
    started_at: _timestamp_pb2.Timestamp
    finished_at: _timestamp_pb2.Timestamp
    duration_ms: int
    handler_duration_ms: int
    tool_duration_ms: int
    usage: _common_pb2.Usage
    session_id: str
    next_step_id: str
    next_source: str
    child_run_id: str
    group_index: int
    item_index: int
    item_count: int
    skip_reason: str
    waits_until: _timestamp_pb2.Timestamp
    waits_for_signal: str
    approval_id: str
    inherited: bool
    prompt_variant: str
    overwrote: bool
    def __init__(self, step_id: _Optional[str] = ..., step_type: _Optional[_Union[_definition_pb2.StepType, str]] = ..., execution_index: _Optional[int] = ..., status: _Optional[_Union[StepStatus, str]] = ..., attempt_count: _Optional[int] = ..., input: _Optional[_Mapping[str, _common_pb2.Value]] = ..., output: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., last_error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., finished_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., duration_ms: _Optional[int] = ..., handler_duration_ms: _Optional[int] = ..., tool_duration_ms: _Optional[int] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ..., session_id: _Optional[str] = ..., next_step_id: _Optional[str] = ..., next_source: _Optional[str] = ..., child_run_id: _Optional[str] = ..., group_index: _Optional[int] = ..., item_index: _Optional[int] = ..., item_count: _Optional[int] = ..., skip_reason: _Optional[str] = ..., waits_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., waits_for_signal: _Optional[str] = ..., approval_id: _Optional[str] = ..., inherited: bool = ..., prompt_variant: _Optional[str] = ..., overwrote: bool = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "status", "labels", "workflow_id")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    status: RunStatus
    labels: _containers.ScalarMap[str, str]
    workflow_id: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., status: _Optional[_Union[RunStatus, str]] = ..., labels: _Optional[_Mapping[str, str]] = ..., workflow_id: _Optional[str] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[RunSummary]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[RunSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RunSummary(_message.Message):
    __slots__ = ("run_id", "workflow_id", "workflow_version", "status", "labels", "created_at", "updated_at", "archived")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_VERSION_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    ARCHIVED_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    workflow_id: str
    workflow_version: str
    status: RunStatus
    labels: _containers.ScalarMap[str, str]
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    archived: bool
    def __init__(self, run_id: _Optional[str] = ..., workflow_id: _Optional[str] = ..., workflow_version: _Optional[str] = ..., status: _Optional[_Union[RunStatus, str]] = ..., labels: _Optional[_Mapping[str, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., archived: bool = ...) -> None: ...

class RegisterDefinitionRequest(_message.Message):
    __slots__ = ("definition",)
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    definition: _definition_pb2.WorkflowDefinition
    def __init__(self, definition: _Optional[_Union[_definition_pb2.WorkflowDefinition, _Mapping]] = ...) -> None: ...

class RegisterDefinitionResponse(_message.Message):
    __slots__ = ("registered",)
    REGISTERED_FIELD_NUMBER: _ClassVar[int]
    registered: RegisteredDefinition
    def __init__(self, registered: _Optional[_Union[RegisteredDefinition, _Mapping]] = ...) -> None: ...

class GetDefinitionRequest(_message.Message):
    __slots__ = ("workflow",)
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    workflow: str
    def __init__(self, workflow: _Optional[str] = ...) -> None: ...

class GetDefinitionResponse(_message.Message):
    __slots__ = ("registered",)
    REGISTERED_FIELD_NUMBER: _ClassVar[int]
    registered: RegisteredDefinition
    def __init__(self, registered: _Optional[_Union[RegisteredDefinition, _Mapping]] = ...) -> None: ...

class RegisteredDefinition(_message.Message):
    __slots__ = ("workflow_id", "workflow_version", "workflow_hash", "created_at", "created_by", "definition")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_VERSION_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_HASH_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    workflow_version: str
    workflow_hash: str
    created_at: _timestamp_pb2.Timestamp
    created_by: str
    definition: _definition_pb2.WorkflowDefinition
    def __init__(self, workflow_id: _Optional[str] = ..., workflow_version: _Optional[str] = ..., workflow_hash: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_by: _Optional[str] = ..., definition: _Optional[_Union[_definition_pb2.WorkflowDefinition, _Mapping]] = ...) -> None: ...

class ListDefinitionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "workflow_id")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    workflow_id: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., workflow_id: _Optional[str] = ...) -> None: ...

class ListDefinitionsResponse(_message.Message):
    __slots__ = ("definitions", "next_page_token")
    DEFINITIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    definitions: _containers.RepeatedCompositeFieldContainer[RegisteredDefinition]
    next_page_token: str
    def __init__(self, definitions: _Optional[_Iterable[_Union[RegisteredDefinition, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ArchiveRunsRequest(_message.Message):
    __slots__ = ("run_id", "older_than", "dry_run", "page_size", "page_token")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    OLDER_THAN_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    older_than: _duration_pb2.Duration
    dry_run: bool
    page_size: int
    page_token: str
    def __init__(self, run_id: _Optional[str] = ..., older_than: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., dry_run: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ArchiveRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[ArchivedRun]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[ArchivedRun, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ArchivedRun(_message.Message):
    __slots__ = ("run_id", "ended_at", "event_count", "byte_count")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    EVENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    BYTE_COUNT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    ended_at: _timestamp_pb2.Timestamp
    event_count: int
    byte_count: int
    def __init__(self, run_id: _Optional[str] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., event_count: _Optional[int] = ..., byte_count: _Optional[int] = ...) -> None: ...
