"""Outline a text file: its headings with their lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from pkg.model import Label, Node
from pkg.retrieval.deps.paths import name_unit
from pkg.retrieval.outline_answer import CodeOutline, DefinitionOutline, FileOutline, format_definition, format_file
from pkg.retrieval.outline_scope import Scope
from pkg.retrieval.token_count import count_tokens

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


def outline_text(store: GraphStore, scope: Scope, budget: int) -> CodeOutline:
    """Outline the text file of a scope by its sections, up to the budget."""
    chunks = [node for node in store.subtree(name_unit(scope.source, scope.path)) if node.label is Label.CHUNK]
    sections = list(_join_parts(chunks))
    file = FileOutline(path=scope.path, centrality=0.0, importers=0, imports=0, total=len(sections), summary=None)
    tokens, shown = count_tokens(format_file(file)), list[DefinitionOutline]()
    for section in sections:
        cost = count_tokens(format_definition(section))
        if budget and tokens + cost > budget:
            break
        tokens += cost
        shown.append(section)
    return CodeOutline(
        source=scope.source,
        path=scope.path,
        folders=(),
        files=(replace(file, definitions=tuple(shown)),),
        total_files=1,
        total_definitions=len(sections),
        tokens=tokens,
        budget=budget,
    )


def _join_parts(chunks: Iterable[Node]) -> Iterator[DefinitionOutline]:
    """Yield each section once: a long one has several chunks."""
    for qualname, group in groupby(chunks, key=lambda chunk: chunk.qualname):
        first, *rest = group
        end = rest[-1].end_line if rest else first.end_line
        yield DefinitionOutline(first.id, first.label.value, qualname, first.start_line, end, first.name, None, 0)
