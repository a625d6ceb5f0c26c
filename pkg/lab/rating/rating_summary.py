"""Summary of human ratings: means, choices by system, and which pairs to drop, curate by hand or keep (Q-03)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from statistics import fmean
from typing import Any

from pkg.lab.rating.ratings_file import Row

DROP_BELOW, KEEP_ABOVE = 3, 5
"""The paper's thresholds on the scale from 0 to 10: lower scores are dropped, up to the second curated by hand."""


def summarise_ratings(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield a line for all ratings, and one for each system, each two compared systems, and each pair.

    The score of a pair is the mean of both sliders over all raters; a pair that is marked as bad code is dropped.
    """
    rows = list(rows)
    pairs = _group(rows, "pair", lambda row: str(row["id"]))
    decided = [_decide(name, pairs[name]) for name in sorted(pairs)]
    yield {
        "type": "summary",
        "ratings": len(rows),
        "raters": dict(sorted(Counter(str(row["rater"]) for row in rows).items())),
        "kinds": dict(sorted(Counter(str(row["kind"]) for row in rows).items())),
        "minutes": round(sum(_number(row.get("seconds")) or 0.0 for row in rows) / 60, 1),
        "bad_code": sum(row.get("bad_code") is True for row in rows),
        "means": _mean_ratings(row for row in rows if row["kind"] == "pair"),
        "decisions": dict(Counter(line["decision"] for line in decided)),
    }
    graded = _group(rows, "grade", lambda row: str(row.get("system")))
    for system in sorted(graded):
        yield {"type": "system", "system": system, "ratings": len(graded[system]), **_mean_ratings(graded[system])}
    yield from _count_choices(rows)
    yield from decided


def _group(rows: Iterable[Row], kind: str, name: Any) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["kind"] == kind:
            found[name(row)].append(row)
    return found


def _decide(name: str, rows: list[Row]) -> dict[str, Any]:
    """Return the line of one pair, with its decision."""
    means = _mean_ratings(rows)
    score = round(fmean(means.values()), 2) if means else None
    is_bad = any(row.get("bad_code") is True for row in rows)
    is_dropped = is_bad or score is None or score < DROP_BELOW
    kept = "keep" if score is not None and score > KEEP_ABOVE else "curate"
    line = {"type": "pair", "id": name, "raters": len(rows), **means, "score": score}
    return {**line, "bad_code": is_bad, "decision": "drop" if is_dropped else kept}


def _mean_ratings(rows: Iterable[Row]) -> dict[str, float]:
    """Return the mean of each slider over the rows that have it."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        ratings = row.get("ratings")
        for name, value in ratings.items() if isinstance(ratings, Mapping) else ():
            if (number := _number(value)) is not None:
                found[str(name)].append(number)
    return {name: round(fmean(values), 2) for name, values in sorted(found.items())}


def _count_choices(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Yield the choices between each two systems, independent of side, and the number of choices of the left side."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row["kind"] == "pairwise":
            groups[tuple(sorted(_list_systems(row)))].append(row)
    for systems, found in sorted(groups.items()):
        verdicts = Counter(str(row["verdict"]) for row in found)
        chosen = Counter(
            _list_systems(row)["AB".index(row["verdict"])] for row in found if row["verdict"] in ("A", "B")
        )
        yield {
            "type": "pairwise",
            "systems": list(systems),
            "ratings": len(found),
            "chosen": {system: chosen[system] for system in systems},
            "ties": verdicts["C"],
            "both_wrong": verdicts["D"],
            "left": verdicts["A"],
        }


def _list_systems(row: Row) -> list[str]:
    """Return the two compared systems, the left one first."""
    systems = row["systems"]
    return list(map(str, systems)) if isinstance(systems, list) else []


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return float(value) if is_number else None  # type: ignore[arg-type]
