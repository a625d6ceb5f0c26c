"""Write the links of a question's subjects as evidence: callers, subclasses, importers, and their dependencies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pkg.graph.path_filter import is_test as is_test_path
from pkg.model import Label, Node, RelationType
from pkg.retrieval.deps.answer import Dependency, DepsOptions, is_test
from pkg.retrieval.deps.named_sites import count_named_sites
from pkg.retrieval.deps.names import DEFINITIONS, Target
from pkg.retrieval.deps.neighbours import LinkReader
from pkg.retrieval.deps.readers import find_readers
from pkg.retrieval.deps.walk import walk_relations
from pkg.retrieval.evidence.evidence import Evidence, PlacedLine

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MAX_LINES = 15  # of one kind of link: pkg deps has the full list
_KIND_PATTERNS = (
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
"""Kinds of links that a question asks for; without any, a few of each are shown."""
_USUAL = ("callers", "callees", "subclasses", "bases", "readers")
_VERBS = {
    "callers": "calls", "callees": "calls", "subclasses": "inherits from", "bases": "inherits from",
    "overrides": "overrides", "overridden by": "overrides", "importers": "imports", "imports": "imports",
    "readers": "reads",
}  # fmt: skip
"""Verbs from the start of a link to its end: small models repeat a bare list as an answer."""
FEW = 4  # lines of a kind that the question does not ask for


def list_links(store: GraphStore, text: str, subjects: Sequence[Node]) -> Iterator[Evidence]:
    """Yield the links of some definitions, those that the question asks for first."""
    asked = [kind for pattern, kinds in _KIND_PATTERNS if pattern.search(text.lower()) for kind in kinds]
    reader, options = LinkReader(store), DepsOptions()
    for node in subjects:
        inside = tuple(each for each in store.subtree(node.id) if each.label in DEFINITIONS)
        target = Target((node,), inside)
        walk = find_readers if target.is_constant else walk_relations
        found = walk(reader, target, options).found
        yield from _list_kinds(node, found, asked)
        if "callers" in asked and not any(each.relation == "callers" for each in found):
            yield from _list_unresolved_uses(store, target)


def _list_unresolved_uses(store: GraphStore, target: Target) -> Iterator[Evidence]:
    """Yield the uses of a name without a known caller in the code of the source."""
    named = count_named_sites(store, target.place.source, [target])
    if named is not None:
        place = target.place
        title = f"callers of {place.qualname}"
        yield Evidence("links", place.source, place.path, place.line, place.line, title, named.describe(), 1.0)


def _list_kinds(node: Node, found: Sequence[Dependency], asked: Sequence[str]) -> Iterator[Evidence]:
    kinds: dict[str, list[PlacedLine]] = defaultdict(list)
    tests: dict[str, list[PlacedLine]] = defaultdict(list)
    for each in found:
        link, far = each.link, each.place
        is_site = bool(link.lines) and link.type != RelationType.INHERITS.value  # the lines are those of base classes
        at, where = (link.start, link.lines[0]) if is_site else (far, far.line)
        unsure = "" if link.confidence == "certain" else f" ({link.confidence})"
        line = PlacedLine(at.path or node.path, where, f"{_format_link(node, each)}{unsure}", far.qualname)
        (tests if is_test(far) else kinds)[each.relation].append(line)
    for kind in dict.fromkeys((*asked, *(() if asked else _USUAL))):
        lines = [*kinds[kind], *tests[kind]]
        if lines:
            yield _make(node, kind, lines, MAX_LINES if asked else FEW)


def _format_link(node: Node, each: Dependency) -> str:
    """Return a link as a sentence, with the definition inside the node as its subject or object."""
    far = each.place.qualname or each.place.path
    near = node.qualname if each.inside is None else f"{each.inside.qualname} (inside {node.qualname})"
    start, end = (far, near) if each.is_incoming else (near, far)
    return f"{start} {_VERBS[each.relation]} {end}" if each.relation in _VERBS else far


def _make(node: Node, kind: str, lines: Sequence[PlacedLine], limit: int) -> Evidence:
    unique = list(dict.fromkeys(lines))
    shown = unique[:limit]
    written = [f"{line.text} ({line.path}:{line.line})" for line in shown]
    written += [f"and {len(unique) - limit} more"] if len(unique) > limit else []
    title = f"{kind} of {node.qualname}"
    return Evidence(
        "links", node.source, node.path, node.start_line, node.start_line, title, "\n".join(written), 1.0, tuple(shown)
    )


def list_importers(store: GraphStore, libraries: Sequence[Node]) -> Iterator[Evidence]:
    """Yield the places where external libraries are imported."""
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
            written = [f"{line.text} (line {line.line})" for line in lines[:MAX_LINES]]
            written += [f"and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else []
            yield Evidence(
                "links", first.source, first.path, first.start_line, first.start_line,
                f"imports of the library {library.name}", "\n".join(written), 1.0, tuple(lines[:MAX_LINES]),
            )  # fmt: skip
