"""The doors at the root: links for readers, never a way to import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOORS = ("graph", "retrieval", "generation", "rerank", "cli.py")
MODULES = {door.removesuffix(".py") for door in DOORS}
CODE = ("pkg", "tests", "checks", "benchmarks", "examples")


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


@pytest.mark.parametrize("door", DOORS)
def test_a_door_is_a_relative_link_to_its_part_of_the_package(door: str) -> None:
    assert (ROOT / door).readlink() == Path("pkg") / door
    assert (ROOT / door).exists()


def test_nothing_is_imported_through_a_door() -> None:
    through = [
        f"{path.relative_to(ROOT)}: {module}"
        for folder in CODE
        for path in sorted((ROOT / folder).rglob("*.py"))
        for module in imported_modules(path)
        if module.split(".")[0] in MODULES
    ]
    assert through == []
