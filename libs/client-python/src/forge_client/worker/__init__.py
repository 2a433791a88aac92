"""The worker SDK: functions of yours as tools, workflow functions and model providers of a control plane."""

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
from forge_client.worker.decorators import function, model_provider, tool
from forge_client.worker.run import run_worker
from forge_client.worker.worker import Worker, start_worker

__all__ = [
    "Finish",
    "FunctionContext",
    "Message",
    "ModelCall",
    "Reasoning",
    "Text",
    "ToolCall",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "Usage",
    "Worker",
    "function",
    "model_provider",
    "run_worker",
    "start_worker",
    "tool",
]
