"""A first build that is killed goes on where it was: in each stage, with the graph of an undisturbed build."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from trees import STORE_FILES, export_lines, open_graph_at, write_rows, write_tree

from pkg.cli import _describe_kept
from pkg.encode.static import StaticEncoder
from pkg.errors import BuildInterrupted, StoreFullError, StoreLockedError
from pkg.extract.python import extract_unit
from pkg.graph.embedded import database_file, pending_store
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.embedded.embedded_writing import EmbeddedWriter
from pkg.graph.embedded.pending_files import list_pending
from pkg.indexing import build as building
from pkg.indexing import prepare
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.prepare import Preparer
from pkg.model import CodeUnit

ROOT = Path(__file__).parents[3]
FILES = 40
OTHER = {"other/base.py": "import json\n\n\nclass Base:\n    def read(self):\n        return json.loads(self.text())\n"}


def make_file(number: int) -> str:
    before = f"from shop.part_{number - 1:02} import Part{number - 1} as Base" if number else "Base = object"
    return (
        f"import os\n{before}\n\n\nclass Part{number}(Base):\n    def area_{number}(self, width):\n"
        f"        for edge in width:\n            if edge > {number}:\n                return os.path.join(edge, 'a')\n"
        f"        return helper_{number}(width)\n\n\ndef helper_{number}(width):\n"
        f"    return Part{number}().area_{number}(width)\n"
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("repo"), {f"shop/part_{n:02}.py": make_file(n) for n in range(FILES)})


@pytest.fixture(scope="module")
def graph(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the export of a build in one transaction."""
    with closing(open_graph_at(tmp_path_factory.mktemp("plain") / "graph.db")) as store:
        build(str(tree), store, source="shop")
        return export_lines(store)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load every new source apart, a few nodes at a time."""
    monkeypatch.setattr(building, "LOADED_BYTES", 0)
    monkeypatch.setattr(pending_store, "ROWS_AT_ONCE", 20)


KILLED = """
import os, signal, sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from pkg.graph.embedded import pending_store
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing import build, prepare
build.LOADED_BYTES, pending_store.ROWS_AT_ONCE, prepare.BATCH_UNITS = 0, 20, 4
tree, store, place, calls = sys.argv[1:]
module, _, name = place.partition(":")
*owner, name = name.split(".")
target = getattr(import_module(module), owner[0]) if owner else import_module(module)
function, left = getattr(target, name), iter(range(int(calls) - 1))
def kill(*arguments, **others):
    if next(left, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*arguments, **others)
setattr(target, name, kill)
with closing(EmbeddedStore(Path(store), create=True)) as opened:
    build.build(tree, opened, source="shop")
"""

STAGES = {
    "before anything was kept": ("pkg.graph.embedded.pending_store:PendingWriter.replace_file", 1, 0),
    "while files are stored": ("pkg.graph.embedded.pending_store:PendingWriter.replace_file", 30, 20),
    "between two commits": ("pkg.graph.embedded.pending_store:seal_head", 9, 12),
    "names": ("pkg.graph.embedded.pending_store:PendingWriter.put_names", 1, FILES),
    "resolution": ("pkg.indexing.solved_links:put_links", 1, FILES),
    "links of some files": ("pkg.graph.embedded.relations:LinkWriter.put", FILES + 25, FILES),
    "the last indexes": ("pkg.graph.embedded.pending_store:PendingWriter._delete_loose_relations", 1, FILES),
    "the last commit": ("pkg.graph.embedded.pending_store:PendingWriter.seal", 1, FILES),
    "before the switch": ("pkg.graph.embedded.pending_store:PendingStore.settle", 1, FILES),
    "the rename or the merge": ("pkg.graph.embedded.embedded_store:EmbeddedStore._replace_by", 1, FILES),
    "the end of a merge": ("pkg.graph.embedded.embedded_store:EmbeddedStore._write_copies", 1, FILES),
}


def kill_build(tree: Path, store: Path, place: str, calls: int) -> None:
    command = [sys.executable, "-c", KILLED, str(tree), str(store), place, str(calls)]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def list_names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def resume(tree: Path, path: Path) -> tuple[int, int, list[str], list[str]]:
    """Build again; return the files that were read, the generation, the messages and the export."""
    said: list[str] = []
    with closing(open_graph_at(path)) as store:
        report = build(str(tree), store, BuildOptions(say=said.append), source="shop")
        assert store.check() == []
        return report.written, store.generation(), said, export_lines(store)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like that here")
@pytest.mark.parametrize("stage", STAGES)
def test_a_killed_first_build_goes_on_where_it_was(tree: Path, graph: list[str], tmp_path: Path, stage: str) -> None:
    place, calls, kept = STAGES[stage]
    kill_build(tree, tmp_path / "graph.db", place, calls)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        is_switched = store.generation() == 1
        assert is_switched or store.sources() == ()
    written, generation, said, found = resume(tree, tmp_path / "graph.db")
    assert found == graph
    assert generation == 1
    assert written <= (0 if is_switched else FILES - kept)
    assert written == 0 or kept == 0 or said == [f"resumes: {FILES - written} of {FILES} files were prepared before"]
    assert set(list_names(tmp_path)) <= set(STORE_FILES)  # readers write the copies that a kill has prevented


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like that here")
@pytest.mark.parametrize("stage", ["while files are stored", "the last commit", "the end of a merge"])
def test_a_source_is_merged_into_a_store_with_others(tree: Path, tmp_path: Path, stage: str) -> None:
    other = write_tree(tmp_path / "repo", OTHER)
    for name in ("plain", "killed"):
        (tmp_path / name).mkdir()
        with closing(open_graph_at(tmp_path / name / "graph.db")) as store:
            build(str(other), store, source="other")
    with closing(open_graph_at(tmp_path / "plain/graph.db")) as store:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(building, "LOADED_BYTES", 10**9)
            build(str(tree), store, source="shop")
        expected = export_lines(store)
    path = tmp_path / "killed/graph.db"
    with closing(EmbeddedStore(path)) as store:
        before = export_lines(store)
    kill_build(tree, path, *STAGES[stage][:2])
    with closing(EmbeddedStore(path)) as store:
        assert export_lines(store) == (before if store.generation() == 1 else expected)
    _, generation, _, found = resume(tree, path)
    assert (generation, found) == (2, expected)
    assert list_names(path.parent) == STORE_FILES


def interrupt_at(calls: int, fault: BaseException) -> Callable[..., None]:
    """Raise an exception at the given file."""
    put, left = EmbeddedWriter.replace_file, iter(range(calls - 1))

    def replace_file(*arguments: object) -> None:
        if next(left, None) is None:
            raise fault
        put(*arguments)  # type: ignore[arg-type]

    return replace_file


def stop_build(tree: Path, path: Path, calls: int = 30, fault: BaseException | None = None) -> BaseException:
    with pytest.MonkeyPatch.context() as patched, closing(open_graph_at(path)) as store:
        patched.setattr(EmbeddedWriter, "replace_file", interrupt_at(calls, fault or KeyboardInterrupt()))
        with pytest.raises(BaseException) as raised:  # noqa: PT011  # the one of the argument
            build(str(tree), store, source="shop")
    return raised.value


def test_ctrl_c_says_how_many_files_are_kept(tree: Path, tmp_path: Path) -> None:
    raised = stop_build(tree, tmp_path / "graph.db")
    assert isinstance(raised, BuildInterrupted)
    assert not raised.is_stored
    assert 20 <= raised.kept < 30
    end = f"{raised.kept} files or rows are prepared, and the same command goes on from there"
    assert _describe_kept(raised, "build") == f"; the graph is as it was before; {end}"
    assert list_names(tmp_path) == [each.name for each in list_pending(tmp_path / "graph.db")]  # no empty store


def test_an_interrupt_before_the_first_file_leaves_nothing(tree: Path, tmp_path: Path) -> None:
    raised = stop_build(tree, tmp_path / "graph.db", 1)
    assert isinstance(raised, BuildInterrupted)
    assert raised.kept == 0
    assert list_names(tmp_path) == []


def test_a_full_disk_keeps_the_store_and_what_was_put(tree: Path, graph: list[str], tmp_path: Path) -> None:
    fault = stop_build(tree, tmp_path / "graph.db", 30, sqlite3.OperationalError("database or disk is full"))
    assert isinstance(fault, StoreFullError)
    assert "sqlite:///" in str(fault)
    assert "pending" not in str(fault)
    written, _, _, found = resume(tree, tmp_path / "graph.db")
    assert written <= FILES - 20
    assert found == graph


def test_files_with_internal_errors_are_prepared_again(
    tree: Path, graph: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extract = extract_unit

    def fail(text: bytes, *rest: Any, **options: Any) -> CodeUnit:
        if b"class Part3(" in text:
            raise RuntimeError("made to fail")
        return extract(text, *rest, **options)

    monkeypatch.setattr(prepare, "extract_unit", fail)
    stop_build(tree, tmp_path / "graph.db")
    with closing(open_graph_at(tmp_path / "other.db")) as store:
        assert [each.path for each in build(str(tree), store, source="shop").errors][:1] == ["shop/part_03.py"]
    monkeypatch.setattr(prepare, "extract_unit", extract)
    assert resume(tree, tmp_path / "graph.db")[3] == graph


def test_files_that_changed_meanwhile_are_read_again(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", {f"shop/part_{n:02}.py": make_file(n) for n in range(FILES)})
    (tmp_path / "a").mkdir()
    stop_build(tree, tmp_path / "a/graph.db")
    (tree / "shop/part_00.py").write_text("def started():\n    return 1\n")
    (tree / "shop/part_01.py").unlink()
    written, generation, _, found = resume(tree, tmp_path / "a/graph.db")
    with pytest.MonkeyPatch.context() as patched, closing(open_graph_at(tmp_path / "fresh.db")) as fresh:
        patched.setattr(building, "LOADED_BYTES", 10**9)
        build(str(tree), fresh, source="shop")
        assert found == export_lines(fresh)
    assert written < FILES / 2
    assert generation == 1


def test_rows_are_resumed_without_reading_them_again(tmp_path: Path) -> None:
    rows = write_rows(
        tmp_path / "rows.jsonl", *(f"def area_{n % 30}(width):\n    return width * {n % 30}\n" for n in range(60))
    )
    path = tmp_path / "graph.db"
    assert isinstance(stop_build(rows, path, 45), BuildInterrupted)
    written, _, said, found = resume(rows, path)
    assert 15 <= written < 30
    assert said == [f"resumes: {60 - written} rows were prepared before"]
    with pytest.MonkeyPatch.context() as patched, closing(open_graph_at(tmp_path / "fresh.db")) as fresh:
        patched.setattr(building, "LOADED_BYTES", 10**9)
        build(str(rows), fresh, source="shop")
        assert found == export_lines(fresh)


def test_a_build_by_other_means_starts_again(tree: Path, tmp_path: Path) -> None:
    path, said = tmp_path / "graph.db", list[str]()
    stop_build(tree, path)
    (left,) = list_pending(path)
    with closing(open_graph_at(path)) as store:
        report = build(str(tree), store, BuildOptions(say=said.append), source="shop", text=False)
    assert report.written == FILES
    assert said == [f"{left.name} was left by a build with other options or of another version, and is deleted"]
    assert list_names(tmp_path) == STORE_FILES


@pytest.mark.parametrize("damage", ["a byte of a row", "the head of the file"])
def test_a_damaged_unfinished_build_is_deleted(tree: Path, graph: list[str], tmp_path: Path, damage: str) -> None:
    path = tmp_path / "graph.db"
    stop_build(tree, path)
    (left,) = list_pending(path)
    if damage == "a byte of a row":
        with closing(sqlite3.connect(left)) as connection:
            connection.execute("UPDATE node SET name = 'other' WHERE number = 5")
            connection.commit()
    else:
        left.write_bytes(b"x" * 5000)
    written, _, said, found = resume(tree, path)
    assert (written, found) == (FILES, graph)
    assert said == [f"{left.name}, which an interrupted build has left, is damaged and is deleted"]


def test_two_builds_of_a_source_do_not_mix(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_file, "LOCK_SECONDS", 0.05)
    path, prepare, faults = tmp_path / "graph.db", Preparer.prepare, list[Exception]()

    def prepare_beside(self: Preparer, batch: object) -> object:
        with pytest.MonkeyPatch.context() as patched, closing(open_graph_at(path)) as other:
            patched.setattr(Preparer, "prepare", prepare)
            try:
                build(str(tree), other, source="shop")
            except StoreLockedError as fault:
                faults.append(fault)
        return prepare(self, batch)  # type: ignore[arg-type]

    with closing(open_graph_at(path)) as store:
        monkeypatch.setattr(Preparer, "prepare", prepare_beside)
        build(str(tree), store, source="shop")
        assert (store.generation(), store.check()) == (1, [])
    assert faults
    assert list_names(tmp_path) == STORE_FILES


def test_two_new_sources_are_built_at_once(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, prepare = tmp_path / "graph.db", Preparer.prepare
    other_tree = write_tree(tmp_path / "repo", OTHER)

    def prepare_beside(self: Preparer, batch: object) -> object:
        with pytest.MonkeyPatch.context() as patched, closing(open_graph_at(path)) as other:
            patched.setattr(Preparer, "prepare", prepare)
            build(str(other_tree), other, source="other")
        return prepare(self, batch)  # type: ignore[arg-type]

    with closing(open_graph_at(path)) as store:
        monkeypatch.setattr(Preparer, "prepare", prepare_beside)
        build(str(tree), store, source="shop")
        assert [each.name for each in store.sources()] == ["other", "shop"]
        assert (store.generation(), store.check()) == (2, [])
    assert [each.name for each in sorted(tmp_path.glob("graph.db*"))] == STORE_FILES


def test_readers_see_the_new_graph_after_the_switch(tree: Path, tmp_path: Path) -> None:
    with (
        closing(open_graph_at(tmp_path / "graph.db")) as store,
        closing(open_graph_at(tmp_path / "graph.db")) as reader,
    ):
        assert reader.sources() == ()
        build(str(tree), store, source="shop")
        assert [each.name for each in reader.sources()] == ["shop"]
    assert list_names(tmp_path) == STORE_FILES


def test_an_encoder_that_fails_keeps_the_prepared_files(
    tree: Path, graph: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ConnectionError("the service is away")

    with monkeypatch.context() as patched, closing(open_graph_at(tmp_path / "graph.db")) as store:
        patched.setattr(StaticEncoder, "encode", fail)  # of names, after all files
        with pytest.raises(ConnectionError):
            build(str(tree), store, source="shop")
    written, _, _, found = resume(tree, tmp_path / "graph.db")
    assert (written, found) == (0, graph)
