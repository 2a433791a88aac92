"""The client and the worker SDK of Forge, a durable runtime for AI agents and workflows.

`ForgeClient` blocks, `AsyncForgeClient` is for asyncio. Messages are in `forge_client.protocol`.
"""

from forge_client.async_client import AsyncForgeClient
from forge_client.cancellation import Cancellation
from forge_client.client import ForgeClient
from forge_client.command_header import command_header
from forge_client.errors import ErrorCode, ForgeError
from forge_client.follow_events import Followed
from forge_client.local import AsyncLocalForge, Forge, LocalForge
from forge_client.project import ProjectServer, find_project_server
from forge_client.retry import is_passing
from forge_client.streams import run_stream, session_stream, text_part

__version__ = "0.1.0"

__all__ = [
    "AsyncForgeClient",
    "AsyncLocalForge",
    "Cancellation",
    "ErrorCode",
    "Followed",
    "Forge",
    "ForgeClient",
    "ForgeError",
    "LocalForge",
    "ProjectServer",
    "command_header",
    "find_project_server",
    "is_passing",
    "run_stream",
    "session_stream",
    "text_part",
]
