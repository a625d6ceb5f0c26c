"""Count the occurrences of a definition's name in the code of its source, for an answer without callers.

Calls of a value from a library, through a variable, or in a corpus are unresolved, so no link leads to the definition.
"No callers" is true only if no call expression has the name, so the texts are searched before an answer says so. A
store lacks some texts (minified files, files with NUL bytes, rows outside of definitions): the answer reports what was
not searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pkg.extract.parser import parse
from pkg.model import Label, RelationType, is_bound
from pkg.retrieval.deps.answer import NamedSites
from pkg.retrieval.deps.external_bases import is_special
from pkg.retrieval.deps.paths import list_code_files

if TYPE_CHECKING:
    import tree_sitter

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
_OPENS = re.compile(rb"[ \t\f]*\(")
_NAMED = (  # positions that bind a name or an attribute instead of using it: type of the parent, field
    ("function_definition", "name"), ("class_definition", "name"), ("keyword_argument", "name"),
    ("default_parameter", "name"), ("typed_default_parameter", "name"), ("assignment", "left"),
    ("augmented_assignment", "left"), ("for_statement", "left"), ("for_in_clause", "left"),
    ("named_expression", "name"), ("as_pattern", "alias"), ("parameters", None), ("lambda_parameters", None),
    ("typed_parameter", None), ("list_splat_pattern", None), ("dictionary_splat_pattern", None),
    ("pattern_list", None), ("tuple_pattern", None), ("list_pattern", None), ("as_pattern_target", None),
    ("global_statement", None), ("nonlocal_statement", None), ("delete_statement", None), ("dotted_name", None),
    ("aliased_import", None),
)  # fmt: skip


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


class Use(NamedTuple):
    """One use of a name: its first byte, and whether it is called there."""

    start: int
    is_call: bool


@dataclass(frozen=True)
class Wanted:
    """The names to look for."""

    names: frozenset[str]
    read: frozenset[str] = frozenset()  # names that run when an attribute is read
    is_member: bool = False  # whether all are attributes, so that a plain name is something else unless it is called

    @cached_property
    def word(self) -> re.Pattern[bytes]:
        """Return a pattern that finds any of the names as a whole word."""
        return _match_words(sorted(self.names))

    def stands_in(self, text: bytes) -> bool:
        """Return whether a text has any of the names, which most do not."""
        return any(name.encode() in text for name in self.names) and self.word.search(text) is not None


def _match_words(names: list[str]) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w\x80-\xff])(?:%s)(?![\w\x80-\xff])" % b"|".join(re.escape(n.encode()) for n in names))


def list_uses(tree: tree_sitter.Tree, text: bytes, wanted: Wanted) -> Iterator[Use]:
    """Yield the uses of names in a text, and of their aliases by its imports, in order."""
    aliases = Wanted(frozenset(_list_aliases(tree, text, wanted)))
    walk = _Walk(tree)
    for match in _match_words(sorted(wanted.names | aliases.names)).finditer(text):
        here = walk.reach(match.start(), match.end())
        if here is not None:
            is_own = match.group().decode("utf-8", "replace") in wanted.names
            use = _judge(here, walk.around, text, match, wanted if is_own else aliases)
            if use is not None:
                yield use


class _Spot(NamedTuple):
    """A node, and its field in its parent."""

    node: tree_sitter.Node
    field: str | None


class _Walk:
    """One walk through a tree, from its start to its end, with the ancestors of its place.

    Finding the parent of a tree node is a search from the root, so each use in deep code would cost its depth; all uses
    together cost one walk.
    """

    def __init__(self, tree: tree_sitter.Tree) -> None:
        self._cursor = tree.walk()
        self._here = self._read()
        self.around: list[_Spot] = []  # ancestors of the cursor, from the root

    def reach(self, start: int, end: int) -> _Spot | None:
        """Advance to the leaf that contains some bytes; return None if they lie between nodes."""
        while True:
            if self._here.node.end_byte < end:
                if self._cursor.goto_next_sibling():
                    self._here = self._read()
                elif not self.around or self.around[-1].node.end_byte >= end:
                    return None
                else:
                    self._cursor.goto_parent()
                    self._here = self.around.pop()
            elif self._here.node.start_byte > start:
                return None
            elif self._cursor.goto_first_child():
                self.around.append(self._here)
                self._here = self._read()
            else:
                return self._here

    def _read(self) -> _Spot:
        node = self._cursor.node
        assert node is not None
        return _Spot(node, self._cursor.field_name)


def _list_aliases(tree: tree_sitter.Tree, text: bytes, wanted: Wanted) -> Iterator[str]:
    """Yield the aliases that imports of a text give to any of the names."""
    walk = _Walk(tree)
    for match in wanted.word.finditer(text):
        here = walk.reach(match.start(), match.end())
        if here is None or len(walk.around) < 2:
            continue
        outer, dotted = (each.node for each in walk.around[-2:])
        alias = outer.child_by_field_name("alias") if outer.type == "aliased_import" else None
        if alias is not None and here.node.end_byte == dotted.end_byte:  # the last name of a dotted one
            name = text[alias.start_byte : alias.end_byte].decode("utf-8", "replace")
            yield from (name,) if name not in wanted.names else ()


def _judge(here: _Spot, around: Sequence[_Spot], text: bytes, match: re.Match[bytes], wanted: Wanted) -> Use | None:
    """Return how a word uses its name; None for a comment, a definition, an import or another meaning."""
    if here.node.type != "identifier":
        is_text = here.node.type == "string_content" and (here.node.start_byte, here.node.end_byte) == match.span()
        return Use(match.start(), False) if is_text else None
    if not around or (around[-1].node.type in ("function_definition", "class_definition") and here.field == "name"):
        return None
    is_attribute = around[-1].node.type == "attribute" and here.field == "attribute"
    depth = len(around) - is_attribute  # of the attribute that ends with the name, or of the name
    whole = around[depth] if is_attribute else here
    if _is_called(whole, around, depth) or _OPENS.match(text, match.end()):
        return Use(match.start(), True)
    if _gives_meaning(whole, around[depth - 1]) or (wanted.is_member and not is_attribute):
        return None
    return Use(match.start(), is_attribute and match.group().decode("utf-8", "replace") in wanted.read)


def _is_called(spot: _Spot, around: Sequence[_Spot], depth: int) -> bool:
    """Return whether an expression at a depth is called, or a decorator."""
    for parent in (around[each] for each in range(depth - 1, -1, -1)):
        kind = parent.node.type
        if kind != "parenthesized_expression" and not (kind == "subscript" and spot.field == "value"):
            return kind == "decorator" or (kind == "call" and spot.field == "function")
        spot = parent
    return False


def _gives_meaning(spot: _Spot, parent: _Spot) -> bool:
    return any(parent.node.type == kind and name in (None, spot.field) for kind, name in _NAMED)
