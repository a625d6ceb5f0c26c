"""Lexical search returns the same nodes in the same order with the same scores in every store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contract.conftest import Hold, OpenStore
from contract.units import FILES, READER, WRITER, encode, fill, fill_files, find_id, names_of
from fakes import FakeStore

from pkg.errors import NodeNotFoundError
from pkg.graph.store import GraphStore
from pkg.model import Label, Matches, NodeFilter
from pkg.terms.term_weights import weigh_terms

LABELS = [Label.FUNCTION, Label.BLOCK, Label.FUNCTION_NAME, Label.IMPORT]
QUESTIONS = ["read the settings of a path", "copying files", "write", "json loads", "find settings in a folder", "zoom"]
ROW = "def area(shape):\n    return shape\n"


@pytest.fixture
def filled(hold: Hold) -> GraphStore:
    return hold(fill_files)


def search(store: GraphStore, label: Label, question: str, k: int = 9, where: NodeFilter | None = None) -> Matches:
    return store.text_search(label, weigh_terms(question), k, where)


def fill_everything(store: GraphStore) -> None:
    """Put files, the same files in another source, and rows that share a body."""
    fill(store, FILES)
    fill(store, {"other.py": WRITER, "reader.py": READER}, "second")
    fill(store, dict.fromkeys(("row-1", "row-2"), ROW), "rows", Label.ROW)


WHERES = [None, NodeFilter(source="second"), NodeFilter(paths=("pack/*",)), NodeFilter(paths=("row-2",), source="rows")]


@pytest.mark.parametrize("label", LABELS)
def test_every_store_gives_the_same_order_and_scores(store: GraphStore, label: Label) -> None:
    oracle = FakeStore()
    fill_everything(store)
    fill_everything(oracle)
    for where in WHERES:
        for question in QUESTIONS:
            assert search(store, label, question, 5, where) == search(oracle, label, question, 5, where)


@pytest.mark.parametrize(
    ("label", "question", "allowed"),
    [
        (Label.FUNCTION, "listdir", {"find_settings"}),
        (Label.BLOCK, "readable", {"body", "body/with[0]", "body/with[0]/if[0]"}),
        (Label.FUNCTION_NAME, "finding", {"find_settings"}),
        (Label.IMPORT, "loads", {"loads"}),
    ],
)
def test_nodes_of_every_label_are_found(filled: GraphStore, label: Label, question: str, allowed: set[str]) -> None:
    found = search(filled, label, question).matches
    nodes = filled.get([match.id for match in found])
    assert nodes
    assert {node.label for node in nodes} == {label}
    assert {node.name for node in nodes} <= allowed
    assert sorted(found, key=lambda match: (-match.score, match.id)) == list(found)
    assert all(match.score > 0 for match in found)


@pytest.mark.parametrize("label", LABELS)
def test_the_best_of_all_are_returned_for_a_smaller_k(store: GraphStore, label: Label) -> None:
    fill(store, {f"{n}.py": f"{READER}\n{WRITER}".replace("settings", f"settings{n % 3}") for n in range(6)})
    question = "read find copy file path text loads reader"
    whole = [match.id for match in search(store, label, question, 10**9).matches]
    assert len(whole) > 1
    for k in range(len(whole)):
        assert [match.id for match in search(store, label, question, k).matches] == whole[:k]


def test_a_name_counts_more_than_a_body(filled: GraphStore) -> None:
    assert names_of(filled, [search(filled, Label.FUNCTION, "read").matches[0].id]) == ["read"]
    assert names_of(filled, [search(filled, Label.FUNCTION, "write").matches[0].id]) == ["write"]


def test_any_of_the_words_is_enough_and_any_text_is_a_question(filled: GraphStore) -> None:
    def found(question: str) -> set[str]:
        return set(names_of(filled, [match.id for match in search(filled, Label.FUNCTION, question).matches]))

    assert found("copy") == {"copy"}
    assert found("copying nonsense") == {"copy"}
    assert found("copy readable") == {"copy", "read"}
    assert found("COPY") == {"copy"}
    for odd in ("", " ", '"', "*", "a AND (", "NEAR(", "_", "\0", "\ud800", "-copy:", "name : x", "'; DROP TABLE node"):
        found(odd)


def test_filters_select_by_source_path_and_kind(filled: GraphStore) -> None:
    fill(filled, {"other.py": WRITER}, "second")

    def found(where: NodeFilter, label: Label = Label.FUNCTION) -> set[tuple[str, str]]:
        ids = [match.id for match in search(filled, label, "file text source", 99, where).matches]
        return {(node.source, node.path) for node in filled.get(ids)}

    assert found(NodeFilter(source="second")) == {("second", "other.py")}
    assert found(NodeFilter(paths=("pack/*r.py",), source="demo")) == {
        ("demo", "pack/reader.py"),
        ("demo", "pack/writer.py"),
    }
    assert found(NodeFilter(paths=("pack/[!r]*",))) == {("demo", "pack/writer.py")}
    assert found(NodeFilter(kinds=frozenset({"try"}), source="second"), Label.BLOCK) == {("second", "other.py")}
    assert found(NodeFilter(source="third")) == set()


def test_filters_are_applied_before_the_best_are_chosen(filled: GraphStore) -> None:
    found = search(filled, Label.FUNCTION, "read path", 1, NodeFilter(paths=("pack/writer.py",)))
    assert names_of(filled, [found.matches[0].id]) == ["write"]
    assert (found.searched, found.filtered) == (4, 2)


def test_equal_content_is_deduplicated_to_the_best(store: GraphStore) -> None:
    fill(store, {f"{name}.py": WRITER for name in ("alpha", "beta", "gamma")})
    found = search(store, Label.FUNCTION, "copy beta")
    assert [match.same_content for match in found.matches[:1]] == [2]
    assert store.get([found.matches[0].id])[0].path == "beta.py"


def test_a_shared_body_is_found_by_each_of_its_rows(store: GraphStore) -> None:
    fill(store, dict.fromkeys(("row-1", "row-2"), ROW), label=Label.ROW)
    for path, expected in (("row-1", 1), ("row-2", 1), ("row-3", 0)):
        assert len(search(store, Label.FUNCTION, "area", 9, NodeFilter(paths=(path,))).matches) == expected


def test_scores_of_given_functions_are_those_of_the_search(filled: GraphStore) -> None:
    terms = weigh_terms("read the settings of a path")
    found = filled.text_search(Label.FUNCTION, terms, 9).matches
    ids = [match.id for match in reversed(found)]
    copy = find_id(filled, Label.FUNCTION, "copy")
    parts = filled.text_parts([copy, *ids, copy], terms)
    expected = [0, *(match.score for match in reversed(found)), 0]
    assert parts.scores.sum(axis=1).tolist() == pytest.approx(expected, rel=1e-6)
    assert (parts.scores <= parts.rarities).all()
    assert filled.text_parts([], terms).scores.shape == (0, len(terms))


@pytest.mark.parametrize("label", [Label.FUNCTION, Label.BLOCK])
def test_cosines_of_given_nodes_are_those_of_the_search(filled: GraphStore, label: Label) -> None:
    query = encode("read the settings of a path")
    found = filled.vector_search(label, query, 99).matches
    outlines = filled.outlines([match.id for match in found], query)
    assert [outlines[match.id].cosine for match in found] == pytest.approx([match.score for match in found], abs=1e-6)
    nothing = filled.outlines([found[0].id], np.zeros_like(query))
    assert nothing[found[0].id].cosine == 0


@pytest.mark.parametrize("label", [Label.FUNCTION, Label.BLOCK])
@pytest.mark.parametrize("where", [None, NodeFilter(kinds=frozenset({"for"})), NodeFilter(paths=("*.py",))])
def test_a_hybrid_search_equals_separate_searches(filled: GraphStore, label: Label, where: NodeFilter | None) -> None:
    query, terms = encode("read the settings of a path"), weigh_terms("read the settings of a path")
    worded = where if where is None else replace(where, kinds=None)
    expected = filled.vector_search(label, query, 5, where), filled.text_search(Label.FUNCTION, terms, 5, worded)
    assert expected[1].matches
    assert filled.hybrid_search(label, query, terms, 5, where) == expected
    assert filled.hybrid_search(label, query, {}, 5, where) == (expected[0], Matches((), 0, 0, 0))


@pytest.mark.parametrize("unknown", ["0" * 16, "no id", "", "ф" * 16, "00000000000000000"])
def test_an_unknown_id_has_no_score(filled: GraphStore, unknown: str) -> None:
    known = find_id(filled, Label.FUNCTION, "copy")
    with pytest.raises(NodeNotFoundError, match=f"'{unknown}'"):
        filled.text_parts([known, unknown], weigh_terms("copy"))


@pytest.mark.parametrize("label", LABELS)
def test_an_empty_store_finds_nothing(store: GraphStore, label: Label) -> None:
    found = search(store, label, "read")
    assert (found.matches, found.searched) == ((), 0)


def test_a_search_sees_the_last_write(open_store: OpenStore) -> None:
    writing, reading = open_store(), open_store()
    fill(writing, FILES)
    before = search(reading, Label.FUNCTION, "zoom a picture of settings")
    fill(writing, {"zoom.py": "def zoom(picture):\n    return picture.zoom()\n"}, "second")
    found = search(reading, Label.FUNCTION, "zoom a picture of settings")
    assert names_of(reading, [found.matches[0].id]) == ["zoom"]
    with writing.write() as writer:
        writer.delete_source("second")
    assert search(reading, Label.FUNCTION, "zoom a picture of settings") == before


def test_an_edited_file_has_new_terms_and_no_old_ones(filled: GraphStore) -> None:
    fill(filled, FILES | {"pack/writer.py": WRITER.replace("copy", "duplicate")})
    assert search(filled, Label.FUNCTION, "copy").matches == ()
    assert names_of(filled, [search(filled, Label.FUNCTION, "duplicate").matches[0].id]) == ["duplicate"]
    fresh = FakeStore()
    fill(fresh, FILES | {"pack/writer.py": WRITER.replace("copy", "duplicate")})
    for question in QUESTIONS:
        assert search(filled, Label.FUNCTION, question) == search(fresh, Label.FUNCTION, question)
