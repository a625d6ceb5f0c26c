from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pkg.errors import PathError
from pkg.extract.discovery import discover, looks_minified
from pkg.extract.files import DEFAULT_MAX_FILE_SIZE, Discovery
from pkg.model import Skip

UNPRIVILEGED = 65534


def write_tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def list_paths(found: Discovery) -> list[str]:
    return [entry.path for entry in found.entries]


@contextmanager
def without_privileges() -> Iterator[None]:
    """Drop superuser rights, with which everything can be read."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(UNPRIVILEGED)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Return a folder that any user may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in folder.iterdir():
        path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_folder_gives_its_python_files_in_order(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {"b.py": "b = 1\n", "a/c.pyi": "", "a/__init__.py": "", "w.pyw": "", "n.txt": "", "a/d.pyc": ""}
    )
    found = discover(str(tmp_path))
    assert list_paths(found) == ["a/__init__.py", "a/c.pyi", "b.py", "w.pyw"]
    assert (found.root, found.name, found.revision) == (str(tmp_path), tmp_path.name, None)
    assert found.skipped == ()
    assert found.entries[2].read() == b"b = 1\n"
    assert found.entries[2].size == 6


def test_a_relative_path_is_named_after_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"project/a.py": ""})
    monkeypatch.chdir(tmp_path / "project")
    found = discover(".")
    assert (found.name, found.root) == ("project", str(tmp_path / "project"))


def test_a_single_file_is_a_repository_of_one(tmp_path: Path) -> None:
    write_tree(tmp_path, {"tool.py": "x = 1\n"})
    found = discover(str(tmp_path / "tool.py"))
    assert (found.name, list_paths(found), found.entries[0].read()) == ("tool", ["tool.py"], b"x = 1\n")


def test_a_single_file_over_the_cap_is_a_skip(tmp_path: Path) -> None:
    write_tree(tmp_path, {"tool.py": "x" * 100})
    assert discover(str(tmp_path / "tool.py"), max_file_size=10).skipped[0].path == "tool.py"


@pytest.mark.parametrize("path", ["missing", "missing.zip", "missing@main", "nul\0.py"])
def test_a_missing_path_says_what_was_expected(path: str) -> None:
    with pytest.raises(PathError, match=r"no such file or folder: .*; expected a folder, a Python file, an archive"):
        discover(path)


def test_a_file_of_another_kind_says_what_was_expected(tmp_path: Path) -> None:
    write_tree(tmp_path, {"notes.txt": ""})
    with pytest.raises(PathError, match="neither a Python file nor an archive; expected"):
        discover(str(tmp_path / "notes.txt"))


def test_a_fifo_given_as_the_path_is_refused_without_opening_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(PathError, match=r"not a regular file \(FIFO\)"):
        discover(str(tmp_path / "pipe.py"))


def test_a_broken_link_given_as_the_path_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link.py").symlink_to("nowhere.py")
    with pytest.raises(PathError, match="cannot be read"):
        discover(str(tmp_path / "link.py"))


@pytest.mark.parametrize("files", [{}, {"README.md": "", "src/main.c": ""}], ids=["empty", "no Python"])
def test_a_folder_without_python_has_no_entries(tmp_path: Path, files: dict[str, str]) -> None:
    found = discover(str(write_tree(tmp_path, files)))
    assert (found.entries, found.skipped) == ((), ())


def test_caches_and_installed_packages_are_skipped_without_a_report(tmp_path: Path) -> None:
    hidden = (
        ".git",
        ".hg",
        ".svn",
        "__pycache__",
        "node_modules",
        ".tox",
        ".nox",
        ".eggs",
        "x.egg-info",
        "site-packages",
    )
    write_tree(tmp_path, {f"sub/{folder}/a.py": "" for folder in hidden} | {"sub/a.py": ""})
    found = discover(str(tmp_path))
    assert (list_paths(found), found.skipped) == (["sub/a.py"], ())


def test_virtual_environments_and_build_output_are_left_out_by_name(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {"pyproject.toml": "", "build/a.py": "", "dist/b.py": "", "any/pyvenv.cfg": "", "any/c.py": ""}
    )
    write_tree(tmp_path, {"src/build/d.py": ""})
    found = discover(str(tmp_path))
    assert list_paths(found) == ["src/build/d.py"]
    assert [skip.path for skip in found.skipped] == ["any", "build", "dist"]
    assert "virtual environment" in found.skipped[0].reason
    assert "build output" in found.skipped[1].reason


def test_a_folder_called_build_is_read_where_nothing_is_built(tmp_path: Path) -> None:
    assert list_paths(discover(str(write_tree(tmp_path, {"build/a.py": ""})))) == ["build/a.py"]


@pytest.mark.parametrize("root", [".venv", ".venv/lib", ".venv/lib/site-packages", "build", "node_modules"])
def test_an_excluded_folder_is_read_if_it_is_the_path(tmp_path: Path, root: str) -> None:
    write_tree(tmp_path, {".git/HEAD": "", ".venv/pyvenv.cfg": "", ".venv/.gitignore": "*", "setup.py": ""})
    write_tree(tmp_path, {f"{root}/top.py": "", ".venv/lib/site-packages/a.py": ""})
    assert "top.py" in list_paths(discover(str(tmp_path / root)))


def test_a_virtual_environment_as_path_has_its_installed_packages(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pyvenv.cfg": "", ".gitignore": "*", "lib/site-packages/a.py": ""})
    assert list_paths(discover(str(tmp_path))) == ["lib/site-packages/a.py"]


def test_a_file_of_100_mb_is_skipped_with_the_option_to_read_it(tmp_path: Path) -> None:
    with open(tmp_path / "big.py", "wb") as file:
        file.truncate(100 * 1024 * 1024)
    reason = "larger than 5.0 MB (seen 104.9 MB); raise it with --max-file-size"
    assert discover(str(tmp_path)).skipped == (Skip("big.py", reason),)
    assert list_paths(discover(str(tmp_path), max_file_size=10**9)) == ["big.py"]


def test_a_file_of_exactly_the_cap_is_read(tmp_path: Path) -> None:
    with open(tmp_path / "a.py", "wb") as file:
        file.truncate(DEFAULT_MAX_FILE_SIZE)
    assert len(discover(str(tmp_path)).entries[0].read()) == DEFAULT_MAX_FILE_SIZE


def test_the_fingerprint_changes_with_the_content_and_only_then(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "1", "b.py": "1"})
    before = {entry.path: entry.fingerprint for entry in discover(str(tmp_path)).entries}
    info = os.stat(tmp_path / "a.py")
    (tmp_path / "a.py").write_text("2")
    os.utime(tmp_path / "a.py", ns=(info.st_atime_ns, info.st_mtime_ns + 1))
    after = {entry.path: entry.fingerprint for entry in discover(str(tmp_path)).entries}
    assert after["a.py"] != before["a.py"]
    assert after["b.py"] == before["b.py"]


def test_a_file_reached_by_several_paths_is_read_once_by_its_own(tmp_path: Path) -> None:
    write_tree(tmp_path, {"m/real.py": ""})
    (tmp_path / "a.py").symlink_to("m/real.py")
    os.link(tmp_path / "m/real.py", tmp_path / "z.py")
    found = discover(str(tmp_path))
    assert list_paths(found) == ["m/real.py"]
    assert found.skipped == (Skip("a.py", "same file as m/real.py"), Skip("z.py", "same file as m/real.py"))


def test_links_to_folders_lead_out_of_the_tree_but_never_in_cycles(home: Path) -> None:
    tmp_path = home
    write_tree(tmp_path, {"out/deep/a.py": "", "root/m/b.py": ""})
    targets = {"again": "../out", "inside": "m", "self": ".", "up": "..", "out": "../out", "deep": "../out/deep"}
    for name, target in targets.items():
        (tmp_path / "root" / name).symlink_to(target)
    (tmp_path / "out/back").symlink_to("../root")
    found = discover(str(tmp_path / "root"), follow_links=True)
    assert list_paths(found) == ["again/deep/a.py", "m/b.py"]
    assert [skip.path for skip in found.skipped] == ["again/back", "deep", "inside", "out", "self", "up"]
    assert all("not read twice" in skip.reason for skip in found.skipped)


def test_a_linked_folder_around_another_linked_one_is_read_without_it(home: Path) -> None:
    write_tree(home, {"out/deep/a.py": "", "out/c.py": "", "root/b.py": ""})
    (home / "root/x").symlink_to("../out/deep")
    (home / "root/y").symlink_to("../out")
    found = discover(str(home / "root"), follow_links=True)
    assert (list_paths(found), found.skipped) == (["b.py", "x/a.py", "y/c.py"], ())


def test_broken_links_are_named_with_their_target(tmp_path: Path) -> None:
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "loop").symlink_to("loop")
    found = discover(str(tmp_path))
    assert found.entries == ()
    assert [(skip.path, skip.reason.partition(" (")[0]) for skip in found.skipped] == [
        ("gone.py", "broken link to nowhere.py"),
        ("loop.py", "broken link to loop.py"),
    ]


def test_special_files_are_named_and_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    os.mkfifo("pipe.py")
    Path("device.py").symlink_to(os.devnull)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        found = discover(".")
    assert found.entries == ()
    assert [(skip.path, skip.reason) for skip in found.skipped] == [
        ("device.py", "not a regular file (character device)"),
        ("pipe.py", "not a regular file (FIFO)"),
        ("socket.py", "not a regular file (socket)"),
    ]


def test_an_unreadable_folder_is_named(public_folder: Path) -> None:
    write_tree(public_folder, {"open/a.py": "", "shut/b.py": ""})
    (public_folder / "shut").chmod(0o000)
    with without_privileges():
        found = discover(str(public_folder))
    assert list_paths(found) == ["open/a.py"]
    assert found.skipped == (Skip("shut", "the folder cannot be read (Permission denied)"),)


def test_an_unreadable_root_is_an_error(public_folder: Path) -> None:
    write_tree(public_folder, {"shut/b.py": ""})
    (public_folder / "shut").chmod(0o000)
    with without_privileges(), pytest.raises(PathError, match="the folder cannot be read"):
        discover(str(public_folder / "shut"))


def test_an_unreadable_file_is_an_error_when_it_is_read(public_folder: Path) -> None:
    write_tree(public_folder, {"a.py": ""})
    (public_folder / "a.py").chmod(0o000)
    with without_privileges(), pytest.raises(PathError, match="Permission denied"):
        discover(str(public_folder)).entries[0].read()


def test_undecodable_names_have_distinct_spellings(tmp_path: Path) -> None:
    for name in (b"caf\xe9.py", b"caf\\xe9.py", "café.py".encode(), b"new\nline.py"):
        with open(os.fsencode(tmp_path) + b"/" + name, "wb") as file:
            file.write(name)
    found = discover(str(tmp_path))
    assert list_paths(found) == sorted(["caf\\xe9.py", "caf\\\\xe9.py", "café.py", "new\\x0aline.py"])
    assert {entry.read() for entry in found.entries} >= {b"caf\xe9.py", b"new\nline.py"}


def test_a_tree_deeper_than_the_recursion_limit_is_walked(tmp_path: Path) -> None:
    os.makedirs(tmp_path / "/".join("d" * 900))
    (tmp_path / "/".join("d" * 900) / "a.py").touch()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        found = discover(str(tmp_path))
    finally:
        sys.setrecursionlimit(limit)
    assert len(found.entries) == 1


def test_a_tree_deeper_than_the_longest_path_is_read_up_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"a.py": ""})
    monkeypatch.chdir(tmp_path)
    for _ in range(30):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    found = discover(str(tmp_path))
    assert list_paths(found) == ["a.py"]
    assert "the folder cannot be read (File name too long)" in [skip.reason for skip in found.skipped]


def test_discovery_writes_nothing_into_the_tree(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "", "sub/b.py": "", ".gitignore": "b.py"})
    before = {path: path.stat().st_mtime_ns for path in [tmp_path, *tmp_path.rglob("*")]}
    for entry in discover(str(tmp_path)).entries:
        entry.read()
    assert {path: path.stat().st_mtime_ns for path in [tmp_path, *tmp_path.rglob("*")]} == before


def test_a_text_of_long_lines_looks_minified() -> None:
    assert looks_minified(b"x=1;" * 8_000)
    assert looks_minified(b"\n".join([b"x=1;" * 800] * 20))


def test_one_long_line_among_short_ones_does_not_look_minified() -> None:
    assert not looks_minified(b"x = 1\n" * 4_000 + b"x" * 6_000)


def test_a_long_line_beyond_the_head_does_not_count() -> None:
    assert not looks_minified(b"x = 1\n" * 12_000 + b"x" * 10_000)


def test_a_deleted_working_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(PathError, match="the working folder was deleted"):
        discover(".")
