"""Write rankings as JSON-ready lines, one a task (DESIGN section 4)."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from pkg.model import Skip
from pkg.rerank.nouns import Ranked, Ranking, Verdict
from pkg.rerank.stream import Outcome

ORACLE = "ORACLE"  # stands in every line of a ranking that saw hidden tests


def outcome_line(outcome: Outcome, key: str | None = None, is_oracle: bool = False) -> dict[str, Any]:
    """Give the line of a ranking, or of a task that was left out; the fields of the input come first."""
    line = _skip_line(outcome, is_oracle) if isinstance(outcome, Skip) else _ranking_line(outcome)
    return line | ({"key": key} if key else {})


def _skip_line(skip: Skip, is_oracle: bool) -> dict[str, Any]:
    return {"type": "skip", **({"mode": ORACLE} if is_oracle else {}), "path": skip.path, "reason": skip.reason}


def _ranking_line(ranking: Ranking) -> dict[str, Any]:
    own: dict[str, Any] = {"type": "ranking"}
    if ranking.oracle:
        own["mode"] = ORACLE
    if ranking.id is not None:
        own["id"] = ranking.id
    own |= {
        "chosen": ranking.chosen,
        "code": ranking.code,
        "order": list(ranking.order),
        "fallback": ranking.fallback,
        "entry": ranking.entry,
        "examples": list(ranking.examples),
        "inputs": ranking.inputs,
        "sandbox": ranking.sandbox,
        "candidates": [_candidate_line(each) for each in ranking.candidates],
        "notes": list(ranking.notes),
    }
    return {**ranking.extra, **own}


def _candidate_line(ranked: Ranked) -> dict[str, Any]:
    own = {
        "id": ranked.id,
        "rank": ranked.rank,
        "votes": ranked.votes,
        "same_as": ranked.same_as,
        "dropped": ranked.dropped,
        "reason": ranked.reason,
        "similarity": ranked.similarity,
        "stages": [_verdict_line(each) for each in ranked.verdicts],
    }
    return {**ranked.extra, **own}


def _verdict_line(verdict: Verdict) -> dict[str, Any]:
    return {
        "stage": verdict.stage,
        "passed": verdict.passed,
        "score": round(verdict.score, 6),
        "reason": verdict.reason,
        "seconds": round(verdict.seconds, 4),
    }


def make_key(line: str) -> str:
    """Make the key by which a task is known again when a run is resumed."""
    return sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]
