"""Measure the signals of a search by which the gate predicts whether its best hit will help."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pkg.model import Hit
from pkg.retrieval.question import parse_question
from pkg.terms.words import split_terms

SIGNALS = ("own", "score", "margin", "cosine", "agreement", "held", "named", "lines")
"""Of the best hit: 1 if it is from a repository and not a corpus, its score, the difference to the next score, its
cosine, 1 if no hit has a higher cosine, the weighted share of the question's terms in it, the share of its name's terms
in the question, and its number of lines."""


def measure_signals(text: str, hits: Sequence[Hit], corpora: Collection[str]) -> Mapping[str, float]:
    """Return the signals of a question and its hits, the best first; none without hits.

    corpora: the names of sources that are not repositories.
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
