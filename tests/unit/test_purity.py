"""Committed texts are only about the project: no machine, no registry, no stray blanks."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Written so that no pattern matches its own source.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root|home|Users)/")
REGISTRY = re.compile(r"(?:pypi|pythonhosted|npmjs|crates|rubygems|maven)\.(?:org|com|io)\b")
TRAILING_BLANK = re.compile(r"[ \t]+$")


def read_committed_texts() -> dict[str, str]:
    """Read tracked and untracked files of git, except links, binary files and unchanged files of others."""
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    command = ["git", "-c", "safe.directory=*", *listing]  # the checkout may belong to another user
    names = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    paths = (ROOT / name for name in names if name and "vendor" not in Path(name).parts)
    contents = {path: path.read_bytes() for path in paths if path.is_file() and not path.is_symlink()}
    return {
        path.relative_to(ROOT).as_posix(): content.decode("utf-8", errors="replace")
        for path, content in contents.items()
        if b"\0" not in content
    }


@pytest.mark.parametrize(
    "forbidden",
    [
        pytest.param(MACHINE_PATH, id="an absolute path of a machine"),
        pytest.param(REGISTRY, id="the address of a package registry"),
        pytest.param(TRAILING_BLANK, id="a blank at the end of a line"),
    ],
)
def test_no_committed_text_holds(forbidden: re.Pattern[str]) -> None:
    found = [
        f"{name}:{number}: {line}"
        for name, text in read_committed_texts().items()
        for number, line in enumerate(text.splitlines(), start=1)
        if forbidden.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (MACHINE_PATH, "see " + "/".join(["", "home", "me", "notes.txt"])),
        (REGISTRY, "https://" + ".".join(["files", "pythonhosted", "org"])),
        (TRAILING_BLANK, "x = 1 "),
    ],
)
def test_patterns_find_forbidden_text(pattern: re.Pattern[str], line: str) -> None:
    assert pattern.search(line)


def test_every_committed_text_ends_with_one_newline() -> None:
    wrong = [
        name for name, text in read_committed_texts().items() if text and (text[-1] != "\n" or text.endswith("\n\n"))
    ]
    assert wrong == []
