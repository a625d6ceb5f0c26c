"""What raters have to do, and what they have done: items dealt out, shown without names of systems, and saved."""

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
    """Say that an item was rated in another tab since it was opened here, and how."""

    def __init__(self, row: Row) -> None:
        super().__init__("you have rated this in another tab meanwhile; look at both, then save again to replace it")
        self.row = row


@dataclass(frozen=True, slots=True)
class RatingOptions:
    """How the work is shared: named raters, or whoever gives a name; by how many each item is rated."""

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
    """The raters that gave a name themselves, in the order in which they came."""
    _dealt: dict[str, list[RatedItem]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Deal the items out; a UsageError for an overlap that cannot be."""
        raters = self.options.raters
        if raters:
            ids = list(dict.fromkeys(item.id for item in self.file.items))
            dealt = assign_items(ids, raters, self.options.overlap or len(raters), self.options.seed)
            for rater, theirs in dealt.items():
                wanted = set(theirs)
                self._dealt[rater] = [item for item in self.file.items if item.id in wanted]

    def list_items(self, rater: str) -> list[RatedItem]:
        """List what a rater has to rate, in the order of the file; of one question, systems in a drawn order."""
        return self._dealt.get(rater, [] if self.options.raters else self.file.items)

    def list_done(self, rater: str) -> list[bool]:
        """Tell of each of the items of a rater whether it is rated."""
        latest = self.ratings.read_latest()
        return [self._key(rater, item) in latest for item in self.list_items(rater)]

    def read_item(self, rater: str, number: int) -> dict[str, Any]:
        """Give what a rater sees of an item, and how they have rated it before; an InputError where there is none."""
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
        """Save a rating, and give the row that counts now; what is the same as before is not written again.

        Raises InputError for what is no rating or cannot be written, and RatedMeanwhileError where the rater has not
        seen what would be replaced.
        """
        item = self._find(rater, number)
        row = {**self._name(rater, item), **read_rating(item.kind, posted)}
        row |= {"when": _tell_time(), "seconds": read_seconds(posted.get("seconds"))}
        row = row if item.kind == WRITTEN else parse_rating(row).to_json()
        before = self._find_rating(rater, item)
        if before is not None:
            if _leave_times(before) == _leave_times(row):
                return before
            if posted.get("seen") != before.get("when"):
                raise RatedMeanwhileError(before)
        self.ratings.append(row)
        self.listen(row)
        return row

    def lacks_participant(self, rater: str) -> bool:
        """Tell whether raters are asked about themselves, and this one has not told."""
        path = self.options.participants
        return path is not None and not (path.exists() and name_participant(rater).encode() in path.read_bytes())

    def save_participant(self, rater: str, posted: Mapping[str, Any]) -> None:
        """Save what a participant tells of themselves, apart from the ratings, under an id instead of the name.

        Raises InputError for an answer that is none, and where nobody asked.
        """
        if self.options.participants is None:
            raise InputError("nobody asked for participants; start with --participants FILE")
        row = {"participant": name_participant(rater), **read_participant(posted), "when": _tell_time()}
        try:
            make_file(self.options.participants)
            append_line(
                self.options.participants, json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
            )
        except OSError as fault:
            raise InputError(f"not saved: cannot write {self.options.participants}: {fault.strerror}") from fault

    def count_left(self, rater: str) -> int:
        """Count what a rater has not rated yet."""
        return self.list_done(rater).count(False)

    def is_done(self) -> bool:
        """Tell whether every rater that is known has rated everything."""
        raters = self.options.raters or tuple(self.met)
        return bool(raters) and not any(map(self.count_left, raters))

    def list_rows(self) -> list[Row]:
        """List the ratings of items of this file that count."""
        names = {(item.kind, item.id) for item in self.file.items}
        rows = self.ratings.read_latest().values()
        return [row for row in rows if (row["kind"], row.get("snippet", row["id"])) in names]

    def _find(self, rater: str, number: int) -> RatedItem:
        items = self.list_items(rater)
        if not 0 <= number < len(items):
            raise InputError(f"no item {number + 1} for '{rater}'; expected 1 to {len(items)}")
        return items[number]

    def _name(self, rater: str, item: RatedItem) -> dict[str, Any]:
        """Give the fields of a row that say what it is about."""
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
    """Make the id of a participant from the name: who has the ratings can find it, who has not learns no name."""
    return hashlib.sha256(rater.encode()).hexdigest()[:12]


def _name_pair(rater: str, item: RatedItem) -> str:
    """Name a pair that is written: several may write about one snippet, and each pair is rated by its own id."""
    return f"{item.id}-{name_participant(rater)}"


def _leave_times(row: Row) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in ("when", "seconds")}


def _tell_time() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
