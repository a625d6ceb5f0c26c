"""The real all-MiniLM-L6-v2 in 8-bit numbers, from the packages that include it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from trees import write_tree

from pkg.api import build_graph, open_graph
from pkg.encode.batched import BatchedEncoder
from pkg.encode.minilm import DIMENSION, WINDOW, MiniLM, find_files
from pkg.encode.registry import load_encoder
from pkg.errors import EncoderError

pytestmark = pytest.mark.model

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DATE = b"def read_date(text):\n    return datetime.strptime(text, '%Y-%m-%d').date()\n"
CLOSE = b"def close(self):\n    self.socket.close()\n"


@pytest.fixture(scope="module")
def encoder() -> BatchedEncoder:
    return BatchedEncoder(MiniLM("minilm", *find_files(None)))


def test_the_package_has_the_measured_model() -> None:
    model, _ = find_files(None)
    assert sha256(model.read_bytes()).hexdigest() == MODEL_SHA256


def test_similar_texts_without_common_words_are_near(encoder: BatchedEncoder) -> None:
    date, close = encoder.encode([DATE, CLOSE]) @ encoder.encode_query("turn an ISO calendar day into an object")
    assert date > close + 0.1


def test_vectors_have_length_one_and_do_not_depend_on_their_batch(encoder: BatchedEncoder) -> None:
    vectors = encoder.encode([DATE, CLOSE, DATE * 40, b"", b"()[]"])
    assert np.allclose(np.linalg.norm(vectors[:3], axis=1), 1)
    assert not vectors[3:].any()
    assert np.array_equal(encoder.encode([CLOSE])[0], vectors[1])
    assert vectors.shape == (5, DIMENSION)


def test_a_text_longer_than_the_window_is_cut_and_counted(encoder: BatchedEncoder) -> None:
    before = encoder.counts.cut
    long = b"x = compute(x)\n" * 200
    first, second = encoder.encode([long, long + CLOSE])
    assert encoder.counts.cut == before + 2
    assert np.array_equal(first, second)
    assert encoder.model.count_tokens([long.decode()])[0] > WINDOW


def test_a_heading_changes_a_vector(encoder: BatchedEncoder) -> None:
    plain, headed = encoder.encode([CLOSE, CLOSE], ["", "net/client Connection.close"])
    query = encoder.encode_query("close the connection of a client")
    assert headed @ query > plain @ query


def test_a_graph_of_the_default_encoder_is_asked_in_other_words_than_its_own(tmp_path: Path) -> None:
    code = (
        "def purge(store):\n    for key in store:\n        store.evict(key)\n\n\n"
        "def persist(store, path):\n    path.write_bytes(store.encode())\n\n\n"
        "def retry(call, attempts):\n    for _ in range(attempts):\n        call()\n\n\n"
        "def authenticate(account, secret):\n    return account.verify(secret)\n"
    )
    address = f"sqlite:///{tmp_path}/graph.db"
    build_graph(write_tree(tmp_path / "tree", {"app.py": code}), store=address)
    questions = {"check the password of a user": "authenticate", "save it to disk": "persist"}
    with open_graph(address) as graph:
        found = [graph.query(text, mode="function", top_k=1, rerank_hits="minilm") for text in questions]
    assert [each.hits[0].qualname for each in found] == list(questions.values())


def test_the_registry_loads_it_with_a_cache() -> None:
    loaded = load_encoder("minilm")
    assert loaded.encode([DATE])[0].any()
    assert (loaded.name, loaded.dimension) == ("minilm", DIMENSION)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    model, tokenizer = find_files(None)
    broken = tmp_path / "model.onnx"
    broken.write_bytes(model.read_bytes()[:1000])
    with pytest.raises(EncoderError, match="is no ONNX model"):
        BatchedEncoder(MiniLM("minilm", broken, tokenizer)).encode([DATE])
    with pytest.raises(EncoderError, match="is no tokenizer"):
        BatchedEncoder(MiniLM("minilm", model, broken)).encode([DATE])
