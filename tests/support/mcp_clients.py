"""The official client of the Model Context Protocol, to a server in this process, in another one, or over HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.mcp.tool_server import ToolServer

T = TypeVar("T")
PATIENCE = 60  # seconds


def ask_in_process(options: ServiceOptions, ask: Callable[[Client], Awaitable[T]]) -> T:
    """Connect a client to a server in this process."""

    async def talk() -> T:
        async with Client(ToolServer(GraphService(options)).make_server()) as client:
            return await ask(client)

    return asyncio.run(asyncio.wait_for(talk(), PATIENCE))


def ask_process(words: list[str], ask: Callable[[Client], Awaitable[T]]) -> T:
    """Start `pkg mcp` with these arguments like an agent, and connect a client to it."""
    command = StdioServerParameters(command=sys.executable, args=["-m", "pkg.cli", "mcp", *words], env=dict(os.environ))

    async def talk() -> T:
        async with Client(stdio_client(command)) as client:
            return await ask(client)

    return asyncio.run(asyncio.wait_for(talk(), PATIENCE))


def call(options: ServiceOptions, tool: str, arguments: Mapping[str, Any]) -> str:
    """Call a tool and return its text; the answer must not be an error."""
    result = ask_in_process(options, lambda client: client.call_tool(tool, dict(arguments)))
    text = read_text(result)
    assert not result.is_error, text
    return text


def fail(options: ServiceOptions, tool: str, arguments: Mapping[str, Any]) -> str:
    """Call a tool and return its text; the answer must be an error."""
    result = ask_in_process(options, lambda client: client.call_tool(tool, dict(arguments)))
    assert result.is_error
    return read_text(result)


def read_text(result: CallToolResult) -> str:
    """Return the single text of a result."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert result.structured_content is None
    return content.text
