"""Corpora that are built into a set of stores, member by member."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from trees import SHOP, export_lines, open_graph_at, write_rows, write_tree

from pkg.api import build_graph
from pkg.errors import PkgError, StoreError, UsageError
from pkg.graph.opening import open_store
from pkg.graph.store import GraphStore
from pkg.indexing.build import build

ROWS = [f"import os\n\ndef f{number % 31}(x):\n    return os.path.join(x, {number % 47})\n" for number in range(200)]


def open_set(folder: Path) -> GraphStore:
    return open_store(f"sqlite-set:///{folder}")


def export_one(path: str, place: Path) -> list[str]:
    with closing(open_graph_at(place)) as store:
        build(path, store)
        return export_lines(store)


@pytest.mark.parametrize("members", [1, 3, 64])
def test_a_set_has_the_graph_of_one_store(tmp_path: Path, members: int) -> None:
    corpus = write_rows(tmp_path / "c.jsonl", *ROWS, "no code at all", "")
    address = f"sqlite-set:///{tmp_path / 'set'}"
    report = build_graph(corpus, store=address, members=members, jobs=1)
    assert report.written + len(report.skipped) == 202
    assert report.store == address
    with closing(open_set(tmp_path / "set")) as store:
        assert store.check() == []
        assert export_lines(store) == export_one(str(corpus), tmp_path / "one.db")
    assert len(list((tmp_path / "set").glob("*.db"))) <= members


def test_an_update_changes_the_rows_that_differ(tmp_path: Path) -> None:
    address = f"sqlite-set:///{tmp_path / 'set'}"
    corpus = write_rows(tmp_path / "c.jsonl", *ROWS)
    assert build_graph(corpus, store=address, members=4, jobs=1).written == 200
    assert build_graph(corpus, store=address, jobs=1).written == 0
    write_rows(tmp_path / "c.jsonl", *ROWS[:150], "def new(): pass\n")
    report = build_graph(corpus, store=address, jobs=1)
    assert report.written == 1
    assert report.unchanged == 150
    with closing(open_set(tmp_path / "set")) as store:
        assert store.check() == []
        assert export_lines(store) == export_one(str(corpus), tmp_path / "one.db")


def test_a_member_without_rows_forgets_them(tmp_path: Path) -> None:
    address = f"sqlite-set:///{tmp_path / 'set'}"
    corpus = write_rows(tmp_path / "c.jsonl", *ROWS)
    build_graph(corpus, store=address, members=16, jobs=1)
    write_rows(tmp_path / "c.jsonl", "def only(): pass\n")
    build_graph(corpus, store=address, jobs=1)
    with closing(open_set(tmp_path / "set")) as store:
        assert export_lines(store) == export_one(str(corpus), tmp_path / "one.db")


@pytest.mark.slow
def test_workers_build_the_members(tmp_path: Path) -> None:
    corpus = write_rows(tmp_path / "c.jsonl", *ROWS)
    address = f"sqlite-set:///{tmp_path / 'set'}"
    build_graph(corpus, store=address, members=3, jobs=2, cluster=tmp_path / "work")
    with closing(open_set(tmp_path / "set")) as store:
        assert export_lines(store) == export_one(str(corpus), tmp_path / "one.db")
    assert list((tmp_path / "work").iterdir()) == []


def refuse(error: type[PkgError], match: str, path: object, **options: object) -> None:
    with pytest.raises(error, match=match):
        build_graph(str(path), jobs=1, **options)  # type: ignore[arg-type]


def test_what_a_set_cannot_hold_is_refused(tmp_path: Path) -> None:
    address = f"sqlite-set:///{tmp_path / 'set'}"
    corpus = write_rows(tmp_path / "c.jsonl", *ROWS[:20])
    tree = write_tree(tmp_path / "repo", SHOP)
    refuse(UsageError, "is a repository, which is resolved as a whole", tree, store=address)
    refuse(UsageError, "members is 0; expected 1 to", corpus, store=address, members=0)
    refuse(UsageError, "number of stores of a set", corpus, store=f"sqlite:///{tmp_path}/a.db", members=2)
    refuse(UsageError, "reads documents into one store", corpus, store=address, reader="model", model="openai:x")
    refuse(UsageError, "ray needs a folder that its workers share", corpus, store=address, ray="local")
    (tmp_path / "file").write_text("")
    refuse(StoreError, "cannot be created", corpus, store=f"sqlite-set:///{tmp_path}/file/set")
    build_graph(corpus, store=address, members=2, jobs=1)
    refuse(UsageError, "has 2 stores, 0000.db to 0001.db; expected 5", corpus, store=address, members=5)
    (tmp_path / "set" / "0000.db").rename(tmp_path / "set" / "other.db")
    refuse(UsageError, "expected 2 that a build of a set has made", corpus, store=address)
