import datetime

from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from forge_client._gen.forge.session.v1 import conversation_pb2 as _conversation_pb2
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

class ErrorRecovery(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_RECOVERY_UNSPECIFIED: _ClassVar[ErrorRecovery]
    ERROR_RECOVERY_RETURN: _ClassVar[ErrorRecovery]
    ERROR_RECOVERY_STOP: _ClassVar[ErrorRecovery]
    ERROR_RECOVERY_RETRY: _ClassVar[ErrorRecovery]
    ERROR_RECOVERY_ASK: _ClassVar[ErrorRecovery]

class HookAt(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOOK_AT_UNSPECIFIED: _ClassVar[HookAt]
    HOOK_AT_USER_MESSAGE: _ClassVar[HookAt]
    HOOK_AT_PRE_LLM: _ClassVar[HookAt]
    HOOK_AT_POST_LLM: _ClassVar[HookAt]

class SubAgentHistory(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUB_AGENT_HISTORY_UNSPECIFIED: _ClassVar[SubAgentHistory]
    SUB_AGENT_HISTORY_FRESH: _ClassVar[SubAgentHistory]
    SUB_AGENT_HISTORY_FORKED: _ClassVar[SubAgentHistory]
    SUB_AGENT_HISTORY_SHARED: _ClassVar[SubAgentHistory]

class SessionStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATUS_UNSPECIFIED: _ClassVar[SessionStatus]
    SESSION_STATUS_ACTIVE: _ClassVar[SessionStatus]
    SESSION_STATUS_CLOSED: _ClassVar[SessionStatus]

class TurnStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TURN_STATUS_UNSPECIFIED: _ClassVar[TurnStatus]
    TURN_STATUS_RUNNING: _ClassVar[TurnStatus]
    TURN_STATUS_WAITING_APPROVAL: _ClassVar[TurnStatus]
    TURN_STATUS_CANCELLING: _ClassVar[TurnStatus]
    TURN_STATUS_COMPLETED: _ClassVar[TurnStatus]
    TURN_STATUS_FAILED: _ClassVar[TurnStatus]
    TURN_STATUS_CANCELLED: _ClassVar[TurnStatus]
    TURN_STATUS_ABANDONED: _ClassVar[TurnStatus]
    TURN_STATUS_WAITING_INPUT: _ClassVar[TurnStatus]
    TURN_STATUS_PAUSED: _ClassVar[TurnStatus]

class TurnOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TURN_OUTCOME_UNSPECIFIED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_TASK_COMPLETED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_TASK_FAILED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_BUDGET_MODEL_CALLS: _ClassVar[TurnOutcome]
    TURN_OUTCOME_BUDGET_TOOL_CALLS: _ClassVar[TurnOutcome]
    TURN_OUTCOME_BUDGET_TOKENS: _ClassVar[TurnOutcome]
    TURN_OUTCOME_BUDGET_COST: _ClassVar[TurnOutcome]
    TURN_OUTCOME_BUDGET_WALL_TIME: _ClassVar[TurnOutcome]
    TURN_OUTCOME_CANCELLED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_REFUSED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_OUTPUT_CUT: _ClassVar[TurnOutcome]
    TURN_OUTCOME_UNKNOWN: _ClassVar[TurnOutcome]
    TURN_OUTCOME_DENIED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_BLOCKED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_OUTPUT_INVALID: _ClassVar[TurnOutcome]
    TURN_OUTCOME_BUDGET_STEPS: _ClassVar[TurnOutcome]

class PlanStepStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAN_STEP_STATUS_UNSPECIFIED: _ClassVar[PlanStepStatus]
    PLAN_STEP_STATUS_PENDING: _ClassVar[PlanStepStatus]
    PLAN_STEP_STATUS_IN_PROGRESS: _ClassVar[PlanStepStatus]
    PLAN_STEP_STATUS_COMPLETED: _ClassVar[PlanStepStatus]
ERROR_RECOVERY_UNSPECIFIED: ErrorRecovery
ERROR_RECOVERY_RETURN: ErrorRecovery
ERROR_RECOVERY_STOP: ErrorRecovery
ERROR_RECOVERY_RETRY: ErrorRecovery
ERROR_RECOVERY_ASK: ErrorRecovery
HOOK_AT_UNSPECIFIED: HookAt
HOOK_AT_USER_MESSAGE: HookAt
HOOK_AT_PRE_LLM: HookAt
HOOK_AT_POST_LLM: HookAt
SUB_AGENT_HISTORY_UNSPECIFIED: SubAgentHistory
SUB_AGENT_HISTORY_FRESH: SubAgentHistory
SUB_AGENT_HISTORY_FORKED: SubAgentHistory
SUB_AGENT_HISTORY_SHARED: SubAgentHistory
SESSION_STATUS_UNSPECIFIED: SessionStatus
SESSION_STATUS_ACTIVE: SessionStatus
SESSION_STATUS_CLOSED: SessionStatus
TURN_STATUS_UNSPECIFIED: TurnStatus
TURN_STATUS_RUNNING: TurnStatus
TURN_STATUS_WAITING_APPROVAL: TurnStatus
TURN_STATUS_CANCELLING: TurnStatus
TURN_STATUS_COMPLETED: TurnStatus
TURN_STATUS_FAILED: TurnStatus
TURN_STATUS_CANCELLED: TurnStatus
TURN_STATUS_ABANDONED: TurnStatus
TURN_STATUS_WAITING_INPUT: TurnStatus
TURN_STATUS_PAUSED: TurnStatus
TURN_OUTCOME_UNSPECIFIED: TurnOutcome
TURN_OUTCOME_TASK_COMPLETED: TurnOutcome
TURN_OUTCOME_TASK_FAILED: TurnOutcome
TURN_OUTCOME_BUDGET_MODEL_CALLS: TurnOutcome
TURN_OUTCOME_BUDGET_TOOL_CALLS: TurnOutcome
TURN_OUTCOME_BUDGET_TOKENS: TurnOutcome
TURN_OUTCOME_BUDGET_COST: TurnOutcome
TURN_OUTCOME_BUDGET_WALL_TIME: TurnOutcome
TURN_OUTCOME_CANCELLED: TurnOutcome
TURN_OUTCOME_REFUSED: TurnOutcome
TURN_OUTCOME_OUTPUT_CUT: TurnOutcome
TURN_OUTCOME_UNKNOWN: TurnOutcome
TURN_OUTCOME_DENIED: TurnOutcome
TURN_OUTCOME_BLOCKED: TurnOutcome
TURN_OUTCOME_OUTPUT_INVALID: TurnOutcome
TURN_OUTCOME_BUDGET_STEPS: TurnOutcome
PLAN_STEP_STATUS_UNSPECIFIED: PlanStepStatus
PLAN_STEP_STATUS_PENDING: PlanStepStatus
PLAN_STEP_STATUS_IN_PROGRESS: PlanStepStatus
PLAN_STEP_STATUS_COMPLETED: PlanStepStatus

class AgentSpec(_message.Message):
    __slots__ = ("model", "system", "tools", "temperature", "max_output_tokens", "budget", "hooks", "error_recovery", "fallback_models", "output_schema_json", "context_window_tokens", "sub_agents")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    ERROR_RECOVERY_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_MODELS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUB_AGENTS_FIELD_NUMBER: _ClassVar[int]
    model: str
    system: str
    tools: _containers.RepeatedScalarFieldContainer[str]
    temperature: float
    max_output_tokens: int
    budget: Budget
    hooks: _containers.RepeatedCompositeFieldContainer[HookSpec]
    error_recovery: ErrorRecovery
    fallback_models: _containers.RepeatedScalarFieldContainer[str]
    output_schema_json: str
    context_window_tokens: int
    sub_agents: _containers.RepeatedCompositeFieldContainer[SubAgent]
    def __init__(self, model: _Optional[str] = ..., system: _Optional[str] = ..., tools: _Optional[_Iterable[str]] = ..., temperature: _Optional[float] = ..., max_output_tokens: _Optional[int] = ..., budget: _Optional[_Union[Budget, _Mapping]] = ..., hooks: _Optional[_Iterable[_Union[HookSpec, _Mapping]]] = ..., error_recovery: _Optional[_Union[ErrorRecovery, str]] = ..., fallback_models: _Optional[_Iterable[str]] = ..., output_schema_json: _Optional[str] = ..., context_window_tokens: _Optional[int] = ..., sub_agents: _Optional[_Iterable[_Union[SubAgent, _Mapping]]] = ...) -> None: ...

class HookSpec(_message.Message):
    __slots__ = ("name", "at", "config_json", "timeout")
    NAME_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    name: str
    at: _containers.RepeatedScalarFieldContainer[HookAt]
    config_json: str
    timeout: _duration_pb2.Duration
    def __init__(self, name: _Optional[str] = ..., at: _Optional[_Iterable[_Union[HookAt, str]]] = ..., config_json: _Optional[str] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SubAgent(_message.Message):
    __slots__ = ("name", "description", "agent", "history")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    agent: AgentSpec
    history: SubAgentHistory
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., agent: _Optional[_Union[AgentSpec, _Mapping]] = ..., history: _Optional[_Union[SubAgentHistory, str]] = ...) -> None: ...

class ParentCall(_message.Message):
    __slots__ = ("session_id", "turn_id", "tool_call_id", "root_session_id", "depth")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    ROOT_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    turn_id: str
    tool_call_id: str
    root_session_id: str
    depth: int
    def __init__(self, session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., tool_call_id: _Optional[str] = ..., root_session_id: _Optional[str] = ..., depth: _Optional[int] = ...) -> None: ...

class Budget(_message.Message):
    __slots__ = ("model_calls", "tool_calls", "tokens", "cost_micro_usd", "wall_time", "steps")
    MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    WALL_TIME_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    model_calls: int
    tool_calls: int
    tokens: int
    cost_micro_usd: int
    wall_time: _duration_pb2.Duration
    steps: int
    def __init__(self, model_calls: _Optional[int] = ..., tool_calls: _Optional[int] = ..., tokens: _Optional[int] = ..., cost_micro_usd: _Optional[int] = ..., wall_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., steps: _Optional[int] = ...) -> None: ...

class ParentStep(_message.Message):
    __slots__ = ("run_id", "step_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    step_id: str
    def __init__(self, run_id: _Optional[str] = ..., step_id: _Optional[str] = ...) -> None: ...

class CreateSessionRequest(_message.Message):
    __slots__ = ("header", "agent", "policy", "labels", "queue", "title", "parent", "parent_call")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    PARENT_CALL_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    agent: AgentSpec
    policy: _tool_pb2.ToolPolicy
    labels: _containers.ScalarMap[str, str]
    queue: str
    title: str
    parent: ParentStep
    parent_call: ParentCall
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., agent: _Optional[_Union[AgentSpec, _Mapping]] = ..., policy: _Optional[_Union[_tool_pb2.ToolPolicy, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., queue: _Optional[str] = ..., title: _Optional[str] = ..., parent: _Optional[_Union[ParentStep, _Mapping]] = ..., parent_call: _Optional[_Union[ParentCall, _Mapping]] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session_id", "seq")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    seq: int
    def __init__(self, session_id: _Optional[str] = ..., seq: _Optional[int] = ...) -> None: ...

class StartTurnRequest(_message.Message):
    __slots__ = ("header", "session_id", "input", "context", "context_sources")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_SOURCES_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    input: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Part]
    context: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Part]
    context_sources: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., input: _Optional[_Iterable[_Union[_conversation_pb2.Part, _Mapping]]] = ..., context: _Optional[_Iterable[_Union[_conversation_pb2.Part, _Mapping]]] = ..., context_sources: _Optional[_Iterable[str]] = ...) -> None: ...

class StartTurnResponse(_message.Message):
    __slots__ = ("turn_id", "seq")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    seq: int
    def __init__(self, turn_id: _Optional[str] = ..., seq: _Optional[int] = ...) -> None: ...

class CancelTurnRequest(_message.Message):
    __slots__ = ("header", "session_id", "turn_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    turn_id: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ...) -> None: ...

class CancelTurnResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class AbandonTurnRequest(_message.Message):
    __slots__ = ("header", "session_id", "turn_id", "reason")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    turn_id: str
    reason: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class AbandonTurnResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class SteerTurnRequest(_message.Message):
    __slots__ = ("header", "session_id", "turn_id", "input")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    turn_id: str
    input: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Part]
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., input: _Optional[_Iterable[_Union[_conversation_pb2.Part, _Mapping]]] = ...) -> None: ...

class SteerTurnResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class PauseTurnRequest(_message.Message):
    __slots__ = ("header", "session_id", "turn_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    turn_id: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ...) -> None: ...

class PauseTurnResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class ContinueTurnRequest(_message.Message):
    __slots__ = ("header", "session_id", "turn_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    turn_id: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ...) -> None: ...

class ContinueTurnResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class ProvideInputRequest(_message.Message):
    __slots__ = ("header", "session_id", "turn_id", "input_id", "text")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    turn_id: str
    input_id: str
    text: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., turn_id: _Optional[str] = ..., input_id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class ProvideInputResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class ForkSessionRequest(_message.Message):
    __slots__ = ("header", "session_id", "through_seq", "title", "labels", "model")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    through_seq: int
    title: str
    labels: _containers.ScalarMap[str, str]
    model: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., through_seq: _Optional[int] = ..., title: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., model: _Optional[str] = ...) -> None: ...

class ForkSessionResponse(_message.Message):
    __slots__ = ("session_id", "seq")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    seq: int
    def __init__(self, session_id: _Optional[str] = ..., seq: _Optional[int] = ...) -> None: ...

class UpdateSessionPolicyRequest(_message.Message):
    __slots__ = ("header", "session_id", "policy", "revoke_grants")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    REVOKE_GRANTS_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    policy: _tool_pb2.ToolPolicy
    revoke_grants: bool
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., policy: _Optional[_Union[_tool_pb2.ToolPolicy, _Mapping]] = ..., revoke_grants: bool = ...) -> None: ...

class UpdateSessionPolicyResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class CompactSessionRequest(_message.Message):
    __slots__ = ("header", "session_id", "summary", "through_seq", "instructions")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    summary: str
    through_seq: int
    instructions: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., summary: _Optional[str] = ..., through_seq: _Optional[int] = ..., instructions: _Optional[str] = ...) -> None: ...

class CompactSessionResponse(_message.Message):
    __slots__ = ("seq", "compaction_id")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_ID_FIELD_NUMBER: _ClassVar[int]
    seq: int
    compaction_id: str
    def __init__(self, seq: _Optional[int] = ..., compaction_id: _Optional[str] = ...) -> None: ...

class UndoChangesRequest(_message.Message):
    __slots__ = ("header", "session_id", "change_ids", "turn_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGE_IDS_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    change_ids: _containers.RepeatedScalarFieldContainer[str]
    turn_id: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., change_ids: _Optional[_Iterable[str]] = ..., turn_id: _Optional[str] = ...) -> None: ...

class UndoChangesResponse(_message.Message):
    __slots__ = ("seq", "undo_id")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    UNDO_ID_FIELD_NUMBER: _ClassVar[int]
    seq: int
    undo_id: str
    def __init__(self, seq: _Optional[int] = ..., undo_id: _Optional[str] = ...) -> None: ...

class RewindSessionRequest(_message.Message):
    __slots__ = ("header", "session_id", "through_seq", "keep_files")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    KEEP_FILES_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    through_seq: int
    keep_files: bool
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ..., through_seq: _Optional[int] = ..., keep_files: bool = ...) -> None: ...

class RewindSessionResponse(_message.Message):
    __slots__ = ("seq", "undo_id")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    UNDO_ID_FIELD_NUMBER: _ClassVar[int]
    seq: int
    undo_id: str
    def __init__(self, seq: _Optional[int] = ..., undo_id: _Optional[str] = ...) -> None: ...

class ListChangesRequest(_message.Message):
    __slots__ = ("session_id", "after_seq", "page_size", "page_token", "lease", "change_ids")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    CHANGE_IDS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    after_seq: int
    page_size: int
    page_token: str
    lease: _common_pb2.TaskLease
    change_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, session_id: _Optional[str] = ..., after_seq: _Optional[int] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., lease: _Optional[_Union[_common_pb2.TaskLease, _Mapping]] = ..., change_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ListChangesResponse(_message.Message):
    __slots__ = ("changes", "next_page_token")
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[Change]
    next_page_token: str
    def __init__(self, changes: _Optional[_Iterable[_Union[Change, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Change(_message.Message):
    __slots__ = ("change_id", "seq", "turn_id", "tool_call_id", "tool", "occurred_at", "files", "observed", "undone", "not_undoable")
    CHANGE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_FIELD_NUMBER: _ClassVar[int]
    UNDONE_FIELD_NUMBER: _ClassVar[int]
    NOT_UNDOABLE_FIELD_NUMBER: _ClassVar[int]
    change_id: str
    seq: int
    turn_id: str
    tool_call_id: str
    tool: str
    occurred_at: _timestamp_pb2.Timestamp
    files: _containers.RepeatedCompositeFieldContainer[FileChange]
    observed: bool
    undone: bool
    not_undoable: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, change_id: _Optional[str] = ..., seq: _Optional[int] = ..., turn_id: _Optional[str] = ..., tool_call_id: _Optional[str] = ..., tool: _Optional[str] = ..., occurred_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., files: _Optional[_Iterable[_Union[FileChange, _Mapping]]] = ..., observed: bool = ..., undone: bool = ..., not_undoable: _Optional[_Iterable[str]] = ...) -> None: ...

class FileChange(_message.Message):
    __slots__ = ("path", "before_sha256", "after_sha256", "before", "after", "before_mode", "after_mode", "not_undoable", "added_lines", "removed_lines")
    PATH_FIELD_NUMBER: _ClassVar[int]
    BEFORE_SHA256_FIELD_NUMBER: _ClassVar[int]
    AFTER_SHA256_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    BEFORE_MODE_FIELD_NUMBER: _ClassVar[int]
    AFTER_MODE_FIELD_NUMBER: _ClassVar[int]
    NOT_UNDOABLE_FIELD_NUMBER: _ClassVar[int]
    ADDED_LINES_FIELD_NUMBER: _ClassVar[int]
    REMOVED_LINES_FIELD_NUMBER: _ClassVar[int]
    path: str
    before_sha256: str
    after_sha256: str
    before: _common_pb2.ArtifactRef
    after: _common_pb2.ArtifactRef
    before_mode: int
    after_mode: int
    not_undoable: str
    added_lines: int
    removed_lines: int
    def __init__(self, path: _Optional[str] = ..., before_sha256: _Optional[str] = ..., after_sha256: _Optional[str] = ..., before: _Optional[_Union[_common_pb2.ArtifactRef, _Mapping]] = ..., after: _Optional[_Union[_common_pb2.ArtifactRef, _Mapping]] = ..., before_mode: _Optional[int] = ..., after_mode: _Optional[int] = ..., not_undoable: _Optional[str] = ..., added_lines: _Optional[int] = ..., removed_lines: _Optional[int] = ...) -> None: ...

class CloseSessionRequest(_message.Message):
    __slots__ = ("header", "session_id")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    header: _common_pb2.CommandHeader
    session_id: str
    def __init__(self, header: _Optional[_Union[_common_pb2.CommandHeader, _Mapping]] = ..., session_id: _Optional[str] = ...) -> None: ...

class CloseSessionResponse(_message.Message):
    __slots__ = ("seq",)
    SEQ_FIELD_NUMBER: _ClassVar[int]
    seq: int
    def __init__(self, seq: _Optional[int] = ...) -> None: ...

class GetSessionSnapshotRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetSessionSnapshotResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("session_id", "seq", "status", "agent", "policy", "labels", "title", "queue", "created_at", "updated_at", "turn", "turn_count", "usage", "parent", "parent_call", "grants", "context", "plan", "compaction_id", "undo_id", "change_count")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    TURN_COUNT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    PARENT_CALL_FIELD_NUMBER: _ClassVar[int]
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_ID_FIELD_NUMBER: _ClassVar[int]
    UNDO_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    seq: int
    status: SessionStatus
    agent: AgentSpec
    policy: _tool_pb2.ToolPolicy
    labels: _containers.ScalarMap[str, str]
    title: str
    queue: str
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    turn: Turn
    turn_count: int
    usage: _common_pb2.Usage
    parent: ParentStep
    parent_call: ParentCall
    grants: _containers.RepeatedCompositeFieldContainer[_tool_pb2.Grant]
    context: ContextUse
    plan: Plan
    compaction_id: str
    undo_id: str
    change_count: int
    def __init__(self, session_id: _Optional[str] = ..., seq: _Optional[int] = ..., status: _Optional[_Union[SessionStatus, str]] = ..., agent: _Optional[_Union[AgentSpec, _Mapping]] = ..., policy: _Optional[_Union[_tool_pb2.ToolPolicy, _Mapping]] = ..., labels: _Optional[_Mapping[str, str]] = ..., title: _Optional[str] = ..., queue: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., turn: _Optional[_Union[Turn, _Mapping]] = ..., turn_count: _Optional[int] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ..., parent: _Optional[_Union[ParentStep, _Mapping]] = ..., parent_call: _Optional[_Union[ParentCall, _Mapping]] = ..., grants: _Optional[_Iterable[_Union[_tool_pb2.Grant, _Mapping]]] = ..., context: _Optional[_Union[ContextUse, _Mapping]] = ..., plan: _Optional[_Union[Plan, _Mapping]] = ..., compaction_id: _Optional[str] = ..., undo_id: _Optional[str] = ..., change_count: _Optional[int] = ...) -> None: ...

class ContextUse(_message.Message):
    __slots__ = ("tokens", "window_tokens")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    window_tokens: int
    def __init__(self, tokens: _Optional[int] = ..., window_tokens: _Optional[int] = ...) -> None: ...

class Plan(_message.Message):
    __slots__ = ("items", "explanation")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[PlanItem]
    explanation: str
    def __init__(self, items: _Optional[_Iterable[_Union[PlanItem, _Mapping]]] = ..., explanation: _Optional[str] = ...) -> None: ...

class PlanItem(_message.Message):
    __slots__ = ("step", "status")
    STEP_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    step: str
    status: PlanStepStatus
    def __init__(self, step: _Optional[str] = ..., status: _Optional[_Union[PlanStepStatus, str]] = ...) -> None: ...

class Turn(_message.Message):
    __slots__ = ("turn_id", "status", "outcome", "started_at", "ended_at", "open_calls", "usage", "error", "paused")
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    OPEN_CALLS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    turn_id: str
    status: TurnStatus
    outcome: TurnOutcome
    started_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    open_calls: _containers.RepeatedCompositeFieldContainer[OpenCall]
    usage: _common_pb2.Usage
    error: _common_pb2.ForgeError
    paused: bool
    def __init__(self, turn_id: _Optional[str] = ..., status: _Optional[_Union[TurnStatus, str]] = ..., outcome: _Optional[_Union[TurnOutcome, str]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., open_calls: _Optional[_Iterable[_Union[OpenCall, _Mapping]]] = ..., usage: _Optional[_Union[_common_pb2.Usage, _Mapping]] = ..., error: _Optional[_Union[_common_pb2.ForgeError, _Mapping]] = ..., paused: bool = ...) -> None: ...

class OpenCall(_message.Message):
    __slots__ = ("id", "name", "is_model_call", "started", "cancellation_pending", "approval_pending", "input_pending", "input_id", "question")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    IS_MODEL_CALL_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    CANCELLATION_PENDING_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_PENDING_FIELD_NUMBER: _ClassVar[int]
    INPUT_PENDING_FIELD_NUMBER: _ClassVar[int]
    INPUT_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    is_model_call: bool
    started: bool
    cancellation_pending: bool
    approval_pending: bool
    input_pending: bool
    input_id: str
    question: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., is_model_call: bool = ..., started: bool = ..., cancellation_pending: bool = ..., approval_pending: bool = ..., input_pending: bool = ..., input_id: _Optional[str] = ..., question: _Optional[str] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "status", "labels", "created_from", "created_before")
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
    CREATED_FROM_FIELD_NUMBER: _ClassVar[int]
    CREATED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    status: SessionStatus
    labels: _containers.ScalarMap[str, str]
    created_from: _timestamp_pb2.Timestamp
    created_before: _timestamp_pb2.Timestamp
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., status: _Optional[_Union[SessionStatus, str]] = ..., labels: _Optional[_Mapping[str, str]] = ..., created_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions", "next_page_token")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[SessionSummary]
    next_page_token: str
    def __init__(self, sessions: _Optional[_Iterable[_Union[SessionSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SessionSummary(_message.Message):
    __slots__ = ("session_id", "status", "turn_status", "title", "model", "labels", "created_at", "updated_at")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    TURN_STATUS_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    status: SessionStatus
    turn_status: TurnStatus
    title: str
    model: str
    labels: _containers.ScalarMap[str, str]
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    def __init__(self, session_id: _Optional[str] = ..., status: _Optional[_Union[SessionStatus, str]] = ..., turn_status: _Optional[_Union[TurnStatus, str]] = ..., title: _Optional[str] = ..., model: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ReadConversationRequest(_message.Message):
    __slots__ = ("session_id", "after_seq", "through_seq", "turn_id", "lease")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    TURN_ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    after_seq: int
    through_seq: int
    turn_id: str
    lease: _common_pb2.TaskLease
    def __init__(self, session_id: _Optional[str] = ..., after_seq: _Optional[int] = ..., through_seq: _Optional[int] = ..., turn_id: _Optional[str] = ..., lease: _Optional[_Union[_common_pb2.TaskLease, _Mapping]] = ...) -> None: ...

class ReadConversationResponse(_message.Message):
    __slots__ = ("messages", "through_seq", "system", "tools", "compacted_seq")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQ_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    COMPACTED_SEQ_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_conversation_pb2.Message]
    through_seq: int
    system: str
    tools: _containers.RepeatedCompositeFieldContainer[_tool_pb2.ToolSpec]
    compacted_seq: int
    def __init__(self, messages: _Optional[_Iterable[_Union[_conversation_pb2.Message, _Mapping]]] = ..., through_seq: _Optional[int] = ..., system: _Optional[str] = ..., tools: _Optional[_Iterable[_Union[_tool_pb2.ToolSpec, _Mapping]]] = ..., compacted_seq: _Optional[int] = ...) -> None: ...
