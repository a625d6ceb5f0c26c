"""The doors at the root: links for readers, never a way to import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

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


@pytest.mark.parametrize("door", sorted(MODULES))
def test_an_import_of_a_door_is_an_error(door: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"import {door}"], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {door} is a link to pkg/{door}")
    assert done.stderr.splitlines()[-1].endswith(f"write: import pkg.{door}")


def test_functions_do_not_hide_packages_of_their_name() -> None:
    import pkg.indexing.watch
    import pkg.rerank.reranker

    assert isinstance(pkg.rerank, ModuleType)
    assert isinstance(pkg.rerank.reranker.Reranker, type)
    packages = {path.name for path in (ROOT / "pkg").iterdir() if path.is_dir()}
    assert packages.isdisjoint(pkg.__all__)


MIRRORED = {"registry.py"}  # of encoders, and of text models: the same part of two things


def test_no_two_modules_have_one_name() -> None:
    """A module of a command is named after the command, whatever the module that does the work is named."""
    paths = [path for path in (ROOT / "pkg").rglob("*.py") if path.name != "__init__.py"]
    names = Counter(path.name for path in paths if path.parent.name != "commands")
    assert [name for name, count in names.items() if count > 1 and name not in MIRRORED] == []
