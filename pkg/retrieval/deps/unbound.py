"""Count unbound call sites by the names that they call: any of them may call the target of a question."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pkg.graph.generation_cache import GenerationCache
from pkg.graph.store import Overflow
from pkg.model import Label
from pkg.resolution.reasons import Reason

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.retrieval.deps.names import Target

_LAST_NAME = re.compile(r"([^\W\d]\w*)\s*\Z")

UnboundNames = Mapping[str, Counter[str]]
"""Number of unbound call sites of each name, by reason."""

_MEMORY = GenerationCache(8)  # sources


class SameName(NamedTuple):
    """The unbound call sites with some names."""

    sites: int
    names: str  # the name, or whose names, in words
    reasons: tuple[tuple[str, int], ...]  # the commonest first


def read_unbound_names(store: GraphStore, source: str | None) -> UnboundNames:
    """Count the unbound call sites of a source by the last name of the called expression: ``a.b.run`` counts as run.

    The counts are cached for the generation of the graph.
    """
    return _MEMORY.get(store, (store.address, source), lambda: _read_unbound_names(store, source))


def _read_unbound_names(store: GraphStore, source: str | None) -> UnboundNames:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for node in store.nodes((Label.CALL,), source):
        matched = _LAST_NAME.search(node.name)
        if matched is not None:
            found[matched[1]][str(node.properties.get("reason", ""))] += 1
    return found


def list_overflows(store: GraphStore, source: str | None = None) -> tuple[Overflow, ...]:
    """List values with too many candidates, by the number of calls left unbound by them, the most first."""
    prefix = f"{Reason.MANY.value}: "
    reasons = (str(node.properties.get("reason", "")) for node in store.nodes((Label.CALL,), source))
    counts = Counter(reason.removeprefix(prefix) for reason in reasons if reason.startswith(prefix))
    return tuple(Overflow(*each) for each in sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def count_sites(unbound: UnboundNames, name: str) -> int:
    """Return the number of unbound call sites of one name."""
    return sum(unbound[name].values()) if name in unbound else 0


def count_same_name(unbound: UnboundNames, targets: Iterable[Target]) -> SameName:
    """Count the unbound call sites that may call some targets, or definitions inside them."""
    chosen = list(targets)
    names = {node.name for target in chosen for node in (*target.nodes, *target.inside)}
    reasons: Counter[str] = sum((unbound[name] for name in sorted(names) if name in unbound), Counter[str]())
    ordered = tuple(sorted(reasons.items(), key=lambda each: (-each[1], each[0])))
    if len(chosen) != 1:
        words = "the names of the targets" if chosen else "the target, which has no name here"
    elif len(names) > 1:
        words = f"the names inside {chosen[0].place.qualname}"
    else:
        words = f"the name {', '.join(names)}"
    return SameName(sum(reasons.values()), words, ordered)
