"""Add callees or callers of the hits, so that they are self-contained (P-06), with the imports needed (Q-23).

Calls are followed along resolved links, breadth first, for all hits of a question together: each level costs two store
queries, whatever the number of hits. Rows of a corpus have no links; their calls are bound by name. A call that stays
unbound may be guessed by the words of its name (A-12).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from pkg.model import Edge, Helper, Label, RelationType, is_bound, rank_confidence
from pkg.retrieval.call_targets import LinkedCalls, NamedCalls, NameGuesser
from pkg.retrieval.class_heads import fold_helper
from pkg.retrieval.context import Callee, Calls, Excerpt
from pkg.retrieval.needed_helpers import Candidate, Chosen, HelperChooser
from pkg.retrieval.needed_imports import ModuleImports, list_corpora

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore


MAX_CALLERS = 20  # of a hit: more would fill any budget, and are only counted


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
