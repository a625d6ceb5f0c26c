"""The items of a repository as a benchmark, stored in a file so that they are searched for once."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pkg.errors import InputError, UsageError
from pkg.lab.evaluation.code.benchmark_items import Benchmark, Item
from pkg.lab.evaluation.repository.item_search import Count, FoundItem, FoundItems, find_items
from pkg.lab.evaluation.repository.masked_functions import MaskedFunction
from pkg.lab.evaluation.repository.project_files import Project
from pkg.sandbox.protocol import Sandbox

VERSION = 1  # format version of the file
ITEMS = "items.json"

CALLS, ALONE = "calls the project", "stands alone"
KINDS = (CALLS, ALONE)
"""Whether the original body of an item calls into the project."""


@dataclass(frozen=True, slots=True)
class RepositoryItem(Item):
    """A masked function as an item; `tests` has the name of a test on each line."""

    function: MaskedFunction | None = None

    @property
    def masked(self) -> MaskedFunction:
        """Return the masked function."""
        assert self.function is not None
        return self.function


def read_items(
    folder: Path, sandbox: Sandbox, project: Project, tests: tuple[str, ...], count: Count
) -> tuple[FoundItems, Benchmark]:
    """Read the items of a project from a folder, or find them and store them there.

    Raises UsageError if the folder holds the items of other files or tests, InputError if its file is invalid.
    """
    path = folder / ITEMS
    head = {"version": VERSION, "project": project.name, "sha256": project.sha256, "asked": list(tests)}
    if path.exists():
        found = _load(path, head)
    else:
        found = find_items(sandbox, project, tests, count)
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        partial.write_text(json.dumps({**head, **asdict(found)}, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
    items = tuple(map(_make_item, found.items))
    return found, Benchmark(f"repository {project.name}", items, project.sha256)


def _make_item(found: FoundItem) -> RepositoryItem:
    function = found.function
    return RepositoryItem(
        function.id,
        function.header,
        function.header,
        function.name,
        function.code,
        "\n".join(found.tests),
        function=function,
    )


def _load(path: Path, head: dict[str, Any]) -> FoundItems:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        differing = [name for name, value in head.items() if kept[name] != value]
        items = tuple(FoundItem(MaskedFunction(**each["function"]), tuple(each["tests"])) for each in kept["items"])
        found = FoundItems(kept["python"], items, kept["tests"], tuple(kept["failing"]), kept["left_out"])
    except (ValueError, KeyError, TypeError) as fault:
        raise InputError(f"{path} contains no valid items ({fault}); remove it to search for them again") from None
    if differing:
        told = ", ".join(f"{name} {kept[name]!r}, not {head[name]!r}" for name in differing)
        raise UsageError(f"{path} is of {told}; give another folder with --items or --out, or remove it")
    return found
