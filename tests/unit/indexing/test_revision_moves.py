from __future__ import annotations

from pathlib import Path

import pytest
from git_trees import run_git
from trees import SHOP, export_lines, write_tree

import pkg
from pkg.errors import PathError, StoreError


def commit_as(folder: Path, tag: str) -> None:
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--allow-empty", "--message", tag)
    run_git(folder, "tag", tag)


@pytest.fixture(name="folder")
def repository(tmp_path: Path) -> Path:
    """Make revisions: two differ by a changed, a removed and an added file, two are equal."""
    folder = write_tree(tmp_path / "shop", SHOP)
    run_git(folder, "init", "--quiet")
    commit_as(folder, "v1")
    (folder / "shop" / "old.py").unlink()
    write_tree(folder, {"shop/cart.py": SHOP["shop/cart.py"] + "\n\nLIMIT = 3\n", "shop/tax.py": "RATE = 0.2\n"})
    commit_as(folder, "v2")
    commit_as(folder, "v3")
    return folder


def read_revision(store: str) -> tuple[str, str | None]:
    with pkg.open_graph(store) as graph:
        (source,) = graph.stats().sources
    return source.root, source.revision


def test_a_source_moves_from_one_revision_to_the_next(folder: Path, tmp_path: Path) -> None:
    moved, fresh = (f"sqlite:///{tmp_path / name}.db" for name in ("moved", "fresh"))
    pkg.build_graph(f"{folder}@v1", store=moved)
    report = pkg.build_graph(f"{folder}@v2", store=moved)
    assert (report.written, report.unchanged, report.removed) == (2, 1, 1)
    pkg.build_graph(f"{folder}@v2", store=fresh)
    assert read_revision(moved) == read_revision(fresh)
    with pkg.open_graph(moved) as one, pkg.open_graph(fresh) as other:
        assert export_lines(one.store) == export_lines(other.store)
    back = pkg.build_graph(f"{folder}@v1", store=moved)
    assert (back.written, back.removed, read_revision(moved)[0]) == (2, 1, f"{folder}@v1")


def test_a_revision_of_equal_files_is_recorded(folder: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(f"{folder}@v2", store=store)
    before = read_revision(store)
    assert pkg.build_graph(f"{folder}@v3", store=store).written == 0
    assert read_revision(store)[0] == f"{folder}@v3"
    assert read_revision(store)[1] != before[1]


def test_no_other_folder_takes_the_place_of_a_source(folder: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(f"{folder}@v1", store=store)
    run_git(tmp_path, "clone", "--quiet", "shop", "other")
    for path in (tmp_path / "other", f"{tmp_path / 'other'}@v1", folder):  # a work tree is no revision
        with pytest.raises(StoreError, match="was built from"):
            pkg.build_graph(path, store=store, source="shop")


def test_a_missing_revision_leaves_the_graph_unchanged(folder: Path, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(f"{folder}@v1", store=store)
    with pytest.raises(PathError, match=r"has no revision 'v9'; expected a branch, tag or commit; list them with: git"):
        pkg.build_graph(f"{folder}@v9", store=store)
    assert read_revision(store)[0] == f"{folder}@v1"


def test_a_shallow_clone_is_reported_with_the_command_to_complete_it(folder: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{folder}", "clone")
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    assert pkg.build_graph(f"{tmp_path / 'clone'}@HEAD", store=store).written == 3
    with pytest.raises(PathError, match=r"has no revision 'v1': it is a shallow clone.*fetch --unshallow --tags"):
        pkg.build_graph(f"{tmp_path / 'clone'}@v1", store=store)
