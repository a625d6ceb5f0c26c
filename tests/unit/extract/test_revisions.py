from __future__ import annotations

import os
from pathlib import Path

import pytest
from git_trees import commit_all, make_repository, run_git

from pkg.errors import PathError
from pkg.extract.discovery import discover
from pkg.extract.files import Discovery


def write_tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a repository whose tag v1 differs from its work tree."""
    top = write_tree(
        tmp_path / "project", {"a.py": "old = 1\n", "sub/b.py": "b = 1\n", "notes.txt": "", "sub/c.py": ""}
    )
    run_git(top, "init", "--quiet")
    commit_all(top)
    run_git(top, "tag", "v1")
    write_tree(top, {"a.py": "new = 1\n", "d.py": ""})
    return top


def read_all(found: Discovery) -> dict[str, bytes]:
    return {entry.path: entry.read() for entry in found.entries}


def test_a_revision_is_read_as_it_was_committed(project: Path) -> None:
    found = discover(f"{project}@v1")
    assert read_all(found) == {"a.py": b"old = 1\n", "sub/b.py": b"b = 1\n", "sub/c.py": b""}
    assert (found.root, found.name) == (f"{project}@v1", "project")
    assert found.revision == run_git(project, "rev-parse", "v1").strip()
    assert found.entries[0].fingerprint == run_git(project, "rev-parse", "v1:a.py").strip()


def test_contents_can_be_read_in_any_order_and_twice(project: Path) -> None:
    entries = discover(f"{project}@v1").entries
    texts = [b"old = 1\n", b"b = 1\n", b""]
    assert [entry.read() for entry in (*entries[::-1], *entries)] == texts[::-1] + texts


def test_a_subfolder_is_read_with_paths_of_its_own(project: Path) -> None:
    assert list(read_all(discover(f"{project}/sub@HEAD"))) == ["b.py", "c.py"]


def test_a_bare_repository_can_be_read(project: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "--quiet", "--bare", "project", "copy.git")
    found = discover(f"{tmp_path}/copy.git@v1")
    assert (found.name, len(found.entries)) == ("copy", 3)


def test_a_path_that_exists_wins_over_a_revision(project: Path, tmp_path: Path) -> None:
    write_tree(tmp_path / "project@v1", {"real.py": ""})
    assert list(read_all(discover(f"{tmp_path}/project@v1"))) == ["real.py"]


def test_an_at_sign_inside_the_folder_or_the_revision_is_understood(project: Path, tmp_path: Path) -> None:
    project.rename(tmp_path / "me@home")
    run_git(tmp_path / "me@home", "branch", "fix@2")
    assert len(discover(f"{tmp_path}/me@home@fix@2").entries) == 3
    assert len(discover(f"{tmp_path}/me@home@HEAD@{{0}}").entries) == 3


@pytest.mark.parametrize("revision", ["nothing", "v1:a.py", "v1^{tree}", "nul\0"])
def test_an_unknown_revision_says_how_to_list_them(project: Path, revision: str) -> None:
    with pytest.raises(PathError, match="revision"):
        discover(f"{project}@{revision}")


@pytest.mark.parametrize("revision", ["", "--all", "-h"])
def test_a_revision_is_never_taken_for_an_option(project: Path, revision: str) -> None:
    with pytest.raises(PathError, match="no revision after the @"):
        discover(f"{project}@{revision}")


def test_a_folder_without_git_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"git cannot read this folder .*expected a git work tree or a bare repository"):
        discover(f"{tmp_path}@HEAD")


def test_a_repository_without_commits_is_reported(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    with pytest.raises(PathError, match=r"no revision 'HEAD': the repository has no commit yet"):
        discover(f"{tmp_path}@HEAD")


def test_a_command_in_advice_can_be_pasted(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "my shop", {"a.py": ""})
    with pytest.raises(PathError, match=r"git -C '.*/my shop' log"):
        discover(f"{folder}@nothing")


def test_a_missing_git_is_reported(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PathError, match="git is not installed"):
        discover(f"{project}@v1")


def test_tracked_files_are_excluded_only_by_pkgignore(project: Path) -> None:
    write_tree(project, {".gitignore": "a.py", ".pkgignore": "/sub/b.py", "sub/.pkgignore": "c.py", "sub/e.py": ""})
    commit_all(project)
    assert list(read_all(discover(f"{project}@HEAD"))) == ["a.py", "d.py", "sub/e.py"]


def test_links_large_files_and_submodules_are_named(project: Path) -> None:
    (project / "link.py").symlink_to("a.py")
    write_tree(project, {"large.py": "x" * 100})
    commit = commit_all(project)
    run_git(project, "update-index", "--add", "--cacheinfo", f"160000,{commit},vendor")
    run_git(project, "commit", "--quiet", "--message", "submodule")
    found = discover(f"{project}@HEAD", max_file_size=50)
    assert [(skip.path, skip.reason.split()[0]) for skip in found.skipped] == [
        ("large.py", "larger"),
        ("link.py", "link;"),
        ("vendor", "submodule:"),
    ]


def test_names_that_are_not_text_are_read(project: Path) -> None:
    with open(os.fsencode(project) + b"/caf\xe9.py", "wb") as file:
        file.write(b"x")
    commit_all(project)
    assert read_all(discover(f"{project}@HEAD"))["caf\\xe9.py"] == b"x"


def test_a_lost_object_is_an_error_and_the_next_file_is_read(project: Path) -> None:
    first, second, _ = discover(f"{project}@v1").entries
    place = project / ".git" / "objects" / first.fingerprint[:2] / first.fingerprint[2:]
    place.unlink()
    with pytest.raises(PathError, match=rf"a\.py: git cannot read object {first.fingerprint}; run: git fsck"):
        first.read()
    assert second.read() == b"b = 1\n"


def test_no_program_of_the_repository_s_configuration_is_run(project: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "diff.external", "filter.x.smudge"):
        run_git(project, "config", name, str(trap))
    run_git(project, "config", "extensions.partialClone", "origin")
    run_git(project, "config", "remote.origin.url", f"ext::{trap}")
    run_git(project, "config", "protocol.ext.allow", "always")
    entries = discover(f"{project}@v1").entries
    lost = project / ".git" / "objects" / entries[0].fingerprint[:2] / entries[0].fingerprint[2:]
    lost.unlink()
    with pytest.raises(PathError):
        entries[0].read()
    assert not (tmp_path / "sprung").exists()


def test_the_repository_is_not_touched(project: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in [project, *project.rglob("*")]}
    read_all(discover(f"{project}@v1"))
    assert {path: path.stat().st_mtime_ns for path in [project, *project.rglob("*")]} == before


def test_another_repository_in_the_environment_does_not_count(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert len(discover(f"{project}@v1").entries) == 3
