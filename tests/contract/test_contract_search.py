"""Vector search is exact: k results after filters and deduplication, exact cosines, ties by id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from contract.conftest import OpenStore
from contract.units import FILES, encode, encoder, fill, find_id
from fakes import passes_path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pkg.encode.headings import make_heading
from pkg.errors import EncoderMismatchError, StoreChangedError
from pkg.graph.neo4j import searching
from pkg.graph.store import GraphStore
from pkg.model import BLOCK_KINDS, Label, Match, NodeFilter, Source, Status
from pkg.units import Fragment, NodeRow, Part, UnitGraph, format_id, hash_bytes, hash_key
from pkg.vectors.quantised import round_vectors

DIMENSION = 16
PATHS = ("a.py", "pack/a.py", "pack/b[1].py", "tests/b.py")
SOURCES = ("one", "two")
KINDS = (None, None, None, *BLOCK_KINDS)


@dataclass(frozen=True, slots=True)
class Piece:
    """A node of a test: its path, kind and one of a few contents."""

    source: str
    path: str
    kind: str | None  # of a block; None makes a function
    content: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored node for the oracle."""

    id: str
    label: Label
    content_hash: int
    vector: npt.NDArray[np.float16]
    piece: Piece


def make_entries(pieces: list[Piece], vectors: npt.NDArray[np.float16], is_placed: bool = False) -> list[Entry]:
    """Assign each piece an id and a vector: of its content, or of its content and position like encoders with headings.

    A file with blocks has a function to hold them.
    """
    owners = [Piece(*place, None, 0) for place in sorted({(piece.source, piece.path) for piece in pieces})]
    entries = []
    for number, piece in enumerate(owners + pieces):
        label = Label.FUNCTION if piece.kind is None else Label.BLOCK
        identity = hash_key(piece.source, piece.path, str(number))
        content = hash_bytes(b"content %d" % piece.content)
        chosen = piece.content + is_placed * len(piece.path)
        entries.append(Entry(format_id(identity), label, content, vectors[chosen % len(vectors)], piece))
    return entries


def make_units(entries: list[Entry]) -> Iterator[UnitGraph]:
    """Put the entries of each path into one file, with blocks in its first function."""
    for source, path in sorted({(entry.piece.source, entry.piece.path) for entry in entries}):
        here = [entry for entry in entries if (entry.piece.source, entry.piece.path) == (source, path)]
        here.sort(key=lambda entry: entry.label is Label.BLOCK)
        matrix = np.array([entry.vector for entry in here], np.float16)
        key = hash_key(source, path)
        part = Part(key, 1, Fragment(key, b"pass\n", tuple(map(make_row, here)), matrix, b"", ()))
        yield UnitGraph(source, Label.FILE, path, "", format_id(key), "python", Status.OK, None, (part,))


def make_row(entry: Entry) -> NodeRow:
    kind = entry.piece.kind
    parent, name, identity = -1 if kind is None else 0, kind or "work", int(entry.id, 16)
    return NodeRow(identity, entry.label, parent, name, name, kind or "function", 0, 4, 1, 1, entry.content_hash, None)


def fill_by_hand(store: GraphStore, entries: list[Entry]) -> None:
    store.ensure_schema("by hand", DIMENSION)
    with store.write() as writer:
        for source in SOURCES:
            writer.put_source(Source(source, "repository", f"/{source}"))
        for unit in make_units(entries):
            writer.replace_file(unit)
        for source in SOURCES:
            names = writer.missing_names(source)
            writer.put_names(source, {name: np.ones(DIMENSION, np.float16) for name in names})


def passes(entry: Entry, where: NodeFilter | None) -> bool:
    piece = entry.piece
    return where is None or (
        where.source in (None, piece.source)
        and passes_path(piece.path, where)
        and (where.kinds is None or (piece.kind or "function") in where.kinds)
    )


def cosine(vector: npt.NDArray[np.float16], query: npt.NDArray[np.float32]) -> float:
    row, asked = vector.astype(np.float64), query.astype(np.float64)
    lengths = float(np.sqrt((row * row).sum() * (asked * asked).sum()))
    return float((row * asked).sum()) / lengths if lengths else 0.0


def rank(entries: list[Entry], query: npt.NDArray[np.float32], k: int) -> list[Match]:
    """Search by brute force: of equal content, the lowest id of the best score."""
    scored = sorted((-cosine(entry.vector, query), entry.id, entry.content_hash) for entry in entries)
    leaders: dict[int, Match] = {}
    for score, node_id, content in scored:
        others = sum(entry.content_hash == content for entry in entries) - 1
        leaders.setdefault(content, Match(node_id, -score, others))
    return list(leaders.values())[:k]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Entry], npt.NDArray[np.float32]]:
    """Draw a query and nodes of few contents and fewer vectors, so that duplicates and ties are common."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    vectors = random.normal(size=(draw(st.integers(1, 12)), DIMENSION))
    if draw(st.booleans()):  # without rounding errors of the codes, and with similar scores
        vectors = np.sign(vectors) * (random.random(vectors.shape) < 0.4)
    if draw(st.booleans()):
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    contents = draw(st.sampled_from([1, 4, 40]))
    pieces = [
        Piece(SOURCES[source], PATHS[path], KINDS[kind], content)
        for source, path, kind, content in random.integers(
            0, (len(SOURCES), len(PATHS), len(KINDS), contents), (draw(st.sampled_from([0, 1, 7, 60, 250])), 4)
        ).tolist()
    ]
    entries = make_entries(pieces, round_vectors(vectors), draw(st.booleans()))
    return entries, random.normal(size=DIMENSION).astype(np.float32)


GLOBS = ["*", "pack/*", "?.py", "pack/[!a]*", "pack/b[[]1].py", "PACK/*", "[", "*[ab].py", "*t*s*"]
FILTERS = st.none() | st.builds(
    NodeFilter,
    st.sampled_from([None, None, *SOURCES, "three"]),
    st.lists(st.builds("".join, st.tuples(st.sampled_from(["", "", "!"]), st.sampled_from(GLOBS))), max_size=3).map(
        tuple
    ),
    st.none() | st.frozensets(st.sampled_from(BLOCK_KINDS), max_size=3),
    st.sampled_from([None, None, True, False]),
)


SEARCHES = {
    "graph": graphs(),
    "wheres": st.lists(FILTERS, min_size=1, max_size=5),
    "k": st.sampled_from([1, 2, 3, 10, 10**9]),
    "threshold": st.sampled_from([-1.0, -1.0, 0.317, 0.9]),
}
Graph = tuple[list[Entry], npt.NDArray[np.float32]]
SLOW = [HealthCheck.function_scoped_fixture]


@settings(max_examples=settings().max_examples, suppress_health_check=SLOW)
@given(**SEARCHES)
def test_search_equals_brute_force(
    make_local_store: OpenStore, graph: Graph, wheres: list[NodeFilter | None], k: int, threshold: float
) -> None:
    check_search(make_local_store(), graph, wheres, k, threshold)


@settings(max_examples=settings().max_examples // 10, suppress_health_check=SLOW)
@given(**SEARCHES)
def test_search_of_a_server_equals_brute_force(
    make_server_store: OpenStore, graph: Graph, wheres: list[NodeFilter | None], k: int, threshold: float
) -> None:
    check_search(make_server_store(), graph, wheres, k, threshold)


def check_search(store: GraphStore, graph: Graph, wheres: list[NodeFilter | None], k: int, threshold: float) -> None:
    """Compare each search of a graph with brute force."""
    entries, query = graph
    fill_by_hand(store, entries)
    for label in (Label.FUNCTION, Label.BLOCK):
        of_label = [entry for entry in entries if entry.label is label]
        for where in wheres:
            passing = [entry for entry in of_label if passes(entry, where)]
            found = store.vector_search(label, query, k, where, threshold)
            expected = [match for match in rank(passing, query, k) if match.score >= threshold]
            assert [(match.id, match.same_content) for match in found.matches] == [
                (match.id, match.same_content) for match in expected
            ]
            for match, right in zip(found.matches, expected, strict=True):
                assert match.score == pytest.approx(right.score, abs=1e-6)
            assert (found.searched, found.filtered) == (len(of_label), len(of_label) - len(passing))
            assert found.folded == sum(match.same_content for match in expected)


@pytest.mark.parametrize("explored", [searching.MIN_CANDIDATES, 4])
def test_nodes_above_a_threshold_are_found_in_one_of_several_sources(
    make_server_store: OpenStore, monkeypatch: pytest.MonkeyPatch, explored: int
) -> None:
    monkeypatch.setattr(searching, "EXACT_BELOW", 0)  # so that the index is used
    monkeypatch.setattr(searching, "MIN_CANDIDATES", explored)  # with four, the index may miss near nodes
    vectors = round_vectors(np.random.default_rng(1).normal(size=(40, DIMENSION)))
    pieces = [Piece(source, "a.py", None, content) for content in range(len(vectors)) for source in SOURCES]
    entries, store = make_entries(pieces, vectors), make_server_store()
    fill_by_hand(store, entries)
    passing = [entry for entry in entries if entry.piece.source == "two"]
    for query in vectors[:5].astype(np.float32):
        found = store.vector_search(Label.FUNCTION, query, 3, NodeFilter("two"), threshold=0.9)
        expected = [match for match in rank(passing, query, 3) if match.score >= 0.9]
        assert [(match.id, match.same_content) for match in found.matches] == [
            (match.id, match.same_content) for match in expected
        ]
        assert 0 < len(expected) < 3
        assert (found.searched, found.filtered) == (len(entries), len(entries) - len(passing))


def test_the_nearest_is_found_where_rounding_changes_lengths(store: GraphStore) -> None:
    long, short = np.zeros((2, DIMENSION))
    long[:3], short[:5] = 3**-0.5, 5**-0.5
    crowd = [Piece("one", "a.py", None, content) for content in range(200)]
    vectors = round_vectors(np.array([short] + [long] * 199))
    entries = make_entries(crowd, vectors)
    fill_by_hand(store, entries)
    for weight in np.linspace(0.2, 0.4, 41):
        query = np.zeros(DIMENSION, np.float32)
        query[:3], query[3:5] = 0.5, weight
        found = store.vector_search(Label.FUNCTION, query, 1)
        assert [match.id for match in found.matches] == [rank(entries, query, 1)[0].id]


@pytest.mark.parametrize("scale", [1e-4, 1.0, 250.0])
def test_scores_are_cosines_whatever_the_length_of_the_query(store: GraphStore, scale: float) -> None:
    fill(store, FILES)
    query = encode("read the settings of a path")
    plain = store.vector_search(Label.FUNCTION, query, 9)
    scaled = store.vector_search(Label.FUNCTION, query * np.float32(scale), 9)
    assert [match.id for match in scaled.matches] == [match.id for match in plain.matches]
    assert [match.score for match in scaled.matches] == pytest.approx(
        [match.score for match in plain.matches], abs=1e-6
    )
    assert all(-1 <= match.score <= 1 + 1e-9 for match in scaled.matches)


def test_the_text_of_a_node_and_its_heading_find_the_node(store: GraphStore) -> None:
    fill(store, FILES)
    for line in list(store.export()):
        if line.get("label") in ("Function", "Block", "FunctionName"):
            text = line.get("content", line["name"])
            heading = make_heading(line["path"], line["qualname"]) if "path" in line else ""
            found = store.vector_search(Label(line["label"]), encode(text, heading), 1)
            assert store.get([found.matches[0].id])[0].content == text
            assert found.matches[0].score == pytest.approx(1, abs=1e-3)


def test_a_query_without_words_scores_nothing(store: GraphStore) -> None:
    fill(store, FILES)
    found = store.vector_search(Label.FUNCTION, np.zeros(encoder().dimension, np.float32), 2)
    assert [match.score for match in found.matches] == [0, 0]
    assert [match.id for match in found.matches] == sorted(match.id for match in found.matches)


@pytest.mark.parametrize("label", [Label.FUNCTION, Label.BLOCK, Label.FUNCTION_NAME, Label.IMPORT])
def test_every_embedded_label_can_be_searched(store: GraphStore, label: Label) -> None:
    fill(store, FILES)
    found = store.vector_search(label, encode("read settings"), 10**9)
    assert len(found.matches) + found.folded == store.stats().nodes[label.value]
    assert {node.label for node in store.get([match.id for match in found.matches])} == {label}


@pytest.mark.parametrize("label", [Label.FUNCTION, Label.BLOCK, Label.FUNCTION_NAME, Label.IMPORT])
@pytest.mark.parametrize("has_schema", [True, False])
def test_an_empty_store_returns_nothing(store: GraphStore, label: Label, has_schema: bool) -> None:
    if has_schema:
        store.ensure_schema(encoder().name, encoder().dimension)
    found = store.vector_search(label, encode("anything"), 5)
    assert (found.matches, found.searched) == ((), 0)


def test_code_without_words_is_found_last(store: GraphStore) -> None:
    fill(
        store,
        {"shape.py": "class Shape:\n    def area(self): ...\n\n    def grow(self, by):\n        self.size += by\n"},
    )
    found = store.vector_search(Label.BLOCK, encode("the size grows"), 9).matches
    assert [node.content for node in store.get([match.id for match in found])] == ["self.size += by", "..."]
    assert found[0].score > 0.3 > found[1].score


def test_a_k_of_zero_returns_nothing(store: GraphStore) -> None:
    fill(store, FILES)
    found = store.vector_search(Label.BLOCK, encode("read"), 0)
    assert (found.matches, found.folded) == ((), 0)


def test_a_query_of_another_dimension_is_refused_with_both_named(store: GraphStore) -> None:
    fill(store, FILES)
    with pytest.raises(EncoderMismatchError, match=rf"8 dimensions.*{encoder().dimension}.*static"):
        store.vector_search(Label.FUNCTION, np.ones(8, np.float32), 1)


def test_a_search_sees_the_last_write(open_store: OpenStore) -> None:
    writing, reading = open_store(), open_store()
    fill(writing, FILES)
    query = encode("zoom into a picture")
    before = reading.vector_search(Label.FUNCTION, query, 1).matches
    fill(writing, {"zoom.py": "def zoom(picture):\n    return picture.zoom()\n"}, "second")
    assert reading.vector_search(Label.FUNCTION, query, 1).matches[0].id == find_id(reading, Label.FUNCTION, "zoom")
    with writing.write() as writer:
        writer.delete_source("second")
    assert reading.vector_search(Label.FUNCTION, query, 1).matches == before


def test_a_search_inside_a_snapshot_sees_its_generation(open_store: OpenStore, holds_snapshots: bool) -> None:
    writing, reading = open_store(), open_store()
    fill(writing, FILES)
    query = encode("zoom into a picture")
    before = reading.vector_search(Label.FUNCTION, query, 9)
    outcome = nullcontext() if holds_snapshots else pytest.raises(StoreChangedError, match="try again")
    with outcome, reading.snapshot():
        fill(writing, {"zoom.py": "def zoom(picture):\n    return picture.zoom()\n"}, "second")
        if holds_snapshots:
            assert reading.vector_search(Label.FUNCTION, query, 9) == before
    assert reading.vector_search(Label.FUNCTION, query, 9) != before


def test_what_a_search_found_is_the_old_node_or_none_after_a_write(
    open_store: OpenStore, holds_snapshots: bool
) -> None:
    writing, reading = open_store(), open_store()
    fill(writing, FILES)
    outcome = nullcontext() if holds_snapshots else pytest.raises(StoreChangedError, match="try again")
    with outcome, reading.snapshot():
        found = reading.vector_search(Label.FUNCTION, encode("zoom into a picture"), 1).matches[0].id
        with writing.write() as writer:
            writer.delete_source("demo")
        assert [node.id for node in reading.get([found])] == [found]


def test_a_shared_body_passes_by_the_path_of_each_of_its_rows(store: GraphStore) -> None:
    body = "def area(shape):\n    return shape\n"
    fill(store, dict.fromkeys(("row-1", "row-2"), body), label=Label.ROW)
    for path, expected in (("row-1", 1), ("row-2", 1), ("row-[!1]", 1), ("row-[!12]", 0), ("row-3", 0)):
        found = store.vector_search(Label.FUNCTION, encode(body), 9, NodeFilter(paths=(path,)))
        assert (path, len(found.matches)) == (path, expected)
