"""Find the import statements that a text needs: those of its module whose names it uses (P-06, Q-23)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pkg.extract.syntax import find_global_names, find_indent
from pkg.graph.graph_records import parse_import
from pkg.model import Import, Label, Node
from pkg.units import format_id, hash_key

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

Unit = tuple[str, str, Label]  # source, path, File or Row

_OWNER = re.compile(rb"\s*(?:async\s+def|def|class)\b")


class _Found(NamedTuple):
    """An import of a module: its node and its record."""

    node: Node
    record: Import


class ModuleImports:
    """Imports of modules that texts use, read for many texts together and restricted to used names."""

    def __init__(self, store: GraphStore, corpora: set[str]) -> None:
        self._store = store
        self._corpora = corpora
        self._used: dict[str, list[_Found]] = {}  # by the id of the node whose text uses them
        self._texts: dict[tuple[str, str], list[bytes]] = {}  # lines by source and path
        self._owned: dict[tuple[str, str, int], bool] = {}  # whether an import's line is inside a function or class

    def read(self, nodes: Iterable[Node]) -> None:
        """Read the imports that the texts of the nodes use, from their files or rows."""
        missing = {node.id: node for node in nodes if node.id not in self._used}
        if not missing:
            return
        names = {node_id: list_globals(node) for node_id, node in missing.items()}
        units = {node_id: self._name_unit(node) for node_id, node in missing.items()}
        wanted: dict[str, frozenset[str]] = {}
        for node_id, unit in units.items():
            wanted[unit] = wanted.get(unit, frozenset()) | names[node_id]
        imports = {
            unit: [_Found(each, parse_import(each.properties)) for each in found]
            for unit, found in self._store.imports(wanted).items()
        }
        for node_id, unit in units.items():
            self._used[node_id] = [each for each in imports[unit] if each.record.bound_name in names[node_id]]
        self._read_texts(missing.values())

    def _read_texts(self, nodes: Iterable[Node]) -> None:
        """Read the files in which indented imports are used: the lines above tell what these are inside."""
        paths: dict[str, set[str]] = {}
        for node in nodes:
            if _list_indented(self._used[node.id]) and self._unit_of(node)[2] is Label.FILE:
                paths.setdefault(node.source, set()).add(node.path)
        for source, wanted in paths.items():
            missing = sorted(path for path in wanted if (source, path) not in self._texts)
            for path, text in self._store.texts(source, missing):
                self._texts[source, path] = text.split(b"\n")

    def list_of_library(self, node: Node) -> set[str]:
        """List the names that a node uses and its module imports from the standard library; call `read` first."""
        used = (each.record for each in self._used[node.id])
        return {each.bound_name for each in used if _find_module(each) in sys.stdlib_module_names}

    def list_needed(self, node: Node) -> tuple[str, ...]:
        """List the import statements of names that the text of a node uses, one for each name; call `read` first."""
        used = self._used[node.id]
        of_module = self._keep_of_module(self._unit_of(node), _list_indented(used))
        return tuple(
            dict.fromkeys(each.record.statement for each in used if not each.node.start_col or each in of_module)
        )

    def _keep_of_module(self, unit: Unit, imports: Sequence[_Found]) -> list[_Found]:
        """Return indented imports outside of functions and classes: below `if` or `try` they belong to the module."""
        source, path, label = unit
        if not imports or label is Label.ROW:
            return []
        return [each for each in imports if not self._is_owned(source, path, each.node.start_line)]

    def _is_owned(self, source: str, path: str, line: int) -> bool:
        """Return whether a line of a file is inside a function or class; cached, as several texts use one import."""
        place = source, path, line
        if place not in self._owned:
            self._owned[place] = _is_owned(self._texts[source, path], line - 1)
        return self._owned[place]

    def _unit_of(self, node: Node) -> Unit:
        return node.source, node.path, Label.ROW if node.source in self._corpora else Label.FILE

    def _name_unit(self, node: Node) -> str:
        source, path, label = self._unit_of(node)
        return format_id(hash_key(source, path, label.value))


def list_corpora(store: GraphStore) -> set[str]:
    """List the sources whose units are rows, which belong to no module."""
    return {source.name for source in store.sources() if source.kind == "corpus"}


def list_globals(node: Node) -> frozenset[str]:
    """Return the names that the text of a node uses without binding them."""
    content = node.content.encode("utf-8", "replace")
    return find_global_names(content, find_indent(content, node.start_col))


def _list_indented(imports: Sequence[_Found]) -> list[_Found]:
    """List the indented imports of names that no top-level import binds."""
    plain = {each.record.bound_name for each in imports if not each.node.start_col}
    return [each for each in imports if each.node.start_col and each.record.bound_name not in plain]


def _find_module(record: Import) -> str:
    """Return the first part of the module of an absolute import."""
    return "" if record.level else record.module.partition(".")[0]


def _is_owned(lines: Sequence[bytes], number: int) -> bool:
    """Return whether a line is inside a function or class, by the lines above it with less indentation."""
    margin = _find_margin(lines[number])
    for line in reversed(lines[:number]):
        if line.startswith(margin) or not line.strip():
            continue  # most lines: this check is enough for them
        above = _find_margin(line)
        if len(above) < len(margin):
            if _OWNER.match(line):
                return True
            margin = above
            if not margin:
                return False
    return False


def _find_margin(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip())]
