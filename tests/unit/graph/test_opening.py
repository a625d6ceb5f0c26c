"""Opening a store: creation, migration, refusal, and files of other programs."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from contract.units import FILES, encode, encoder, fill, find_id
from trees import STORE_FILES

from pkg.errors import (
    StoreCorruptError,
    StoreError,
    StoreLockedError,
    StoreMissingError,
    StoreVersionError,
    UsageError,
)
from pkg.graph.embedded import database_file, sql
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.opening import open_store
from pkg.model import Label
from pkg.vectors.quantised import unpack_vectors

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file of a filled and closed store."""
    place = tmp_path / "graph.db"
    with closing(EmbeddedStore(place, create=True)) as store:
        fill(store, FILES)
    return place


def change(path: Path, *statements: str) -> None:
    """Run statements on a database without PKG."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def parse_version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def export(path: Path) -> list[dict[str, object]]:
    with closing(EmbeddedStore(path)) as store:
        return list(store.export(vectors=True))


@pytest.mark.parametrize("name", ["graph.db", "new/folder/graph.db", "with space?#%41.db", "ünïcode.db"])
def test_a_store_is_created_at_its_path(tmp_path: Path, name: str) -> None:
    with closing(open_store(f"sqlite:///{tmp_path / name}", create=True)) as store:
        fill(store, FILES)
    assert (tmp_path / name).is_file()
    with closing(open_store(f"sqlite:///{tmp_path / name}")) as store:
        assert store.generation() == 1


def test_a_closed_store_is_one_file_and_the_codes_and_terms_beside_it(path: Path) -> None:
    assert sorted(each.name for each in path.parent.iterdir()) == STORE_FILES


@pytest.mark.parametrize("address", ["graph.db", "mysql:///graph", "sqlite:///", "https://host", ""])
def test_an_unknown_address_is_refused(address: str) -> None:
    with pytest.raises(StoreError, match=r"expected sqlite:///"):
        open_store(address)


def test_no_store_is_created_for_a_reader(tmp_path: Path) -> None:
    with pytest.raises(StoreMissingError, match="run: pkg build"):
        EmbeddedStore(tmp_path / "none" / "graph.db")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_no_graph_for_a_reader_and_a_place_for_a_build(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    path.touch()
    with pytest.raises(StoreMissingError, match="run: pkg build"):
        EmbeddedStore(path)
    assert path.stat().st_size == 0
    with closing(EmbeddedStore(path, create=True)) as store:
        fill(store, FILES)
        assert store.check() == []


@pytest.mark.parametrize("create", [True, False])
def test_a_newer_schema_is_refused_and_unchanged(path: Path, create: bool) -> None:
    change(path, "PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match=r"schema version 99.*up to 9.*upgrade PKG"):
        EmbeddedStore(path, create)
    assert path.read_bytes() == before


SUMS = {"fragment": ["checksum"], "unit": ["checksum"], "vector": ["checksum"], "links": ["notes_checksum", "checksum"]}
WITHOUT_SUMS = (
    "ALTER TABLE source DROP COLUMN package",
    *(f"ALTER TABLE {table} DROP COLUMN {column}" for table, columns in SUMS.items() for column in columns),
    "DELETE FROM meta WHERE key = 'checksum'",
    "PRAGMA user_version = 4",
)


TO_READ_AGAIN = ["2 fragments without terms; run pkg build again"]


def test_a_store_without_checksums_gets_them(path: Path) -> None:
    before = export(path)
    change(path, *WITHOUT_SUMS)
    assert export(path) == before
    with closing(EmbeddedStore(path)) as store:
        assert store.check() == TO_READ_AGAIN
    change(path, "UPDATE unit SET path = path || 'x' WHERE number = 1")
    with pytest.raises(StoreCorruptError, match="1 files or rows whose bytes have changed"):
        export(path)


def test_vectors_of_half_precision_are_rounded(path: Path) -> None:
    with closing(EmbeddedStore(path)) as store:
        lines = list(store.export(vectors=True))
    with closing(sqlite3.connect(path)) as connection, connection:
        for node, data in connection.execute("SELECT node, data FROM vector").fetchall():
            (vector,) = unpack_vectors([data], encoder().dimension).astype("<f2")
            connection.execute("UPDATE vector SET data = ? WHERE node = ?", (vector.tobytes(), node))
        for statement in (*WITHOUT_SUMS, "PRAGMA user_version = 3"):
            connection.execute(statement)
    with closing(EmbeddedStore(path)) as store:
        assert store.check() == TO_READ_AGAIN
        assert list(store.export(vectors=True)) == lines
        assert store.vector_search(Label.FUNCTION, encode("read"), 1).matches


def test_an_older_schema_is_migrated_with_all_data(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = export(path)
    monkeypatch.setattr(
        sql, "MIGRATIONS", (*sql.MIGRATIONS, "CREATE TABLE extra (x); CREATE INDEX extra_x ON extra(x)")
    )
    assert export(path) == before
    assert parse_version(path) == len(sql.MIGRATIONS)
    change(path, "INSERT INTO extra VALUES (1)")
    assert export(path) == before


FULL_TEXT = (
    *WITHOUT_SUMS,
    "ALTER TABLE fragment RENAME COLUMN terms TO words",
    "CREATE VIRTUAL TABLE words USING fts5(name, scope, body, content='')",
    "PRAGMA user_version = 1",
)


WHOLE_WORDS = (
    *WITHOUT_SUMS,
    "PRAGMA user_version = 2",
)


@pytest.mark.parametrize("older", [FULL_TEXT, WHOLE_WORDS], ids=["full text", "words that were not split"])
def test_an_older_store_has_terms_after_another_build(tmp_path: Path, older: tuple[str, ...]) -> None:
    path, rows = tmp_path / "graph.db", dict.fromkeys(("row-1", "row-2"), "def area(shape): return shape\n")
    with closing(EmbeddedStore(path, create=True)) as store:
        fill(store, FILES)
        fill(store, rows, "rows", Label.ROW)
        before = [store.text_search(Label.FUNCTION, {word: 1.0}, 9) for word in ("read", "area")]
        lines = list(store.export(vectors=True))
    change(path, *older)
    with closing(EmbeddedStore(path)) as store:
        assert list(store.export(vectors=True)) == lines
        assert {(fingerprint, content) for _, fingerprint, content in store.fingerprints("demo")} == {("", "")}
        assert store.source_fingerprint("demo") == ""
        assert store.check() == ["3 fragments without terms; run pkg build again"]
        assert store.text_search(Label.FUNCTION, {"read": 1.0}, 9).matches == ()
        fill(store, FILES)
        fill(store, rows, "rows", Label.ROW)
        assert [store.text_search(Label.FUNCTION, {word: 1.0}, 9) for word in ("read", "area")] == before
        assert store.check() == []
        assert list(store.export(vectors=True)) == lines


def test_a_store_without_declarations_gets_them_with_the_next_build(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    text = "class Shape:\n    sides = 0\n\n    def area(self):\n        return self.sides\n"
    files, rows = {"shapes.py": f"LIMIT = 3\n\n\n{text}"}, {"one": text, "two": f"x = 1\n\n{text}"}
    with closing(EmbeddedStore(path, create=True)) as store:
        fill(store, files)
        fill(store, rows, "rows", Label.ROW)
        lines = list(store.export(vectors=True))
    numbers = {label: sql.LABEL_NUMBERS[label] for label in (Label.CLASS, Label.CONSTANT, Label.MODULE)}
    every = ", ".join(map(str, numbers.values()))
    later = f"{numbers[Label.CONSTANT]}, {numbers[Label.MODULE]}"
    change(
        path,
        *WITHOUT_SUMS,
        f"DELETE FROM vector WHERE node IN (SELECT number FROM node WHERE label IN ({every}))",
        f"""UPDATE fragment SET last_node = (SELECT max(number) FROM node
            WHERE node.fragment = fragment.number AND label NOT IN ({later}))""",
        f"DELETE FROM node WHERE label IN ({later})",
    )
    with closing(EmbeddedStore(path)) as store:
        assert store.check() == ["2 embedded nodes without a vector", "2 fragments without terms; run pkg build again"]
        fill(store, files)
        fill(store, rows, "rows", Label.ROW)
        assert list(store.export(vectors=True)) == lines
        assert store.check() == []


def test_a_migration_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = export(path)
    with monkeypatch.context() as patch:
        patch.setattr(sql, "MIGRATIONS", (*sql.MIGRATIONS, "CREATE TABLE extra (x); DROP TABLE missing"))
        with pytest.raises(StoreError, match="missing"):
            EmbeddedStore(path)
    assert parse_version(path) == len(sql.MIGRATIONS)
    assert export(path) == before


FOREIGN = [
    ("CREATE TABLE invoices (number)",),
    ("CREATE TABLE invoices (number)", "PRAGMA user_version = 1"),
    ("CREATE TABLE invoices (number)", "PRAGMA user_version = 99"),
    ("CREATE TABLE meta (owner)", "PRAGMA user_version = 1"),
]


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("statements", FOREIGN)
def test_a_database_of_another_program_is_refused_and_unchanged(
    tmp_path: Path, create: bool, statements: tuple[str, ...]
) -> None:
    path = tmp_path / "invoices.db"
    change(path, *statements)
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError, match="not a PKG store"):
        EmbeddedStore(path, create)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["invoices.db"]


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("content", [b"hello\n", b"not a database, " * 4096, b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_file_that_is_no_database_is_refused_and_unchanged(tmp_path: Path, create: bool, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreCorruptError, match="not a PKG store"):
        EmbeddedStore(path, create)
    assert path.read_bytes() == content


@pytest.mark.parametrize("create", [True, False])
def test_a_folder_is_no_store(tmp_path: Path, create: bool) -> None:
    with pytest.raises(StoreError, match="unable to open"):
        EmbeddedStore(tmp_path, create)


def read_all(path: Path) -> None:
    """Read everything from a store that may be damaged."""
    with closing(EmbeddedStore(path)) as store:
        faults = store.check()
        if faults:
            raise StoreCorruptError("; ".join(faults))
        list(store.export(vectors=True))
        store.stats()
        store.text_search(Label.BLOCK, {"read": 1.0, "file": 1.0}, 9)
        store.vector_search(Label.BLOCK, encode("read"), 9)
        store.subtree(find_id(store, Label.FILE, "pack/reader.py"))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_a_truncated_store_is_reported_as_damaged(path: Path, share: float) -> None:
    os.truncate(path, int(path.stat().st_size * share))
    with pytest.raises(StoreCorruptError, match=r"(?i)damaged|malformed|page|tree"):
        read_all(path)


@pytest.mark.parametrize("seed", range(25))
def test_an_overwritten_store_raises_only_store_errors(path: Path, seed: int) -> None:
    draw = random.Random(seed)
    with path.open("r+b") as file:
        file.seek(draw.randrange(path.stat().st_size - 4096))
        file.write(draw.randbytes(draw.choice([16, 512, 4096])))
    with suppress(StoreError):  # no error if the bytes are unused
        read_all(path)
    with suppress(StoreError), closing(EmbeddedStore(path)) as store:
        ask_without_a_check(store)


def ask_without_a_check(store: EmbeddedStore) -> None:
    """Read like a query, without an integrity check."""
    questions: list[Callable[[], object]] = [
        lambda: list(store.export(vectors=True)),
        store.stats,
        lambda: store.text_search(Label.BLOCK, {"read": 1.0, "file": 1.0}, 9),
        lambda: store.vector_search(Label.BLOCK, encode("read"), 9),
        lambda: store.find_name("read"),
    ]
    for ask in questions:
        with suppress(StoreError):
            ask()


HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("holding", flush=True)
sys.stdin.read()
"""


def test_a_store_that_another_process_writes_is_locked_for_writers_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_file, "LOCK_SECONDS", 0.05)
    before = export(path)
    holder = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"holding\n"
        with closing(EmbeddedStore(path, create=True)) as store:
            with pytest.raises(StoreLockedError, match="another process is writing"):
                fill(store, FILES, "second")
            assert list(store.export(vectors=True)) == before
            process.communicate(b"")
            fill(store, FILES, "second")
            assert store.generation() == 2


READ_ONLY = """
import glob, mmap, os, sys, urllib.parse
import numpy, simsimd, pkg.vectors.vector_file, pkg.terms.word_search, pkg.terms.index_file, pkg.encode.static
from pkg.encode.registry import load_encoder
from pkg.errors import StoreFullError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.model import Label
query = load_encoder("static").encode([b"read the settings"])[0]
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
store = EmbeddedStore(sys.argv[1])
print([match.id for match in store.vector_search(Label.BLOCK, query, 5).matches])
print(store.text_search(Label.FUNCTION, {"read": 1.0}, 5).matches[0].id, store.generation(), store.check())
store.close()
try:
    writable = EmbeddedStore(sys.argv[1], create=True)
    with writable.write() as writer:
        writer.delete_source("demo")
except StoreFullError as fault:
    print(fault)
"""


@pytest.fixture
def public_path() -> Iterator[Path]:
    """Return a filled store in a folder that every user may read and only the owner may write."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "graph.db")
        with closing(EmbeddedStore(path, create=True)) as store:
            fill(store, FILES)
        for file in path.parent.iterdir():
            file.chmod(0o644)
        path.parent.chmod(0o755)
        yield path
        path.parent.chmod(0o755)


@pytest.mark.parametrize("has_codes", [True, False])
def test_a_store_in_a_read_only_folder_can_be_read(public_path: Path, has_codes: bool) -> None:
    with closing(EmbeddedStore(public_path)) as store:
        hits = [match.id for match in store.vector_search(Label.BLOCK, encode("read the settings"), 5).matches]
        best = store.text_search(Label.FUNCTION, {"read": 1.0}, 5).matches[0].id
    if not has_codes:
        public_path.with_name("graph.db-vectors").unlink()
    before = sorted((each.name, each.read_bytes()) for each in public_path.parent.iterdir())
    public_path.parent.chmod(0o555)
    command = [sys.executable, "-c", READ_ONLY, str(public_path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.splitlines()
    assert told[:2] == [str(hits), f"{best} 1 []"]
    assert told[2].startswith("cannot write")
    assert sorted((each.name, each.read_bytes()) for each in public_path.parent.iterdir()) == before


def test_options_in_the_address_of_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds options; expected the path of a file alone, such as sqlite:///"):
        open_store(f"sqlite:///{tmp_path}/graph.db?mode=memory", create=True)
    assert not list(tmp_path.iterdir())
