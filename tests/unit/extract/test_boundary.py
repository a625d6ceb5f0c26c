"""Links that lead out of a source are refused and reported, of any kind and at any time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from trees import write_tree

from pkg.api import build_graph, open_graph
from pkg.cli import main
from pkg.errors import PathError
from pkg.extract import boundary
from pkg.extract.discovery import LINK_REASON, discover
from pkg.extract.files import Discovery
from pkg.indexing.watch import WatchFilter

SECRET = "SECRET = 'of another folder'\n"
TREE = {
    "home/private/keys.py": SECRET,
    "home/private/deep/more.py": SECRET,
    "home/clone/own.py": "own = 1\n",
    "home/clone/inner/own.py": "inner = 1\n",
    "home/clone-two/keys.py": SECRET,
    "system/keys.py": SECRET,
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a home with a clone and private files in it, and files beside the home."""
    write_tree(tmp_path, TREE)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def link_chain(clone: Path) -> None:
    (clone / "first.py").symlink_to("second")
    (clone / "second").symlink_to("inner/third")
    (clone / "inner/third").symlink_to("../../private/keys.py")


def link_through_a_folder(clone: Path) -> None:
    (clone / "aside").symlink_to("..")
    (clone / "keys.py").symlink_to("aside/private/keys.py")


def link_out_and_in(clone: Path) -> None:
    (clone / "back.py").symlink_to(f"../private/../{clone.name}/../private/keys.py")


def link_sibling_of_the_same_beginning(clone: Path) -> None:
    (clone / "two.py").symlink_to("../clone-two/keys.py")
    (clone / "two").symlink_to("../clone-two")


LINKS: dict[str, Callable[[Path], None]] = {
    "a relative link to a file": lambda clone: (clone / "a.py").symlink_to("../private/keys.py"),
    "an absolute link to a file": lambda clone: (clone / "a.py").symlink_to(clone.parent / "private/keys.py"),
    "a link in a folder": lambda clone: (clone / "inner/a.pyi").symlink_to("../../private/keys.py"),
    "a link to a folder": lambda clone: (clone / "a").symlink_to("../private"),
    "an absolute link to a folder": lambda clone: (clone / "a").symlink_to(clone.parent / "private"),
    "a link to the folder above": lambda clone: (clone / "a").symlink_to(".."),
    "a link to the root of all": lambda clone: (clone / "a").symlink_to("/"),
    "a chain": link_chain,
    "a link through a linked folder": link_through_a_folder,
    "a link out, in and out again": link_out_and_in,
    "a folder whose name begins alike": link_sibling_of_the_same_beginning,
    "a link into /proc": lambda clone: (clone / "a").symlink_to("/proc/self/cwd"),
}


def read_all(found: Discovery) -> dict[str, bytes]:
    return {entry.path: entry.read() for entry in found.entries}


OWN = {"inner/own.py": b"inner = 1\n", "own.py": b"own = 1\n"}


@pytest.mark.parametrize("make", LINKS.values(), ids=LINKS)
def test_a_link_out_of_the_source_is_skipped_and_named(place: Path, make: Callable[[Path], None]) -> None:
    clone = place / "home/clone"
    make(clone)

    found = discover(str(clone))

    assert read_all(found) == OWN
    assert found.skipped
    for skip in found.skipped:
        target = os.path.realpath(clone / skip.path)
        reason = f"a link that leads out of the source (to {target}); --follow-links takes such links too"
        assert skip.reason == reason


def test_links_that_stay_inside_are_read(place: Path) -> None:
    clone = place / "home/clone"
    (clone / "store").mkdir()
    (clone / "store/0001").write_text("kept = 1\n")
    (clone / "kept.py").symlink_to(clone / "store/0001")
    (clone / "up.py").symlink_to("inner/../store/0001")
    (clone / "round").symlink_to("../clone/inner")

    found = discover(str(clone))

    assert read_all(found) == OWN | {"kept.py": b"kept = 1\n"}
    assert {skip.path for skip in found.skipped} == {"up.py", "round"}
    assert all("same file as" in skip.reason or "not read twice" in skip.reason for skip in found.skipped)


def test_a_link_as_the_root_is_what_the_user_named(place: Path) -> None:
    (place / "root").symlink_to("home/clone")
    (place / "file.py").symlink_to("home/private/keys.py")
    (place / "home/clone/out.py").symlink_to("../private/keys.py")

    found = discover(str(place / "root"))

    assert read_all(found) == OWN
    assert [skip.path for skip in found.skipped] == ["out.py"]
    assert read_all(discover(str(place / "file.py"))) == {"file.py": SECRET.encode()}


def test_links_are_followed_within_the_home(place: Path) -> None:
    clone = place / "home/clone"
    (clone / "keys.py").symlink_to("../private/keys.py")
    (clone / "deep").symlink_to("../private/deep")
    (clone / "system.py").symlink_to("../../system/keys.py")
    (clone / "system").symlink_to(place / "system")
    (place / "home/private/deep/on.py").symlink_to(place / "system/keys.py")

    found = discover(str(clone), follow_links=True)

    assert read_all(found) == OWN | {"keys.py": SECRET.encode(), "deep/more.py": SECRET.encode()}
    assert [skip.path for skip in found.skipped] == ["deep/on.py", "system", "system.py"]
    assert all("out of the source and of your home folder (to " in skip.reason for skip in found.skipped)


@pytest.mark.parametrize("home", ["/", "", "home"])
def test_the_root_folder_is_not_accepted_as_home(place: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    (place / "home/clone/keys.py").symlink_to("../private/keys.py")
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOME", home)

    assert read_all(discover(str(place / "home/clone"), follow_links=True)) == OWN


@pytest.mark.parametrize("has_proc", [True, False])
@pytest.mark.parametrize("swapped", ["own.py", "inner"])
def test_a_file_replaced_by_a_link_after_the_listing_is_not_read(
    place: Path, monkeypatch: pytest.MonkeyPatch, swapped: str, has_proc: bool
) -> None:
    if not has_proc:
        monkeypatch.setattr(boundary, "_OPENED", str(place / "nowhere"))
    clone = place / "home/clone"
    write_tree(place / "home/private", {"own.py": SECRET})
    found = discover(str(clone))
    (clone / swapped).rename(clone / "moved")
    (clone / swapped).symlink_to("../private/keys.py" if swapped == "own.py" else "../private")

    entry = next(each for each in found.entries if each.path.startswith(swapped))
    with pytest.raises(PathError, match="a link that leads out of the source"):
        entry.read()


@pytest.mark.parametrize("has_proc", [True, False])
def test_a_file_replaced_by_an_editor_meanwhile_is_read(
    place: Path, monkeypatch: pytest.MonkeyPatch, has_proc: bool
) -> None:
    if not has_proc:
        monkeypatch.setattr(boundary, "_OPENED", str(place / "nowhere"))
    clone = place / "home/clone"
    found = discover(str(clone))
    (clone / "new").write_text("own = 2\n")
    (clone / "new").replace(clone / "own.py")

    assert read_all(found) == OWN | {"own.py": b"own = 2\n"}


@pytest.mark.parametrize("name", [".gitignore", ".pkgignore"])
@pytest.mark.parametrize("target", ["../private/rules", "inside"])
def test_ignore_files_that_are_links_are_not_applied_and_reported(place: Path, name: str, target: str) -> None:
    clone = place / "home/clone"
    for rules in (place / "home/private/rules", clone / "inside"):
        rules.write_text("*.py\n")
    (clone / name).symlink_to(target)

    found = discover(str(clone))

    assert read_all(found) == OWN
    assert [(skip.path, skip.reason) for skip in found.skipped] == [(name, LINK_REASON)]


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True)


def test_a_revision_follows_no_link_and_names_each(place: Path) -> None:
    clone = place / "home/clone"
    (clone / "out.py").symlink_to("../private/keys.py")
    (clone / "inside.py").symlink_to("own.py")
    (clone / ".pkgignore").symlink_to("own.py")
    git(clone, "init", "-q")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "x")

    found = discover(f"{clone}@HEAD", follow_links=True)

    assert read_all(found) == OWN
    assert [skip.path for skip in found.skipped] == [".pkgignore", "inside.py", "out.py"]
    assert all("links in a revision are not followed" in skip.reason for skip in found.skipped)


def test_a_history_outside_of_the_source_is_not_read(place: Path) -> None:
    private, clone = place / "home/private", place / "home/clone"
    git(private, "init", "-q")
    git(private, "add", "-A")
    git(private, "commit", "-qm", "x")
    (clone / ".git").symlink_to("../private/.git")

    with pytest.raises(PathError, match=r"\.git is a link that leads out of the source"):
        discover(f"{clone}@HEAD")
    assert [entry.path for entry in discover(f"{clone}@HEAD", follow_links=True).entries] == [
        "deep/more.py", "keys.py"
    ]  # fmt: skip


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_a_build_counts_and_names_refused_links_and_an_option_follows_them(place: Path) -> None:
    clone, store = place / "home/clone", f"sqlite:///{place}/graph.db"
    (clone / "keys.py").symlink_to("../private/keys.py")
    command = ["build", str(clone), "--store", store]

    refused = run(*command)
    assert "leads out of the source" in refused.output
    assert "SECRET" not in run("export", "--store", store).output
    assert '"written": 1' in run(*command, "--follow-links").output
    assert "SECRET" in run("export", "--store", store).output
    assert '"removed": 1' in run(*command).output
    assert "SECRET" not in run("export", "--store", store).output


def test_the_variable_and_the_keyword_do_what_the_option_does(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = place / "home/clone"
    (clone / "keys.py").symlink_to("../private/keys.py")

    assert build_graph(clone, store=f"sqlite:///{place}/a.db").written == 2
    assert build_graph(clone, store=f"sqlite:///{place}/b.db", follow_links=True).written == 3
    monkeypatch.setenv("PKG_FOLLOW_LINKS", "1")
    assert run("build", str(clone), "--store", f"sqlite:///{place}/c.db").exit_code == 0
    assert run("build", str(clone), "--store", f"sqlite:///{place}/d.db", "--no-follow-links").exit_code == 0
    for name, files in (("c", 3), ("d", 2)):
        with open_graph(f"sqlite:///{place}/{name}.db") as graph:
            assert graph.stats().nodes["File"] == files


def test_a_settings_file_may_ask_for_links_once_it_is_trusted(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone, setting = place / "home/clone", "follow_links = true\n"
    (clone / "keys.py").symlink_to("../private/keys.py")
    (place / "home/pkg.toml").write_text(setting)
    monkeypatch.chdir(clone)

    def command(path: str) -> list[str]:
        return ["build", path, "--store", f"sqlite:///{place}/graph.db", "--source", "clone"]

    run("trust")
    assert '"written": 3' in run(*command(".")).output
    (clone / "pkg.toml").write_text(setting)
    (clone / ".git").mkdir()
    for path in (".", "inner"):
        refused = run(*command(path))
        assert refused.exit_code == 1
        assert "setting 'follow_links'" in refused.stderr
    assert '"removed": 1' in run(*command("."), "--no-follow-links").output


def test_a_watch_ignores_changes_in_targets_of_refused_links(place: Path) -> None:
    clone = place / "home/clone"
    (clone / "out").symlink_to("../private")
    (clone / "in").symlink_to("inner")

    refusing, following = (
        WatchFilter(str(clone.resolve()), ()),
        WatchFilter(str(clone.resolve()), (), follow_links=True),
    )

    assert not refusing.keeps(str(clone.resolve() / "out/keys.py"))
    assert following.keeps(str(clone.resolve() / "out/keys.py"))
    assert refusing.keeps(str(clone.resolve() / "in/own.py"))
