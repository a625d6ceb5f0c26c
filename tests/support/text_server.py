"""A local server with the interface of OpenAI for texts, which fails on demand."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from local_server import QuietHandler, serve_locally

Body = dict[str, Any]

STREAM = {"Content-Type": "text/event-stream"}


@dataclass(frozen=True)
class Reply:
    """One answer of the server: status and headers, and its bytes, in pieces with pauses between them."""

    status: int
    pieces: Sequence[bytes]
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0


def stream(texts: Sequence[str], finish: str | None = "stop", usage: Body | None = None, pause: float = 0.0) -> Reply:
    """Return a reply that streams texts, one chunk each; without a finish the stream just ends."""
    chunks: list[Body] = [{"choices": [{"index": 0, "delta": {"content": text}, "text": text}]} for text in texts]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "text": "", "finish_reason": finish}]})
    if usage:
        chunks.append({"choices": [], "usage": usage})
    pieces = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    return Reply(
        200, [*pieces, b"data: [DONE]\n\n"] if finish else pieces, {"Content-Type": "text/event-stream"}, pause
    )


def refuse(status: int, message: str, code: str | None = None, **headers: str) -> Reply:
    """Return an error reply in the wording of services."""
    body = {"error": {"message": message, "code": code}}
    return Reply(status, [json.dumps(body).encode()], {name.replace("_", "-"): text for name, text in headers.items()})


Script = Callable[[Body], Reply]


@dataclass
class TextServer:
    """The server's address, the requests that it received, and its answers."""

    url: str
    requests: list[Body] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    script: list[Script] = field(default_factory=list)  # answers to the next requests; after them `always`
    always: Script = lambda body: stream(["well"])
    pages: dict[str, Body | Script] = field(default_factory=dict)  # other pages, such as /props

    def choose(self, path: str, body: Body) -> Reply:
        """Choose the reply."""
        if path in self.pages:
            page = self.pages[path]
            return page(body) if callable(page) else Reply(200, [json.dumps(page).encode()])
        if not path.endswith("/completions"):
            return refuse(404, "no such page")
        self.requests.append(body | {"path": path})
        return (self.script.pop(0) if self.script else self.always)(body)


@contextmanager
def serve_texts() -> Iterator[TextServer]:
    """Run the server for the duration of a test."""

    class Handler(QuietHandler):
        def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
            self._answer({})

        def _answer(self, body: Body) -> None:
            state.keys.add(self.headers.get("Authorization", ""))
            reply = state.choose(self.path, body)
            self.send_response(reply.status)
            for name, value in ({"Content-Type": "application/json"} | reply.headers).items():
                self.send_header(name, value)
            self.end_headers()
            for piece in reply.pieces:
                self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(reply.pause)

    state = TextServer("")
    with serve_locally(Handler) as state.url:
        yield state
