from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pkg.extract.discovery import discover
from pkg.extract.ignore import IgnoreRules


def write_tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def run_git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    command = ["git", "-c", "core.excludesFile=", *arguments]
    return subprocess.run(command, cwd=folder, input=stdin, capture_output=True, check=False).stdout


def list_unignored(top: Path) -> list[str]:
    """List the Python files of a work tree that git does not ignore."""
    paths = sorted(path.relative_to(top).as_posix() for path in top.rglob("*.py"))
    ignored = run_git(top, "check-ignore", "--no-index", "--stdin", "-z", stdin="\0".join(paths).encode())
    return [path for path in paths if path not in ignored.decode().split("\0")]


def list_found(root: Path) -> list[str]:
    return [entry.path for entry in discover(str(root)).entries]


@pytest.fixture(scope="module")
def work_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("work_tree")
    folders = ["", "a/", "b/", *(f"{one}/{two}/" for one, two in itertools.product("ab", repeat=2)), "a/b/a/"]
    write_tree(top, {folder + name: "" for folder in folders for name in ("x.py", "y.py", "ab.py")})
    run_git(top, "init", "-q")
    return top


parts = st.sampled_from(["*", "**", "a", "b", "x.py", "y.py", "*.py", "?", "[ab]", "[!a]", "a*", "\\a", "a b"])
patterns = st.builds(
    lambda negation, start, body, end: negation + start + "/".join(body) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(parts, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " ", "\r"]),
)
rules = st.lists(st.one_of(patterns, st.sampled_from(["", "# a", "\\#x.py", "!", "/", "b[a"])), max_size=5)


@given(top=rules, nested=rules, exclude=rules)
@example(top=["a/**", "!a/x.py"], nested=[], exclude=[])
@example(top=["*", "!*/", "!x.py"], nested=["x.py"], exclude=[])
@example(top=["a/", "!a/x.py"], nested=["!*"], exclude=[])
@example(top=["/a/*", "!/a/b/"], nested=[], exclude=["y.py"])
def test_the_same_files_are_left_out_as_git_leaves_out(
    work_tree: Path, top: list[str], nested: list[str], exclude: list[str]
) -> None:
    (work_tree / ".gitignore").write_bytes("\n".join(top).encode())
    (work_tree / "a" / ".gitignore").write_bytes("\n".join(nested).encode())
    (work_tree / ".git" / "info" / "exclude").write_bytes("\n".join(exclude).encode())
    assert list_found(work_tree) == list_unignored(work_tree)


def test_rules_above_the_root_reach_into_it(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {"one/two/a.py": "", "one/two/b.py": "", "one/two/c.py": "", ".git/info/exclude": "/one/two/c.py"}
    )
    write_tree(tmp_path, {".gitignore": "/one/two/a.py\n", "one/.gitignore": "b.py"})
    assert list_found(tmp_path / "one" / "two") == []


def test_a_root_that_is_ignored_itself_is_read(tmp_path: Path) -> None:
    write_tree(tmp_path, {".git/HEAD": "", ".gitignore": "build/\n*.py", "build/lib/a.py": ""})
    assert list_found(tmp_path / "build" / "lib") == ["a.py"]


def test_a_linked_work_tree_uses_the_exclude_file_of_its_repository(tmp_path: Path) -> None:
    write_tree(tmp_path, {"main/.git/info/exclude": "b.py", "main/.git/worktrees/side/commondir": "../..\n"})
    write_tree(
        tmp_path, {"side/.git": f"gitdir: {tmp_path}/main/.git/worktrees/side\n", "side/a.py": "", "side/b.py": ""}
    )
    assert list_found(tmp_path / "side") == ["a.py"]


def test_pkgignore_works_without_git_and_outranks_gitignore(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "a.py", "sub/.gitignore": "c.py", ".pkgignore": "!c.py\nd.py"})
    write_tree(tmp_path, {"a.py": "", "b.py": "", "sub/c.py": "", "sub/d.py": ""})
    assert list_found(tmp_path) == ["b.py", "sub/c.py"]


def test_an_ignored_folder_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {".gitignore": "data/", "data/deep/a.py": "", "b.py": ""})
    opened: list[str] = []
    scan = os.scandir

    def scan_noted(place: str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
        opened.append(os.path.basename(place))
        return scan(place)

    with monkeypatch.context() as patched:  # the folder is removed at the end of the test
        patched.setattr(os, "scandir", scan_noted)
        assert list_found(tmp_path) == ["b.py"]
    assert opened == [tmp_path.name]


def test_an_ignore_file_that_is_a_link_or_a_folder_has_no_effect(tmp_path: Path) -> None:
    write_tree(tmp_path, {"rules": "*.py", "a.py": "", ".pkgignore/b.py": ""})
    (tmp_path / ".gitignore").symlink_to("rules")
    assert list_found(tmp_path) == [".pkgignore/b.py", "a.py"]


def test_an_oversized_ignore_file_is_named(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": ""})
    with open(tmp_path / ".gitignore", "wb") as file:
        file.truncate(2_000_000)
    found = discover(str(tmp_path))
    assert [entry.path for entry in found.entries] == ["a.py"]
    assert [skip.path for skip in found.skipped] == [".gitignore"]
    assert "its rules are not applied" in found.skipped[0].reason


def test_rules_survive_bytes_that_are_not_text() -> None:
    ruled = IgnoreRules().add("", ".gitignore", b"\xef\xbb\xbfa.py\n[z-a].py\n\xff.py\n")
    assert ruled.ignores("a.py")
    assert ruled.ignores("\udcff.py")
    assert not ruled.ignores("b.py")
