"""A release is made only of committed files, with a version and a dated section of the changelog."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import release as released
from release import NotReadyError, check_commit, read_notes, read_version

import pkg

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[3]
CHANGELOG = """# Changelog

## Unreleased

## 0.3.0

### Added

- A command.

## 0.2.0 (2026-01-02)

### Fixed

- A fault.

## 0.1.0 (2025-01-02)
"""


def test_the_version_stands_in_one_place() -> None:
    assert read_version((ROOT / "pkg" / "__init__.py").read_text(encoding="utf-8")) == pkg.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "pkg.__version__"}


@pytest.mark.parametrize("text", ["", "__version__ = make()", '__version__ = "0.2"'])
def test_without_a_version_there_is_no_release(text: str) -> None:
    with pytest.raises(NotReadyError, match="assigns no version"):
        read_version(text)


def test_the_notes_are_the_section_of_the_version() -> None:
    assert read_notes(CHANGELOG, "0.2.0") == "### Fixed\n\n- A fault."


@pytest.mark.parametrize(
    ("version", "reason"),
    [("9.9.9", "has no section"), ("0.3.0", "expected"), ("0.1.0", "is empty"), ("0.2", "expected")],
)
def test_a_section_that_is_missing_undated_or_empty_stops_the_release(version: str, reason: str) -> None:
    with pytest.raises(NotReadyError, match=reason):
        read_notes(CHANGELOG, version)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(released, "ROOT", tmp_path)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "someone")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    commit(tmp_path, "one")
    return tmp_path


def commit(repository: Path, text: str) -> None:
    (repository / "file").write_text(text)
    subprocess.run(["git", "add", "--all"], cwd=repository, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message", text], cwd=repository, check=True)


def test_files_that_are_not_committed_stop_the_release(repository: Path) -> None:
    (repository / "new").write_text("new")
    with pytest.raises(NotReadyError, match=re.escape("?? new")):
        check_commit("v1.0.0")


def test_a_tag_of_another_commit_stops_the_release(repository: Path) -> None:
    subprocess.run(["git", "tag", "v1.0.0"], cwd=repository, check=True)
    check_commit("v1.0.0")
    commit(repository, "two")
    with pytest.raises(NotReadyError, match="belongs to another commit"):
        check_commit("v1.0.0")
    check_commit("v1.0.1")
