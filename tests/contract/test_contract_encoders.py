"""A change of the encoder is one write with all vectors, or fails."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from contract.conftest import OpenStore
from contract.units import FILES, encoder, fill, prepare, put

from pkg.errors import EncoderMismatchError, StoreError
from pkg.graph.store import EncoderWriter, GraphStore
from pkg.model import EMBEDDED_LABELS, Label, Source
from pkg.vectors.quantised import round_vectors

DIMENSION = 16


class DeathError(Exception):
    """An exception inside a write."""


def make_vector(node_id: str) -> np.typing.NDArray[np.float16]:
    """Return a vector of a new encoder, distinct for each node."""
    (vector,) = round_vectors(np.random.default_rng(int(node_id, 16)).normal(size=(1, DIMENSION)))
    return np.asarray(vector, np.float16)


def list_ids(store: GraphStore) -> dict[Label, list[str]]:
    return {label: sorted(node.id for node in store.nodes([label])) for label in EMBEDDED_LABELS}


def change(writer: EncoderWriter, ids: dict[Label, list[str]]) -> None:
    writer.put_encoder("other", DIMENSION)
    for label, each in ids.items():
        writer.put_vectors(label, {node_id: make_vector(node_id) for node_id in each})


def test_a_new_encoder_comes_with_all_its_vectors(store: GraphStore) -> None:
    fill(store, FILES)
    before, ids = store.generation(), list_ids(store)
    lines = list(store.export())
    with store.write() as writer:
        change(writer, ids)
    assert (store.encoder(), store.check()) == (("other", DIMENSION), [])
    assert store.generation() == before + 1
    assert list(store.export())[1:] == lines[1:]
    vectors = {line["id"]: line["vector"] for line in store.export(vectors=True) if "vector" in line}
    assert vectors == {each: make_vector(each).tolist() for some in ids.values() for each in some}


def test_other_weights_of_the_same_size_come_with_all_their_vectors(store: GraphStore) -> None:
    fill(store, FILES)
    ids, dimension = list_ids(store), store.encoder()[1]
    ones = np.ones(dimension, np.float16)
    with store.write() as writer:
        writer.put_encoder("static@0000", dimension)
        for label, some in ids.items():
            writer.put_vectors(label, dict.fromkeys(some, ones))
    assert (store.encoder(), store.check()) == (("static@0000", dimension), [])
    found = store.vector_search(Label.FUNCTION, ones.astype(np.float32), 3).matches
    assert [match.score for match in found] == pytest.approx([1, 1, 1], abs=1e-3)
    with pytest.raises(EncoderMismatchError, match=rf"'static@0000' with {dimension}.*'static' with {dimension}"):
        store.ensure_schema("static", dimension)


def test_a_search_finds_by_the_new_vectors(store: GraphStore) -> None:
    fill(store, FILES)
    ids = list_ids(store)
    with store.write() as writer:
        change(writer, ids)
    for label, some in ((label, some) for label, some in ids.items() if some):
        (best,) = store.vector_search(label, make_vector(some[0]).astype(np.float32), 1).matches
        assert best.id == some[0]
        assert best.score == pytest.approx(1, abs=1e-3)
    with pytest.raises(EncoderMismatchError, match=r"has 17 dimensions.*holds 16 \(encoder 'other'\)"):
        store.vector_search(Label.FUNCTION, np.ones(DIMENSION + 1, np.float32), 1)


def test_another_handle_sees_the_old_encoder_until_the_write_ends(open_store: OpenStore) -> None:
    first, second = open_store(), open_store()
    fill(first, FILES)
    with first.write() as writer:
        change(writer, list_ids(second))
        assert second.encoder() == (encoder().name, encoder().dimension)
        assert second.vector_search(Label.FUNCTION, np.ones(encoder().dimension, np.float32), 3).matches
    assert second.encoder() == ("other", DIMENSION)
    assert len(second.vector_search(Label.FUNCTION, np.ones(DIMENSION, np.float32), 3).matches) == 3


def test_a_failure_leaves_the_old_encoder_and_its_vectors(store: GraphStore) -> None:
    fill(store, FILES)
    before = list(store.export(vectors=True))
    with suppress(DeathError), store.write() as writer:
        change(writer, list_ids(store))
        raise DeathError
    assert list(store.export(vectors=True)) == before
    assert store.encoder() == (encoder().name, encoder().dimension)


def test_an_encoder_without_a_vector_for_each_node_is_refused(store: GraphStore) -> None:
    fill(store, FILES)
    before, ids = list(store.export(vectors=True)), list_ids(store)
    missing = ids[Label.BLOCK].pop()
    with pytest.raises(StoreError, match=r"of the new encoder; expected all"), store.write() as writer:
        change(writer, ids)
    assert list(store.export(vectors=True)) == before
    assert store.get([missing])[0].label is Label.BLOCK


def test_a_graph_without_nodes_accepts_another_encoder(store: GraphStore) -> None:
    store.ensure_schema("static", 192)
    with store.write() as writer:
        change(writer, {})
    store.ensure_schema("other", DIMENSION)
    assert store.encoder() == ("other", DIMENSION)


def test_a_source_that_comes_later_is_found_beside_the_others(store: GraphStore) -> None:
    fill(store, FILES)
    with store.write() as writer:
        change(writer, list_ids(store))
    store.ensure_schema("other", DIMENSION)
    with store.write() as writer:
        writer.put_source(Source("empty", "repository", "/empty"))
    assert [source.name for source in store.sources()] == ["demo", "empty"]


def test_an_unfinished_first_load_does_not_return_with_old_vectors(store: GraphStore) -> None:
    fill(store, FILES)
    units = prepare("late", FILES)
    with suppress(DeathError), store.write() as writer:
        put(writer, "late", units)
        writer.flush()
        raise DeathError
    with store.write() as writer:
        change(writer, list_ids(store))
    assert list(store.fingerprints("late")) == []
    assert store.check() == []
