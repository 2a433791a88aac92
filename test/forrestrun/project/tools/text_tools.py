"""Tools as people write them."""

from typing import Any, Dict, Optional

from agent_runtime.tools.base import RuntimeContext, ToolResult


class _Base:
    description = "A tool of the tests."
    timeout: Optional[float] = None
    retries: Optional[int] = None


class ShoutTool(_Base):
    name = "tools.shout"
    description = "Says it louder."
    input_schema = {"type": "object", "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}, "required": ["text"]}

    async def execute(self, input: Dict[str, Any], context: RuntimeContext) -> ToolResult:
        print("shouting")
        if context.logger is not None:
            context.logger.info("SHOUT", {"run_id": context.run_id})
        return ToolResult(success=True, output={"text": input["text"].upper() + "!" * input.get("times", 1)}, error=None, metadata={"loud": True})


class LookTool(_Base):
    name = "tools.look"
    input_schema: Dict[str, Any] = {}

    async def execute(self, input, context):
        return ToolResult(True, {"given": input, "step": context.step_id, "before": sorted(context.state["steps"])}, None, None)


class NothingTool(_Base):
    name = "tools.nothing"
    input_schema: Dict[str, Any] = {}

    async def execute(self, input, context):
        return ToolResult(True, None, None, None)


class RefuseTool(_Base):
    name = "tools.refuse"
    input_schema: Dict[str, Any] = {}

    async def execute(self, input, context):
        return ToolResult(False, None, "refused by the tool", None)


class StubbornTool(_Base):
    name = "tools.stubborn"
    input_schema: Dict[str, Any] = {}
    retries = 2

    def __init__(self):
        self.calls = 0

    async def execute(self, input, context):
        self.calls += 1
        if self.calls < 3:
            raise RuntimeError(f"call {self.calls} fails")
        calls, self.calls = self.calls, 0
        return ToolResult(True, {"calls": calls}, None, None)


class DictTool(_Base):
    name = "tools.dict"
    input_schema: Dict[str, Any] = {}

    async def execute(self, input, context):
        return {"plain": "dict"}


class SyncTool(_Base):
    name = "tools.sync"
    input_schema = {"type": "object", "properties": {"text": {"type": "string"}}}

    def execute(self, input, context):
        return ToolResult(True, {"text": input["text"]}, None, None)
