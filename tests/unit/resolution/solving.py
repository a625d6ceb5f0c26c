"""Solve small trees of files."""

from __future__ import annotations

from pkg.extract.python import extract_unit
from pkg.local_errors import LocalErrors
from pkg.model import Label, RelationType
from pkg.resolution.classes import ClassInfo, Hierarchy
from pkg.resolution.machine import Machine
from pkg.resolution.program import Program
from pkg.resolution.site_links import LinkWriter
from pkg.units import UnitText, describe_code, format_id, hash_key

SOURCE = "s"


def solve_tree(files: dict[str, str]) -> Machine:
    """Solve a tree of Python files."""
    machine = Machine(Program({path: read_unit(path, text) for path, text in files.items()}, "", LocalErrors()))
    machine.solve()
    return machine


def read_unit(path: str, text: str) -> UnitText:
    """Extract a file with its summary."""
    data = text.encode()
    return describe_code(SOURCE, path, extract_unit(data))


def list_calls(text: str) -> dict[tuple[str, str], str | None]:
    """Return the confidence of the calls in a file by the qualified names of their ends."""
    machine = solve_tree({"main.py": text})
    unit = machine.program.units["main.py"]
    names = {identity: each.qualname for identity, each in zip(unit.ids, unit.definitions, strict=True)}
    names[format_id(hash_key(SOURCE, "main.py", Label.FILE.value))] = "main"
    edges = LinkWriter(SOURCE, machine).write("main.py").edges
    return {(names[e.start], names[e.end]): e.confidence for e in edges if e.type is RelationType.CALLS}


def order_classes(bases: dict[str, list[str]]) -> tuple[Hierarchy, dict[str, ClassInfo]]:
    """Order empty classes; bases: names of bases by name of the class."""
    return read_classes("".join(f"class {name}({', '.join(own)}): pass\n" for name, own in bases.items()))


def read_classes(text: str) -> tuple[Hierarchy, dict[str, ClassInfo]]:
    """Read the classes of a text, by name."""
    hierarchy = solve_tree({"main.py": text}).program.hierarchy
    return hierarchy, {info.name: info for info in hierarchy.classes}
