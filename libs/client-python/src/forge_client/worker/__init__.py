"""The worker SDK: functions of yours as tools, workflow functions, hooks and model providers of a control plane."""

from forge_client.worker.context import (
    Finish,
    FunctionContext,
    Message,
    ModelCall,
    Reasoning,
    Text,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
    Usage,
)
from forge_client.worker.decorators import function, hook, model_provider, tool
from forge_client.worker.hook_context import AddMessage, Block, DenyCall, GoOn, HookContext, HookMessage, HookToolCall, ReplaceText
from forge_client.worker.input_required import InputRequired
from forge_client.worker.preview import Preview
from forge_client.worker.run import run_worker
from forge_client.worker.worker import Worker, start_worker

__all__ = [
    "AddMessage",
    "Block",
    "DenyCall",
    "Finish",
    "FunctionContext",
    "GoOn",
    "HookContext",
    "HookMessage",
    "HookToolCall",
    "InputRequired",
    "Message",
    "ModelCall",
    "Preview",
    "Reasoning",
    "ReplaceText",
    "Text",
    "ToolCall",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "Usage",
    "Worker",
    "function",
    "hook",
    "model_provider",
    "run_worker",
    "start_worker",
    "tool",
]
