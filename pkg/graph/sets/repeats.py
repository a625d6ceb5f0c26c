"""Fragments that several stores of a set hold: one of them answers for each.

They are found once for a state of all members, and kept in a file of the folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from heapq import merge
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from sqlite3 import Connection
from typing import NamedTuple

from pkg.errors import StoreError
from pkg.graph.embedded import sql
from pkg.graph.sqlite_rows import dump
from pkg.private_files import replace_file

FILE = "set.json"

_Key = tuple[int, str, int, int]  # of a fragment: its key, its source, the place of the member, its number there


class Repeat(NamedTuple):
    """A fragment that another member also holds, which answers for it."""

    fragment: int
    owner: int  # place of that member
    owner_fragment: int  # the number of the fragment there


def read_repeats(folder: Path, stamps: Mapping[str, str], connections: list[Connection]) -> list[list[Repeat]]:
    """Return the repeated fragments of each member; the owner has the first path, as in one store with all units.

    stamps: by the name of each member. Raises StoreError where two members have the same file or row.
    """
    path = folder / FILE
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(path.read_text("utf-8"))
        if found["stamps"] == stamps:
            return [[Repeat(*each) for each in repeats] for repeats in found["repeats"]]
    _check_units(dict(zip(stamps, connections, strict=True)))
    repeats = _find_repeats(connections)
    with suppress(OSError), replace_file(path) as temporary:  # found again by each reader of a folder that is read-only
        temporary.write_text(dump({"repeats": repeats, "stamps": stamps}), "utf-8")
    return repeats


def _check_units(connections: dict[str, Connection]) -> None:
    """Raise StoreError where two members have the same file or row."""
    units = merge(*(_list_units(name, each) for name, each in connections.items()))
    for (one, path, first), (other, _, second) in pairwise(units):
        if one == other:
            raise StoreError(f"'{path}' is in {first} and in {second}; expected each file or row in one store of a set")


def _list_units(name: str, connection: Connection) -> Iterator[tuple[int, str, str]]:
    """Yield (id, path, name of the member) of the files and rows of a member by id."""
    return ((identity, path, name) for identity, path in connection.execute(sql.LIST_SORTED_UNITS))


def _find_repeats(connections: list[Connection]) -> list[list[Repeat]]:
    repeats: list[list[Repeat]] = [[] for _ in connections]
    keys = [_list_keys(place, connection) for place, connection in enumerate(connections)]
    for _, equal in groupby(merge(*keys, key=itemgetter(0)), itemgetter(0)):
        for _, holders in groupby(sorted(equal, key=itemgetter(1, 2)), itemgetter(1)):
            found = [(place, number) for _, _, place, number in holders]
            if len(found) > 1:
                owner, kept = min(found, key=lambda each: (_find_path(connections[each[0]], each[1]), each[0]))
                for place, number in found:
                    if place != owner:
                        repeats[place].append(Repeat(number, owner, kept))
    return repeats


def _list_keys(place: int, connection: Connection) -> Iterator[_Key]:
    """Yield the fragments of a member by key."""
    names = dict(connection.execute(sql.LIST_SOURCE_NUMBERS))
    for key, source, number in connection.execute(sql.LIST_FRAGMENT_KEYS):
        yield key, names[source], place, number


def _find_path(connection: Connection, fragment: int) -> str:
    return str(connection.execute(sql.GET_UNIT_OF, (fragment,)).fetchone()[0])
