from __future__ import annotations

import os
import random
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from git_trees import commit_all, run_git
from trees import write_rows, write_tree

import pkg
from pkg.indexing.report import BuildReport
from pkg.model import Skip, Stale

STEPS = 50
FILES = {
    f"shop/part_{number}.py": f"from shop import part_{(number + 1) % 8}\n\n\ndef price_{number}(item):\n"
    f'    """Give price {number} of an item."""\n    return item.price * {number}\n'
    for number in range(8)
}


@pytest.fixture(name="folder")
def repository(tmp_path: Path) -> Path:
    """Create a repository with two branches that differ in three files."""
    folder = write_tree(tmp_path / "code", FILES)
    run_git(folder, "init", "--quiet", "--initial-branch", "main")
    commit_all(folder)
    run_git(folder, "checkout", "--quiet", "-b", "other")
    write_tree(
        folder, {f"shop/part_{number}.py": FILES[f"shop/part_{number}.py"] + "\nOTHER = 1\n" for number in (1, 2)}
    )
    (folder / "shop" / "part_3.py").unlink()
    commit_all(folder)
    run_git(folder, "checkout", "--quiet", "main")
    return folder


@pytest.fixture(name="store")
def built(folder: Path, tmp_path: Path) -> str:
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(folder, store=address)
    return address


def read_tree(folder: Path) -> dict[str, bytes]:
    return {str(place.relative_to(folder)): place.read_bytes() for place in folder.rglob("*.py")}


def list_stale(stale: tuple[Stale, ...]) -> dict[str, str]:
    return {each.path: each.state for each in stale}


class Disturber:
    """Random changes of a tree, some of which leave the contents unchanged."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._random = folder, random.Random(seed)

    def step(self) -> str:
        """Make one change to the tree; return its name."""
        acts: list[Callable[[Path], object]] = [
            self.append, self.swap_bytes, self.touch, self.copy_over,
            self.remove, self.rename, self.switch, self.restore,
        ]  # fmt: skip
        places = sorted(self._folder.rglob("*.py"))
        act = self._random.choice(acts if places else [self.restore])
        act(self._random.choice(places) if places else self._folder)
        return act.__name__

    def append(self, place: Path) -> None:
        place.write_bytes(place.read_bytes() + b"\n# changed\n")

    def swap_bytes(self, place: Path) -> None:
        """Change the content of a file, but not its size and modification time."""
        info = place.stat()
        place.write_bytes(place.read_bytes().swapcase())
        os.utime(place, ns=(info.st_atime_ns, info.st_mtime_ns))

    def touch(self, place: Path) -> None:
        os.utime(place)

    def copy_over(self, place: Path) -> None:
        """Replace a file by an equal one, as a fresh checkout does."""
        shutil.copy(place, place.with_suffix(".copy"))
        place.with_suffix(".copy").replace(place)

    def remove(self, place: Path) -> None:
        place.unlink()

    def rename(self, place: Path) -> None:
        place.rename(place.with_name(f"new_{self._random.randrange(100)}.py"))

    def switch(self, place: Path) -> None:
        run_git(self._folder, "checkout", "--quiet", "--force", self._random.choice(["main", "other"]))

    def restore(self, place: Path) -> None:
        run_git(self._folder, "checkout", "--quiet", "--force", "HEAD", "--", ".")


@pytest.mark.parametrize("seed", range(2))
def test_exactly_the_stale_files_of_an_answer_are_reported(folder: Path, store: str, seed: int) -> None:
    disturber, built, acts = Disturber(folder, seed), read_tree(folder), []
    with pkg.open_graph(store) as graph:
        for number in range(STEPS):
            acts.append(disturber.step())
            now = read_tree(folder)
            wrong = {path: "changed" if path in now else "gone" for path in built if now.get(path) != built[path]}
            result = graph.query("the price of an item", top_k=50, mode="function")
            hits = {hit.path: hit.is_stale for hit in result.hits}
            assert hits == {path: path in wrong for path in hits}, acts
            assert list_stale(result.coverage.stale) == {path: wrong[path] for path in hits if path in wrong}, acts
            table = graph.deps(question="imports", limit=0)
            named = {path for each in table.records for path in (each.file_name, each.target_file)}  # type: ignore[union-attr]
            assert list_stale(table.coverage.stale) == {path: wrong[path] for path in wrong if path in named}, acts
            assert number > 9 or named == set(built)
            if number % 10 == 9:
                graph.refresh()
                built = now
                assert graph.deps(question="imports", limit=0).coverage.stale == (), acts
    assert set(acts) == {"append", "swap_bytes", "touch", "copy_over", "remove", "rename", "switch", "restore"}


@pytest.fixture(name="graph")
def opened(store: str) -> Iterator[pkg.Graph]:
    with pkg.open_graph(store) as graph:
        yield graph


def test_places_of_dependencies_are_marked_at_any_depth(folder: Path, graph: pkg.Graph) -> None:
    (folder / "shop" / "part_1.py").write_text("changed = True\n")
    found = graph.deps("shop/part_0.py")
    assert found.coverage.stale == (Stale("code", str(folder), "shop/part_1.py", "changed"),)
    assert not found.target.is_stale  # type: ignore[union-attr]
    ends = {each.link.end.path: each.link.end.is_stale for each in found.found}  # type: ignore[union-attr]
    assert ends["shop/part_1.py"]


def test_an_answer_can_be_brought_up_to_date_first(folder: Path, graph: pkg.Graph) -> None:
    (folder / "shop" / "part_1.py").write_text("def discount_of_friends(item):\n    return item.price / 2\n")
    assert "discount_of_friends" in {hit.qualname for hit in graph.query("discount of friends", fresh=True).hits}
    assert graph.query("discount of friends").coverage.stale == ()
    (folder / "shop" / "part_1.py").unlink()
    found = graph.deps(question="imports", fresh=True)
    assert "shop/part_1.py" not in {each.file_name for each in found.records}  # type: ignore[union-attr]


def test_a_missing_root_is_reported_once(folder: Path, graph: pkg.Graph) -> None:
    folder.rename(folder.with_name("moved"))
    result = graph.query("the price of an item", top_k=50, mode="function")
    assert result.coverage.stale == (Stale("code", str(folder), "", "gone"),)
    assert result.hits
    assert not any(hit.is_stale for hit in result.hits)
    (skip,) = graph.refresh()
    assert isinstance(skip, Skip)
    assert "no such file or folder" in skip.reason
    assert graph.query("the price of an item").hits  # the graph keeps what it has


def test_a_revision_is_never_stale(folder: Path, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'revision.db'}"
    pkg.build_graph(f"{folder}@main", store=address)
    shutil.rmtree(folder / "shop")
    with pkg.open_graph(address) as graph:
        assert graph.query("the price of an item").coverage.stale == ()


def test_rows_are_judged_by_their_file(tmp_path: Path) -> None:
    rows, address = tmp_path / "rows.jsonl", f"sqlite:///{tmp_path / 'rows.db'}"
    rows.write_text('{"code": "def price(item):\\n    return item.price\\n"}\n')
    pkg.build_graph(rows, store=address, field="code")
    with pkg.open_graph(address) as graph:
        assert graph.query("price of an item").coverage.stale == ()
        shutil.copy2(rows, tmp_path / "copy.jsonl")
        (tmp_path / "copy.jsonl").replace(rows)  # another file of the same size and time
        assert graph.query("price of an item").coverage.stale == ()
        rows.write_text('{"code": "def price(item):\\n    return item.price * 2\\n"}\n')
        assert graph.query("price of an item").coverage.stale == (Stale("rows", str(rows), "", "changed"),)
        (report,) = graph.refresh()
        assert isinstance(report, BuildReport)
        assert report.written == 1
        assert graph.query("price of an item").coverage.stale == ()


def test_the_rows_of_several_files_are_judged_by_their_files(tmp_path: Path) -> None:
    place, address = str(tmp_path / "*.jsonl"), f"sqlite:///{tmp_path / 'rows.db'}"
    first, second = (write_rows(tmp_path / f"{name}.jsonl", f"def price_{name}(item):\n    pass\n") for name in "ab")
    pkg.build_graph(place, store=address, source="rows")
    with pkg.open_graph(address) as graph:
        assert graph.query("price of an item").coverage.stale == ()
        write_rows(tmp_path / "c.jsonl", "def price_c(item):\n    pass\n")
        assert graph.query("price of an item").coverage.stale == (Stale("rows", place, "", "changed"),)
        (report,) = graph.refresh()
        assert isinstance(report, BuildReport)
        assert (report.written, report.unchanged) == (1, 2)
        for path in (first, second, tmp_path / "c.jsonl"):
            path.unlink()
        assert graph.query("price of an item").coverage.stale == (Stale("rows", place, "", "gone"),)
        (skip,) = graph.refresh()
        assert isinstance(skip, Skip)
        assert "no files of rows" in skip.reason


def write_archive(place: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(place, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def test_files_of_an_archive_are_compared_one_by_one(tmp_path: Path) -> None:
    wheel, address = tmp_path / "shop-1.0-py3-none-any.whl", f"sqlite:///{tmp_path / 'wheel.db'}"
    write_archive(wheel, FILES)
    pkg.build_graph(wheel, store=address)
    with pkg.open_graph(address) as graph:
        write_archive(wheel, FILES)
        os.utime(wheel, ns=(1, 1))  # written again, with the same files
        assert graph.deps(question="imports").coverage.stale == ()
        changed = {path: text + "X = 1\n" * (path == "shop/part_2.py") for path, text in FILES.items()}
        del changed["shop/part_3.py"]
        write_archive(wheel, changed)
        stale = list_stale(graph.deps(question="imports").coverage.stale)
        assert stale == {"shop/part_2.py": "changed", "shop/part_3.py": "gone"}
        wheel.write_bytes(b"damaged")
        assert list_stale(graph.deps(question="imports").coverage.stale) == {"": "unreadable"}


def test_one_file_as_a_source_is_its_own_root(tmp_path: Path) -> None:
    place, address = tmp_path / "tool.py", f"sqlite:///{tmp_path / 'tool.db'}"
    place.write_text("def price(item):\n    return item.price\n")
    pkg.build_graph(place, store=address)
    with pkg.open_graph(address) as graph:
        assert graph.query("price of an item").coverage.stale == ()
        place.write_text("def price(item):\n    return item.prize\n")
        assert list_stale(graph.query("price of an item").coverage.stale) == {"tool.py": "changed"}


def test_imported_files_are_compared_by_content(folder: Path, store: str, tmp_path: Path) -> None:
    import json

    export = tmp_path / "graph.jsonl"
    with pkg.open_graph(store) as graph:
        export.write_text("".join(json.dumps(line) + "\n" for line in graph.export()))
    copy = f"sqlite:///{tmp_path / 'copy.db'}"
    pkg.restore_graph(export, store=copy)
    (folder / "shop" / "part_2.py").write_text("# other\n")
    with pkg.open_graph(copy) as graph:
        assert list_stale(graph.deps(question="imports").coverage.stale) == {"shop/part_2.py": "changed"}


def test_a_store_that_was_brought_to_a_newer_form_is_compared_too(folder: Path, store: str) -> None:
    with closing(sqlite3.connect(store.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute("UPDATE unit SET fingerprint = NULL")  # so that the next build reads every file
    (folder / "shop" / "part_2.py").write_text("# other\n")
    with pkg.open_graph(store) as graph:
        assert list_stale(graph.deps(question="imports").coverage.stale) == {"shop/part_2.py": "changed"}


def test_paths_that_are_no_longer_files_are_reported(folder: Path, graph: pkg.Graph) -> None:
    for number in (1, 2, 3):
        (folder / "shop" / f"part_{number}.py").unlink()
    (folder / "shop" / "part_1.py").mkdir()
    (folder / "shop" / "part_2.py").symlink_to("part_2.py")  # leads to itself
    os.mkfifo(folder / "shop" / "part_3.py")  # opening it would block
    stale = list_stale(graph.deps(question="imports").coverage.stale)
    assert stale == {"shop/part_1.py": "changed", "shop/part_2.py": "unreadable", "shop/part_3.py": "changed"}


def test_names_that_do_not_print_are_found_on_disk(tmp_path: Path) -> None:
    folder, address = tmp_path / "code", f"sqlite:///{tmp_path / 'graph.db'}"
    folder.mkdir()
    strange = os.fsencode(folder) + b"/caf\xe9\\x1b\x07.py"
    with open(strange, "wb") as file:
        file.write(b"def price(item):\n    return item.price\n")
    pkg.build_graph(folder, store=address)
    with pkg.open_graph(address) as graph:
        assert graph.query("price of an item").coverage.stale == ()
        os.unlink(strange)
        (stale,) = graph.query("price of an item").coverage.stale
        assert stale.state == "gone"


def test_a_refresh_reads_links_where_the_build_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_tree(tmp_path, {"code/a.py": "A = 1\n", "lib/b.py": "def price(item):\n    return item.price\n"})
    (tmp_path / "code" / "lib").symlink_to(tmp_path / "lib")
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    assert pkg.build_graph(tmp_path / "code", store=address, follow_links=True).written == 2
    (tmp_path / "code" / "a.py").write_text("A = 2\n")
    with pkg.open_graph(address) as graph:
        (report,) = graph.refresh()
        assert isinstance(report, BuildReport)
        assert (report.written, report.unchanged, report.removed) == (1, 1, 0)
        assert graph.query("price of an item").coverage.stale == ()
