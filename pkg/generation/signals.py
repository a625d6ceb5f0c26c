"""Measure what a search tells of whether its best hit will help: the grounds on which a gate decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pkg.model import Hit
from pkg.retrieval.question import parse_question
from pkg.terms.words import split_terms

SIGNALS = ("score", "margin", "cosine", "agreement", "held", "named", "lines")
"""Score of the best hit, how far the next one lies below it, its cosine, whether it has the best cosine of all hits (1
or 0), which share of the question it holds, which share of its name the question holds, and its lines."""


def measure_signals(text: str, hits: Sequence[Hit]) -> Mapping[str, float]:
    """Measure the signals of a question and its hits, the one that is shown first; of no hit there are none."""
    if not hits:
        return {}
    best = hits[0]
    weights = parse_question(text).weights
    asked = set(split_terms(text.encode("utf-8", "replace")))
    held = set(split_terms(f"{best.qualname}\n{best.content}".encode("utf-8", "replace")))
    name = set(split_terms(best.qualname.rpartition(".")[2].encode("utf-8", "replace")))
    total = sum(weights.values())
    found = {
        "score": best.score,
        "margin": best.score - max((hit.score for hit in hits[1:]), default=0.0),
        "cosine": best.cosine,
        "agreement": float(all(hit.cosine <= best.cosine for hit in hits)),
        "held": sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0,
        "named": len(name & asked) / len(name) if name else 0.0,
        "lines": float(best.content.count("\n") + 1),
    }
    return {each: round(found[each], 4) for each in SIGNALS}
