"""The task of the raters: assigned items, shown without the names of systems, and their saved ratings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pkg.errors import InputError
from pkg.lab.judge.ratings import parse_rating
from pkg.lab.rating.rated_items import RatedFile, RatedItem
from pkg.lab.rating.rater_assignment import assign_items, draw_order
from pkg.lab.rating.rating_form import read_participant, read_rating, read_seconds
from pkg.lab.rating.ratings_file import WRITTEN, Key, RatingsFile, Row, append_line
from pkg.private_files import make_file


class RatedMeanwhileError(InputError):
    """An item was rated in another tab since it was opened here; `row` is that rating."""

    def __init__(self, row: Row) -> None:
        super().__init__("you have rated this in another tab meanwhile; look at both, then save again to replace it")
        self.row = row


@dataclass(frozen=True, slots=True)
class RatingOptions:
    """Options of the task; without named raters, anyone who enters a name rates all items."""

    raters: tuple[str, ...] = ()
    overlap: int | None = None
    seed: int = 0
    participants: Path | None = None


@dataclass(slots=True)
class RatingTask:
    """The items of one file with the ratings of all raters."""

    file: RatedFile
    ratings: RatingsFile
    options: RatingOptions
    listen: Callable[[Row], None] = lambda row: None
    met: dict[str, None] = field(default_factory=dict)
    """Raters that entered their names, in order of arrival."""
    _assigned: dict[str, list[RatedItem]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Assign the items to raters; raises UsageError for an invalid overlap."""
        raters = self.options.raters
        if raters:
            ids = list(dict.fromkeys(item.id for item in self.file.items))
            assigned = assign_items(ids, raters, self.options.overlap or len(raters), self.options.seed)
            for rater, theirs in assigned.items():
                wanted = set(theirs)
                self._assigned[rater] = [item for item in self.file.items if item.id in wanted]

    def list_items(self, rater: str) -> list[RatedItem]:
        """Return the items of a rater in the order of the file; the systems of a question are in a drawn order."""
        return self._assigned.get(rater, [] if self.options.raters else self.file.items)

    def list_done(self, rater: str) -> list[bool]:
        """Return for each item of a rater whether it is rated."""
        latest = self.ratings.read_latest()
        return [self._key(rater, item) in latest for item in self.list_items(rater)]

    def read_item(self, rater: str, number: int) -> dict[str, Any]:
        """Return an item as shown to a rater, with their last rating; raises InputError if there is no such item."""
        item = self._find(rater, number)
        names = draw_order(item.systems, self.options.seed, item.id, rater) if item.kind == "pairwise" else item.systems
        return {
            "number": number,
            "key": hashlib.sha256("\0".join((item.kind, item.id, *item.systems)).encode()).hexdigest()[:16],
            "kind": item.kind,
            "id": item.id,
            "question": item.question,
            "reference": item.reference,
            "place": item.place,
            "code": item.code,
            "texts": [item.texts[name] for name in names],
            "rated": self._find_rating(rater, item),
        }

    def save(self, rater: str, number: int, posted: Mapping[str, Any]) -> Row:
        """Save a rating unless it is unchanged, and return the row that counts now.

        Raises InputError if the rating is invalid or cannot be written, and RatedMeanwhileError if it would replace one
        that the rater has not seen.
        """
        item = self._find(rater, number)
        row = {**self._name(rater, item), **read_rating(item.kind, posted)}
        row |= {"when": _format_now(), "seconds": read_seconds(posted.get("seconds"))}
        row = row if item.kind == WRITTEN else parse_rating(row).to_json()
        before = self._find_rating(rater, item)
        if before is not None:
            if _drop_times(before) == _drop_times(row):
                return before
            if posted.get("seen") != before.get("when"):
                raise RatedMeanwhileError(before)
        self.ratings.append(row)
        self.listen(row)
        return row

    def lacks_participant(self, rater: str) -> bool:
        """Return whether participants are recorded and this rater's answers are missing."""
        path = self.options.participants
        return path is not None and not (path.exists() and name_participant(rater).encode() in path.read_bytes())

    def save_participant(self, rater: str, posted: Mapping[str, Any]) -> None:
        """Save the answers of a participant apart from the ratings, under an id instead of the name.

        Raises InputError for an invalid answer, and if participants are not recorded.
        """
        if self.options.participants is None:
            raise InputError("participants are not recorded; start with --participants FILE")
        row = {"participant": name_participant(rater), **read_participant(posted), "when": _format_now()}
        try:
            make_file(self.options.participants)
            append_line(
                self.options.participants, json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
            )
        except OSError as fault:
            raise InputError(f"not saved: cannot write {self.options.participants}: {fault.strerror}") from fault

    def count_left(self, rater: str) -> int:
        """Count the items that a rater has not rated yet."""
        return self.list_done(rater).count(False)

    def is_done(self) -> bool:
        """Return whether there are raters and all of them have rated all their items."""
        raters = self.options.raters or tuple(self.met)
        return bool(raters) and not any(map(self.count_left, raters))

    def list_rows(self) -> list[Row]:
        """Return the latest ratings of the items of this file."""
        names = {(item.kind, item.id) for item in self.file.items}
        rows = self.ratings.read_latest().values()
        return [row for row in rows if (row["kind"], row.get("snippet", row["id"])) in names]

    def _find(self, rater: str, number: int) -> RatedItem:
        items = self.list_items(rater)
        if not 0 <= number < len(items):
            raise InputError(f"no item {number + 1} for '{rater}'; expected 1 to {len(items)}")
        return items[number]

    def _name(self, rater: str, item: RatedItem) -> dict[str, Any]:
        """Return the fields of a row that identify its item and rater."""
        row = {**item.origin, "id": item.id, "rater": rater, "kind": item.kind}
        if item.kind == WRITTEN:
            row |= {"id": _name_pair(rater, item), "snippet": item.id}
        elif item.kind == "grade":
            row["system"] = item.systems[0]
        elif item.kind == "pairwise":
            row["systems"] = draw_order(item.systems, self.options.seed, item.id, rater)
        return row

    def _key(self, rater: str, item: RatedItem) -> Key:
        name = _name_pair(rater, item) if item.kind == WRITTEN else item.id
        return (rater, item.kind, name, *sorted(item.systems))

    def _find_rating(self, rater: str, item: RatedItem) -> Row | None:
        return self.ratings.read_latest().get(self._key(rater, item))


def name_participant(rater: str) -> str:
    """Return the id of a participant: a hash of the name, so that only the ratings link it to a person."""
    return hashlib.sha256(rater.encode()).hexdigest()[:12]


def _name_pair(rater: str, item: RatedItem) -> str:
    """Return the id of a written pair; several raters may write about one snippet."""
    return f"{item.id}-{name_participant(rater)}"


def _drop_times(row: Row) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in ("when", "seconds")}


def _format_now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
