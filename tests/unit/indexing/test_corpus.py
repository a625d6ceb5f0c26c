"""Builds of corpora: equal code stored once, changed and removed rows, other formats (P-01, docs/schema.md)."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sys
from contextlib import closing
from pathlib import Path

import pytest
from trees import export_lines, list_ids, open_graph_at, write_rows

import pkg
from pkg.errors import CorpusError, PathError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore
from pkg.indexing.build import build
from pkg.model import Label, RelationType

ADD = "def add(a, b):\n    return a + b"
ADD_IN_PROSE = f"Here it is:\n\n```python\n{ADD}\n```\n\nIt adds."
SUB = "import math\n\ndef sub(a, b):\n    if a:\n        return a - b\n    return -b"


def build_afresh(corpus: Path, place: Path) -> list[str]:
    with closing(open_graph_at(place)) as fresh:
        build(str(corpus), fresh)
        return export_lines(fresh)


def list_rows_of(store: GraphStore, name: str) -> list[str]:
    """List the paths of the rows that contain the one function of a name."""
    (function,) = store.find_name(name)
    edges = store.neighbours([function.id], [RelationType.CONTAINS], "in")
    return sorted(node.path for node in store.get([edge.start for edge in edges]))


def test_repeated_definitions_are_counted(tmp_path: Path, store: EmbeddedStore) -> None:
    build(str(write_rows(tmp_path / "c.jsonl", ADD, ADD_IN_PROSE, SUB, f"{SUB}\n\n\n{ADD}", "import math")), store)
    assert store.stats().repeated == 3


def test_an_equal_function_of_several_rows_is_stored_once_and_contained_in_each(
    tmp_path: Path, store: EmbeddedStore
) -> None:
    report = build(str(write_rows(tmp_path / "c.jsonl", ADD, ADD_IN_PROSE, SUB, ADD)), store)
    assert (report.written, report.source) == (4, "c")
    assert store.stats().nodes == {
        "Source": 1, "Row": 4, "Function": 2, "FunctionName": 2, "Block": 3, "Import": 1,
    }  # fmt: skip
    assert list_rows_of(store, "add") == ["row-0000000", "row-0000001", "row-0000003"]
    assert store.check() == []


def test_a_shared_function_has_the_place_of_the_first_row(tmp_path: Path, store: EmbeddedStore) -> None:
    build(str(write_rows(tmp_path / "c.jsonl", {"id": "z", "output": ADD}, {"id": "a", "output": ADD_IN_PROSE})), store)
    (function,) = store.find_name("add")
    assert (function.path, function.start_line, function.content) == ("a", 4, ADD)


def test_rows_without_code_are_reported(tmp_path: Path, store: EmbeddedStore) -> None:
    report = build(str(write_rows(tmp_path / "c.jsonl", ADD, "The answer is 42.")), store)
    assert (report.written, report.partial) == (2, 1)
    assert [(skip.path, skip.reason) for skip in store.stats().partial] == [("row-0000001", "no Python code")]


def test_rows_that_cannot_be_read_are_skipped_with_their_place(tmp_path: Path, store: EmbeddedStore) -> None:
    corpus = write_rows(tmp_path / "c.jsonl", ADD)
    corpus.write_text(
        corpus.read_text() + "not json\n" + json.dumps({"other": 1}) + "\n" + json.dumps({"output": 5}) + "\n"
    )
    report = build(str(corpus), store)
    assert report.written == 1
    assert [skip.path for skip in report.skipped] == ["line 2", "line 3", "line 4"]
    assert store.stats().skipped == report.skipped


def test_a_corpus_without_a_readable_row_is_refused(tmp_path: Path, store: EmbeddedStore) -> None:
    (tmp_path / "c.jsonl").write_text("not json\n" * 3)
    with pytest.raises(CorpusError, match=r"no row of .*c\.jsonl can be read"):
        build(str(tmp_path / "c.jsonl"), store)
    assert store.sources() == ()


def test_a_missing_corpus_is_refused(tmp_path: Path, store: EmbeddedStore) -> None:
    with pytest.raises(PathError, match=r"c\.jsonl"):
        build(str(tmp_path / "c.jsonl"), store)


def test_an_unchanged_corpus_writes_nothing(tmp_path: Path, store: EmbeddedStore) -> None:
    corpus = write_rows(tmp_path / "c.jsonl", ADD, SUB)
    build(str(corpus), store)
    report = build(str(corpus), store)
    assert (report.written, report.removed, report.generation, report.changed) == (0, 0, 1, False)


def test_a_rewritten_corpus_of_equal_rows_makes_no_new_generation(tmp_path: Path, store: EmbeddedStore) -> None:
    build(str(write_rows(tmp_path / "c.jsonl", ADD, SUB)), store)
    corpus = tmp_path / "c.jsonl"
    corpus.write_text(corpus.read_text().replace("}\n", ', "more": 1}\n'))
    report = build(str(corpus), store)
    assert (report.unchanged, report.written, report.generation) == (2, 0, 1)


def test_changed_new_and_removed_rows_are_followed(tmp_path: Path, store: EmbeddedStore) -> None:
    corpus = tmp_path / "c.jsonl"
    build(str(write_rows(corpus, ADD, SUB, ADD)), store)
    report = build(str(write_rows(corpus, ADD_IN_PROSE, "def mul(a, b): return a * b")), store)
    assert (report.written, report.unchanged, report.removed, report.generation) == (2, 0, 1, 2)
    assert (store.find_name("sub"), list_rows_of(store, "add")) == ([], ["row-0000000"])
    assert export_lines(store) == build_afresh(corpus, tmp_path / "fresh.db")
    assert store.check() == []


def test_a_function_stays_until_the_last_row_that_holds_it_is_gone(tmp_path: Path, store: EmbeddedStore) -> None:
    corpus = tmp_path / "c.jsonl"
    build(
        str(write_rows(corpus, {"id": "a", "output": ADD}, {"id": "b", "output": ADD}, {"id": "c", "output": SUB})),
        store,
    )
    ids = list_ids(store)
    build(str(write_rows(corpus, {"id": "b", "output": ADD}, {"id": "c", "output": SUB})), store)
    assert list_rows_of(store, "add") == ["b"]
    build(str(write_rows(corpus, {"id": "c", "output": SUB})), store)
    assert store.find_name("add") == []
    build(
        str(write_rows(corpus, {"id": "a", "output": ADD}, {"id": "b", "output": ADD}, {"id": "c", "output": SUB})),
        store,
    )
    assert list_ids(store) == ids


def test_the_order_of_rows_with_ids_does_not_matter(tmp_path: Path) -> None:
    rows = [
        {"id": f"r{number}", "output": text} for number, text in enumerate([ADD, SUB, ADD_IN_PROSE, ADD + "\n"] * 2)
    ]
    exports: list[list[str]] = []
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        exports.append(build_afresh(write_rows(tmp_path / "c.jsonl", *rows), tmp_path / f"{seed}.db"))
    assert exports[0] == exports[1] == exports[2]


def test_calls_of_a_piece_do_not_depend_on_the_rest_of_its_row(tmp_path: Path) -> None:
    cached = "@cache(size())\ndef f(): return g()"
    found = []
    for name, rows in (("alone", [cached]), ("later", ["x = 1\n" + cached + "\n", cached])):
        with closing(open_graph_at(tmp_path / f"{name}.db")) as store:
            build(str(write_rows(tmp_path / f"{name}.jsonl", *rows)), store)
            (function,) = store.find_name("f")
            found.append([call.expression for call in store.calls(function.id)])
    assert found == [["g"], ["g"]]


def test_alpaca_rows_are_mined_on_their_answer_side(tmp_path: Path, store: EmbeddedStore) -> None:
    row = {"instruction": "Write def wrong(): pass", "input": "def wrong(): pass", "output": ADD_IN_PROSE}
    build(str(write_rows(tmp_path / "alpaca.jsonl", row)), store)
    assert (len(store.find_name("add")), store.find_name("wrong")) == (1, [])


def test_a_named_field_replaces_the_usual_one(tmp_path: Path, store: EmbeddedStore) -> None:
    corpus = str(write_rows(tmp_path / "c.jsonl", {"output": SUB, "mine": ADD}))
    build(corpus, store, field="mine")
    assert (len(store.find_name("add")), store.find_name("sub")) == (1, [])
    assert build(corpus, store).written == 1
    assert (store.find_name("add"), len(store.find_name("sub"))) == ([], 1)


def test_packed_rows_and_tables_give_the_same_functions(tmp_path: Path, store: EmbeddedStore) -> None:
    plain = write_rows(tmp_path / "c.jsonl", ADD, SUB)
    (tmp_path / "packed.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    with open(tmp_path / "table.csv", "w", newline="") as file:
        csv.writer(file).writerows([["output"], [ADD], [SUB]])
    for name in ("c.jsonl", "packed.jsonl.gz", "table.csv"):
        build(str(tmp_path / name), store)
    assert [source.name for source in store.sources()] == ["c", "packed", "table"]
    assert [node.source for node in store.find_name("sub")] == ["c", "packed", "table"]


def test_rows_from_standard_input_are_a_source_that_is_compared_each_time(
    tmp_path: Path, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def feed(*rows: str) -> None:
        stream = io.BufferedReader(io.BytesIO(write_rows(tmp_path / "c.jsonl", *rows).read_bytes()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))

    feed(ADD, SUB)
    assert build("-", store).written == 2
    feed(ADD, SUB)
    again = build("-", store)
    assert (again.source, again.unchanged, again.written, again.generation) == ("stdin", 2, 0, 1)
    feed(ADD)
    assert (build("-", store).removed, store.find_name("sub")) == (1, [])


def test_a_row_and_a_repository_live_in_one_graph(tmp_path: Path, store: EmbeddedStore) -> None:
    build(str(write_rows(tmp_path / "c.jsonl", ADD)), store)
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").write_text(ADD + "\n")
    build(str(tmp_path / "repo"), store)
    assert [(node.source, node.path) for node in store.find_name("add")] == [("c", "row-0000000"), ("repo", "a.py")]
    labels = {line["label"] for line in store.export() if line["type"] == "node"}
    assert {Label.ROW.value, Label.FILE.value} <= labels


def test_a_corpus_written_within_the_last_clock_tick_is_read_again_at_the_next_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, rows = f"sqlite:///{tmp_path / 'graph.db'}", tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "a", "code": "def one():\n    return 1\n"}) + "\n")
    monkeypatch.setattr("pkg.extract.files.CLOCK_TICK_NS", 3_600 * 10**9)
    assert pkg.build_graph(rows, store=address).written == 1
    monkeypatch.setattr("pkg.extract.files.CLOCK_TICK_NS", 0)  # the tick is over
    same = pkg.build_graph(rows, store=address)
    assert (same.written, same.unchanged) == (0, 1)
