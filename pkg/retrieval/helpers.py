"""Add callees or callers of the hits, so that they are self-contained (P-06), with the imports needed (Q-23).

Calls are followed along resolved links, breadth first, for all hits of a question together: each level costs two store
queries, whatever the number of hits. Rows of a corpus have no links; their calls are bound by name. A call that stays
unbound may be guessed by the words of its name (A-12).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import TYPE_CHECKING, NamedTuple

from pkg.model import (
    BOUND,
    UNFOLDED_TYPES,
    Call,
    Edge,
    Helper,
    Label,
    Node,
    NodeFilter,
    RelationType,
    is_bound,
    rank_confidence,
)
from pkg.resolution.reasons import Reason
from pkg.retrieval.class_heads import fold_helper
from pkg.retrieval.context import BUILTINS, Callee, Calls, Excerpt, UnresolvedCall, list_scopes
from pkg.retrieval.needed_helpers import Candidate, Chosen, HelperChooser
from pkg.retrieval.needed_imports import ModuleImports, list_corpora, list_globals
from pkg.units import format_id, hash_key

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore


MAX_CALLERS = 20  # of a hit: more would fill any budget, and are only counted
_CONSTRUCTOR = "constructor"  # rule of the additional edge from the call of a class to its __init__


def read_callers(store: GraphStore, texts: Sequence[Excerpt]) -> list[Calls]:
    """Return the callers of each text's function, surest first; possible callers are only counted."""
    owners = sorted({shown.owner for shown in texts})
    edges: dict[str, list[Edge]] = {owner: [] for owner in owners}
    for edge in store.neighbours(owners, (RelationType.CALLS,), "in"):
        edges[edge.end].append(edge)
    chosen = [_choose(edges[shown.owner]) for shown in texts]
    nodes = {node.id: node for node in store.get(sorted({edge.start for each in chosen for edge in each}))}
    found: list[Calls] = []
    for shown, kept in zip(texts, chosen, strict=True):
        calls = Calls(explain=list(_explain_rest(edges[shown.owner], kept)))
        for edge in kept:
            node, place = nodes[edge.start], f"{nodes[edge.start].path}:{edge.line}"
            if node.label is Label.FUNCTION:
                calls.reached.append(Callee(node, f"calls {shown.node.qualname} at {place} ({_format_rule(edge)})"))
            else:
                calls.explain.append(f"called by module code at {place} ({_format_rule(edge)}), which is not shown")
        calls.reached.sort(key=lambda each: (each.node.path, each.node.start_line, each.node.id))
        found.append(calls)
    return found


def _choose(edges: Sequence[Edge]) -> list[Edge]:
    """Return the first call of each caller, of the surest callers."""
    first: dict[str, Edge] = {}
    for edge in sorted(edges, key=lambda edge: (rank_confidence(edge.confidence), edge.line or 0)):
        if is_bound(edge.confidence):
            first.setdefault(edge.start, edge)
    ranked = sorted(first.values(), key=lambda edge: (rank_confidence(edge.confidence), edge.start))
    return ranked[:MAX_CALLERS]


def _explain_rest(edges: Sequence[Edge], kept: Sequence[Edge]) -> list[str]:
    sure = {edge.start for edge in edges if is_bound(edge.confidence)}
    possible = {edge.start for edge in edges} - sure
    more = len(sure) - len(kept)
    return [
        *([f"callers above {MAX_CALLERS} of a hit, left out: {more}"] if more else []),
        *([f"callers that are only possible, left out: {len(possible)}"] if possible else []),
    ]


def _format_rule(edge: Edge) -> str:
    return f"{edge.confidence or 'certain'}: {edge.rule or 'name'}"


@dataclass(frozen=True, slots=True)
class Completion:
    """Helpers of one hit in order of preference, the reason of each decision, and its call sites by confidence."""

    helpers: tuple[Helper, ...] = ()
    explain: tuple[str, ...] = ()
    bound: int = 0
    possible: int = 0
    unbound: int = 0


class Completer:
    """Complete the hits of one question, with a cache shared between hits."""

    def __init__(
        self,
        store: GraphStore,
        encoder: Encoder,
        hops: int,
        callers: bool = False,
        chooser: HelperChooser | None = None,
        excluded: Collection[str] = (),
    ) -> None:
        """Without a chooser all callees are added. excluded: ids that may not become helpers."""
        self._store = store
        self._chooser = chooser
        self._excluded = excluded
        self._hops = hops
        self._callers = callers
        self._corpora = list_corpora(store)
        self._imports = ModuleImports(store, self._corpora)
        self._linked = LinkedCalls(store)
        self._named = NamedCalls(store, self._imports)
        self._guesser = NameGuesser(store, encoder)

    def complete(self, hits: Sequence[Excerpt]) -> list[Completion]:
        """Find the helpers of each hit, ignoring calls on lines that pruning has cut."""
        walks = [_Walk(shown, self._excluded) for shown in hits]
        for depth in range(self._hops):
            texts = [shown for walk in walks for shown in walk.level]
            if not texts:
                break
            calls = iter(self._read(texts))
            for walk in walks:
                walk.follow(list(islice(calls, len(walk.level))))
            if not depth:
                self._guess(walks)
        if self._callers:
            of_links = [walk for walk in walks if walk.hit.node.source not in self._corpora]
            callers = read_callers(self._store, [walk.hit for walk in of_links]) if of_links else []
            for walk, found in zip(of_links, callers, strict=True):
                walk.explain += found.explain
                walk.add(found.reached, "caller")
        chosen = self._choose(walks)
        self._imports.read(each.node for some in chosen for each in some if not each.is_head)
        return [self._finish(walk, some) for walk, some in zip(walks, chosen, strict=True)]

    def _choose(self, walks: Sequence[_Walk]) -> list[list[Chosen]]:
        """Choose the helpers to show and how; a long class is always shown by its head."""
        if self._chooser is None:
            return [[Chosen(*each) for each in walk.found] for walk in walks]
        self._chooser.read([walk.hit.node for walk in walks], [each.node for walk in walks for each in walk.found])
        chosen: list[list[Chosen]] = []
        for walk in walks:
            some, excluded = self._chooser.choose(walk.hit, walk.found)
            walk.explain += excluded
            chosen.append(some)
        return chosen

    def _guess(self, walks: Sequence[_Walk]) -> None:
        """Guess the targets of the hits' unresolved calls; guesses are not followed further."""
        for walk in walks:
            walk.add(filter(None, map(self._guesser.guess, walk.calls.unresolved)), "callee")

    def _read(self, texts: Sequence[Excerpt]) -> list[Calls]:
        """Read the calls of texts, by links or by name depending on their source."""
        is_named = [shown.node.source in self._corpora for shown in texts]
        named = iter(self._named.read([shown for shown, each in zip(texts, is_named, strict=True) if each]))
        linked = iter(self._linked.read([shown for shown, each in zip(texts, is_named, strict=True) if not each]))
        return [next(named if each else linked) for each in is_named]

    def _finish(self, walk: _Walk, chosen: Sequence[Chosen]) -> Completion:
        helpers = tuple(map(self._make_helper, chosen))
        calls = walk.calls
        return Completion(helpers, tuple(walk.explain), calls.bound, calls.possible, calls.unbound)

    def _make_helper(self, chosen: Chosen) -> Helper:
        node = chosen.node
        return Helper(
            id=node.id,
            path=node.path,
            qualname=node.qualname,
            start_line=node.start_line,
            end_line=node.end_line,
            content=node.content,
            reason=chosen.reason,
            imports=() if chosen.is_head else self._imports.list_needed(node),
            role=chosen.role,
            is_folded=chosen.is_folded,
        )


@dataclass(slots=True)
class _Walk:
    """Walk from one hit: the code already in the context (A-03), and the helpers added, in order, with reasons."""

    hit: Excerpt
    excluded: Collection[str] = ()  # ids that may not become helpers
    level: list[Excerpt] = field(default_factory=list)  # texts whose calls are followed next
    known: list[Excerpt] = field(default_factory=list)
    found: list[Candidate] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)  # of the hit itself
    explain: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.level, self.known = [self.hit], [self.hit]

    def follow(self, calls: Sequence[Calls]) -> None:
        """Add the callees of the current level; these are the next level."""
        if self.level == [self.hit]:
            (self.calls,) = calls
        self.explain += dict.fromkeys(line for each in calls for line in each.explain if line not in self.explain)
        self.level = list(self.add((reached for each in calls for reached in each.reached), "callee"))

    def add(self, callees: Iterable[Callee], role: str) -> Sequence[Excerpt]:
        """Add nodes that are not in the context yet and return them."""
        return list(self._add(callees, role))

    def _add(self, callees: Iterable[Callee], role: str) -> Iterator[Excerpt]:
        for node, reason in callees:
            if node.id not in self.excluded and not any(shown.holds(node) for shown in self.known):
                folded = fold_helper(node)
                shown = Excerpt(node, folded.folds)
                self.known.append(shown)
                self.found.append(Candidate(folded.node, reason, role))
                yield shown


class _Target(NamedTuple):
    """One edge of a call site: the place of the callee's name, and the callee."""

    line: int
    column: int
    name: str
    edge: Edge
    node: Node
    constructed: str  # qualified name of the class that a constructor belongs to


class LinkedCalls:
    """Calls of texts as the build has resolved them, read in few store queries for all texts together."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._edges: dict[str, list[Edge]] = {}  # by the definition where they start
        self._nodes: dict[str, Node] = {}

    def read(self, texts: Sequence[Excerpt]) -> list[Calls]:
        """Return the calls of each text, including those of its nested functions."""
        self._edges |= {shown.owner: list(shown.links) for shown in texts if shown.links is not None}
        self._read_edges({shown.owner for shown in texts})
        kept = [[edge for edge in self._list_edges(shown.owner) if shown.has_line(edge.line)] for shown in texts]
        self._read_nodes(edge.end for edges in kept for edge in edges)
        self._read_nodes(
            edge.start for shown, edges in zip(texts, kept, strict=True) for edge in _keep_inner(shown, edges)
        )
        return [self._classify_sites(shown, edges) for shown, edges in zip(texts, kept, strict=True)]

    def _read_edges(self, ids: set[str]) -> None:
        """Read the edges of definitions and of those inside them, one store query for each level."""
        while ids:
            if missing := sorted(ids - self._edges.keys()):
                self._edges |= {node_id: [] for node_id in missing}
                for edge in self._store.neighbours(missing, UNFOLDED_TYPES, "out"):
                    self._edges[edge.start].append(edge)
            inner = (edge for node_id in ids for edge in self._edges[node_id])
            ids = {edge.end for edge in inner if edge.type is RelationType.CONTAINS}

    def _list_edges(self, owner: str) -> Iterable[Edge]:
        for edge in self._edges[owner]:
            if edge.type is RelationType.CONTAINS:
                yield from self._list_edges(edge.end)
            else:
                yield edge

    def _read_nodes(self, ids: Iterable[str]) -> None:
        if missing := sorted(set(ids) - self._nodes.keys()):
            self._nodes |= {node.id: node for node in self._store.get(missing)}

    def _classify_sites(self, shown: Excerpt, edges: Sequence[Edge]) -> Calls:
        """Collect the bound targets of each call site, or its only possible one."""
        calls = Calls()
        targets = [self._place(shown, edge) for edge in edges if edge.type is RelationType.CALLS]
        called = {(each.line, each.node.path, each.node.qualname) for each in targets}
        for (line, _, name), group in groupby(_drop_constructed(targets), key=lambda each: each[:3]):
            site = list(group)
            sure = [each for each in site if each.edge.confidence in BOUND]
            if not all(_is_inherited(each, called) for each in site):
                calls.bound += bool(sure)
                calls.possible += not sure
            if sure or len(site) == 1:
                calls.reached += [Callee(each.node, self._explain(shown, each)) for each in sure or site]
            else:
                place = f"{name} at {shown.node.path}:{line}"
                calls.explain.append(f"{place} not guessed: {len(site)} functions are possible, none is likely")
        unresolved = [self._make_unresolved(shown, edge) for edge in edges if edge.type is RelationType.UNRESOLVED]
        calls.unresolved = sorted(unresolved, key=lambda each: (each.line, each.expression))
        return calls

    def _place(self, shown: Excerpt, edge: Edge) -> _Target:
        node, line = self._nodes[edge.end], edge.line or 0
        made = node.qualname.rpartition(".")[0] if edge.rule == _CONSTRUCTOR and node.label is Label.FUNCTION else ""
        name = made.rpartition(".")[2] or node.name
        return _Target(line, shown.find_column(line, name), name, edge, node, made)

    def _explain(self, shown: Excerpt, target: _Target) -> str:
        edge = target.edge
        least = "" if edge.confidence in BOUND else "; nothing else is known"
        inside = "".join(f" inside {self._nodes[each.start].qualname}" for each in _keep_inner(shown, [edge]))
        place = f"called at {shown.node.path}:{target.line}{inside}"
        return f"{place} ({edge.confidence or 'certain'}: {edge.rule or 'name'}{least})"

    def _make_unresolved(self, shown: Excerpt, edge: Edge) -> UnresolvedCall:
        call, line = self._nodes[edge.end], edge.line or 0
        return UnresolvedCall(
            call.name, shown.node.source, shown.node.path, line, str(call.properties.get("reason", ""))
        )


def _drop_constructed(targets: Sequence[_Target]) -> list[_Target]:
    """Drop classes whose own __init__ is called too, and sort the rest by position in the text."""
    made = {(each.line, each.node.path, each.constructed) for each in targets}
    kept = [each for each in targets if (each.line, each.node.path, each.node.qualname) not in made or each.constructed]
    return sorted(kept, key=lambda each: (*each[:3], each.node.qualname, each.node.path, each.node.id))


def _is_inherited(target: _Target, called: Container[tuple[int, str, str]]) -> bool:
    """Return whether this is an __init__ of a base of the called class, so that the site is counted with the class."""
    return bool(target.constructed) and (target.line, target.node.path, target.constructed) not in called


def _keep_inner(shown: Excerpt, edges: Iterable[Edge]) -> list[Edge]:
    """Return the calls made by functions nested in the shown one."""
    is_class = shown.node.label is Label.CLASS
    return [] if is_class else [edge for edge in edges if edge.start != shown.owner]


RECEIVERS = ("self", "cls")


class NamedCalls:
    """Calls of texts, bound where only one function has the name; names are looked up together."""

    def __init__(self, store: GraphStore, imports: ModuleImports) -> None:
        self._store = store
        self._imports = imports
        self._defined: dict[tuple[str, str], list[Node]] = {}  # by source and name

    def read(self, texts: Sequence[Excerpt]) -> list[Calls]:
        """Return the calls of each text, each expression once."""
        kept = [list(self._list_calls(shown)) for shown in texts]
        for source in sorted({shown.node.source for shown in texts}):
            of_source = (calls for shown, calls in zip(texts, kept, strict=True) if shown.node.source == source)
            self._find(source, {_split(call)[1] for calls in of_source for call in calls})
        self._imports.read(
            shown.node
            for shown, calls in zip(texts, kept, strict=True)
            if any(self._may_be_external(shown.node, call) for call in calls)
        )
        return [self._bind_all(shown, calls) for shown, calls in zip(texts, kept, strict=True)]

    def _list_calls(self, shown: Excerpt) -> Iterator[Call]:
        """Yield the first call of each expression that names a function: bare, or an attribute of self or cls."""
        seen: set[str] = set()
        for call in self._store.calls(shown.node.id):
            if shown.has_line(call.line) and call.expression not in seen and _split(call)[0] in ("", *RECEIVERS):
                seen.add(call.expression)
                yield call

    def _find(self, source: str, names: set[str]) -> None:
        missing = sorted(name for name in names if (source, name) not in self._defined)
        if missing:
            self._defined |= {(source, name): [] for name in missing}
            for node in self._store.find_names(missing, source):
                if node.label is not Label.CONSTANT:
                    self._defined[source, node.name].append(node)

    def _bind_all(self, shown: Excerpt, found_calls: Sequence[Call]) -> Calls:
        calls = Calls()
        leaving = [call for call in found_calls if self._may_be_external(shown.node, call)]
        external_names = frozenset[str]()
        if leaving:  # names that are neither local nor imported from the standard library
            external_names = list_globals(shown.node) - self._imports.list_of_library(shown.node)
        for call in found_calls:
            found = self._bind_inside(shown.node, call)
            if call in leaving and ("." in call.expression or call.expression in external_names):
                found = self._bind_outside(shown.node, call)
            if found is not None:
                self._record(shown, call, *found, calls)
        return calls

    def _record(self, shown: Excerpt, call: Call, nodes: Sequence[Node], where: str, calls: Calls) -> None:
        """Record the targets of one call: a single function, several, or none."""
        place = f"{shown.node.path}:{call.line}"
        functions = [node for node in nodes if node.label is Label.FUNCTION]
        if len(functions) == 1:
            calls.bound += 1
            calls.reached.append(Callee(functions[0], f"called at {place}; the only function of this name {where}"))
        elif functions:
            calls.possible += 1
            reason = f"{call.expression} at {place} not guessed: {len(functions)} functions of this name {where}"
            calls.explain.append(reason)
        elif not nodes:
            calls.unresolved.append(
                UnresolvedCall(call.expression, shown.node.source, shown.node.path, call.line, Reason.UNDEFINED)
            )

    def _bind_inside(self, caller: Node, call: Call) -> tuple[list[Node], str] | None:
        """Return the targets of a call in its own row and where they were found; None if there are none."""
        receiver, name = _split(call)
        local = [node for node in self._defined[caller.source, name] if node.path == caller.path]
        for scope in list_scopes(caller):
            inside = [node for node in local if node.qualname == f"{scope}.{name}"]
            if found := [node for node in inside if (node.kind == "method") == bool(receiver)]:
                return found, f"in class {scope}" if receiver else f"in {scope}"
        top = [] if receiver else [node for node in local if node.qualname == name]
        return (top, "in the same row") if top else None

    def _may_be_external(self, caller: Node, call: Call) -> bool:
        return call.expression not in BUILTINS and self._bind_inside(caller, call) is None

    def _bind_outside(self, caller: Node, call: Call) -> tuple[list[Node], str]:
        """Return the functions of other rows that a call may target."""
        receiver, name = _split(call)
        functions = [node for node in self._defined[caller.source, name] if node.label is Label.FUNCTION]
        plain = [node for node in functions if node.qualname == name and not receiver]
        return plain or functions, f"in {caller.source}" if plain else f"in {caller.source} (a guess by name alone)"


def _split(call: Call) -> tuple[str, str]:
    receiver, _, name = call.expression.rpartition(".")
    return receiver, name


MIN_NAME_COSINE = 0.99
"""Lowest cosine of two names. Of the certainly bound calls of django 5.2 whose name no function has (an alias, a
variable), the nearest name is that of the callee in 7 of 22 above it, in 2 of 42 from 0.90 to 0.99."""
NAME_SEARCHES = 3  # for each question: each costs as much as the search for the hits, and most find nothing
NEAREST = 5  # candidate names: several may consist of the same words, and only one of them may be the target

_GUESSABLE = frozenset((
    Reason.UNDEFINED, Reason.MODULE_ATTRIBUTE, Reason.ATTRIBUTE, Reason.LIBRARY_BASE, Reason.DYNAMIC, Reason.CHOSEN,
))  # fmt: skip
"""Reasons of unresolved calls whose target may be defined elsewhere. The name of a parameter, an item or a result is no
evidence: in a graph of five packages, eight of 59 such calls matched a function of the name, none of them rightly."""

_NAME = re.compile(r"(?:(?:self|cls)\.)?([^\W\d]\w*)")
"""Names that may be those of functions. An attribute of another object has the name of the method itself: if no
function has that name, the source has no such method. A capital letter begins a class, and only function names are
indexed."""


class NameGuesser:
    """Search for function names similar to those of calls, each once and up to a limit."""

    def __init__(self, store: GraphStore, encoder: Encoder) -> None:
        self._store = store
        self._encoder = encoder
        self._found: dict[tuple[str, str], Node | None] = {}

    def guess(self, unresolved: UnresolvedCall) -> Callee | None:
        """Return the one function whose name has the words of the called name; None where that is not unambiguous."""
        matched = _NAME.fullmatch(unresolved.expression) if unresolved.reason in _GUESSABLE else None
        if matched is None or matched[1] in BUILTINS or matched[1].startswith("__") or matched[1][0].isupper():
            return None
        key = unresolved.source, matched[1]
        if key not in self._found:
            if len(self._found) == NAME_SEARCHES:
                return None
            self._found[key] = self._search(*key)
        node = self._found[key]
        if node is None or ("." in node.qualname and "." not in unresolved.expression):  # a method needs its object
            return None
        reason = f"called as {unresolved.expression} at {unresolved.path}:{unresolved.line}, which is not bound"
        return Callee(node, f"{reason} (a guess by name alone)")

    def _search(self, source: str, name: str) -> Node | None:
        vector = self._encoder.encode([name.encode("utf-8", "replace")])[0]
        if not vector.any():  # a name without words is equally near to all others
            return None
        found = self._store.vector_search(Label.FUNCTION_NAME, vector, NEAREST, NodeFilter(source), MIN_NAME_COSINE)
        near = [match.id for match in found.matches]
        same = format_id(hash_key(source, Label.FUNCTION_NAME.value, name))
        wanted = [same] if same in near else near
        ends = [edge.end for edge in self._store.neighbours(wanted, (RelationType.NAMES,), "out")] if wanted else []
        return self._store.get(ends)[0] if len(ends) == 1 else None
