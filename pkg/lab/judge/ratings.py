"""Ratings by people and judges, in one format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from pkg.errors import shorten
from pkg.lab.judge.items import SHOWN_LENGTH, ReadRows, parse_rows, show_value

RatingKind = Literal["grade", "pairwise", "annotation", "pair"]
"""A grade of one answer, a choice of two, a level by preference, or ratings of a question and its answer."""

VERDICTS = ("A", "B", "C", "D")
"""The first answer is better, the second is, a tie of good answers, both are wrong."""


class Scale(NamedTuple):
    """The lowest and the highest rating, both allowed."""

    low: int
    high: int


SCALES: Mapping[RatingKind, Scale] = {
    "grade": Scale(0, 10),  # judges use 1 to 10, people 0 to 10
    "pair": Scale(0, 10),
    "annotation": Scale(1, 5),
}


@dataclass(frozen=True, slots=True)
class Rating:
    """Rating of one item by one rater; raises ValueError for a value outside of its scale."""

    id: str  # of the item
    rater: str
    kind: RatingKind
    ratings: Mapping[str, float] = field(default_factory=dict)  # by criterion, such as overall or readability
    verdict: str = ""  # of pairwise: A, B, C or D, of the systems in the order of `systems`
    system: str = ""  # the system whose answer is rated
    systems: tuple[str, ...] = ()  # of pairwise: the first and the second
    comment: str = ""
    bad_code: bool = False
    when: str = ""  # ISO 8601, UTC
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(RatingKind):
            raise ValueError(f"the kind is {show_value(self.kind)}; expected one of {', '.join(get_args(RatingKind))}")
        if not (isinstance(self.id, str) and self.id and isinstance(self.rater, str) and self.rater):
            raise ValueError(
                f"the id is {show_value(self.id)} and the rater {show_value(self.rater)}; expected both named"
            )
        if self.kind == "pairwise":
            self._check_verdict()
        else:
            self._check_ratings(SCALES[self.kind])

    def _check_verdict(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"the verdict is {show_value(self.verdict)}; expected one of {', '.join(VERDICTS)}")
        if len(self.systems) != 2:
            raise ValueError(f"the systems are {show_value(list(self.systems))}; expected the two that were compared")

    def _check_ratings(self, scale: Scale) -> None:
        if not (self.ratings or self.bad_code):
            raise ValueError("no ratings; expected a number for each criterion")
        for name, value in self.ratings.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (is_number and scale.low <= value <= scale.high):
                raise ValueError(
                    f"{shorten(name, SHOWN_LENGTH)} is rated {show_value(value)}; expected {scale.low} to {scale.high}"
                )

    def to_json(self) -> dict[str, Any]:
        """Return the row of the rating without empty fields."""
        row: dict[str, Any] = {"id": self.id, "rater": self.rater, "kind": self.kind}
        row |= {"system": self.system, "systems": list(self.systems), "verdict": self.verdict}
        row |= {"ratings": dict(self.ratings), "comment": self.comment, "bad_code": self.bad_code}
        row |= {"when": self.when, "seconds": self.seconds}
        return {name: value for name, value in row.items() if value or name == "seconds"}


def parse_rating(row: Any) -> Rating:
    """Parse a row; raises ValueError if it is not a rating."""
    if not isinstance(row, dict):
        raise ValueError(f"not an object but {show_value(row)}; expected one with id, rater and kind")
    ratings, systems, seconds = row.get("ratings") or {}, row.get("systems") or [], row.get("seconds") or 0.0
    if not isinstance(ratings, dict):
        raise ValueError(f"'ratings' is {show_value(ratings)}; expected an object of numbers")
    if not (isinstance(systems, list) and all(isinstance(each, str) for each in systems)):
        raise ValueError(f"'systems' is {show_value(systems)}; expected a list of names")
    if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise ValueError(f"'seconds' is {show_value(seconds)}; expected a number")
    texts = {name: row.get(name) or "" for name in ("verdict", "system", "comment", "when")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"'{name}' is {show_value(text)}; expected a text")
    found = row.get("id"), row.get("rater"), row.get("kind")
    item, rater, kind = (str(each) if isinstance(each, int) else each for each in found)
    return Rating(
        item, rater, kind, ratings,  # type: ignore[arg-type] # checked by Rating
        systems=tuple(systems), bad_code=bool(row.get("bad_code")), seconds=float(seconds), **texts,
    )  # fmt: skip


def read_ratings(lines: Iterable[str]) -> ReadRows[Rating]:
    """Read ratings; an invalid row is skipped and returned with its reason."""
    return parse_rows(lines, parse_rating)
