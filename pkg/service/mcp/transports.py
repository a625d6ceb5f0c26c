"""Serve over standard input and output, or over streamable HTTP."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from types import FrameType
from typing import TYPE_CHECKING, Any

from pkg.service.http.http_access import TOKEN_VARIABLE, choose_token, has_bearer_token
from pkg.service.mcp.tool_server import ToolServer
from pkg.service.web.web_access import WebGuard, WebHosts, refuse_as_text
from pkg.service.web.web_server import LOOPBACK, list_hosts, make_server, open_socket

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCError
    from pydantic import ValidationError
    from starlette.types import ASGIApp, Receive, Scope, Send


INTERRUPTED = 130  # exit code after Ctrl-C
EXPECTED = "expected one JSON-RPC 2.0 message per line, in UTF-8, without lone surrogates such as \\ud800"
PATH = "/mcp"
PORT = 8721  # next to the port of pkg serve
LARGEST_BODY = 4_000_000  # bytes; the longest arguments, a hundred candidates of rerank, are shorter


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


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Host and port to listen at."""

    host: str = LOOPBACK
    port: int = PORT


class TokenGuard:
    """Middleware that refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        given = dict(scope.get("headers", ())).get(b"authorization", b"").decode("latin-1")
        if scope["type"] == "http" and not has_bearer_token(given, self._token):
            reason = f"missing or wrong token; send 'Authorization: Bearer TOKEN' with the token of {TOKEN_VARIABLE}"
            await refuse_as_text(HTTPStatus.UNAUTHORIZED, reason)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def guard_app(app: ASGIApp, hosts: WebHosts, token: str | None) -> ASGIApp:
    """Return an application that refuses other hosts, foreign pages and requests without the token."""
    return WebGuard(app if token is None else TokenGuard(app, token), hosts)


def serve_http(tools: ToolServer, address: HttpAddress, announce: Callable[[str, str | None], None]) -> None:
    """Serve until Ctrl-C, without a token on loopback, with a token at any other address.

    announce: receives the address, and the token if a new one was generated.

    Raises KeyboardInterrupt on Ctrl-C, UsageError for an invalid address, PkgError for a port that is in use and
    MissingExtraError without the packages of the extra.
    """
    import asyncio

    server = tools.make_server()
    from mcp.server.transport_security import TransportSecuritySettings

    token = choose_token(address.host)
    with closing(open_socket(address.host, address.port)) as opened:
        hosts = WebHosts(list_hosts(address.host, opened.getsockname()[1]), has_programs=True)
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=LARGEST_BODY,
            transport_security=TransportSecuritySettings(
                allowed_hosts=list(hosts.names), allowed_origins=hosts.list_origins()
            ),
        )
        web = make_server(guard_app(app, hosts, None if token is None else token.text), "the server for agents")
        announce(f"http://{hosts.first}{PATH}", token.text if token is not None and token.is_new else None)

        async def serve() -> None:
            async with server.session_manager.run():
                await web.serve(sockets=[opened])

        asyncio.run(serve())
