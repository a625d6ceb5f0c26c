"""Serve over standard input and output until the input ends, or Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from pkg.service.mcp.tool_server import ToolServer

INTERRUPTED = 130  # exit code after Ctrl-C


def serve_stdio(tools: ToolServer) -> None:
    """Serve until standard input ends; Ctrl-C ends the process at once. Raises MissingExtraError without `mcp`."""
    import asyncio

    server = tools.make_server()
    signal.signal(signal.SIGINT, _exit)  # any other way to end would wait for the thread that reads the input

    async def serve() -> None:
        from mcp.server.stdio import stdio_server

        from pkg.service.mcp.checked_input import CheckedInput

        async with stdio_server() as (reading, writing):
            await server.run(CheckedInput(reading, writing), writing, server.create_initialization_options())

    try:
        asyncio.run(serve())
    except Exception as fault:
        if not all(isinstance(each, ConnectionError) for each in _list_causes(fault)):  # the client disconnected
            raise


def _list_causes(fault: BaseException) -> Iterator[BaseException]:
    """Iterate over the exceptions in nested exception groups."""
    inner: Sequence[BaseException] = getattr(fault, "exceptions", ())
    if not inner:
        yield fault
    for each in inner:
        yield from _list_causes(each)


def _exit(number: int, frame: FrameType | None) -> Any:
    print("pkg: interrupted", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)
