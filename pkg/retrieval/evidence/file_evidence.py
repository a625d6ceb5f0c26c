"""Summarise files in a few lines: docstring, imports, definitions, importers (Q-23)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pkg.model import Edge, Label, Node, RelationType
from pkg.retrieval.deps.import_table import choose_ends
from pkg.retrieval.deps.paths import SUFFIXES
from pkg.retrieval.evidence.evidence import Evidence
from pkg.retrieval.heads import summarise

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MAX_NAMES = 16  # of one line of a summary
FEW_NAMES = 8  # in a short summary
MAX_IMPORTS = 40


def summarise_files(store: GraphStore, files: Sequence[Node], in_short: bool = False) -> Iterator[Evidence]:
    """Yield a summary of each Python file, in their order; text files are covered by their sections.

    in_short: only the docstring and the first definitions.
    """
    python = [node for node in files if node.path.endswith(SUFFIXES)]
    edges = store.neighbours([node.id for node in python], (RelationType.IMPORTS, RelationType.CONTAINS), "out")
    inner = {node.id: node for node in store.get(sorted({edge.end for edge in edges}))}
    held: dict[str, list[Node]] = defaultdict(list)
    for edge in edges:
        held[edge.start].append(inner[edge.end])
    imports = [node.id for nodes in held.values() for node in nodes if node.label is Label.IMPORT]
    targets = _read_targets(store, imports)
    for node in python:
        yield _summarise(store, node, held[node.id], targets, in_short)


def _read_targets(store: GraphStore, imports: Sequence[str]) -> dict[str, Node]:
    """Read the targets of imports, by the id of the import."""
    edges = store.neighbours(imports, (RelationType.RESOLVES_TO,), "out") if imports else []
    nodes = {node.id: node for node in store.get(sorted({edge.end for edge in edges}))}
    return {start: nodes[edge.end] for start, edge in choose_ends(edges).items()}


def _summarise(
    store: GraphStore, file: Node, held: Sequence[Node], targets: dict[str, Node], in_short: bool
) -> Evidence:
    modules = [node for node in held if node.label is Label.MODULE]
    docstring = next((str(node.properties.get("docstring") or "") for node in modules), "")
    summary = summarise(docstring) if docstring else None
    imports = sorted((node for node in held if node.label is Label.IMPORT), key=lambda node: node.start_line)
    inner = [node for node in imports if (end := targets.get(node.id)) is not None and end.label is not Label.LIBRARY]
    outer = [node for node in imports if node not in inner]
    defined = sorted(
        (node for node in held if node.label in (Label.CLASS, Label.FUNCTION)), key=lambda node: node.start_line
    )
    constants = [node.name for node in held if node.label is Label.CONSTANT]
    definitions = [_format_definition(node) for node in defined]
    name = file.path
    lines = [summary or "", _write(f"{name} defines", definitions, FEW_NAMES if in_short else MAX_NAMES)]
    if not in_short:
        lines[1:1] = [
            _write(f"{name} imports libraries", _format_imports(outer), MAX_IMPORTS),
            _write(f"{name} imports from this repository", _format_imports(inner), MAX_IMPORTS),
        ]
        lines += [
            _write(f"{name} has the constants", constants, FEW_NAMES),
            _write(f"{name} is imported by", _list_importers(store, file), FEW_NAMES),
        ]
    last = max((node.end_line for node in held), default=1)
    content = "\n".join(line for line in lines if line)
    return Evidence("file", file.source, file.path, 1, last, "the file", content or f"{name} is empty")


def _format_imports(nodes: Iterable[Node]) -> list[str]:
    return [f"{node.content.strip()} (line {node.start_line})" for node in nodes]


def _format_definition(node: Node) -> str:
    kind = "class" if node.label is Label.CLASS else "function"
    return f"{kind} {node.name} (line {node.start_line})"


def _write(what: str, names: Sequence[str], limit: int) -> str:
    if not names:
        return ""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{what}: {'; '.join(names[:limit])}{more}"


def _list_importers(store: GraphStore, file: Node) -> list[str]:
    """List the files that import a file or anything in it."""
    inside: list[Edge] = store.neighbours([file.id], (RelationType.CONTAINS,), "out")
    ids = [file.id, *(edge.end for edge in inside)]
    edges = store.neighbours(ids, (RelationType.RESOLVES_TO,), "in")
    return sorted({node.path for node in store.get(sorted({edge.start for edge in edges}))})
