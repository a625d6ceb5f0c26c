"""Other work trees of a repository below its folder are copies, which a build reports and skips."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from git_trees import commit_all, make_repository, run_git

from pkg.extract.discovery import discover
from pkg.extract.ignore import WORKTREE_REASON, is_other_work_tree
from pkg.indexing.watch import WatchFilter


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "shop", {"shop/cart.py": "x = 1\n", "main.py": "y = 2\n"})


def list_found(root: Path) -> tuple[list[str], list[tuple[str, str]]]:
    found = discover(str(root))
    return [each.path for each in found.entries], [(each.path, each.reason) for each in found.skipped]


@pytest.mark.parametrize("place", [".claude/worktrees/x", "trees/x"])
def test_a_linked_work_tree_is_left_out_and_named(top: Path, place: str) -> None:
    run_git(top, "worktree", "add", "--quiet", place)
    assert list_found(top) == (["main.py", "shop/cart.py"], [(place, WORKTREE_REASON)])
    assert not WatchFilter(str(top), []).keeps(str(top / place / "main.py"))


def test_a_work_tree_that_git_has_forgotten_is_left_out_too(top: Path) -> None:
    run_git(top, "worktree", "add", "--quiet", "old")
    shutil.rmtree(top / ".git" / "worktrees")
    assert list_found(top)[1] == [("old", WORKTREE_REASON)]


def test_a_work_tree_that_is_named_is_read_and_so_are_its_own_copies_left_out(top: Path) -> None:
    run_git(top, "worktree", "add", "--quiet", "trees/x")
    run_git(top, "worktree", "add", "--quiet", "trees/x/inner")
    assert list_found(top / "trees/x") == (["main.py", "shop/cart.py"], [("inner", WORKTREE_REASON)])


def test_a_folder_of_a_repository_leaves_out_its_work_trees(top: Path) -> None:
    run_git(top, "worktree", "add", "--quiet", "shop/copy")
    assert list_found(top / "shop") == (["cart.py"], [("copy", WORKTREE_REASON)])


def test_other_repositories_and_submodules_are_read(top: Path, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "other", {"other.py": "z = 3\n"})
    run_git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "vendor/other")
    run_git(top, "clone", "--quiet", str(other), "clone")
    run_git(other, "worktree", "add", "--quiet", str(top / "foreign"))
    commit_all(top / "vendor/other")
    assert list_found(top) == (
        ["clone/other.py", "foreign/other.py", "main.py", "shop/cart.py", "vendor/other/other.py"], [],
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", "gitdir:", "gitdir: \0", "gitdir: ../nowhere\n", "gitdir: .git\n"])
def test_a_git_file_that_points_nowhere_hides_nothing(top: Path, text: str) -> None:
    (top / "odd").mkdir()
    (top / "odd" / ".git").write_text(text)
    assert not is_other_work_tree(str(top / "odd"), str(top))
