"""Count the occurrences of a definition's name in the code of its source, for an answer without callers.

Calls of a value from a library, through a variable, or in a corpus are unresolved, so no link leads to the definition.
"No callers" is true only if no call expression has the name, so the texts are searched before an answer says so. A
store lacks some texts (minified files, files with NUL bytes, rows outside of definitions): the answer reports what was
not searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pkg.extract.parser import parse
from pkg.model import Label, RelationType, is_bound
from pkg.retrieval.deps.answer import NamedSites
from pkg.retrieval.deps.external_bases import is_special
from pkg.retrieval.deps.named_uses import Wanted, list_uses
from pkg.retrieval.deps.paths import list_code_files

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.model import Node
    from pkg.retrieval.deps.names import Target

FILE_BATCH = 200  # files whose texts are in memory together
ENOUGH = 1000  # calls, or references: beyond it the count stops, which the answer reports
SHOWN_PLACES = 3
_MAKING = ("__init__", "__new__")  # the call of a class runs these
_READ = re.compile(r"(?:.*\.)?(?:\w*property|getter|setter|deleter)(?:\(.*)?", re.DOTALL)

_Place = tuple[str, int]
"""Path and line."""

_Text = tuple[str, int, bytes]
"""Path, first line and text of code."""


@dataclass(slots=True)
class _Count:
    calls: int = 0
    elsewhere: int = 0
    references: int = 0
    unread: list[str] = field(default_factory=list)  # paths
    open_calls: list[_Place] = field(default_factory=list)
    other_places: list[_Place] = field(default_factory=list)

    @property
    def is_enough(self) -> bool:
        return max(self.calls, self.references) >= ENOUGH


def count_named_sites(store: GraphStore, source: str, targets: Iterable[Target]) -> NamedSites | None:
    """Count the call expressions and other uses of the names of some targets; None if a target is not a definition."""
    chosen = list(targets)
    if not chosen or any(each.nodes[0].label not in (Label.FUNCTION, Label.CLASS) for each in chosen):
        return None
    nodes = [node for each in chosen for node in _list_named(each)]
    wanted = _choose_names(nodes)
    bound = _find_bound(store, source, wanted)
    count = _Count()
    is_corpus = any(each.name == source and each.kind == "corpus" for each in store.sources())
    texts = _list_definitions(store, source) if is_corpus else _list_texts(store, source, count.unread)
    for path, line, is_call in _list_sites(texts, wanted):
        is_elsewhere = is_call and (path, line) in bound
        count.calls += is_call
        count.elsewhere += is_elsewhere
        count.references += not is_call
        if not is_elsewhere:
            (count.open_calls if is_call else count.other_places).append((path, line))
        if count.is_enough:
            break
    first = list(dict.fromkeys(count.open_calls or count.other_places))[:SHOWN_PLACES]
    return NamedSites(
        names=tuple(sorted(wanted.names)),
        calls=count.calls,
        elsewhere=count.elsewhere,
        references=count.references,
        first=tuple(f"{path}:{line}" for path, line in first),
        is_cut=count.is_enough,
        is_implicit=any(is_special(node.name) and node.name not in _MAKING for node in nodes),
        unread=len(count.unread),
        first_unread=tuple(count.unread[:SHOWN_PLACES]),
        only_definitions=is_corpus,
    )


def _list_named(target: Target) -> Iterator[Node]:
    """Yield the possible callees in a call of the target: a function itself; a class and its definitions."""
    yield from target.nodes
    yield from target.inside if target.nodes[0].label is Label.CLASS else ()


def _choose_names(nodes: Iterable[Node]) -> Wanted:
    names, read, is_member = set[str](), set[str](), True
    for node in nodes:
        owner = node.qualname.rpartition(".")[0]
        names |= {owner.rpartition(".")[2]} if owner and node.name in _MAKING else set()
        names.add(node.name)
        read |= {node.name} if _is_read(node) else set()
        is_member = is_member and node.kind == "method"
    return Wanted(frozenset(names), frozenset(read), is_member)


def _is_read(node: Node) -> bool:
    """Return whether reading the attribute runs the method: it is a property."""
    decorators = node.properties.get("decorators")
    return any(_READ.fullmatch(str(each)) for each in decorators) if isinstance(decorators, list) else False


def _find_bound(store: GraphStore, source: str, wanted: Wanted) -> set[_Place]:
    """Return the lines on which any definition of one of the names is certainly called."""
    same = [node.id for node in store.find_names(sorted(wanted.names), source)]
    edges = [each for each in store.neighbours(same, (RelationType.CALLS,), "in") if is_bound(each.confidence)]
    starts = {node.id: node.path for node in store.get(sorted({edge.start for edge in edges}))}
    return {(starts[edge.start], edge.line) for edge in edges if edge.line is not None}


def _list_sites(texts: Iterable[_Text], wanted: Wanted) -> Iterator[tuple[str, int, bool]]:
    """Yield path, line and whether it is a call, for each use in some texts, in order."""
    for path, line, text in texts:
        if wanted.stands_in(text):
            at = 0
            for use in list_uses(parse(text), text, wanted):
                line += text.count(b"\n", at, use.start)
                at = use.start
                yield path, line, use.is_call


def _list_texts(store: GraphStore, source: str, unread: list[str]) -> Iterator[_Text]:
    """Yield the texts of the code files of a repository; paths without a text are added to unread."""
    paths = list_code_files(store, source)
    for start in range(0, len(paths), FILE_BATCH):
        some = paths[start : start + FILE_BATCH]
        missing = dict.fromkeys(some)
        for path, text in store.texts(source, some):
            missing.pop(path, None)
            yield path, 1, text
        unread += missing


def _list_definitions(store: GraphStore, source: str) -> Iterator[_Text]:
    """Yield the outermost definitions of a corpus: its rows are not stored as a whole."""
    pieces = store.nodes((Label.FUNCTION, Label.CLASS, Label.MODULE), source)
    last: tuple[str, int] = ("", 0)
    for node in sorted(pieces, key=lambda node: (node.path, node.start_line, -node.end_line)):
        if (node.path, node.end_line) > last:
            last = node.path, node.end_line
            yield node.path, node.start_line, node.content.encode("utf-8", "replace")
