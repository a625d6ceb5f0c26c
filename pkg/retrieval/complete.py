"""Add what the hits call, so that they are self-contained (P-06), with the imports that it needs (Q-23).

Calls are followed along the links that the build has resolved, breadth first, for all hits of a question together:
each level costs two questions to the store, whatever the number of hits. Rows of a corpus have no links; their calls
are bound by name. A call that nothing binds may at last be guessed by the words of its name (A-12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from pkg.model import Helper, Node
from pkg.retrieval.callers import read_callers
from pkg.retrieval.guesses import NameGuesser
from pkg.retrieval.heads import show_head
from pkg.retrieval.imports import ModuleImports
from pkg.retrieval.links import LinkedCalls
from pkg.retrieval.names import NamedCalls
from pkg.retrieval.reached import Calls, Reached
from pkg.retrieval.shown import Shown

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore


@dataclass(frozen=True, slots=True)
class Completion:
    """What one hit needs: helpers in the order of preference, every decision in words, how sure its calls are."""

    helpers: tuple[Helper, ...] = ()
    explain: tuple[str, ...] = ()
    bound: int = 0
    possible: int = 0
    unbound: int = 0


class Completer:
    """Complete the hits of one question; what was read for one hit is remembered for the next ones."""

    def __init__(self, store: GraphStore, encoder: Encoder, hops: int, callers: bool = False) -> None:
        self._store = store
        self._hops = hops
        self._callers = callers
        self._corpora = {source.name for source in store.sources() if source.kind == "corpus"}
        self._imports = ModuleImports(store, self._corpora)
        self._linked = LinkedCalls(store)
        self._named = NamedCalls(store, self._imports)
        self._guesser = NameGuesser(store, encoder)

    def complete(self, hits: Sequence[Shown]) -> list[Completion]:
        """Find the helpers of each hit; calls on lines that pruning cut away are left out."""
        walks = [_Walk(shown) for shown in hits]
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
        self._imports.read(node for walk in walks for node, _, _ in walk.found)
        return [self._finish(walk) for walk in walks]

    def _guess(self, walks: Sequence[_Walk]) -> None:
        """Guess what is left of the calls of the hits; what is guessed is not followed further."""
        for walk in walks:
            walk.add(filter(None, map(self._guesser.guess, walk.calls.loose)), "callee")

    def _read(self, texts: Sequence[Shown]) -> list[Calls]:
        """Read the calls of texts, each in the way of its source."""
        is_named = [shown.node.source in self._corpora for shown in texts]
        named = iter(self._named.read([shown for shown, each in zip(texts, is_named, strict=True) if each]))
        linked = iter(self._linked.read([shown for shown, each in zip(texts, is_named, strict=True) if not each]))
        return [next(named if each else linked) for each in is_named]

    def _finish(self, walk: _Walk) -> Completion:
        helpers = tuple(self._make_helper(*found) for found in walk.found)
        calls = walk.calls
        return Completion(helpers, tuple(walk.explain), calls.bound, calls.possible, calls.unbound)

    def _make_helper(self, node: Node, reason: str, role: str) -> Helper:
        place = node.path, node.qualname, node.start_line, node.end_line
        return Helper(node.id, *place, node.content, reason, self._imports.list_needed(node), role)


@dataclass(slots=True)
class _Walk:
    """One walk from a hit: what is in the context already, and what was added in which order and why."""

    hit: Shown
    level: list[Shown] = field(default_factory=list)  # whose calls are followed next
    known: list[Shown] = field(default_factory=list)
    found: list[tuple[Node, str, str]] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)  # of the hit itself
    explain: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.level, self.known = [self.hit], [self.hit]

    def follow(self, calls: Sequence[Calls]) -> None:
        """Add what the texts of the level call; these are the next level."""
        if self.level == [self.hit]:
            (self.calls,) = calls
        self.explain += dict.fromkeys(line for each in calls for line in each.explain if line not in self.explain)
        self.level = list(self.add((reached for each in calls for reached in each.reached), "callee"))

    def add(self, every: Iterable[Reached], role: str) -> Sequence[Shown]:
        """Add what is not in the context yet and give it."""
        return list(self._add(every, role))

    def _add(self, every: Iterable[Reached], role: str) -> Iterator[Shown]:
        for node, reason in every:
            if not any(shown.holds(node) for shown in self.known):
                shown = Shown(show_head(node))
                self.known.append(shown)
                self.found.append((shown.node, reason, role))
                yield shown
