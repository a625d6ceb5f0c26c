"""Build the table of imports: one record for each alias (Q-04)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from pkg.model import Edge, Label, Node, RelationType, rank_confidence
from pkg.retrieval.deps.answer import DepsOptions, ImportRecord, ImportTable, apply_limit
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, count_calls

_CALLS = (RelationType.CALLS, RelationType.UNRESOLVED)


def list_imports(reader: LinkReader, target: Target | None, options: DepsOptions) -> ImportTable:
    """List each imported alias with its category, its target and the artifact type, and count them (Q-04).

    With a target, list only the imports of its file. A star import is one record of unknown type.
    """
    store = reader.store
    edges = list(store.edges((RelationType.RESOLVES_TO, *_CALLS), options.source))
    nodes = list(store.nodes((Label.IMPORT,), options.source))
    if target is not None:
        nodes = [node for node in nodes if (node.source, node.path) == (target.place.source, target.place.path)]
    ends = choose_ends(edges)
    targets = reader.nodes(sorted({ends[node.id].end for node in nodes if node.id in ends}))
    records = sorted(
        (_make_record(node, ends.get(node.id), targets) for node in nodes),
        key=lambda each: (each.source, each.file_name, each.line, each.artifact, each.category),
    )
    shown = apply_limit(options.limit, len(records))
    unresolved = sum(node.id not in ends for node in nodes)
    notes = (f"{unresolved:,} imports lead to nothing that was found",) if unresolved else ()
    coverage = count_calls((edge for edge in edges if edge.type in _CALLS), "of all definitions", notes=notes)
    categories = Counter(each.category for each in records)
    types = Counter((each.category, each.artifact_type) for each in records)
    return ImportTable(
        records=tuple(records[:shown]),
        total=len(records),
        files=len({(each.source, each.file_name) for each in records}),
        categories=tuple(sorted(categories.items())),
        artifact_types=tuple((*key, number) for key, number in sorted(types.items())),
        left_out=len(records) - shown,
        coverage=coverage,
    )


def choose_ends(edges: Sequence[Edge]) -> dict[str, Edge]:
    """Return the surest target of each import."""
    found: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        if edge.type is RelationType.RESOLVES_TO:
            found[edge.start].append(edge)
    return {start: min(each, key=_rank) for start, each in found.items()}


def _rank(edge: Edge) -> tuple[int, str]:
    return rank_confidence(edge.confidence), edge.end


def _make_record(node: Node, edge: Edge | None, targets: Mapping[str, Node]) -> ImportRecord:
    """Build the record of one alias; an unresolved one is a library, or a file if it is relative."""
    imported, module = str(node.properties.get("imported", "")), str(node.properties.get("module", ""))
    end = None if edge is None else targets[edge.end]
    is_file = bool(node.properties.get("level")) if end is None else end.label is not Label.LIBRARY
    category = f"{'file' if is_file else 'library'}_import_{'from' if imported else 'direct'}"
    library = None if is_file else end.name if end is not None else module.partition(".")[0]
    kind = "unknown" if edge is None or not edge.rule else edge.rule
    return ImportRecord(
        category=category,
        target_file=end.path if is_file and end is not None else None,
        library_name=library,
        file_name=node.path,
        artifact=imported or module,
        artifact_type=kind,
        line=node.start_line,
        source=node.source,
    )
