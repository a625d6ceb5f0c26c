"""What the links of a file were worked out from, and what those of other files took from it.

Pieces of a file are what links may be worked out from; two versions of it are compared by them (file_diff.py). A piece
is written as its kind, the qualified name of its scope and a name in it:

| kind  | what it is                                                        |
|-------|-------------------------------------------------------------------|
| body  | the whole text of a function                                      |
| name  | what gives a value to a name of the module or of a class          |
| field | what the methods of a class assign to an attribute of self        |
| text  | the text of a module or class around its definitions              |
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from pkg.resolve import queries as q
from pkg.resolve.abstract_values import Key
from pkg.resolve.facts.file_records import Record, pack_json, unpack_json
from pkg.resolve.facts.scope_model import Reference, Scope
from pkg.resolve.facts.summary import Summary
from pkg.resolve.following import Following
from pkg.resolve.patches import Patch

BODY, NAME, FIELD, TEXT = "body", "name", "field", "text"
Piece = tuple[str, str, str]
_TOLD_BY_OTHERS = (
    q.SITE, q.STORE, q.IMPORTED, q.FOREIGN_FIELD, q.OBJECT_ATTRIBUTE,
    q.CLASS_ATTRIBUTE, q.CHOSEN_ATTRIBUTE,
)  # fmt: skip


def name_piece(key: Key, top: Scope) -> Piece | None:
    """Name the piece of its file that the rule of a set is about; nothing where that is told by other sets."""
    kind, first = key[0], key[1]
    if kind in _TOLD_BY_OTHERS:
        return None
    if isinstance(first, Scope):
        if kind in (q.FIELD, q.CLASS_FIELD):
            return FIELD, first.qualname, str(key[2])
        if kind in (q.REACHING, q.NARROWED_NAME) and first.kind in ("module", "class"):
            return TEXT, "", ""  # the order of the text decides
        if kind in (q.VARIABLE, q.FINAL, q.ALIAS) and first.kind in ("module", "class"):
            return NAME, first.qualname, str(key[2])
    return (BODY, top.qualname, "") if top.parent is not None else (TEXT, "", "")


class Received(NamedTuple):
    """A set that is made of deliveries: its name in its file, and a hash of its values."""

    name: Any  # as places.py writes it
    values: int


class ClassRow(NamedTuple):
    """What a class is derived from."""

    qualname: str
    number: int  # among the classes of that name in its file
    bases: tuple[Reference, ...]
    places: tuple[int, ...]  # of those bases among all, from 1
    libraries: tuple[str, ...]  # bases outside of the repository
    has_unknown: bool  # a base that could not be told
    metaclass: Reference | None
    is_mixed: bool  # a class in its order has several bases


Delivery = tuple[str, int, int, int, int, int]
"""The parts of the Origin of a site or assignment, and the place that it delivers to."""


class Taken(NamedTuple):
    """What of a file the links of others were worked out from."""

    received: Mapping[str, list[Received]]  # what is made of deliveries, by place
    pieces: list[Piece]
    together: Mapping[str, list[int]]  # groups of calls that deliver, by place; they are places that calls deliver to


@dataclass(frozen=True)
class DependencyRecord:
    """What the links of a file were worked out from.

    Files and places stand as hashes of 32 bits: one too many costs time, no truth.
    """

    following: Following  # how far arguments and results were followed
    summary: Summary
    packed_reach: bytes  # files: 32 bits each, of most they are not asked for
    deliveries: Sequence[Delivery]
    classes: Sequence[ClassRow]
    patches: Sequence[Patch]
    asked: frozenset[str]  # attributes that are asked for by a text
    places: frozenset[str]  # of what other files took that is made of deliveries
    packed: bytes  # what was taken: of most it is not asked for

    @cached_property
    def reach(self) -> frozenset[int]:
        """The files that the links were worked out from."""
        return frozenset(unpack_numbers(self.packed_reach))

    @cached_property
    def taken(self) -> Taken:
        """What links were worked out from."""
        received, pieces, together = unpack_json(self.packed)
        sets = {
            place: [Received(*each) for each in named]
            for place, named in zip(sorted(self.places), received, strict=True)
        }
        return Taken(sets, [(kind, name, inner) for kind, name, inner in pieces], together)

    def take(self, taken: Taken) -> DependencyRecord:
        """Give the dependencies with other things taken."""
        return replace(self, places=frozenset(taken.received), packed=pack_taken(taken))


def pack_taken(taken: Taken) -> bytes:
    """Pack what was taken, but for the places, by whose order it goes."""
    return pack_json([[taken.received[place] for place in sorted(taken.received)], taken.pieces, taken.together])


def add_dependencies(record: Record, dependencies: DependencyRecord) -> Record:
    """Put what the links of a file were worked out from into its record."""
    written = [
        dependencies.following, dependencies.summary, dependencies.deliveries, dependencies.classes,
        dependencies.patches, sorted(dependencies.asked), sorted(dependencies.places),
    ]  # fmt: skip
    return record._replace(dependencies=pack_json(written), reach=dependencies.packed_reach, taken=dependencies.packed)


def forget_dependencies(record: Record) -> Record:
    """Return the record of a file without what its links were worked out from: then all are resolved next time."""
    return record._replace(dependencies=b"", reach=b"", taken=b"")


def unpack_dependencies(record: Record) -> DependencyRecord | None:
    """Give what the links of a file were worked out from; nothing where its record does not tell."""
    if not record.dependencies:
        return None
    following, summary, deliveries, classes, patches, asked, places = unpack_json(record.dependencies)
    rows = [_unpack_row(*row) for row in classes]
    return DependencyRecord(
        Following(following), Summary(*summary), record.reach, list(map(tuple, deliveries)), rows,
        [Patch(tuple(target), *rest) for target, *rest in patches], frozenset(asked), frozenset(places), record.taken,
    )  # fmt: skip


def unpack_numbers(packed: bytes) -> tuple[int, ...]:
    """Give numbers of 32 bits that were packed."""
    return struct.unpack(f"<{len(packed) // 4}I", packed)


def _unpack_row(qualname: str, number: int, *rest: Any) -> ClassRow:
    bases, places, libraries, has_unknown, metaclass, is_mixed = rest
    return ClassRow(
        qualname, number, tuple(map(tuple, bases)), tuple(places), tuple(libraries), has_unknown,
        metaclass and tuple(metaclass), is_mixed,
    )  # fmt: skip
