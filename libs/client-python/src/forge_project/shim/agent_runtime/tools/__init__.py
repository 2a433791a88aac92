"""What a tool is written against."""

from .base import RuntimeContext, Tool, ToolResult

__all__ = ["RuntimeContext", "Tool", "ToolResult"]
