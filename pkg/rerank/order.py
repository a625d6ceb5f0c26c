"""Put contenders into their order, and say who was dropped by what (A-09)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.rerank.case import Case, Contender

ORDER = ("oracle", "examples", "syntax", "static", "behaviour")
"""The evidence, strongest first. What a candidate does on an example says more than what may be wrong in a branch of
it that no example reaches, so the doubts of the syntax and the static stage come behind the examples. Likeness to the
query comes last, in `_weigh`."""

_SEEN = frozenset(("examples", "behaviour"))  # the stages that see what a candidate does

_REACHED = ("syntax", "smoke", "static")  # the stages that drop, in the order in which a candidate gets past them


def settle_doubts(case: Case, contenders: Sequence[Contender]) -> None:
    """Drop whom the static stage doubts, but for those for whom every visible example holds (A-08)."""
    for each in contenders:
        doubt = each.verdicts.get("static")
        shown = each.verdicts.get("examples")
        is_cleared = bool(case.examples) and shown is not None and shown.passed
        if each.dropped is None and doubt is not None and not doubt.passed and not is_cleared:
            each.dropped = "static"


def choose_finalists(contenders: Sequence[Contender]) -> list[Contender]:
    """Give those that nothing has dropped; where all were, those of the last stage that somebody reached (A-09)."""
    alive = [each for each in contenders if each.dropped is None]
    if alive:
        return alive
    furthest = max(map(_reached, contenders))
    return [each for each in contenders if _reached(each) == furthest]


def _reached(contender: Contender) -> int:
    return len(_REACHED) if contender.dropped is None else _REACHED.index(contender.dropped)


def order_contenders(case: Case, contenders: Sequence[Contender]) -> list[Contender]:
    """Sort by how far each came, then by the evidence, then by the order given."""
    return sorted(contenders, key=lambda each: (-_reached(each), *_weigh(case, each), each.places[0]))


def _weigh(case: Case, contender: Contender) -> tuple[float, ...]:
    """Give what sorts: each piece of evidence after the other, or their weighted sum where weights are given.

    Among equals in all that was seen of what they do, the candidate given first stands before likeness to the query:
    it is the greedy one as a rule, and the paper's stages, where likeness chooses, end below it in every form of the
    benchmark (benchmarks/results/rerank.json).
    """
    weights = case.options.weights
    if not weights:
        is_later = bool(_SEEN & {*case.options.stages}) and 0 not in contender.places
        return (*(-contender.score(stage) for stage in ORDER), float(is_later), -contender.score("similarity"))
    total = sum(weight * contender.score(stage) for stage, weight in weights.items())
    return (-contender.score("oracle"), -total)
