"""Serve over standard input and output until the input ends, or Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from pkg.service.mcp.tool_server import ToolServer

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCError
    from pydantic import ValidationError


INTERRUPTED = 130  # exit code after Ctrl-C
EXPECTED = "expected one JSON-RPC 2.0 message per line, in UTF-8, without lone surrogates such as \\ud800"


def serve_stdio(tools: ToolServer) -> None:
    """Serve until standard input ends; Ctrl-C ends the process at once. Raises MissingExtraError without `mcp`."""
    import asyncio

    server = tools.make_server()
    signal.signal(signal.SIGINT, _exit)  # any other way to end would wait for the thread that reads the input

    async def serve() -> None:
        from mcp.server.stdio import stdio_server

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


class CheckedInput:
    """A stream of messages that answers each invalid one with an error; the package `mcp` ignores them silently."""

    def __init__(self, reading: ReadStream[SessionMessage | Exception], writing: WriteStream[SessionMessage]) -> None:
        self._reading, self._writing = reading, writing

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        from mcp.shared.message import SessionMessage
        from pydantic import ValidationError

        while True:
            item = await self._reading.receive()
            answer = make_error(item) if isinstance(item, ValidationError) else None
            if answer is None:
                return item
            await self._writing.send(SessionMessage(answer))

    async def aclose(self) -> None:
        """Close the stream."""
        await self._reading.aclose()

    def __aiter__(self) -> CheckedInput:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        from anyio import EndOfStream

        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> CheckedInput:
        await self._reading.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._reading.__aexit__(kind, fault, trace)


def make_error(fault: ValidationError) -> JSONRPCError | None:
    """Return the answer to an invalid line; None for an empty line and for a response, which are not answered."""
    import mcp_types as types

    errors = fault.errors(include_url=False, include_context=False)
    is_text = errors[0]["type"] == "json_invalid"
    reason = errors[0]["msg"] if is_text else "not a request, notification or response of JSON-RPC 2.0"
    message = _read_message(errors[0]["input"]) if is_text else _find_message(errors)
    if message is None or (message and "method" not in message and message.keys() & {"result", "error"}):
        return None
    number = message.get("id") if "method" in message else None
    is_id = isinstance(number, (int, str)) and not isinstance(number, bool) and _is_writable(number)
    code = types.PARSE_ERROR if is_text else types.INVALID_REQUEST
    error = types.ErrorData(code=code, message=f"{reason}; {EXPECTED}")
    return types.JSONRPCError(jsonrpc="2.0", id=number if is_id else None, error=error)


def _read_message(line: str | bytes) -> Mapping[str, Any] | None:
    """Parse a line by Python's more lenient parser; {} if that fails too, None for an empty line."""
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _find_message(errors: list[Any]) -> Mapping[str, Any]:
    """Return the parsed object, which is the input of an error about a missing member; {} if there is none."""
    return next((each["input"] for each in errors if each["type"] == "missing" and len(each["loc"]) == 2), {})


def _is_writable(number: int | str) -> bool:
    """Return whether an id can be encoded as UTF-8, which has no lone surrogates."""
    try:
        str(number).encode()
    except (UnicodeEncodeError, ValueError):
        return False
    return True
