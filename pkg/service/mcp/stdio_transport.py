"""Serve over standard input and output, as agents start servers: until the input ends, or Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from pkg.service.mcp.tool_server import ToolServer

INTERRUPTED = 130  # exit code of a program that Ctrl-C ended


def serve_stdio(tools: ToolServer) -> None:
    """Serve until standard input ends; Ctrl-C ends the process at once. MissingExtraError without the protocol."""
    import asyncio

    server = tools.make_server()
    signal.signal(signal.SIGINT, _leave)  # the thread that waits for input would outlive any other way to end

    async def serve() -> None:
        from mcp.server.stdio import stdio_server

        from pkg.service.mcp.answered_input import AnsweredInput

        async with stdio_server() as (reading, writing):
            await server.run(AnsweredInput(reading, writing), writing, server.create_initialization_options())

    try:
        asyncio.run(serve())
    except Exception as fault:
        if not all(isinstance(each, ConnectionError) for each in _list_causes(fault)):  # the client went away
            raise


def _list_causes(fault: BaseException) -> Iterator[BaseException]:
    """List the faults that a group of them holds, however deep."""
    inner: Sequence[BaseException] = getattr(fault, "exceptions", ())
    if not inner:
        yield fault
    for each in inner:
        yield from _list_causes(each)


def _leave(number: int, frame: FrameType | None) -> Any:
    print("pkg: interrupted", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)
