import datetime

from forge_client._gen.forge.common.v1 import common_pb2 as _common_pb2
from forge_client._gen.forge.session.v1 import session_pb2 as _session_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StepType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STEP_TYPE_UNSPECIFIED: _ClassVar[StepType]
    STEP_TYPE_AGENT: _ClassVar[StepType]
    STEP_TYPE_FUNCTION: _ClassVar[StepType]
    STEP_TYPE_TOOL: _ClassVar[StepType]
    STEP_TYPE_WAIT: _ClassVar[StepType]
    STEP_TYPE_WORKFLOW: _ClassVar[StepType]

class OnError(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_ERROR_UNSPECIFIED: _ClassVar[OnError]
    ON_ERROR_FAIL_FAST: _ClassVar[OnError]
    ON_ERROR_CONTINUE: _ClassVar[OnError]
STEP_TYPE_UNSPECIFIED: StepType
STEP_TYPE_AGENT: StepType
STEP_TYPE_FUNCTION: StepType
STEP_TYPE_TOOL: StepType
STEP_TYPE_WAIT: StepType
STEP_TYPE_WORKFLOW: StepType
ON_ERROR_UNSPECIFIED: OnError
ON_ERROR_FAIL_FAST: OnError
ON_ERROR_CONTINUE: OnError

class WorkflowDefinition(_message.Message):
    __slots__ = ("id", "version", "on_error", "inputs", "steps", "workflow_yaml", "parallel_max", "deadline", "concurrency", "priority")
    ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    ON_ERROR_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_YAML_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_MAX_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    id: str
    version: str
    on_error: OnError
    inputs: _containers.RepeatedCompositeFieldContainer[InputDeclaration]
    steps: _containers.RepeatedCompositeFieldContainer[StepDefinition]
    workflow_yaml: str
    parallel_max: int
    deadline: _duration_pb2.Duration
    concurrency: Concurrency
    priority: int
    def __init__(self, id: _Optional[str] = ..., version: _Optional[str] = ..., on_error: _Optional[_Union[OnError, str]] = ..., inputs: _Optional[_Iterable[_Union[InputDeclaration, _Mapping]]] = ..., steps: _Optional[_Iterable[_Union[StepDefinition, _Mapping]]] = ..., workflow_yaml: _Optional[str] = ..., parallel_max: _Optional[int] = ..., deadline: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., concurrency: _Optional[_Union[Concurrency, _Mapping]] = ..., priority: _Optional[int] = ...) -> None: ...

class Concurrency(_message.Message):
    __slots__ = ("key", "limit")
    KEY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    key: str
    limit: int
    def __init__(self, key: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class InputDeclaration(_message.Message):
    __slots__ = ("name", "description", "required", "default_json")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_JSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    required: bool
    default_json: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., required: bool = ..., default_json: _Optional[str] = ...) -> None: ...

class StepDefinition(_message.Message):
    __slots__ = ("id", "agent", "function", "tool", "wait", "workflow", "inputs", "outputs", "retry", "next", "next_default", "timeout", "needs", "when", "for_each", "output_schema_json", "heartbeat_timeout")
    class InputsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: InputSource
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[InputSource, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    NEXT_DEFAULT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    NEEDS_FIELD_NUMBER: _ClassVar[int]
    WHEN_FIELD_NUMBER: _ClassVar[int]
    FOR_EACH_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    id: str
    agent: AgentStep
    function: FunctionStep
    tool: ToolStep
    wait: WaitStep
    workflow: WorkflowStep
    inputs: _containers.MessageMap[str, InputSource]
    outputs: _containers.RepeatedScalarFieldContainer[str]
    retry: _common_pb2.RetryPolicy
    next: _containers.RepeatedCompositeFieldContainer[NextRule]
    next_default: str
    timeout: _duration_pb2.Duration
    needs: _containers.RepeatedScalarFieldContainer[str]
    when: str
    for_each: ForEach
    output_schema_json: str
    heartbeat_timeout: _duration_pb2.Duration
    def __init__(self, id: _Optional[str] = ..., agent: _Optional[_Union[AgentStep, _Mapping]] = ..., function: _Optional[_Union[FunctionStep, _Mapping]] = ..., tool: _Optional[_Union[ToolStep, _Mapping]] = ..., wait: _Optional[_Union[WaitStep, _Mapping]] = ..., workflow: _Optional[_Union[WorkflowStep, _Mapping]] = ..., inputs: _Optional[_Mapping[str, InputSource]] = ..., outputs: _Optional[_Iterable[str]] = ..., retry: _Optional[_Union[_common_pb2.RetryPolicy, _Mapping]] = ..., next: _Optional[_Iterable[_Union[NextRule, _Mapping]]] = ..., next_default: _Optional[str] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., needs: _Optional[_Iterable[str]] = ..., when: _Optional[str] = ..., for_each: _Optional[_Union[ForEach, _Mapping]] = ..., output_schema_json: _Optional[str] = ..., heartbeat_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ForEach(_message.Message):
    __slots__ = ("items", "concurrency", "on_error")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    AS_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_FIELD_NUMBER: _ClassVar[int]
    ON_ERROR_FIELD_NUMBER: _ClassVar[int]
    items: InputSource
    concurrency: int
    on_error: OnError
    def __init__(self, items: _Optional[_Union[InputSource, _Mapping]] = ..., concurrency: _Optional[int] = ..., on_error: _Optional[_Union[OnError, str]] = ..., **kwargs) -> None: ...

class WaitStep(_message.Message):
    __slots__ = ("duration", "until", "signal", "approval")
    DURATION_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    duration: _duration_pb2.Duration
    until: InputSource
    signal: str
    approval: WaitApproval
    def __init__(self, duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., until: _Optional[_Union[InputSource, _Mapping]] = ..., signal: _Optional[str] = ..., approval: _Optional[_Union[WaitApproval, _Mapping]] = ...) -> None: ...

class WaitApproval(_message.Message):
    __slots__ = ("question",)
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    question: str
    def __init__(self, question: _Optional[str] = ...) -> None: ...

class WorkflowStep(_message.Message):
    __slots__ = ("definition",)
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    definition: WorkflowDefinition
    def __init__(self, definition: _Optional[_Union[WorkflowDefinition, _Mapping]] = ...) -> None: ...

class AgentStep(_message.Message):
    __slots__ = ("agent", "prompt", "agent_id", "agent_version", "output_key", "variants")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_KEY_FIELD_NUMBER: _ClassVar[int]
    VARIANTS_FIELD_NUMBER: _ClassVar[int]
    agent: _session_pb2.AgentSpec
    prompt: str
    agent_id: str
    agent_version: str
    output_key: str
    variants: _containers.RepeatedCompositeFieldContainer[PromptVariant]
    def __init__(self, agent: _Optional[_Union[_session_pb2.AgentSpec, _Mapping]] = ..., prompt: _Optional[str] = ..., agent_id: _Optional[str] = ..., agent_version: _Optional[str] = ..., output_key: _Optional[str] = ..., variants: _Optional[_Iterable[_Union[PromptVariant, _Mapping]]] = ...) -> None: ...

class PromptVariant(_message.Message):
    __slots__ = ("name", "weight", "prompt", "system")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    name: str
    weight: float
    prompt: str
    system: str
    def __init__(self, name: _Optional[str] = ..., weight: _Optional[float] = ..., prompt: _Optional[str] = ..., system: _Optional[str] = ...) -> None: ...

class FunctionStep(_message.Message):
    __slots__ = ("name", "not_idempotent")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NOT_IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    not_idempotent: bool
    def __init__(self, name: _Optional[str] = ..., not_idempotent: bool = ...) -> None: ...

class ToolStep(_message.Message):
    __slots__ = ("tool",)
    TOOL_FIELD_NUMBER: _ClassVar[int]
    tool: str
    def __init__(self, tool: _Optional[str] = ...) -> None: ...

class InputSource(_message.Message):
    __slots__ = ("path", "literal_json", "template")
    PATH_FIELD_NUMBER: _ClassVar[int]
    LITERAL_JSON_FIELD_NUMBER: _ClassVar[int]
    TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    path: str
    literal_json: str
    template: str
    def __init__(self, path: _Optional[str] = ..., literal_json: _Optional[str] = ..., template: _Optional[str] = ...) -> None: ...

class NextRule(_message.Message):
    __slots__ = ("when", "goto")
    WHEN_FIELD_NUMBER: _ClassVar[int]
    GOTO_FIELD_NUMBER: _ClassVar[int]
    when: str
    goto: str
    def __init__(self, when: _Optional[str] = ..., goto: _Optional[str] = ...) -> None: ...
