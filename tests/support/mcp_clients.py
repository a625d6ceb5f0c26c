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
PATIENCE = 60  # seconds for what takes less than one


def ask_in_process(options: ServiceOptions, ask: Callable[[Client], Awaitable[T]]) -> T:
    """Let a client talk with a server of this process."""

    async def talk() -> T:
        async with Client(ToolServer(GraphService(options)).make_server()) as client:
            return await ask(client)

    return asyncio.run(asyncio.wait_for(talk(), PATIENCE))


def ask_process(words: list[str], ask: Callable[[Client], Awaitable[T]]) -> T:
    """Start `pkg mcp` with these words as an agent does, and let a client talk with it."""
    command = StdioServerParameters(command=sys.executable, args=["-m", "pkg.cli", "mcp", *words], env=dict(os.environ))

    async def talk() -> T:
        async with Client(stdio_client(command)) as client:
            return await ask(client)

    return asyncio.run(asyncio.wait_for(talk(), PATIENCE))


def call(options: ServiceOptions, tool: str, arguments: Mapping[str, Any]) -> str:
    """Call one tool, which answers without an error, and give its text."""
    result = ask_in_process(options, lambda client: client.call_tool(tool, dict(arguments)))
    text = read_text(result)
    assert not result.is_error, text
    return text


def fail(options: ServiceOptions, tool: str, arguments: Mapping[str, Any]) -> str:
    """Call one tool, which answers with an error, and give its text."""
    result = ask_in_process(options, lambda client: client.call_tool(tool, dict(arguments)))
    assert result.is_error
    return read_text(result)


def read_text(result: CallToolResult) -> str:
    """Give the one text of a result."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert result.structured_content is None
    return content.text
