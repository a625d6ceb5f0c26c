"""Differences between two states of a git repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from git_trees import commit_all, run_git
from trees import write_tree

from pkg.errors import PathError
from pkg.extract.diffs import Diff, read_diff

LONG = "".join(f"line_{number} = {number}\n" for number in range(30))


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    write_tree(folder, {"kept.py": "kept = 1\n", "edited.py": "old = 1\n", "gone.py": "gone = 1\n", "moved.py": LONG})
    run_git(folder, "init", "--quiet")
    commit_all(folder)
    return folder


def statuses(diff: Diff) -> dict[str, str]:
    return {file.path: file.status for file in diff.files}


def test_uncommitted_edits_deletions_and_files_that_git_does_not_know_are_found(top: Path) -> None:
    write_tree(top, {"edited.py": "new = 1\n", "fresh.py": "fresh = 1\n", "notes.txt": "no code\n"})
    (top / "gone.py").unlink()
    diff = read_diff(str(top))
    assert statuses(diff) == {"edited.py": "changed", "fresh.py": "added", "gone.py": "deleted"}
    assert [(file.old, file.new) for file in diff.files] == [
        (b"old = 1\n", b"new = 1\n"), (None, b"fresh = 1\n"), (b"gone = 1\n", None),
    ]  # fmt: skip


def test_a_renamed_file_has_both_paths(top: Path) -> None:
    write_tree(top, {"sub/named.py": LONG + "more = 1\n"})
    (top / "moved.py").unlink()
    first = run_git(top, "rev-parse", "HEAD").strip()
    commit_all(top)
    (file,) = read_diff(str(top), f"{first}..HEAD").files
    assert (file.old_path, file.new_path, file.status) == ("moved.py", "sub/named.py", "renamed")


def test_staged_changes_are_separate_from_the_work_tree(top: Path) -> None:
    write_tree(top, {"edited.py": "staged = 1\n"})
    run_git(top, "add", "edited.py")
    write_tree(top, {"edited.py": "later = 1\n", "kept.py": "kept = 2\n"})
    assert [(file.path, file.new) for file in read_diff(str(top), is_staged=True).files] == [
        ("edited.py", b"staged = 1\n")
    ]
    assert read_diff(str(top)).files[0].new == b"later = 1\n"


def test_files_outside_of_the_folder_and_without_python_are_not_read(top: Path) -> None:
    write_tree(top, {"sub/inner.py": "a = 1\n", "sub/page.html": "1"})
    commit_all(top)
    write_tree(top, {"sub/inner.py": "a = 2\n", "sub/page.html": "2", "kept.py": "kept = 2\n"})
    diff = read_diff(str(top / "sub"))
    assert (statuses(diff), diff.others) == ({"inner.py": "changed"}, 1)


def test_three_dots_compare_with_the_merge_base(top: Path) -> None:
    run_git(top, "checkout", "--quiet", "-b", "topic")
    write_tree(top, {"edited.py": "topic = 1\n"})
    commit_all(top)
    run_git(top, "checkout", "--quiet", "-")
    write_tree(top, {"kept.py": "kept = 2\n"})
    commit_all(top)
    assert statuses(read_diff(str(top), "HEAD...topic")) == {"edited.py": "changed"}
    assert statuses(read_diff(str(top), "HEAD..topic")) == {"edited.py": "changed", "kept.py": "changed"}


@pytest.mark.parametrize("revision", ["nowhere", "HEAD..nowhere", "--output=x", "HEAD..-x"])
def test_an_unknown_revision_is_refused(top: Path, revision: str) -> None:
    with pytest.raises(PathError, match=r"(no|not a) revision"):
        read_diff(str(top), revision)


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="not a git repository"):
        read_diff(str(tmp_path))
    with pytest.raises(PathError, match="is not a folder"):
        read_diff(str(tmp_path / "missing"))


def test_a_shallow_clone_is_reported_for_older_revisions(top: Path, tmp_path: Path) -> None:
    first = run_git(top, "rev-parse", "HEAD").strip()
    write_tree(top, {"edited.py": "new = 1\n"})
    commit_all(top)
    run_git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{top}", "shallow")
    with pytest.raises(PathError, match=r"it is a shallow clone.*: git .* --unshallow"):
        read_diff(str(tmp_path / "shallow"), first)


@pytest.mark.skipif(os.name != "posix", reason="the filter is a shell command")
def test_no_program_of_the_repository_s_configuration_is_run(top: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    run_git(top, "config", "filter.spy.clean", f"touch {trace}; cat")
    run_git(top, "config", "filter.spy.required", "true")
    run_git(top, "config", "diff.external", f"touch {trace}")
    write_tree(top, {".gitattributes": "*.py filter=spy\n", "edited.py": "new = 1\n"})
    assert statuses(read_diff(str(top)))["edited.py"] == "changed"
    assert not trace.exists()
