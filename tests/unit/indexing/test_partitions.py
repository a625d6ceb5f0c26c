"""Builds by partitions: the same graph as without them, outcomes that are made once, and workers that die."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from part_trees import TREE
from trees import FEW_EXAMPLES, SHOP, export_lines, open_graph_at, write_rows, write_tree

from pkg.cluster.engine import ThisProcess
from pkg.cluster.outcomes import Outcomes
from pkg.errors import StoreError, UsageError
from pkg.indexing import partitions
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.inputs import LoadedUnit, hash_text
from pkg.indexing.partitions import Cluster, Partition, cut_files, open_cluster, prepare_partition
from pkg.indexing.prepare import Preparer
from pkg.model import Label
from pkg.resolution import source_parts
from pkg.units import UnitGraph


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut partitions of about two small files or rows."""
    monkeypatch.setattr(partitions, "LEAST_BYTES", 1)
    monkeypatch.setattr(partitions, "CUT_BYTES", 200)
    monkeypatch.setattr(partitions, "ROW_BYTES", 200)


def export_by(folder: Path | None, path: str, place: Path) -> list[str]:
    """Build a path into a new store, by partitions if a folder is given, and export it."""
    cluster = None if folder is None else Cluster(ThisProcess(), Outcomes(folder))
    if folder is not None:
        folder.mkdir(exist_ok=True)
    with closing(open_graph_at(place)) as store:
        report = build(path, store, BuildOptions(cluster=cluster))
        assert report.errors == ()
        assert store.check() == []
        return export_lines(store)


def test_files_by_partitions_make_the_same_graph(tmp_path: Path) -> None:
    many = {f"many/m{number}.py": f"import os\n\ndef f{number}(): return os.getcwd()\n" for number in range(30)}
    tree = write_tree(tmp_path / "repo", SHOP | many | {"README.md": "# Shop\n\nSells things.\n"})
    expected = export_by(None, str(tree), tmp_path / "1.db")
    assert export_by(tmp_path / "work", str(tree), tmp_path / "2.db") == expected
    assert len(list((tmp_path / "work").glob("*.graph"))) > 5
    assert list((tmp_path / "work").glob("*.units")) == []


def test_rows_by_partitions_make_the_same_graph(tmp_path: Path) -> None:
    rows = [f"def f{number % 11}(x):\n    return {number % 22}\n" for number in range(100)]
    corpus = write_rows(tmp_path / "c.jsonl", *rows)
    expected = export_by(None, str(corpus), tmp_path / "1.db")
    assert export_by(tmp_path / "work", str(corpus), tmp_path / "2.db") == expected
    assert len(list((tmp_path / "work").glob("*.graph"))) > 3


def test_rows_of_equal_text_are_prepared_once(tmp_path: Path) -> None:
    corpus = write_rows(tmp_path / "c.jsonl", *(["def same(x):\n    return x\n", "def other(): pass\n"] * 20))
    export_by(tmp_path / "work", str(corpus), tmp_path / "1.db")
    outcomes = Outcomes(tmp_path / "work")
    records = [record for path in (tmp_path / "work").glob("*.graph") for record in outcomes.read(path.name)]
    units = [unit for record in records if isinstance(record, list) for unit in record]
    fragments = [part.fragment for unit in units for part in unit.parts]
    assert len(units) == 40
    assert sum(each is not None for each in fragments) == 2


def list_made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each partition that is prepared."""
    made: list[str] = []

    class Watched(Preparer):
        def prepare(self, batch: Sequence[LoadedUnit]) -> tuple[list[UnitGraph], dict[str, float]]:
            made.extend(unit.path for unit in batch)
            return super().prepare(batch)

    monkeypatch.setattr(partitions, "Preparer", Watched)
    return made


def test_what_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"m{number:02}.py": f"def f{number}():\n    return {number}\n" * 3 for number in range(40)}
    tree = write_tree(tmp_path / "repo", files)
    made = list_made(monkeypatch)
    first = export_by(tmp_path / "work", str(tree), tmp_path / "1.db")
    assert len(made) == 40
    made.clear()
    for path in Path(tree).iterdir():
        os.utime(path, (1, 1))  # as in another checkout
    assert export_by(tmp_path / "work", str(tree), tmp_path / "2.db") == first
    assert made == []
    write_tree(tmp_path / "repo", {"m20.py": "def edited(): pass\n"})
    export_by(tmp_path / "work", str(tree), tmp_path / "3.db")
    assert "m20.py" in made
    assert len(made) < 20


def test_a_damaged_outcome_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = write_tree(tmp_path / "repo", SHOP)
    first = export_by(tmp_path / "work", str(tree), tmp_path / "1.db")
    made = list_made(monkeypatch)
    for path in (tmp_path / "work").glob("*.graph"):
        path.write_bytes(path.read_bytes()[:-1])
    assert export_by(tmp_path / "work", str(tree), tmp_path / "2.db") == first
    assert len(made) == len(SHOP)


@FEW_EXAMPLES
@given(sizes=st.lists(st.integers(0, 300), max_size=30))
def test_partitions_hold_all_files_in_their_order(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    def make() -> Iterator[LoadedUnit]:
        for number, size in enumerate(sizes):
            text = b"x" * size
            yield LoadedUnit(f"{number:03}.py", str(number), Label.FILE, hash_text(text), text)

    outcomes = Outcomes(tmp_path_factory.mktemp("work"))
    found = list(cut_files(make(), outcomes, "making"))
    paths = [unit.path for each in found for units in outcomes.read(each.partition.given) for unit in units]
    assert paths == [unit.path for unit in make()]
    assert [mark for each in found for mark in each.fingerprints] == [unit.fingerprint for unit in make()]


def test_an_update_prepares_changed_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = write_tree(tmp_path / "repo", SHOP)
    made = list_made(monkeypatch)
    with open_cluster(str(tmp_path / "work"), jobs=1) as cluster, closing(open_graph_at(tmp_path / "1.db")) as store:
        build(str(tree), store, BuildOptions(cluster=cluster))
        made.clear()
        write_tree(tmp_path / "repo", {"more.py": "def more(): pass\n"})
        build(str(tree), store, BuildOptions(cluster=cluster))
        assert made == ["more.py"]
        with closing(open_graph_at(tmp_path / "2.db")) as fresh:
            build(str(tree), fresh)
            assert export_lines(store) == export_lines(fresh)


@pytest.mark.slow
def test_processes_make_the_same_graph_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_parts, "MOST_FILES", 1)
    tree = write_tree(tmp_path / "repo", TREE)
    expected = export_by(None, str(tree), tmp_path / "1.db")
    with open_cluster(str(tmp_path / "work"), jobs=2) as cluster, closing(open_graph_at(tmp_path / "2.db")) as store:
        build(str(tree), store, BuildOptions(cluster=cluster))
        assert export_lines(store) == expected
    assert [path.suffix for path in (tmp_path / "work").iterdir() if path.suffix != ".graph"] == []


@pytest.mark.slow
def test_workers_resolve_a_source_of_one_part(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", SHOP)
    expected = export_by(None, str(tree), tmp_path / "1.db")
    with open_cluster(str(tmp_path / "work"), jobs=2) as cluster, closing(open_graph_at(tmp_path / "2.db")) as store:
        report = build(str(tree), store, BuildOptions(cluster=cluster))
        assert export_lines(store) == expected
        assert report.stages["resolve"] > 0
        write_tree(tmp_path / "repo", {"more.py": "import shop\n"})
        build(str(tree), store)  # by this process, which finds the records of a part
        with closing(open_graph_at(tmp_path / "3.db")) as fresh:
            build(str(tree), fresh)
            assert export_lines(store) == export_lines(fresh)


def test_bad_arguments_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="jobs is -1"), open_cluster(str(tmp_path), jobs=-1):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be created"), open_cluster(str(tmp_path / "file" / "x")):
        pass


def test_a_partition_without_its_units_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"a\.units cannot be read"):
        prepare_partition(str(tmp_path), "lib", "static", {}, Partition("a.units", "a.graph"))
