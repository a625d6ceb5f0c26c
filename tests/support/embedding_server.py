"""A local server with the interfaces of OpenAI and Voyage AI, which fails on demand."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from local_server import QuietHandler, serve_locally

DIMENSION = 8


@dataclass(frozen=True)
class Reply:
    """One answer of the server: status, body, headers, and a delay in seconds."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


def embed_bytes(text: str) -> list[float]:
    """Count the bytes of a text by their lowest bits."""
    vector = [0.5] * DIMENSION
    for byte in text.encode():
        vector[byte % DIMENSION] += 1
    return vector


def answer_well(request: dict[str, Any]) -> Reply:
    """Answer like a working service; rows in reverse, to be sorted by their indices."""
    rows = [
        {"object": "embedding", "index": index, "embedding": embed_bytes(text)}
        for index, text in enumerate(request["input"])
    ]
    return wrap_rows(rows)


def wrap_rows(rows: Sequence[dict[str, Any]]) -> Reply:
    """Wrap rows in the body of an answer."""
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return Reply(200, {"object": "list", "data": list(rows), "model": "m", "usage": usage})


Script = Callable[[dict[str, Any]], Reply]


@dataclass
class EmbeddingServer:
    """The server's address, the requests that it received, and its next answers."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    script: list[Script] = field(default_factory=list)  # answers to the next requests; after them `always`
    always: Script = answer_well

    def choose(self, request: dict[str, Any]) -> Reply:
        return (self.script.pop(0) if self.script else self.always)(request)


@contextmanager
def serve_embeddings() -> Iterator[EmbeddingServer]:
    """Run the server for the duration of a test."""

    class Handler(QuietHandler):
        def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(body | {"path": self.path})
            state.keys.append(self.headers.get("Authorization", ""))
            reply = state.choose(body)
            time.sleep(reply.delay)
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in ({"Content-Type": "application/json"} | reply.headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    state = EmbeddingServer("")
    with serve_locally(Handler) as state.url:
        yield state
