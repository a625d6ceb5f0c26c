"""A set of stores answers as one store with the same content, whatever the cut."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pytest
import rich
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from store_cuts import Record, record_builds, write_set

from pkg.api import build_graph
from pkg.cli import main
from pkg.errors import (
    EncoderMismatchError,
    NodeNotFoundError,
    StoreCorruptError,
    StoreError,
    StoreMissingError,
    StoreVersionError,
)
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.opening import open_store
from pkg.graph.sets.repeats import FILE
from pkg.graph.store import GraphStore
from pkg.model import DECLARATION_LABELS, EMBEDDED_LABELS, Edge, Label, NodeFilter, RelationType
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.http.http_access import HttpAccess
from pkg.service.http.http_options import HttpLimits
from pkg.service.http.service_app import make_app
from pkg.service.web.web_access import BrowserAccess, WebHosts
from pkg.terms.packed_terms import TERM_LABELS
from pkg.units import UnitLinks

MEMBERS = 5
HOST = "127.0.0.1:8720"
IMPORTS = ("import os", "import sys", "from typing import List", "import json")
TERMS = {"open": 1.0, "file": 0.5, "path": 2.0, "line": 1.0, "render": 1.3, "absent": 3.0}
FILTERS = (
    None,
    NodeFilter(source="rows"),
    NodeFilter(source="absent"),
    NodeFilter(paths=("r1*", "*/t*")),
    NodeFilter(paths=("r2*",)),
    NodeFilter(kinds=frozenset({"if", "for"})),
    NodeFilter(tests=False, source="rich"),
)


def write_rows(path: Path, number: int) -> Path:
    """Write a corpus whose rows share imports and functions, as rows of several members do."""
    rows = (
        f"{IMPORTS[row % 4]}\n\ndef shared_{row % 7}(x):\n    if x:\n        return os.path.join(x, '{row % 5}')\n"
        f"    return x\n\n\ndef own_{row}(path):\n    for line in open(path):\n        print(line, {row})\n"
        for row in range(number)
    )
    lines = (json.dumps({"id": f"r{number}", "code": code}) for number, code in enumerate(rows))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


class Pair(NamedTuple):
    """One graph as a store and as a set."""

    one: GraphStore
    many: GraphStore

    def list_ids(self, *labels: Label) -> list[str]:
        return sorted(node.id for node in self.one.nodes(labels))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    address = f"sqlite:///{folder}/one.db"
    with record_builds() as record:
        build_graph(rich.__path__[0], store=address, source="rich")
        build_graph(str(write_rows(folder / "rows.jsonl", 120)), store=address, source="rows")
    with ExitStack() as opened:
        one = opened.enter_context(closing(open_store(address)))
        made = write_set(record, one.encoder(), folder / "set", lambda unit: crc32(unit.path.encode()) % MEMBERS)
        yield Pair(one, opened.enter_context(closing(open_store(made))))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Return the record of a small graph."""
    folder = tmp_path_factory.mktemp("rows")
    with record_builds() as record:
        build_graph(str(write_rows(folder / "rows.jsonl", 9)), store=f"sqlite:///{folder}/one.db", source="rows")
    return record


@pytest.fixture
def folder(rows: Record, tmp_path: Path) -> Path:
    """Return the folder of a small set of two members."""
    write_set(rows, ENCODER, tmp_path / "set", lambda unit: crc32(unit.path.encode()) % 2)
    return tmp_path / "set"


ENCODER = ("static@test", 256)


def open_set(folder: Path) -> GraphStore:
    return open_store(f"sqlite-set:///{folder}")


def test_the_export_is_byte_equal(pair: Pair) -> None:
    assert list(pair.many.export(vectors=True)) == list(pair.one.export(vectors=True))


def test_the_set_is_sound(pair: Pair) -> None:
    assert (pair.many.check(), pair.many.repair_copies()) == ([], [])


@pytest.mark.parametrize("source", [None, "rich", "rows"])
def test_counts_are_equal(pair: Pair, source: str | None) -> None:
    one, many = pair.one.stats(source), pair.many.stats(source)
    assert (many.nodes, many.relations, many.sources) == (one.nodes, one.relations, one.sources)
    assert (many.partial, many.skipped, many.errors) == (one.partial, one.skipped, one.errors)


@pytest.mark.parametrize("where", FILTERS)
def test_searches_find_the_same_with_the_same_scores(pair: Pair, where: NodeFilter | None) -> None:
    vector = np.random.default_rng(1).standard_normal(pair.one.encoder()[1]).astype(np.float32)
    for k in (0, 1, 7, 40, 2000):
        for label in EMBEDDED_LABELS:
            assert pair.many.vector_search(label, vector, k, where) == pair.one.vector_search(label, vector, k, where)
        for label in (*TERM_LABELS, Label.BLOCK, Label.FUNCTION_NAME):
            assert pair.many.text_search(label, TERMS, k, where) == pair.one.text_search(label, TERMS, k, where)
        for label in (Label.FUNCTION, Label.BLOCK):
            found = pair.many.hybrid_search(label, vector, TERMS, k, where)
            assert found == pair.one.hybrid_search(label, vector, TERMS, k, where)
        found = pair.many.search_declarations(vector, TERMS, k, where)
        assert found == pair.one.search_declarations(vector, TERMS, k, where)


def test_the_parts_of_lexical_scores_are_equal(pair: Pair) -> None:
    for label in (Label.FUNCTION, Label.CLASS):
        ids = pair.list_ids(*(DECLARATION_LABELS if label is Label.CLASS else [label]))
        one, many = (store.text_parts(ids, TERMS, label) for store in pair)
        assert np.array_equal(many.scores, one.scores)
        assert np.array_equal(many.rarities, one.rarities)


def test_nodes_are_read_the_same(pair: Pair) -> None:
    ids = pair.list_ids(*Label)
    assert sorted(node.id for node in pair.many.nodes(Label)) == ids
    assert pair.many.get(ids) == pair.one.get(ids)
    some = ids[::17]
    assert list(map(pair.many.subtree, some)) == list(map(pair.one.subtree, some))
    assert list(map(pair.many.calls, some)) == list(map(pair.one.calls, some))
    names = sorted({node.name for node in pair.one.nodes([Label.FUNCTION, Label.CONSTANT])})
    assert pair.many.find_names(names) == pair.one.find_names(names)
    wanted = {unit: {"os", "List", "Console", "Text"} for unit in pair.list_ids(Label.FILE, Label.ROW)}
    assert pair.many.imports(wanted) == pair.one.imports(wanted)


def test_outlines_and_unfolded_nodes_are_equal(pair: Pair) -> None:
    ids = pair.list_ids(Label.FUNCTION, Label.BLOCK, *DECLARATION_LABELS)
    functions = pair.list_ids(Label.FUNCTION)[::5]
    vector = np.ones(pair.one.encoder()[1], np.float32)
    one, many = (store.outlines([*ids[::3], "0" * 16], vector, functions) for store in pair)
    assert list(many.items()) == list(one.items())
    assert pair.many.unfold(ids) == pair.one.unfold(ids)


def test_relationships_lead_from_member_to_member(pair: Pair) -> None:
    one, many = (sorted(map(str, store.edges(RelationType))) for store in pair)
    assert many == one
    starts = pair.list_ids(Label.FUNCTION, Label.FILE)[::50]
    for direction in ("out", "in", "both"):
        for depth in (1, 3):
            found = pair.many.neighbours(starts, None, direction, depth)
            assert found == pair.one.neighbours(starts, None, direction, depth)


def test_units_and_texts_are_read_the_same(pair: Pair) -> None:
    for source in ("rich", "rows"):
        assert sorted(pair.many.fingerprints(source)) == sorted(pair.one.fingerprints(source))
        assert sorted(pair.many.link_notes(source)) == sorted(pair.one.link_notes(source))
        assert pair.many.source_fingerprint(source) == pair.one.source_fingerprint(source)
        assert pair.many.errors(source) == pair.one.errors(source)
    paths = ["console.py", "text.py", "absent.py"]
    assert sorted(pair.many.texts("rich", paths)) == sorted(pair.one.texts("rich", paths))
    ids = pair.list_ids(Label.FUNCTION)[::20]
    assert sorted(pair.many.fragments(ids)) == sorted(pair.one.fragments(ids))
    assert (list(pair.many.generated_texts("rich")), list(pair.many.leaks())) == ([], [])


def test_an_unknown_node_is_refused(pair: Pair) -> None:
    for unknown in ("0" * 16, "no id"):
        for read in (pair.many.get, pair.many.unfold, pair.many.neighbours):
            with pytest.raises(NodeNotFoundError, match=unknown):
                read([unknown])
    with pytest.raises(NodeNotFoundError):
        pair.many.text_parts(["0" * 16], TERMS)


def test_a_query_vector_of_another_length_is_refused(pair: Pair) -> None:
    with pytest.raises(EncoderMismatchError, match="3 dimensions"):
        pair.many.vector_search(Label.BLOCK, np.ones(3, np.float32), 1)


@settings(max_examples=15)
@given(places=st.lists(st.integers(0, 3), min_size=9, max_size=9))
def test_any_cut_gives_the_same_graph(rows: Record, places: list[int]) -> None:
    cut = {unit.path: place for unit, place in zip(rows.units, places, strict=True)}
    with TemporaryDirectory() as folder, ExitStack() as opened:
        stores = [
            opened.enter_context(closing(open_store(write_set(rows, ENCODER, Path(folder, name), place))))
            for name, place in (("one", lambda unit: 0), ("many", lambda unit: cut[unit.path]))
        ]
        one, many = (
            (
                list(store.export(vectors=True)),
                store.stats().relations,
                store.check(),
                store.hybrid_search(Label.FUNCTION, np.ones(256, np.float32), TERMS, 5, NodeFilter(paths=("r[1-4]",))),
            )
            for store in stores
        )
        assert many == one


def test_commands_answer_from_a_set(pair: Pair) -> None:
    for words in (
        ["query", "read the lines of a file"],
        ["query", "print a table to the console", "--mode", "function"],
        ["deps", "Console.print"],
        ["deps", "own_3"],
        ["stats"],
    ):
        found = [CliRunner().invoke(main, [*words, "--store", store.address]) for store in pair]
        assert [each.exit_code for each in found] == [0, 0], found[1].output
        one, many = ([drop_place(json.loads(line)) for line in each.stdout.splitlines()] for each in found)
        assert many == one


def drop_place(line: dict[str, object]) -> dict[str, object]:
    """Return a line without what tells one store from another."""
    of_store = ("store", "generation", "bytes", "parts", "stages")
    return {name: value for name, value in line.items() if name not in of_store}


def test_an_open_set_notices_a_new_member_and_a_new_generation(folder: Path, rows: Record, tmp_path: Path) -> None:
    with closing(open_set(folder)) as store:
        before, units = store.stamp(), store.stats().nodes["Row"]
        with closing(EmbeddedStore(folder / "01.db")) as member, member.write() as writer:
            writer.delete_file("rows", next(member.fingerprints("rows"))[0])
        assert store.stats().nodes["Row"] == units - 1
        assert store.stamp() != before
        write_rows(tmp_path / "more.jsonl", 4)
        build_graph(str(tmp_path / "more.jsonl"), store=f"sqlite:///{tmp_path}/more.db", encoder="static")
        for path in tmp_path.glob("more.db*"):
            path.replace(folder / path.name)
        with pytest.raises(EncoderMismatchError, match=r"more\.db 'static"):
            store.stats()


def test_repeated_fragments_are_found_once(folder: Path) -> None:
    with closing(open_set(folder)) as store:
        export = list(store.export())
    found = (folder / FILE).read_bytes()
    written = (folder / FILE).stat().st_mtime_ns
    open_set(folder).close()
    assert (folder / FILE).stat().st_mtime_ns == written
    for text in ("", "[]", '{"stamps": {}}', json.dumps({"stamps": json.loads(found)["stamps"], "repeats": [[1]]})):
        (folder / FILE).write_text(text, encoding="utf-8")
        with closing(open_set(folder)) as store:
            assert list(store.export()) == export
        assert (folder / FILE).read_bytes() == found


def test_a_folder_without_stores_is_no_set(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(StoreMissingError, match=r"no stores in .*; build rows into it: pkg build ROWS"):
            open_set(folder)


def test_a_member_whose_first_build_has_not_ended_is_named(folder: Path) -> None:
    with closing(EmbeddedStore(folder / "02.db", create=True)) as store:
        store.ensure_schema(*ENCODER)
    with pytest.raises(StoreMissingError, match=r"first build of .*02\.db has not ended"):
        open_set(folder)


def test_a_damaged_member_is_named(folder: Path) -> None:
    (folder / "01.db").write_bytes(b"no database, but as long as one" * 900)
    with pytest.raises(StoreCorruptError, match=r"01\.db"):
        open_set(folder)


def test_a_member_of_a_newer_schema_is_named(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "01.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreVersionError, match=r"01\.db has schema version 99"):
        open_set(folder)


def test_members_of_several_encoders_are_no_set(folder: Path, rows: Record) -> None:
    with closing(EmbeddedStore(folder / "02.db", create=True)) as store:
        rows.fill(store, ("other", 256), lambda unit: False)
    with pytest.raises(EncoderMismatchError, match=r"00\.db 'static@test' and 02\.db 'other'"):
        open_set(folder)


def test_a_row_in_two_members_is_refused(folder: Path, rows: Record) -> None:
    with closing(EmbeddedStore(folder / "02.db", create=True)) as store:
        rows.fill(store, ENCODER, lambda unit: unit.path == "r3")
    with pytest.raises(StoreError, match=r"'r3' is in 0[01]\.db and in 02\.db"):
        open_set(folder)


def test_a_relationship_without_an_end_in_any_member_is_a_fault(folder: Path) -> None:
    with closing(EmbeddedStore(folder / "00.db")) as store:
        path = next(store.fingerprints("rows"))[0]
        (unit,) = (node for node in store.nodes([Label.ROW]) if node.path == path)
        ends = "0123456789abcdef", "fedcba9876543210"
        edges = tuple(Edge(RelationType.RESOLVES_TO, unit.id, end) for end in ends)
        with store.write() as writer:
            writer.put_links("rows", [UnitLinks(path, edges)])
    with closing(open_set(folder)) as many:
        assert many.check() == ["2 relationships that lack an end"]


def test_a_set_is_only_read(folder: Path, tmp_path: Path) -> None:
    address = f"sqlite-set:///{folder}"
    (tmp_path / "a.py").write_text("def f():\n    return 1\n", encoding="utf-8")
    with closing(open_set(folder)) as store:
        for write in (store.write, lambda: store.ensure_schema(*ENCODER), lambda: store.load_source("a", "b", print)):
            with pytest.raises(StoreError, match="does not write; build rows into it: pkg build ROWS"):
                write()
        assert store.unfinished() == []
    for words in (["build", str(tmp_path / "a.py"), "--watch"], ["build", "--remove", "rows"]):
        found = CliRunner().invoke(main, [*words, "--store", address])
        assert found.exit_code == 1
        assert "is a set of stores, which this does not write" in found.stderr


def test_the_service_answers_from_a_set(pair: Pair) -> None:
    question = {"text": "print a table to the console", "mode": "function"}
    access = HttpAccess(BrowserAccess[str](WebHosts((HOST,), has_programs=True), "serve"), None)
    apps = [make_app(GraphService(ServiceOptions(store.address)), access, HttpLimits(at_once=2)) for store in pair]
    clients = [TestClient(app, base_url=f"http://{HOST}") for app in apps]
    one, many = (client.post("/v1/query", json=question).json() for client in clients)
    for answer in (one, many):
        answer["freshness"] |= {"generation": 0, "graph": ""}
    assert many == one
    assert "console.py" in json.dumps(one)
