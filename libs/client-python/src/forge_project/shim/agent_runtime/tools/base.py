"""What a tool is written against."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass
class ToolResult:
    """What became of a call: with `success` the output, else the error."""

    success: bool
    output: dict[str, Any] | None
    error: str | None
    metadata: dict[str, Any] | None


@dataclass
class RuntimeContext:
    """The step that a tool is called for; `state` is the run's, with inputs, steps and runtime."""

    run_id: str
    step_id: str
    state: dict[str, Any]
    logger: Any


class Tool(Protocol):
    """What a class must have to be found as a tool."""

    name: str
    description: str
    input_schema: dict[str, Any]
    timeout: float | None
    retries: int | None

    async def execute(self, input: dict[str, Any], context: RuntimeContext) -> ToolResult: ...
