"""The real clients of OpenAI and Voyage AI against a fake service, with failures."""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from embedding_server import DIMENSION, EmbeddingServer, Reply, answer_well, embed_bytes, serve_embeddings, wrap_rows

from pkg.encode.batched import BatchedEncoder
from pkg.encode.openai_api import OpenAIModel
from pkg.encode.voyage_api import VoyageModel
from pkg.errors import EncoderAnswerError, EncoderBusyError, EncoderError

pytestmark = [pytest.mark.model, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

FUNCTION = b"def add(a, b):\n    return a + b\n"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serve_embeddings() as running:
        yield running


@pytest.fixture(params=["openai", "voyage"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make_encoder(kind: str, server: EmbeddingServer, model: str = "m") -> tuple[BatchedEncoder, list[float]]:
    """Return the encoder of a service and the list of its sleeps, in seconds."""
    make = {"openai": OpenAIModel, "voyage": VoyageModel}[kind]
    slept: list[float] = []
    return BatchedEncoder(make(f"{kind}:{model}@{server.url}", model, server.url), None, slept.append), slept


def refuse(status: int, message: str, **headers: str) -> Reply:
    return Reply(status, {"error": {"message": message}, "detail": message}, headers)


def test_texts_become_vectors_of_length_one(kind: str, server: EmbeddingServer) -> None:
    encoder, _ = make_encoder(kind, server)
    vectors = encoder.encode([FUNCTION, b"", b"x = 1"], ["shop/cart add", "", ""])
    expected = np.array(embed_bytes("shop/cart add\n" + FUNCTION.decode()), np.float32)
    assert np.allclose(vectors[0], expected / np.linalg.norm(expected))
    assert (encoder.dimension, vectors[1].any()) == (DIMENSION, False)
    assert {request["path"] for request in server.requests} == {"/v1/embeddings"}
    assert {request["model"] for request in server.requests} == {"m"}


def test_the_key_of_the_environment_is_sent(
    kind: str, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{kind.upper()}_API_KEY", "key-of-the-test")
    make_encoder(kind, server)[0].encode([FUNCTION])
    assert set(server.keys) == {"Bearer key-of-the-test"}


def test_voyage_gets_the_type_of_a_query(server: EmbeddingServer) -> None:
    encoder, _ = make_encoder("voyage", server, "voyage-code-3")
    server.always = lambda request: wrap_rows([{"index": 0, "embedding": [1.0] * 1024}])
    encoder.encode([FUNCTION])
    encoder.encode_query("add numbers")
    assert [request["input_type"] for request in server.requests] == ["document", "query"]
    assert all(request["truncation"] for request in server.requests)


def test_a_family_of_models_gets_its_prefixes(server: EmbeddingServer) -> None:
    encoder, _ = make_encoder("openai", server, "nomic-embed-text")
    encoder.encode_query("add numbers")
    assert server.requests[-1]["input"] == ["search_query: add numbers"]


def test_many_texts_are_sent_in_batches(kind: str, server: EmbeddingServer) -> None:
    encoder, _ = make_encoder(kind, server)
    texts = [f"def f{number}(): pass".encode() for number in range(300)]
    alone = encoder.encode(texts[250:251])
    server.requests.clear()
    assert np.array_equal(encoder.encode(texts)[250], alone[0])
    assert sorted(len(request["input"]) for request in server.requests) == [44, 128, 128]


def test_vectors_in_another_order_are_sorted(server: EmbeddingServer) -> None:
    encoder, _ = make_encoder("openai", server)
    expected = encoder.encode([b"a", b"b"])

    def reverse(request: dict[str, Any]) -> Reply:
        return wrap_rows(answer_well(request).body["data"][::-1])

    server.always = reverse
    assert np.array_equal(encoder.encode([b"a", b"b"]), expected)


def test_vectors_in_base64_are_read(server: EmbeddingServer) -> None:
    def pack(request: dict[str, Any]) -> Reply:
        rows = [np.array(embed_bytes(text), "<f4").tobytes() for text in request["input"]]
        return wrap_rows([{"index": i, "embedding": base64.b64encode(row).decode()} for i, row in enumerate(rows)])

    server.always = pack
    assert make_encoder("voyage", server)[0].encode([FUNCTION])[0].any()


def test_a_rate_limit_is_waited_for(kind: str, server: EmbeddingServer) -> None:
    encoder, slept = make_encoder(kind, server)
    limit = refuse(429, "rate limit reached", **{"retry-after": "3"})
    server.script = [lambda request: limit, lambda request: refuse(503, "overloaded"), answer_well]
    assert encoder.encode([FUNCTION])[0].any()
    assert slept == [3.0, 2.0]


def test_a_lasting_rate_limit_is_an_error(kind: str, server: EmbeddingServer) -> None:
    server.always = lambda request: refuse(429, "rate limit reached")
    encoder, slept = make_encoder(kind, server)
    with pytest.raises(EncoderBusyError, match=rf"{server.url} is busy \(429: .*rate limit reached\); try again later"):
        encoder.encode([FUNCTION])
    assert len(slept) == 6


def test_an_exhausted_account_is_not_waited_for(server: EmbeddingServer) -> None:
    body = {"error": {"message": "you exceeded your current quota", "code": "insufficient_quota"}}
    server.always = lambda request: Reply(429, body)
    encoder, slept = make_encoder("openai", server)
    with pytest.raises(EncoderError, match=r"has no more quota \(429: you exceeded your current quota\)"):
        encoder.encode([FUNCTION])
    assert slept == []


def test_rows_without_an_index_keep_their_order(server: EmbeddingServer) -> None:
    encoder, _ = make_encoder("openai", server)
    expected = encoder.encode([b"a", b"b"])

    def forget(request: dict[str, Any]) -> Reply:
        return wrap_rows([{"embedding": row["embedding"]} for row in answer_well(request).body["data"]])

    server.always = forget
    assert np.array_equal(encoder.encode([b"a", b"b"]), expected)


def test_a_timeout_is_retried(kind: str, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"pkg.encode.{kind}_api.TIMEOUT_SECONDS", 0.2)
    server.script = [lambda request: Reply(200, {}, delay=0.6)]
    encoder, slept = make_encoder(kind, server)
    assert encoder.encode([FUNCTION])[0].any()
    assert len(slept) == 1


def test_an_unreachable_service_is_named(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    encoder, _ = make_encoder(kind, EmbeddingServer(f"http://127.0.0.1:{port}/v1"))
    with pytest.raises(EncoderBusyError, match=rf"http://127.0.0.1:{port}/v1 does not answer"):
        encoder.encode([FUNCTION])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1:], "returned 1 vectors for 2 texts"),
        (lambda rows: [], "returned no vectors|did not answer with embeddings"),
        (lambda rows: [row | {"embedding": [float("nan")] * DIMENSION} for row in rows], "not finite"),
        (lambda rows: [row | {"embedding": [1.0] * 5} for row in rows], "vectors of 5 numbers; expected 8"),
        (lambda rows: [rows[0], rows[1] | {"embedding": [1.0]}], "rows of different length"),
    ],
)
def test_a_wrong_answer_is_quoted_in_the_error(kind: str, server: EmbeddingServer, change: Any, message: str) -> None:
    encoder, _ = make_encoder(kind, server)
    assert encoder.dimension == DIMENSION
    server.always = lambda request: wrap_rows(change(answer_well(request).body["data"]))
    with pytest.raises(EncoderAnswerError, match=message):
        encoder.encode([b"first", b"second"])


@pytest.mark.parametrize("body", [b"<html>hello</html>", b'{"answer": 42}', b"[]"])
def test_an_answer_without_embeddings_is_an_error(kind: str, server: EmbeddingServer, body: bytes) -> None:
    server.always = lambda request: Reply(200, body)
    with pytest.raises(EncoderError, match=server.url):
        make_encoder(kind, server)[0].encode([FUNCTION])


def test_a_refused_key_names_the_variable(kind: str, server: EmbeddingServer) -> None:
    server.always = lambda request: refuse(401, "invalid key")
    with pytest.raises(EncoderError, match=rf"refuses the key .*set {kind.upper()}_API_KEY"):
        make_encoder(kind, server)[0].encode([FUNCTION])


def test_a_missing_model_is_an_error(kind: str, server: EmbeddingServer) -> None:
    server.always = lambda request: refuse(404, "no model m")
    with pytest.raises(EncoderError, match="no model m"):
        make_encoder(kind, server)[0].encode([FUNCTION])
    assert len(server.requests) == 1


def test_a_text_too_long_for_a_service_is_halved(kind: str, server: EmbeddingServer) -> None:
    def refuse_long(request: dict[str, Any]) -> Reply:
        if sum(map(len, request["input"])) > 100:
            return refuse(400, "the input has too many tokens: maximum context length exceeded")
        return answer_well(request)

    server.always = refuse_long
    encoder, _ = make_encoder(kind, server)
    vectors = encoder.encode([b"a" * 90, b"b" * 90, b"c" * 900])
    assert np.count_nonzero(vectors.any(axis=1)) == 3
    assert encoder.counts.cut == 1
