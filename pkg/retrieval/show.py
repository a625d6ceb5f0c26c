"""Show one definition whole: its source and place, its docstring, its callers and callees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pkg.model import Label, Node
from pkg.retrieval.deps.answer import SHOWN_LINKS, UNRESOLVED_CALLS, Dependencies, DepsOptions
from pkg.retrieval.deps.names import find_target
from pkg.retrieval.deps.questions import run_deps
from pkg.retrieval.heads import Head, find_text, read_heads

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


@dataclass(frozen=True, slots=True)
class Definition:
    """One function, class, constant or file, as in its file."""

    id: str
    label: str
    source: str
    path: str
    start_line: int
    end_line: int
    qualname: str
    kind: str | None
    signature: str | None  # header of a function or class, as written
    class_header: str | None  # of the class around a method
    docstring: str | None  # including a generated one, which is not in the content
    docstring_source: str | None  # of a function: human, fim, template or none
    content: str
    is_stale: bool = False  # whether its file has changed since the build
    start_col: int = 0  # byte column of the first character of the content in its file


@dataclass(frozen=True, slots=True)
class Shown:
    """The definitions of a name: several for overloads, or a property and its setter."""

    definitions: tuple[Definition, ...]
    links: Dependencies  # callers, callees and so on; readers of a constant


def run_show(store: GraphStore, name: str, source: str | None = None, limit: int = SHOWN_LINKS) -> Shown:
    """Show the definition of a name from one generation of the graph; names are those of find_target.

    limit: links of one relation; 0 for no limit. Raises QueryError for an unknown or ambiguous name, UsageError for a
    limit below 0.
    """
    with store.snapshot():
        links = run_deps(store, name, DepsOptions(source=source, limit=limit))
        assert isinstance(links, Dependencies), "a question for the links of a name has no other answer"
        nodes = [_read_text(store, node) for node in find_target(store, name, source, with_constants=True).nodes]
        heads = read_heads(store, nodes)
    is_stale = links.target.is_stale
    pieces = tuple(_describe(node, head, is_stale) for node, head in zip(nodes, heads, strict=True))
    return Shown(pieces, _drop_unbound(links))


def _read_text(store: GraphStore, node: Node) -> Node:
    """Add the text to a file, whose node lacks it; other nodes are returned unchanged."""
    for _, text in store.texts(node.source, [node.path]) if node.label is Label.FILE else ():
        last = text.count(b"\n") + (not text.endswith(b"\n"))
        return replace(node, content=text.decode("utf-8", "replace"), start_line=1, end_line=last)
    return node


def _describe(node: Node, head: Head, is_stale: bool) -> Definition:
    return Definition(
        id=node.id,
        label=node.label.value,
        source=node.source,
        path=node.path,
        start_col=node.start_col,
        start_line=node.start_line,
        end_line=node.end_line,
        qualname=node.qualname,
        kind=node.kind,
        signature=head.signature,
        class_header=head.class_header,
        docstring=find_text(node, "docstring"),
        docstring_source=find_text(node, "docstring_source"),
        content=node.content,
        is_stale=is_stale,
    )


def _drop_unbound(links: Dependencies) -> Dependencies:
    """Drop unresolved calls: the coverage counts them, and pkg deps lists them."""
    found = tuple(each for each in links.found if each.relation != UNRESOLVED_CALLS)
    left_out = tuple(each for each in links.left_out if each[0] != UNRESOLVED_CALLS)
    return replace(links, found=found, left_out=left_out)
