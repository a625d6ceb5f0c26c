"""The files of a bulk import contain the whole graph and instructions."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from contract.units import prepare
from hypothesis import given
from hypothesis import strategies as st
from trees import GUIDES, SHOP, open_graph_at, write_rows, write_tree

from pkg.errors import PathError, StoreError, StoreFullError, StoreMissingError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.neo4j.bulk_import import ARRAY_DELIMITER, BulkWriter, CsvFiles
from pkg.graph.sqlite_rows import unpack_text
from pkg.indexing.build import build
from pkg.indexing.bulk_export import export_bulk
from pkg.model import EMBEDDED_LABELS, Edge, Label, RelationType, Source
from pkg.units import UnboundCall, UnitLinks, name_library

SAME_BODY = ("import os\n\ndef f():\n    return os\n", "x = 1\n\ndef f():\n    return os\n", "def g(): pass\n")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """Return a store with a repository, a corpus whose rows share a function, and facts of documents."""
    with closing(open_graph_at(tmp_path / "graph.db")) as opened:
        build(str(write_tree(tmp_path / "shop", SHOP)), opened)
        build(str(write_rows(tmp_path / "rows.jsonl", *SAME_BODY)), opened)
        build(str(write_tree(tmp_path / "guides", GUIDES)), opened, reader="structure")
        yield opened


def read_rows(folder: Path, name: str) -> list[dict[str, str]]:
    """Read the files of a label or type as a table with the column names of the header, without types."""
    limit = csv.field_size_limit(1 << 30)
    rows: list[list[str]] = []
    for part in list_parts(folder, name):
        with part.open(encoding="utf-8", newline="") as file:
            rows += csv.reader(file)
    header, *rows = rows
    csv.field_size_limit(limit)
    return [dict(zip((column.split(":")[0] or column for column in header), row, strict=True)) for row in rows]


def list_parts(folder: Path, name: str) -> list[Path]:
    """List the files of a label or type in their order."""
    return sorted(
        [*folder.glob(f"{name}.csv"), *folder.glob(f"{name}-*.csv")],
        key=lambda part: int(part.stem.partition("-")[2] or 1),
    )


def list_relations(lines: list[dict[str, Any]], name: str) -> list[tuple[str, str, str]]:
    listed = [(line["start"], line["end"], str(line.get("line", ""))) for line in lines if line.get("name") == name]
    return sorted(listed)


def test_every_node_and_relationship_of_the_export_is_in_the_files(store: EmbeddedStore, tmp_path: Path) -> None:
    report, lines = export_bulk(store, tmp_path / "files"), list(store.export())
    labels = Counter(line["label"] for line in lines if line["type"] == "node")
    for label in labels:
        ids = sorted(line["id"] for line in lines if line.get("label") == label)
        assert sorted(row["id"] for row in read_rows(tmp_path / "files", label)) == ids
    types = Counter(line["name"] for line in lines if line["type"] == "relation")
    for name in types:
        rows = read_rows(tmp_path / "files", name)
        assert sorted(tuple(row.values())[:3] for row in rows) == list_relations(lines, name)
    own = {"PkgStore": 2} | {label: len(read_rows(tmp_path / "files", label)) for label in ("Fragment", "Links")}
    assert report.nodes == labels | own
    assert report.relations == types | {"HOLDS": len(read_rows(tmp_path / "files", "HOLDS"))}


def test_a_function_that_two_rows_share_is_written_once_and_held_twice(store: EmbeddedStore, tmp_path: Path) -> None:
    export_bulk(store, tmp_path / "files")
    (function,) = [row for row in read_rows(tmp_path / "files", "Function") if row["name"] == "f"]
    held = [row for row in read_rows(tmp_path / "files", "HOLDS") if row[":END_ID"] == function["fragment"]]
    contained = [row for row in read_rows(tmp_path / "files", "CONTAINS") if row[":END_ID"] == function["id"]]
    assert [row["line"] for row in held] == [row["line"] for row in contained] == ["3", "3"]
    assert len({row[":START_ID"] for row in held}) == 2


def test_sources_are_complete_with_node_counts(store: EmbeddedStore, tmp_path: Path) -> None:
    export_bulk(store, tmp_path / "files")
    shop = next(row for row in read_rows(tmp_path / "files", "Source") if row["name"] == "shop")
    assert (shop["state"], shop["count_File"], shop["count_Row"]) == ("ready", str(len(SHOP)), "0")
    assert shop["count_Function"] == str(sum(line.get("source") == "shop" and line.get("label") == "Function"
                                             for line in store.export()))  # fmt: skip
    state, commit = read_rows(tmp_path / "files", "PkgStore")
    assert (state["id"], state["generation"], commit["id"], commit["number"]) == ("store", "1", "commit", "0")
    assert (state["encoder"], int(state["dimension"])) == store.encoder()


def test_texts_and_fingerprints_are_those_of_the_store(store: EmbeddedStore, tmp_path: Path) -> None:
    export_bulk(store, tmp_path / "files")
    fingerprints = {path: fingerprint for path, fingerprint, _ in store.fingerprints("shop")}
    files = [row for row in read_rows(tmp_path / "files", "File") if row["source"] == "shop"]
    assert {row["path"]: row["fingerprint"] for row in files} == fingerprints
    fragments = [row for row in read_rows(tmp_path / "files", "Fragment") if row["source"] == "shop"]
    texts = {unpack_text(bytes(int(byte) % 256 for byte in row["text"].split(ARRAY_DELIMITER))) for row in fragments}
    assert texts == {text.encode() for text in SHOP.values()}


def test_several_workers_write_the_same_nodes(store: EmbeddedStore, tmp_path: Path) -> None:
    one, two = (export_bulk(store, tmp_path / f"jobs-{jobs}", jobs) for jobs in (1, 2))
    assert (one.nodes, one.relations) == (two.nodes, two.relations)
    for label in one.nodes.keys() - {"Source"}:  # a source has the times of its stages
        found = [read_rows(Path(report.folder), label) for report in (one, two)]
        rows = [sorted(str(row | {"stamp": ""}) for row in each) for each in found]  # each export has another stamp
        assert rows[0] == rows[1]


def test_the_script_names_every_file_and_a_buffer_for_the_longest_row(tmp_path: Path) -> None:
    huge = "def f():\n    return '''" + "x\n" * 1_500_000 + "'''\n"
    with closing(open_graph_at(tmp_path / "graph.db")) as opened:
        build(str(write_tree(tmp_path / "huge", {"huge.py": huge})), opened, max_file_size=1 << 30)
        export_bulk(opened, tmp_path / "files")
    script, guide = ((tmp_path / "files" / name).read_text(encoding="utf-8") for name in ("import.sh", "README.md"))
    names = [file.name for file in (tmp_path / "files").glob("*.csv")]
    for text in (script, guide):
        named = [
            name for files in re.findall(r"--(?:nodes|relationships)=\w+=(\S+)", text) for name in files.split(",")
        ]
        assert sorted(named) == sorted(names)
    buffer = int(script.partition("--read-buffer-size=")[2].split()[0])
    assert buffer >= 2 * len(huge)


def test_rows_continue_in_files_of_a_bounded_size_that_the_script_names_in_order(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    one, several = (export_bulk(store, tmp_path / str(size), part_bytes=size) for size in (1 << 30, 2000))
    for name in {**one.nodes, **one.relations}:
        rows = [[str(row | {"stamp": ""}) for row in read_rows(Path(each.folder), name)] for each in (one, several)]
        assert name in ("Source", "PkgStore") or rows[0] == rows[1]
    folder = Path(several.folder)
    parts = list_parts(folder, "Block")
    assert len(parts) > 2
    assert f"--nodes=Block={','.join(part.name for part in parts)} " in (folder / "import.sh").read_text()
    header = parts[0].read_bytes().splitlines(keepends=True)[0]
    assert not any(header in part.read_bytes() for part in parts[1:])
    for part in folder.glob("*.csv"):
        size, longest = part.stat().st_size, max(len(row) for row in part.read_bytes().split(b'\n"'))
        assert size <= 2000 + len(header) + longest


def test_the_schema_makes_every_index_of_the_online_store(store: EmbeddedStore, tmp_path: Path) -> None:
    export_bulk(store, tmp_path / "files")
    old, new = ((tmp_path / "files" / f"schema-{name}.cypher").read_text(encoding="utf-8") for name in ("5", "2026"))
    for text in (old, new):
        assert text.count("CREATE VECTOR INDEX") == len(EMBEDDED_LABELS)
        assert f"`vector.dimensions`: {store.encoder()[1]}" in text
        assert "pkg_function_text" in text
    assert "WITH [n.source]" in new
    assert "WITH [n.source]" not in old


def test_a_store_without_a_graph_is_refused(tmp_path: Path) -> None:
    with closing(open_graph_at(tmp_path / "graph.db")) as opened, pytest.raises(StoreMissingError, match="pkg build"):
        export_bulk(opened, tmp_path / "files")
    assert not (tmp_path / "files").exists()


def test_a_folder_with_files_is_refused_and_unchanged(store: EmbeddedStore, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "mine.txt").write_text("mine")
    with pytest.raises(PathError, match="is not empty; expected a new or empty folder"):
        export_bulk(store, tmp_path / "files")
    assert [file.name for file in (tmp_path / "files").iterdir()] == ["mine.txt"]


def test_a_file_instead_of_a_folder_is_refused(store: EmbeddedStore, tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"graph\.db: .*expected a folder"):
        export_bulk(store, tmp_path / "graph.db")


def test_a_full_disk_leaves_an_empty_folder(
    store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = CsvFiles.put_nodes

    def fail_late(files: CsvFiles, label: str, nodes: Any) -> None:
        if label == "FunctionName":
            raise OSError(28, "No space left on device")
        write(files, label, nodes)

    monkeypatch.setattr(CsvFiles, "put_nodes", fail_late)
    with pytest.raises(StoreFullError, match="No space left on device; free some space"):
        export_bulk(store, tmp_path / "files")
    assert list((tmp_path / "files").iterdir()) == []


def test_relationships_carry_line_rule_and_confidence(tmp_path: Path) -> None:
    edges = (Edge(RelationType.CALLS, "a", "b", 3, 'by "name"', "likely"), Edge(RelationType.CALLS, "a", "c"))
    write_links(tmp_path, UnitLinks("a.py", edges))
    assert [list(row.values()) for row in read_rows(tmp_path, "CALLS")] == [
        ["a", "b", "3", 'by "name"', "likely", "a.py"],
        ["a", "c", "", "", "", "a.py"],
    ]


def write_links(folder: Path, *links: UnitLinks, label: Label = Label.FILE) -> None:
    """Write files or rows without code, and their links."""
    with closing(CsvFiles(folder)) as files, closing(BulkWriter(files)) as writer:
        writer.put_source(Source("demo", "repository", "/demo"))
        for unit in prepare("demo", {each.path: "x = 1\n" for each in links}, label):
            writer.replace_file(unit)
        writer.put_links("demo", links)
        writer.finish("static", 192, 1)


def test_libraries_and_calls_that_several_units_refer_to_are_written_once_and_counted(tmp_path: Path) -> None:
    edge = Edge(RelationType.RESOLVES_TO, "i", name_library("demo", "os"), rule="module")
    calls = (UnboundCall("aa", "f", "x", 3, "unknown"), UnboundCall("bb", "f", "y", 4, "unknown"))
    links = [UnitLinks(f"row-{n}", (edge,), calls[:n], ("os", "unused"), bytes([n])) for n in (1, 2)]
    write_links(tmp_path, *links, label=Label.ROW)
    assert [row["name"] for row in read_rows(tmp_path, "Library")] == ["os"]
    assert [(row["id"], row["path"], row["line"]) for row in read_rows(tmp_path, "Call")] == [
        ("aa", "", ""),
        ("bb", "", ""),
    ]
    assert [row["line"] for row in read_rows(tmp_path, "UNRESOLVED")] == ["3", "3", "4"]
    assert [row["notes"] for row in read_rows(tmp_path, "Links")] == ["1", "2"]
    (source,) = read_rows(tmp_path, "Source")
    assert (source["count_Library"], source["count_Call"]) == ("1", "2")


def test_a_call_in_a_file_is_written_with_its_place(tmp_path: Path) -> None:
    write_links(tmp_path, UnitLinks("a.py", (), (UnboundCall("aa", "f", 'say("x")', 3, "unknown"),)))
    assert [list(row.values()) for row in read_rows(tmp_path, "Call")] == [
        ["aa", "demo", 'say("x")', "unknown", "a.py", "3"],
    ]


def test_links_of_a_unit_that_is_not_written_are_refused(tmp_path: Path) -> None:
    with closing(CsvFiles(tmp_path)) as files, closing(BulkWriter(files)) as writer:
        writer.put_source(Source("demo", "repository", "/demo"))
        with pytest.raises(StoreError, match=r"no file or row 'a\.py' in source 'demo'"):
            writer.put_links("demo", [UnitLinks("a.py")])


@pytest.mark.parametrize("change", ["delete_source", "delete_file", "put_fingerprint"])
def test_written_data_cannot_be_changed(tmp_path: Path, change: str) -> None:
    arguments = {"delete_source": ["demo"], "delete_file": ["demo", "a.py"], "put_fingerprint": ["demo", "a.py", "1"]}
    with closing(CsvFiles(tmp_path)) as files, closing(BulkWriter(files)) as writer:
        writer.put_source(Source("demo", "repository", "/demo"))
        with pytest.raises(StoreError, match="cannot be changed in files for an import"):
            getattr(writer, change)(*arguments[change])


@given(texts=st.lists(TEXTS, min_size=1))
def test_any_text_is_restored_and_missing_differs_from_empty(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("texts")
    with closing(CsvFiles(folder)) as files:
        files.put_nodes("FunctionName", [{"id": str(i), "name": text} for i, text in enumerate(texts)])
        files.put_nodes("FunctionName", [{"id": "none", "name": None}])
    assert [row["name"] for row in read_rows(folder, "FunctionName")] == [*texts, ""]
    assert (folder / "FunctionName.csv").read_bytes().endswith(b'"none",,,,\n')
    assert (b'"0",,"",,\n' in (folder / "FunctionName.csv").read_bytes()) == (texts[0] == "")


@given(st.lists(st.floats(width=16, allow_nan=False, allow_infinity=False), min_size=1))
def test_vectors_are_restored_to_the_last_digit(tmp_path_factory: pytest.TempPathFactory, vector: list[float]) -> None:
    import numpy as np

    folder = tmp_path_factory.mktemp("vectors")
    with closing(CsvFiles(folder)) as files:
        files.put_nodes("FunctionName", [{"id": "a", "embedding": vector}])
    (row,) = read_rows(folder, "FunctionName")
    assert [float(np.float32(text)) for text in row["embedding"].split(ARRAY_DELIMITER)] == vector


def test_an_export_begins_with_all_that_the_rest_is_derived_from(store: EmbeddedStore) -> None:
    labels, first = [line.get("label") for line in store.export()], {"Source", "File", "Row"}
    assert set(labels[1 : 1 + sum(label in first for label in labels)]) == first
