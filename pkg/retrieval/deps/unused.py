"""Find definitions without references: neither links of the graph nor possible uses without a link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pkg.model import Label, Node, RelationType
from pkg.retrieval.deps.answer import DepsOptions, Place, Unused, UnusedPlace, apply_limit, make_place
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, count_calls
from pkg.retrieval.deps.possible_uses import PossibleUses

_TYPES = (
    RelationType.CALLS, RelationType.UNRESOLVED, RelationType.RESOLVES_TO, RelationType.INHERITS,
    RelationType.OVERRIDES,
)  # fmt: skip
_USES = frozenset(_TYPES) - {RelationType.UNRESOLVED}

Doubt = tuple[int, str]
"""Weight of a reason, and the reason."""


def find_unused(reader: LinkReader, target: Target | None, options: DepsOptions) -> Unused:
    """List functions and classes that nothing is known to use, those with the fewest doubts first.

    A function that only calls itself is unused. Definitions that may be used without a link, by a test runner or by
    name, are counted by that use, and listed if the options ask for it. With a target, list only definitions inside it.
    """
    store = reader.store
    edges = list(store.edges(_TYPES, options.source))
    used = {edge.end for edge in edges if edge.type in _USES and edge.start != edge.end}
    nodes = list(store.nodes((Label.FUNCTION, Label.CLASS), options.source))
    wanted = {node.id for node in nodes} if target is None else set(target.ids)
    unlinked = [node for node in nodes if node.id in wanted and node.id not in used]
    reasons = PossibleUses(store, nodes, edges, used).explain(unlinked)
    left = [node for node in unlinked if node.id not in reasons]
    judged = sorted(map(_judge, left), key=lambda each: (each[0], _order(each[1].place)))
    found = [each for _, each in judged]
    if options.doubtful:
        spared = (UnusedPlace(make_place(node), (reasons[node.id],)) for node in unlinked if node.id in reasons)
        found += sorted(spared, key=lambda each: (each.doubts, _order(each.place)))
    shown = apply_limit(options.limit, len(found))
    coverage = count_calls(edges, "of all definitions; uses in unbound calls are not seen")
    counts = Counter(each.partition(":")[0] for each in reasons.values()).most_common()
    return Unused(tuple(found[:shown]), len(left), tuple(counts), len(wanted), len(found) - shown, coverage)


def _order(place: Place) -> tuple[str, str, int, str]:
    return place.source, place.path, place.line, place.id


def _judge(node: Node) -> tuple[int, UnusedPlace]:
    """Return the total weight of the doubts, and the doubts in words, the heaviest first."""
    found = sorted(_list_doubts(node), reverse=True)
    return sum(weight for weight, _ in found), UnusedPlace(make_place(node), tuple(words for _, words in found))


def _list_doubts(node: Node) -> Iterator[Doubt]:
    decorators = node.properties.get("decorators")
    if isinstance(decorators, list) and decorators:
        yield 2, f"decorated: {', '.join(map(str, decorators))}"
    if not any(part.startswith("_") for part in node.qualname.split(".")):
        yield 1, "public: others may use it"
