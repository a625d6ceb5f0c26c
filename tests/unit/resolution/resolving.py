"""Resolve small trees of files; links are named as in the fixture set of shapes."""

from __future__ import annotations

from dataclasses import dataclass, field

from pkg.extract.python import extract_unit
from pkg.local_errors import LocalErrors
from pkg.model import Edge, Label, RelationType
from pkg.resolution.machine import Machine
from pkg.resolution.program import Program
from pkg.resolution.site_links import LinkWriter
from pkg.units import UnboundCall, UnitLinks, UnitText, describe_code, format_id, hash_key, name_library

SOURCE = "tree"


@dataclass(frozen=True)
class Resolved:
    """Links of a tree, and the names of their nodes."""

    links: dict[str, UnitLinks]
    names: dict[str, str] = field(default_factory=dict)  # by id

    def edges(self, kind: RelationType) -> list[Edge]:
        """Return the edges of a type."""
        return [edge for links in self.links.values() for edge in links.edges if edge.type is kind]

    def pairs(self, kind: RelationType) -> dict[tuple[str, str], Edge]:
        """Return the confidence of the edges of a type by the names of their ends; the surest of several."""
        found: dict[tuple[str, str], Edge] = {}
        order = ["certain", "likely", "possible"]
        for edge in sorted(self.edges(kind), key=lambda edge: order.index(edge.confidence or ""), reverse=True):
            found[self.names[edge.start], self.names[edge.end]] = edge
        return found

    def unbound(self) -> list[UnboundCall]:
        """Return the unbound call sites."""
        return [call for links in self.links.values() for call in links.unbound]


def resolve_tree(files: dict[str, str], package: str = "") -> Resolved:
    """Extract and resolve a tree of Python files, whose root is the folder of a package."""
    texts = {path: text.encode("utf-8", "surrogatepass") for path, text in files.items()}
    units = {
        path: describe_code(SOURCE, path, extract_unit(text))
        for path, text in texts.items()
        if path.endswith((".py", ".pyi"))
    }
    links = _link(units, package)
    names = {identity: name for unit in units.values() for identity, name in _name_nodes(unit)}
    libraries = {library for each in links.values() for library in each.libraries}
    return Resolved(links, names | {name_library(SOURCE, each): f"library:{each}" for each in libraries})


def _link(units: dict[str, UnitText], package: str) -> dict[str, UnitLinks]:
    machine = Machine(Program(units, package, LocalErrors()))
    machine.solve()
    writer = LinkWriter(SOURCE, machine)
    return {path: writer.write(path) for path in sorted(units)}


def _name_nodes(unit: UnitText) -> list[tuple[str, str]]:
    module = name_module(unit.path)
    named = [(format_id(hash_key(SOURCE, unit.path, Label.FILE.value)), module)]
    for identity, definition in zip(unit.ids, unit.definitions, strict=True):
        named.append((identity, f"{module}.{definition.qualname}"))
    for identity, record in zip(unit.import_ids, unit.imports, strict=True):
        named.append((identity, f"{module}.{record.alias or record.name or record.module}"))
    return named


def name_module(path: str) -> str:
    """Return the dotted name of a file."""
    return path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
