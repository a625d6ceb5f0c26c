"""Ctrl-C and other failures in any stage of a build leave the old generation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from trees import SHOP, export_lines, open_graph_at, write_tree

from pkg.encode.static import StaticEncoder
from pkg.errors import StoreError
from pkg.extract import discovery
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.embedded.embedded_writing import EmbeddedWriter
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.prepare import Preparer

CHANGED = {"shop/cart.py": "def cart(): return 1\n", "shop/new.py": "def new(): return cart()\n"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """Return a store with one generation of a tree that has changed since."""
    tree = write_tree(tmp_path / "repo", SHOP)
    with closing(open_graph_at(tmp_path / "graph.db")) as opened:
        build(str(tree), opened)
        (tree / "shop/old.py").unlink()
        write_tree(tree, CHANGED)
        yield opened


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def interrupt_at(calls: int) -> Callable[..., None]:
    """Interrupt at the given call."""
    remaining = iter(range(calls - 1))

    def count(*_: object) -> None:
        if next(remaining, None) is None:
            raise KeyboardInterrupt

    return count


def check_old_generation(store: EmbeddedStore, before: list[str], tmp_path: Path) -> None:
    """Check that the store is unchanged, and that the next build completes as an undisturbed one does."""
    assert store.generation() == 1
    assert export_lines(store) == before
    assert store.check() == []
    with closing(open_graph_at(tmp_path / "graph.db")) as reader:
        assert export_lines(reader) == before


def check_next_build(store: EmbeddedStore, tmp_path: Path) -> None:
    report = build(str(tmp_path / "repo"), store)
    assert (report.written, report.removed, report.generation) == (2, 1, 2)
    with closing(open_graph_at(tmp_path / "fresh.db")) as fresh:
        build(str(tmp_path / "repo"), fresh)
        assert export_lines(store) == export_lines(fresh)
    assert store.check() == []


STAGES = {
    "discovery": (discovery, "discover"),
    "preparation": (Preparer, "prepare"),
    "encoding of text": (StaticEncoder, "encode_spans"),
    "encoding of names": (StaticEncoder, "encode"),
    "first write": (EmbeddedWriter, "put_source"),
    "deletion of a file": (EmbeddedWriter, "delete_file"),
    "writing of a file": (EmbeddedWriter, "replace_file"),
    "writing of names": (EmbeddedWriter, "put_names"),
    "end of the write": (EmbeddedWriter, "finish"),
}


@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupt_in_a_stage_leaves_the_old_generation(
    store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    before = export_lines(store)
    with monkeypatch.context() as patched:
        patched.setattr(*STAGES[stage], interrupt)
        with pytest.raises(KeyboardInterrupt):
            build(str(tmp_path / "repo"), store)
    check_old_generation(store, before, tmp_path)
    check_next_build(store, tmp_path)


@pytest.mark.parametrize("calls", [1, 2])
def test_an_interrupt_while_files_are_read_leaves_the_old_generation(
    store: EmbeddedStore, tmp_path: Path, calls: int
) -> None:
    before = export_lines(store)
    with pytest.raises(KeyboardInterrupt):
        build(str(tmp_path / "repo"), store, BuildOptions(progress=interrupt_at(calls)))
    check_old_generation(store, before, tmp_path)
    check_next_build(store, tmp_path)


def test_an_interrupt_between_files_undoes_those_already_written(
    store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, replace, stop = export_lines(store), EmbeddedWriter.replace_file, interrupt_at(2)

    def replace_and_stop(writer: EmbeddedWriter, unit: object) -> None:
        stop()
        replace(writer, unit)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(EmbeddedWriter, "replace_file", replace_and_stop)
        with pytest.raises(KeyboardInterrupt):
            build(str(tmp_path / "repo"), store)
    check_old_generation(store, before, tmp_path)
    check_next_build(store, tmp_path)


def test_an_interrupt_with_worker_processes_leaves_the_old_generation(store: EmbeddedStore, tmp_path: Path) -> None:
    before = export_lines(store)
    with pytest.raises(KeyboardInterrupt):
        build(str(tmp_path / "repo"), store, BuildOptions(jobs=2, progress=interrupt_at(2)))
    check_old_generation(store, before, tmp_path)


def test_an_interrupt_of_the_first_build_leaves_an_empty_store(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", SHOP)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        with pytest.raises(KeyboardInterrupt):
            build(str(tree), store, BuildOptions(progress=interrupt_at(3)))
        assert (store.generation(), store.sources(), store.check()) == (0, (), [])
        assert build(str(tree), store).written == len(SHOP)


def test_a_store_that_refuses_a_file_leaves_the_old_generation(
    store: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = export_lines(store)
    with monkeypatch.context() as patched:
        patched.setattr(EmbeddedWriter, "put_names", refuse)
        with pytest.raises((StoreError, OSError), match="No space left on device"):
            build(str(tmp_path / "repo"), store)
    check_old_generation(store, before, tmp_path)
    check_next_build(store, tmp_path)
