"""The embedded store beyond the contract: vector codes, several processes, full disks, integrity."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from contract.units import FILES, READER, WRITER, encode, encoder, fill, find_id, prepare, put_edges
from trees import STORE_FILES

from pkg.errors import StoreCorruptError, StoreError
from pkg.graph.embedded import sql
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.model import Edge, Label, Matches, RelationType
from pkg.vectors.exact import Row
from pkg.vectors.vector_file import read_index, write_index

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file of a filled and closed store."""
    place = tmp_path / "graph.db"
    with closing(EmbeddedStore(place, create=True)) as store:
        fill(store, FILES)
    return place


@pytest.fixture
def store(path: Path) -> Iterator[EmbeddedStore]:
    with closing(EmbeddedStore(path)) as opened:
        yield opened


def codes_of(path: Path) -> Path:
    return path.with_name("graph.db-vectors")


def search(path: Path) -> list[Matches]:
    """Search every label through a separate connection."""
    with closing(EmbeddedStore(path)) as store:
        labels = (Label.FUNCTION, Label.BLOCK, Label.FUNCTION_NAME, Label.IMPORT)
        return [store.vector_search(label, encode("read the settings of a path"), 5) for label in labels]


HEADER = b"PKG vectors 1\n"
DAMAGE = {
    "missing": None,
    "empty": b"",
    "garbage": b"\x93garbage" * 2000,
    "of another version": b"PKG vectors 0\n{}\n",
    "without a header": HEADER,
    "with half a header": HEADER + b'{"stamp": "',
    "a list": HEADER + b"[]\n",
    "a number": HEADER + b"1\n",
    "with other keys": HEADER + b'{"stamp": "x"}\n',
    "with odd segments": HEADER + b'{"stamp": "x", "dimension": 192, "errors": {}, "segments": {"Block": 5}}\n',
}


@pytest.mark.parametrize("content", DAMAGE.values(), ids=DAMAGE.keys())
def test_unusable_vector_codes_are_rewritten(path: Path, content: bytes | None) -> None:
    before, codes = search(path), codes_of(path).read_bytes()
    codes_of(path).unlink()
    if content is not None:
        codes_of(path).write_bytes(content)
    assert search(path) == before
    assert codes_of(path).read_bytes() == codes


def test_truncated_vector_codes_are_rewritten(path: Path) -> None:
    before, codes = search(path), codes_of(path).read_bytes()
    for size in (1, 13, 100, 8192, 8193, len(codes) // 2, len(codes) - 640, len(codes) - 64):
        codes_of(path).write_bytes(codes[:size])
        assert search(path) == before
        assert codes_of(path).read_bytes() == codes


def test_vector_codes_of_an_older_generation_are_rewritten(path: Path) -> None:
    old = codes_of(path).read_bytes()
    with closing(EmbeddedStore(path)) as store:
        fill(store, {"zoom.py": READER.replace("read", "zoom")}, "second")
    before, new = search(path), codes_of(path).read_bytes()
    codes_of(path).write_bytes(old)
    assert search(path) == before
    assert codes_of(path).read_bytes() == new


def test_vector_codes_after_each_write_equal_those_made_from_scratch(path: Path) -> None:
    zoom, turn = READER.replace("read", "zoom"), WRITER.replace("write", "turn")
    writes: list[Callable[[EmbeddedStore], object]] = [
        lambda store: fill(store, {"zoom.py": zoom}, "second"),
        lambda store: fill(store, {"pack/reader.py": READER.replace("read", "turn")}),
        lambda store: delete(store, "second", "zoom.py"),  # the nodes of the highest numbers
        lambda store: fill(store, {"turn.py": turn, "zoom.py": zoom}, "second"),  # which are assigned again
        lambda store: delete(store, "demo", "pack/reader.py"),
        lambda store: delete(store, "demo", "pack/writer.py"),
        lambda store: delete(store, "second", "turn.py"),
        lambda store: delete(store, "second", "zoom.py"),
        lambda store: fill(store, {"pack/reader.py": READER}),
    ]
    for write in writes:
        with closing(EmbeddedStore(path)) as store:
            write(store)
        codes = codes_of(path).read_bytes()
        codes_of(path).unlink()
        search(path)
        assert codes_of(path).read_bytes() == codes


def delete(store: EmbeddedStore, source: str, path: str) -> None:
    with store.write() as writer:
        writer.delete_file(source, path)


def test_codes_of_unchanged_vectors_are_reused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def write_counted(*given: Any) -> None:
        path, stamp, dimension, counts, list_rows, kept = given

        def list_counted(name: str) -> Iterator[Row]:
            for row in list_rows(name):
                read.append(name)
                yield row

        write_index(path, stamp, dimension, counts, list_counted, kept)

    monkeypatch.setattr("pkg.vectors.vector_file.write_index", write_counted)
    with closing(EmbeddedStore(path)) as store:
        before = store.stats().nodes
        fill(store, {"zoom.py": READER.replace("read", "zoom")}, "second")
        after = store.stats().nodes
    labels = "Function", "Block", "Class", "Module"
    assert len(read) == sum(after[label] - before[label] for label in labels) > 0
    codes_of(path).write_bytes(b"")
    read.clear()
    search(path)
    assert [read.count(label) for label in ("Function", "Block")] == [after["Function"], after["Block"]]


def test_vector_codes_of_a_diverged_copy_are_rewritten(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / "graph.db"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    for place, text in ((path, READER.replace("read", "zoom")), (copy, WRITER.replace("copy", "zoom"))):
        with closing(EmbeddedStore(place)) as store:
            fill(store, {"zoom.py": text}, "second")  # both are generation 2
    before = search(path)
    shutil.copy(codes_of(copy), codes_of(path))
    assert search(path) == before


def test_vector_codes_replaced_during_a_read_are_not_mixed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, other = search(path), tmp_path / "other"
    with closing(EmbeddedStore(path)) as store:
        index = read_index(codes_of(path))
        fill(store, {"zoom.py": READER}, "second")
        shutil.copy(codes_of(path), other)
        with store.write() as writer:
            writer.delete_source("second")
    assert index is not None
    ids = index.segments["Function"].columns["id"].tolist()
    after = search(path)
    read_header = json.loads

    def read_and_replace(text: bytes) -> object:
        os.replace(other, codes_of(path))
        return read_header(text)

    monkeypatch.setattr("pkg.vectors.vector_file.json.loads", read_and_replace)
    index = read_index(codes_of(path))
    monkeypatch.undo()
    assert index is not None
    assert index.segments["Function"].columns["id"].tolist() == ids
    assert search(path) == after == before


def test_a_search_needs_no_file_of_codes(path: Path) -> None:
    before = search(path)
    codes_of(path).unlink()
    codes_of(path).mkdir()  # so that it cannot be replaced
    assert search(path) == before
    with closing(EmbeddedStore(path)) as store:
        fill(store, FILES, "second")
        assert store.generation() == 2
    assert [found.searched for found in search(path)] == [2 * found.searched for found in before]
    assert sorted(each.name for each in path.parent.iterdir()) == STORE_FILES


def test_a_full_disk_does_not_undo_a_completed_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pkg.vectors.vector_file.os.replace", refuse)
    with closing(EmbeddedStore(path)) as store:
        fill(store, {"more.py": READER}, "second")
    monkeypatch.undo()
    with closing(EmbeddedStore(path)) as store:
        assert store.generation() == 2
        assert store.check() == []
    assert not list(path.parent.glob("*.tmp"))


FILL_THE_DISK = """
import resource, sys
sys.path.insert(0, "tests")
from contextlib import closing
from contract.units import READER, fill
from pkg.errors import StoreFullError
from pkg.graph.embedded.embedded_store import EmbeddedStore
with closing(EmbeddedStore(sys.argv[1])) as store:
    before = list(store.export(vectors=True))
    limit = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        fill(store, {f"{n}.py": READER.replace("read", f"read{n}") for n in range(200)}, "second")
    except StoreFullError as fault:
        print(fault)
    assert list(store.export(vectors=True)) == before
"""


@pytest.mark.parametrize("limit", [1000, 400_000, 1_000_000])
def test_a_full_disk_leaves_the_old_graph(path: Path, limit: int) -> None:
    before = search(path)
    command = [sys.executable, "-c", FILL_THE_DISK, str(path), str(limit)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    assert told.startswith(f"cannot write sqlite:///{path}")
    assert "free some space" in told
    with closing(EmbeddedStore(path)) as store:
        assert (store.generation(), store.check()) == (1, [])
        fill(store, FILES, "second")
        assert (store.generation(), store.check()) == (2, [])
    assert len(search(path)) == len(before)


READ_ON = """
import sys
sys.path.insert(0, "tests")
from contextlib import closing
from contract.units import encode
from pkg.terms.term_weights import weigh_terms
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.model import Label
seen = set()
with closing(EmbeddedStore(sys.argv[1])) as store:
    print("reading", flush=True)
    while 13 not in seen:
        with store.snapshot():
            mark = "mark" + chr(ord("a") + store.generation())
            hits = store.vector_search(Label.FUNCTION, encode("read the settings"), 50).matches
            found = store.get([match.id for match in hits])
            words = store.text_search(Label.FUNCTION, weigh_terms(mark), 50).matches
            lines = [line for line in store.export() if line.get("label") == "Function"]
            counts = len(found), len(words), len(lines), store.stats().nodes["Function"]
            assert counts == (8, 8, 8, 8), (mark, counts)
            assert all(mark in node.content for node in found), (mark, [node.content for node in found])
            seen.add(store.generation())
"""


def mark_files(number: int) -> dict[str, str]:
    """Return eight functions with the mark of a generation."""
    text = "def read_{n}(path):\n    if path:\n        return settings(path, {n}, mark{letter})\n"
    return {f"{n}.py": text.format(n=n, letter=chr(ord("a") + number)) for n in range(8)}


def test_two_readers_never_see_a_mixture_while_a_writer_works(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    with closing(EmbeddedStore(path, create=True)) as store:
        fill(store, mark_files(1))
        command = [sys.executable, "-c", READ_ON, str(path)]
        readers = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
            for _ in range(2)
        ]
        assert [reader.stdout.readline() for reader in readers if reader.stdout] == ["reading\n"] * 2
        for number in range(2, 14):
            units = prepare("demo", mark_files(number))
            with store.write() as writer:
                for unit in units:
                    writer.replace_file(unit)
        outcomes = [(reader.communicate(timeout=60), reader.returncode) for reader in readers]
        assert [(errors, status) for (_, errors), status in outcomes] == [("", 0), ("", 0)]
        assert store.check() == []


OPEN = """
import sys
from contextlib import closing
from pkg.graph.embedded.embedded_store import EmbeddedStore
sys.stdin.readline()
with closing(EmbeddedStore(sys.argv[1], create=True)) as store:
    store.ensure_schema("static", 192)
"""


def test_several_processes_may_create_the_store_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN, str(tmp_path / "graph.db")]
    makers = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) for _ in range(3)]
    for maker in makers:
        assert maker.stdin is not None
        maker.stdin.write(b"go\n")
        maker.stdin.flush()
    assert [(maker.communicate(timeout=60)[1], maker.returncode) for maker in makers] == [(b"", 0)] * 3
    with closing(EmbeddedStore(tmp_path / "graph.db")) as store:
        assert (store.encoder(), store.generation(), store.check()) == (("static", 192), 0, [])


def test_an_encoder_set_by_another_process_is_read_consistently(tmp_path: Path) -> None:
    place = tmp_path / "graph.db"
    with closing(EmbeddedStore(place, create=True)) as store, closing(EmbeddedStore(place)) as other:
        statements: list[str] = []

        def follow(statement: str) -> None:
            statements.append(statement)
            if len(statements) == 2:  # whatever came first
                other.ensure_schema("static", 192)

        store._connection.set_trace_callback(follow)
        store.ensure_schema("static", 192)
        assert store.encoder() == other.encoder() == ("static", 192)
        assert len(statements) > 2


PLANTS = {
    "nodes without a fragment": "UPDATE node SET fragment = 99 WHERE label = 4 AND number % 2",
    "fragments without a file or row": "DELETE FROM part WHERE unit = 1",
    "fragments that lost nodes": "DELETE FROM node WHERE number = 3",
    "files or rows without a source": "DELETE FROM source",
    "parts without a file or row": "DELETE FROM unit WHERE number = 1",
    "parts without a fragment": "DELETE FROM fragment WHERE number = 1",
    "embedded nodes without a vector": "DELETE FROM vector WHERE node = 2",
    "vectors without a node": "INSERT INTO vector (node, data) VALUES (9999, zeroblob(448))",
    "vectors of another length": "UPDATE vector SET data = zeroblob(10) WHERE node = 2",
    "nodes whose parent is missing": "UPDATE node SET parent = 9999 WHERE parent = 1",
    "function names without a function": "UPDATE node SET name = 'ghost' WHERE label = 5 AND name = 'read'",
    "functions without a name node": "DELETE FROM node WHERE label = 5 AND name = 'read'",
    "fragments without terms; run pkg build again": "UPDATE fragment SET terms = NULL WHERE number = 1",
    "relationships that lack an end": "INSERT INTO relation VALUES (1, 0, 6, 1, 2, 3, NULL, NULL)",
    "links without a file or row": "INSERT INTO links (unit, notes) VALUES (99, x'')",
    "libraries that nothing refers to": "INSERT INTO node (number, id, label, name) VALUES (99, 99, 8, 'os')",
}


@pytest.mark.parametrize("fault", sql.CHECKS)
def test_the_check_finds_planted_damage(path: Path, fault: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute(PLANTS[fault]).rowcount > 0
    with closing(EmbeddedStore(path)) as store:
        assert fault in [found.split(" ", 1)[1] for found in store.check()]


def test_the_check_finds_a_damaged_index(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'node(id)', 'node(parent)') WHERE name = 'node_id'"
        )
    with closing(EmbeddedStore(path)) as store:
        assert any("node_id" in fault for fault in store.check())


def test_the_check_of_a_sound_store_is_silent(store: EmbeddedStore) -> None:
    read, write = (find_id(store, Label.FUNCTION, name) for name in ("read", "write"))
    file, calls = find_id(store, Label.FILE, "pack/reader.py"), Edge(RelationType.CALLS, read, write, 3)
    put_edges(store, "pack/reader.py", calls, Edge(RelationType.RESOLVES_TO, read, file))
    assert store.check() == []


def test_a_block_contains_what_lies_in_its_text(store: EmbeddedStore) -> None:
    fill(
        store,
        {"nested.py": "def outer():\n    def inner(value):\n        if value:\n            return value\n"},
        "nested",
    )
    inside = store.subtree(find_id(store, Label.BLOCK, "outer:body"))
    assert [(node.qualname, node.name) for node in inside] == [
        ("outer.inner", "inner"),
        ("outer.inner", "body"),
        ("outer.inner", "body/if[0]"),
    ]


def test_vectors_that_are_not_numbers_are_reported_as_damage(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE vector SET data = ? WHERE node = 2", (b"\1" * encoder().dimension,))
    codes_of(path).unlink()
    with closing(EmbeddedStore(path)) as store, pytest.raises(StoreCorruptError, match=r"not \d+ numbers"):
        store.vector_search(Label.FUNCTION, encode("read"), 1)


def test_a_missing_referenced_row_is_reported(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM fragment")
    with closing(EmbeddedStore(path)) as store, pytest.raises(StoreCorruptError, match="row that others refer to"):
        store.find_name("read")


def test_an_error_that_sqlite_has_no_word_for_is_still_a_store_error(path: Path) -> None:
    store = EmbeddedStore(path)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.generation()


def test_writes_leave_no_log(store: EmbeddedStore, path: Path) -> None:
    fill(store, FILES, "second")
    log = path.with_name("graph.db-wal")
    assert not log.exists() or log.stat().st_size == 0


def test_a_write_ends_while_a_reader_holds_the_old_generation(path: Path) -> None:
    with closing(EmbeddedStore(path)) as reading, closing(EmbeddedStore(path)) as writing:
        patience = "PRAGMA busy_timeout"
        waits = writing._connection.execute(patience).fetchone()
        with reading.snapshot():
            fill(writing, FILES, "second")
            assert reading.generation() == 1
        assert writing.generation() == 2
        assert writing._connection.execute(patience).fetchone() == waits
