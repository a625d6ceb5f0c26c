"""Give the import statements that a text stands on: those of its module whose names it uses (P-06, Q-23)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pkg.graph.unit import format_id, hash_key
from pkg.model import Label, Node, RelationType
from pkg.retrieval.syntax import find_global_names, find_indent

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

Unit = tuple[str, str, Label]  # source, path, File or Row

_OWNER = re.compile(rb"\s*(?:async\s+def|def|class)\b")


class ModuleImports:
    """The imports of modules, read for many texts together."""

    def __init__(self, store: GraphStore, corpora: set[str]) -> None:
        self._store = store
        self._corpora = corpora
        self._imports: dict[Unit, list[Node]] = {}
        self._texts: dict[Unit, list[bytes]] = {}

    def read(self, nodes: Iterable[Node]) -> None:
        """Read the imports of the files or rows that the nodes lie in."""
        missing = {_name_unit(unit): unit for unit in map(self._unit_of, nodes) if unit not in self._imports}
        if not missing:
            return
        edges = self._store.neighbours(sorted(missing), (RelationType.IMPORTS,), "out")
        self._imports |= {unit: [] for unit in missing.values()}
        found = {node.id: node for node in self._store.get(sorted({edge.end for edge in edges}))}
        for edge in sorted(edges, key=lambda edge: (edge.line or 0, edge.end)):
            self._imports[missing[edge.start]].append(found[edge.end])

    def list_of_library(self, node: Node) -> set[str]:
        """List the names that a node's module imports from the standard library; `read` comes first."""
        imports = self._imports[self._unit_of(node)]
        return {_find_name(each) for each in imports if _find_module(each) in sys.stdlib_module_names}

    def list_needed(self, node: Node) -> tuple[str, ...]:
        """Write the statements whose names the text of a node uses, one for each name; `read` comes first."""
        imports = [each for each in self._imports[self._unit_of(node)] if _find_name(each)]
        if not imports:
            return ()
        names = list_globals(node)
        used = [each for each in imports if _find_name(each) in names]
        plain = {_find_name(each) for each in used if not each.start_col}
        inner = [each for each in used if each.start_col and _find_name(each) not in plain]
        of_module = self._keep_of_module(self._unit_of(node), inner)
        return tuple(dict.fromkeys(_write(each) for each in used if not each.start_col or each in of_module))

    def _keep_of_module(self, unit: Unit, imports: Sequence[Node]) -> list[Node]:
        """Keep indented imports that stand in no function or class: below `if` or `try` they are the module's."""
        source, path, label = unit
        if not imports or label is Label.ROW:
            return []
        if unit not in self._texts:
            self._texts[unit] = b"".join(text for _, text in self._store.texts(source, [path])).split(b"\n")
        return [each for each in imports if not _is_owned(self._texts[unit], each.start_line - 1)]

    def _unit_of(self, node: Node) -> Unit:
        return node.source, node.path, Label.ROW if node.source in self._corpora else Label.FILE


def list_globals(node: Node) -> frozenset[str]:
    """List the names that the text of a node uses and does not bind itself."""
    content = node.content.encode("utf-8", "replace")
    return find_global_names(content, find_indent(content, node.start_col))


def _name_unit(unit: Unit) -> str:
    source, path, label = unit
    return format_id(hash_key(source, path, label.value))


def _find_name(node: Node) -> str:
    """Give the name that an import binds; none for a star."""
    facts = node.properties
    name = str(facts.get("alias") or facts.get("imported") or str(facts.get("module", "")).partition(".")[0])
    return "" if name == "*" else name


def _find_module(node: Node) -> str:
    """Give the first part of the module that an absolute import names."""
    facts = node.properties
    return "" if facts.get("level") else str(facts.get("module", "")).partition(".")[0]


def _write(node: Node) -> str:
    """Write the import of one name as a statement of its own."""
    facts = node.properties
    module, name = str(facts.get("module", "")), facts.get("imported")
    alias = f" as {facts['alias']}" if facts.get("alias") else ""
    level = facts.get("level")
    dots = "." * level if isinstance(level, int) else ""
    return f"from {dots}{module} import {name}{alias}" if name else f"import {module}{alias}"


def _is_owned(lines: Sequence[bytes], number: int) -> bool:
    """Tell whether a line stands in a function or class: climb to the lines of less and less indentation above it."""
    indent = _measure(lines[number])
    for line in reversed(lines[:number]):
        if line.strip() and _measure(line) < indent:
            if _OWNER.match(line):
                return True
            indent = _measure(line)
            if not indent:
                return False
    return False


def _measure(line: bytes) -> int:
    return len(line) - len(line.lstrip())
