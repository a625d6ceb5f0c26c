"""Answer the lines of standard input that are no message: the protocol's package passes them over without a word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCError

EXPECTED = "expected one JSON-RPC 2.0 message a line, in UTF-8, and no half of a surrogate pair such as \\ud800"


class AnsweredInput:
    """The messages of a client; a fault that is read in place of a message is answered with an error."""

    def __init__(self, reading: ReadStream[SessionMessage | Exception], writing: WriteStream[SessionMessage]) -> None:
        self._reading, self._writing = reading, writing

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        from mcp.shared.message import SessionMessage

        while True:
            item = await self._reading.receive()
            answer = make_error(item) if isinstance(item, ValidationError) else None
            if answer is None:
                return item
            await self._writing.send(SessionMessage(answer))

    async def aclose(self) -> None:
        """Close the stream."""
        await self._reading.aclose()

    def __aiter__(self) -> AnsweredInput:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        from anyio import EndOfStream

        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> AnsweredInput:
        await self._reading.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._reading.__aexit__(kind, fault, trace)


def make_error(fault: ValidationError) -> JSONRPCError | None:
    """Make the answer to a line that is no message; None for an empty line and for a response, which has no answer."""
    import mcp_types as types

    errors = fault.errors(include_url=False, include_context=False)
    is_text = errors[0]["type"] == "json_invalid"
    said = errors[0]["msg"] if is_text else "no request, notification or response of JSON-RPC 2.0"
    message = _read_message(errors[0]["input"]) if is_text else _find_message(errors)
    if message is None or (message and "method" not in message and message.keys() & {"result", "error"}):
        return None
    number = message.get("id") if "method" in message else None
    is_id = isinstance(number, (int, str)) and not isinstance(number, bool) and _is_writable(number)
    code = types.PARSE_ERROR if is_text else types.INVALID_REQUEST
    error = types.ErrorData(code=code, message=f"{said}; {EXPECTED}")
    return types.JSONRPCError(jsonrpc="2.0", id=number if is_id else None, error=error)


def _read_message(line: str | bytes) -> Mapping[str, Any] | None:
    """Read a line as an object where Python, which is more lenient, can: {} where not, None for an empty line."""
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _find_message(errors: list[Any]) -> Mapping[str, Any]:
    """Find the object that was read: it is the input of an error about a member that it lacks; {} for no object."""
    return next((each["input"] for each in errors if each["type"] == "missing" and len(each["loc"]) == 2), {})


def _is_writable(number: int | str) -> bool:
    """Return whether an answer can name an id: one with half of a surrogate pair is no text of UTF-8."""
    try:
        str(number).encode()
    except (UnicodeEncodeError, ValueError):
        return False
    return True
