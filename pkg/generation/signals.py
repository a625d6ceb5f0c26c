"""Measure what a search tells of whether its best hit will help: the grounds on which a gate decides."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pkg.model import Hit
from pkg.retrieval.question import parse_question
from pkg.terms.words import split_terms

SIGNALS = ("own", "score", "margin", "cosine", "agreement", "held", "named", "lines")
"""Of the best hit: whether it is of a repository and not of a corpus (1 or 0), its score, how far the next one lies
below, its cosine, whether that is the best of all hits (1 or 0), which share of the question it holds, which share of
its name the question holds, and its lines."""


def measure_signals(text: str, hits: Sequence[Hit], corpora: Collection[str]) -> Mapping[str, float]:
    """Measure the signals of a question and its hits, the one that is shown first; of no hit there are none.

    corpora: the sources that are none of repositories.
    """
    if not hits:
        return {}
    best = hits[0]
    weights = parse_question(text).weights
    asked = set(split_terms(text.encode("utf-8", "replace")))
    held = set(split_terms(f"{best.qualname}\n{best.content}".encode("utf-8", "replace")))
    name = set(split_terms(best.qualname.rpartition(".")[2].encode("utf-8", "replace")))
    total = sum(weights.values())
    found = {
        "own": float(best.source not in corpora),
        "score": best.score,
        "margin": best.score - max((hit.score for hit in hits[1:]), default=0.0),
        "cosine": best.cosine,
        "agreement": float(all(hit.cosine <= best.cosine for hit in hits)),
        "held": sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0,
        "named": len(name & asked) / len(name) if name else 0.0,
        "lines": float(best.content.count("\n") + 1),
    }
    return {each: round(found[each], 4) for each in SIGNALS}
