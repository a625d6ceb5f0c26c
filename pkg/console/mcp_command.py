"""What `pkg mcp` does: serve agents, or write into their configuration how they start it."""

from __future__ import annotations

from typing import Any

from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.mcp.stdio_transport import serve_stdio
from pkg.service.mcp.tool_server import ToolServer


def run_mcp(store: str, given: dict[str, Any]) -> None:
    """Serve until the client leaves, or Ctrl-C.

    Raises UsageError for options that exclude each other, MissingExtraError without the packages of the extra.
    """
    options = ServiceOptions(store, given["source"], given["model"], given["allow_build"])
    serve_stdio(ToolServer(GraphService(options)))
