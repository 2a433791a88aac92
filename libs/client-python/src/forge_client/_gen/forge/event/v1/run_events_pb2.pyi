import datetime

from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from forge_client._gen.forge.tool.v1 import tool_pb2 as _tool_pb2
from forge_client._gen.forge.workflow.v1 import definition_pb2 as _definition_pb2
from forge_client._gen.forge.workflow.v1 import workflow_pb2 as _workflow_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunCreated(_message.Message):
    __slots__ = ("definition", "workflow_hash", "inputs", "input_hash", "labels", "queue", "model_override", "policy", "parent", "depth", "concurrency_key", "concurrency_limit", "priority", "held_concurrency_keys", "overwrite_policy")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_HASH_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    INPUT_HASH_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    MODEL_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_LIMIT_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    HELD_CONCURRENCY_KEYS_FIELD_NUMBER: _ClassVar[int]
    OVERWRITE_POLICY_FIELD_NUMBER: _ClassVar[int]
    definition: _definition_pb2.WorkflowDefinition
    workflow_hash: str
    inputs: _common_pb2.Value
    input_hash: str
    labels: _containers.ScalarMap[str, str]
    queue: str
    model_override: str
    policy: _tool_pb2.ToolPolicy
    parent: _workflow_pb2.RunParent
    depth: int
    concurrency_key: str
    concurrency_limit: int
    priority: int
    held_concurrency_keys: _containers.RepeatedScalarFieldContainer[str]
    overwrite_policy: _workflow_pb2.OverwritePolicy
    def __init__(self, definition: _Optional[_Union[_definition_pb2.WorkflowDefinition, _Mapping]] = ..., workflow_hash: _Optional[str] = ..., inputs: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., input_hash: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., queue: _Optional[str] = ..., model_override: _Optional[str] = ..., policy: _Optional[_Union[_tool_pb2.ToolPolicy, _Mapping]] = ..., parent: _Optional[_Union[_workflow_pb2.RunParent, _Mapping]] = ..., depth: _Optional[int] = ..., concurrency_key: _Optional[str] = ..., concurrency_limit: _Optional[int] = ..., priority: _Optional[int] = ..., held_concurrency_keys: _Optional[_Iterable[str]] = ..., overwrite_policy: _Optional[_Union[_workflow_pb2.OverwritePolicy, str]] = ...) -> None: ...

class RunQueued(_message.Message):
    __slots__ = ("concurrency_stream_id",)
    CONCURRENCY_STREAM_ID_FIELD_NUMBER: _ClassVar[int]
    concurrency_stream_id: str
    def __init__(self, concurrency_stream_id: _Optional[str] = ...) -> None: ...

class ConcurrencyRequested(_message.Message):
    __slots__ = ("key", "run_id", "priority", "limit")
    KEY_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    key: str
    run_id: str
    priority: int
    limit: int
    def __init__(self, key: _Optional[str] = ..., run_id: _Optional[str] = ..., priority: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ConcurrencyGranted(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class ConcurrencyReleased(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class RunForked(_message.Message):
    __slots__ = ("origin", "steps")
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    origin: _workflow_pb2.RunOrigin
    steps: _containers.RepeatedCompositeFieldContainer[InheritedStep]
    def __init__(self, origin: _Optional[_Union[_workflow_pb2.RunOrigin, _Mapping]] = ..., steps: _Optional[_Iterable[_Union[InheritedStep, _Mapping]]] = ...) -> None: ...

class InheritedStep(_message.Message):
    __slots__ = ("step_id", "execution_count", "output", "failed", "skipped", "has_items", "items")
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    HAS_ITEMS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    step_id: str
    execution_count: int
    output: _common_pb2.Value
    failed: bool
    skipped: bool
    has_items: bool
    items: _containers.RepeatedCompositeFieldContainer[_common_pb2.Value]
    def __init__(self, step_id: _Optional[str] = ..., execution_count: _Optional[int] = ..., output: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., failed: bool = ..., skipped: bool = ..., has_items: bool = ..., items: _Optional[_Iterable[_Union[_common_pb2.Value, _Mapping]]] = ...) -> None: ...

class RunSignalled(_message.Message):
    __slots__ = ("name", "payload")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    name: str
    payload: _common_pb2.Value
    def __init__(self, name: _Optional[str] = ..., payload: _Optional[_Union[_common_pb2.Value, _Mapping]] = ...) -> None: ...

class RunPaused(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunContinued(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunResumed(_message.Message):
    __slots__ = ("step_ids",)
    STEP_IDS_FIELD_NUMBER: _ClassVar[int]
    step_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, step_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RunDeadlinePassed(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunStarted(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunCompleted(_message.Message):
    __slots__ = ("output", "with_errors")
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    WITH_ERRORS_FIELD_NUMBER: _ClassVar[int]
    output: _common_pb2.Value
    with_errors: bool
    def __init__(self, output: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., with_errors: bool = ...) -> None: ...

class RunFailed(_message.Message):
    __slots__ = ("error",)
    ERROR_FIELD_NUMBER: _ClassVar[int]
    error: _common_pb2.ForgeError
    def __init__(self, error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ...) -> None: ...

class RunCancelRequested(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunCancelled(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StepStarted(_message.Message):
    __slots__ = ("step_type", "execution_index", "attempt", "input", "session_id", "tool_call_id", "prompt", "child_run_id", "group_index", "item_index", "item_count", "waits_until", "waits_for_signal", "approval_id", "question", "prompt_variant")
    class InputEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _common_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_common_pb2.Value, _Mapping]] = ...) -> None: ...
    STEP_TYPE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    CHILD_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_INDEX_FIELD_NUMBER: _ClassVar[int]
    ITEM_INDEX_FIELD_NUMBER: _ClassVar[int]
    ITEM_COUNT_FIELD_NUMBER: _ClassVar[int]
    WAITS_UNTIL_FIELD_NUMBER: _ClassVar[int]
    WAITS_FOR_SIGNAL_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    PROMPT_VARIANT_FIELD_NUMBER: _ClassVar[int]
    step_type: _definition_pb2.StepType
    execution_index: int
    attempt: int
    input: _containers.MessageMap[str, _common_pb2.Value]
    session_id: str
    tool_call_id: str
    prompt: str
    child_run_id: str
    group_index: int
    item_index: int
    item_count: int
    waits_until: _timestamp_pb2.Timestamp
    waits_for_signal: str
    approval_id: str
    question: str
    prompt_variant: str
    def __init__(self, step_type: _Optional[_Union[_definition_pb2.StepType, str]] = ..., execution_index: _Optional[int] = ..., attempt: _Optional[int] = ..., input: _Optional[_Mapping[str, _common_pb2.Value]] = ..., session_id: _Optional[str] = ..., tool_call_id: _Optional[str] = ..., prompt: _Optional[str] = ..., child_run_id: _Optional[str] = ..., group_index: _Optional[int] = ..., item_index: _Optional[int] = ..., item_count: _Optional[int] = ..., waits_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., waits_for_signal: _Optional[str] = ..., approval_id: _Optional[str] = ..., question: _Optional[str] = ..., prompt_variant: _Optional[str] = ...) -> None: ...

class StepAttemptStarted(_message.Message):
    __slots__ = ("attempt", "worker", "epoch", "execution_index")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    worker: str
    epoch: int
    execution_index: int
    def __init__(self, attempt: _Optional[int] = ..., worker: _Optional[str] = ..., epoch: _Optional[int] = ..., execution_index: _Optional[int] = ...) -> None: ...

class StepAttemptFailed(_message.Message):
    __slots__ = ("error", "attempt", "next_attempt_at", "usage", "execution_index")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_AT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    error: _common_pb2.ForgeError
    attempt: int
    next_attempt_at: _timestamp_pb2.Timestamp
    usage: _common_pb2.Usage
    execution_index: int
    def __init__(self, error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., attempt: _Optional[int] = ..., next_attempt_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ..., execution_index: _Optional[int] = ...) -> None: ...

class StepCompleted(_message.Message):
    __slots__ = ("output", "handler_duration_ms", "tool_duration_ms", "usage", "next_step_id", "next_source", "execution_index", "overwrote")
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    HANDLER_DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    TOOL_DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    NEXT_STEP_ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    OVERWROTE_FIELD_NUMBER: _ClassVar[int]
    output: _common_pb2.Value
    handler_duration_ms: int
    tool_duration_ms: int
    usage: _common_pb2.Usage
    next_step_id: str
    next_source: str
    execution_index: int
    overwrote: bool
    def __init__(self, output: _Optional[_Union[_common_pb2.Value, _Mapping]] = ..., handler_duration_ms: _Optional[int] = ..., tool_duration_ms: _Optional[int] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ..., next_step_id: _Optional[str] = ..., next_source: _Optional[str] = ..., execution_index: _Optional[int] = ..., overwrote: bool = ...) -> None: ...

class StepFailed(_message.Message):
    __slots__ = ("error", "usage", "execution_index", "next_step_id", "next_source")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    NEXT_STEP_ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    error: _common_pb2.ForgeError
    usage: _common_pb2.Usage
    execution_index: int
    next_step_id: str
    next_source: str
    def __init__(self, error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ..., execution_index: _Optional[int] = ..., next_step_id: _Optional[str] = ..., next_source: _Optional[str] = ...) -> None: ...

class StepSkipped(_message.Message):
    __slots__ = ("reason", "need")
    REASON_FIELD_NUMBER: _ClassVar[int]
    NEED_FIELD_NUMBER: _ClassVar[int]
    reason: str
    need: str
    def __init__(self, reason: _Optional[str] = ..., need: _Optional[str] = ...) -> None: ...

class StepCancelled(_message.Message):
    __slots__ = ("execution_index", "usage")
    EXECUTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    execution_index: int
    usage: _common_pb2.Usage
    def __init__(self, execution_index: _Optional[int] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ...) -> None: ...
