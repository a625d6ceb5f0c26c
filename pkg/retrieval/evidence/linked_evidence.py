"""Write the links of what a question names as evidence: who calls, inherits, imports it, and what it stands on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pkg.graph.path_filter import is_test as is_test_path
from pkg.model import Label, Node, RelationType
from pkg.retrieval.deps.answer import Dependency, DepsOptions, is_test
from pkg.retrieval.deps.names import DEFINITIONS, Target
from pkg.retrieval.deps.neighbours import LinkReader
from pkg.retrieval.deps.readers import find_readers
from pkg.retrieval.deps.walk import walk_relations
from pkg.retrieval.evidence.evidence import Evidence, PlacedLine

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MOST_LINES = 15  # of one kind of link: a longer list is read in pkg deps
_ASKED = (
    (
        re.compile(r"\b(?:inherit\w*|subclass\w*|deriv\w*|extend\w*|base class\w*|implement\w*)\b"),
        ("subclasses", "bases"),
    ),
    (re.compile(r"\b(?:overrid\w*)\b"), ("overrides", "overridden by")),
    (re.compile(r"\b(?:import\w*|depend\w*|modules?|librar\w*|rel(?:y|ies))\b"), ("importers", "imports")),
    (
        re.compile(r"\b(?:call\w*|invok\w*|us(?:e[sd]?|ing)|trigger\w*)\b"),
        ("callers", "callees", "readers", "importers"),
    ),
)
"""Which links a question asks for; in a question that asks for none, a few of each are shown."""
_USUAL = ("callers", "callees", "subclasses", "bases", "readers")
_SENTENCES = {
    "callers": "{far} calls {near}",
    "callees": "{near} calls {far}",
    "subclasses": "{far} inherits from {near}",
    "bases": "{near} inherits from {far}",
    "overrides": "{near} overrides {far}",
    "overridden by": "{far} overrides {near}",
    "importers": "{far} imports {near}",
    "imports": "{near} imports {far}",
    "readers": "{far} reads {near}",
}
"""Each link as a sentence: small models take a bare list for an answer and repeat it."""
FEW = 4  # lines of a kind that was not asked for


def list_links(store: GraphStore, text: str, subjects: Sequence[Node]) -> Iterator[Evidence]:
    """Give the links of some definitions, those that the question asks for first."""
    asked = [kind for pattern, kinds in _ASKED if pattern.search(text.lower()) for kind in kinds]
    reader, options = LinkReader(store), DepsOptions()
    for node in subjects:
        inside = tuple(each for each in store.subtree(node.id) if each.label in DEFINITIONS)
        target = Target((node,), inside)
        walk = find_readers if target.is_constant else walk_relations
        yield from _list_kinds(node, walk(reader, target, options).found, asked)


def _list_kinds(node: Node, found: Sequence[Dependency], asked: Sequence[str]) -> Iterator[Evidence]:
    kinds: dict[str, list[PlacedLine]] = defaultdict(list)
    tests: dict[str, list[PlacedLine]] = defaultdict(list)
    for each in found:
        link = each.link
        far = link.end if link.start.id == each.of else link.start
        is_site = bool(link.lines) and link.type != RelationType.INHERITS.value  # whose lines count base classes
        at, where = (link.start, link.lines[0]) if is_site else (far, far.line)
        unsure = "" if link.confidence == "certain" else f" ({link.confidence})"
        said = _SENTENCES.get(each.relation, "{far}").format(far=far.qualname or far.path, near=node.qualname)
        line = PlacedLine(at.path or node.path, where, f"{said}{unsure}", far.qualname)
        (tests if is_test(far) else kinds)[each.relation].append(line)
    for kind in dict.fromkeys((*asked, *(() if asked else _USUAL))):
        lines = [*kinds[kind], *tests[kind]]
        if lines:
            yield _make(node, kind, lines, MOST_LINES if asked else FEW)


def _make(node: Node, kind: str, lines: Sequence[PlacedLine], most: int) -> Evidence:
    unique = list(dict.fromkeys(lines))
    shown = unique[:most]
    written = [f"{line.text} ({line.path}:{line.line})" for line in shown]
    written += [f"and {len(unique) - most} more"] if len(unique) > most else []
    title = f"{kind} of {node.qualname}"
    return Evidence(
        "links", node.source, node.path, node.start_line, node.start_line, title, "\n".join(written), 1.0, tuple(shown)
    )


def list_importers(store: GraphStore, libraries: Sequence[Node]) -> Iterator[Evidence]:
    """Give the places where external libraries are imported."""
    for library in libraries:
        edges = store.neighbours([library.id], (RelationType.RESOLVES_TO,), "in")
        nodes = [node for node in store.get(sorted({edge.start for edge in edges})) if node.label is Label.IMPORT]
        nodes.sort(key=lambda node: (is_test_path(node.path), node.path, node.start_line))
        lines = [
            PlacedLine(node.path, node.start_line, f"{node.path} imports {library.name}: {node.content.strip()}")
            for node in nodes
        ]
        if lines:
            first = nodes[0]
            written = [f"{line.text} (line {line.line})" for line in lines[:MOST_LINES]]
            written += [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
            yield Evidence(
                "links", first.source, first.path, first.start_line, first.start_line,
                f"imports of the library {library.name}", "\n".join(written), 1.0, tuple(lines[:MOST_LINES]),
            )  # fmt: skip
