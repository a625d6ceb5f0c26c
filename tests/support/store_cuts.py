"""Build a graph twice, as one store and as a set of stores, for tests that compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.embedded.embedded_writing import EmbeddedWriter
from pkg.model import Source
from pkg.units import Fragment, Part, UnitGraph, UnitLinks

Vectors = Mapping[str, npt.NDArray[np.float16]]


@dataclass
class Record:
    """Units, links and names that builds have put into a store."""

    sources: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=dict)  # arguments of put_source
    units: list[UnitGraph] = field(default_factory=list)
    links: dict[tuple[str, str], UnitLinks] = field(default_factory=dict)  # by source and path
    names: dict[str, dict[str, npt.NDArray[np.float16]]] = field(default_factory=dict)  # by source

    def fill(self, store: EmbeddedStore, encoder: tuple[str, int], keep: Callable[[UnitGraph], bool]) -> None:
        """Put those of the units that a store shall have, and what belongs to them."""
        store.ensure_schema(*encoder)
        fragments: dict[tuple[str, int], Fragment] = {}
        for unit in self.units:
            fragments |= {(unit.source, part.key): part.fragment for part in unit.parts if part.fragment}
        with store.write() as writer:
            for arguments, named in self.sources.values():
                writer.put_source(*arguments, **named)
            kept = [unit for unit in self.units if keep(unit)]
            for unit in kept:
                parts = (Part(each.key, each.first_line, fragments[unit.source, each.key]) for each in unit.parts)
                writer.replace_file(replace(unit, parts=tuple(parts)))
            for name in self.sources:
                missing = set(writer.missing_names(name, limit=1 << 30))
                writer.put_names(name, {each: self.names[name][each] for each in sorted(missing)})
                of_source = [self.links.get((name, unit.path)) for unit in kept if unit.source == name]
                writer.put_links(name, filter(None, of_source))


@contextmanager
def record_builds() -> Iterator[Record]:
    """Record what the builds in the block put."""
    record = Record()
    put_source, replace_file = EmbeddedWriter.put_source, EmbeddedWriter.replace_file
    put_links, put_names = EmbeddedWriter.put_links, EmbeddedWriter.put_names

    def note_source(self: EmbeddedWriter, source: Source, *others: Any, **named: Any) -> None:
        record.sources[source.name] = (source, *others), named
        put_source(self, source, *others, **named)

    def note_file(self: EmbeddedWriter, unit: UnitGraph) -> None:
        record.units.append(unit)
        replace_file(self, unit)

    def note_links(self: EmbeddedWriter, source: str, links: Iterable[UnitLinks]) -> None:
        def note() -> Iterator[UnitLinks]:
            for each in links:
                record.links[source, each.path] = each
                yield each

        put_links(self, source, note())

    def note_names(self: EmbeddedWriter, source: str, vectors: Vectors) -> None:
        record.names.setdefault(source, {}).update(vectors)
        put_names(self, source, vectors)

    with (
        patch.object(EmbeddedWriter, "put_source", note_source),
        patch.object(EmbeddedWriter, "replace_file", note_file),
        patch.object(EmbeddedWriter, "put_links", note_links),
        patch.object(EmbeddedWriter, "put_names", note_names),
    ):
        yield record


def write_set(record: Record, encoder: tuple[str, int], folder: Path, place: Callable[[UnitGraph], int]) -> str:
    """Write the recorded units to the members of a set, by the place of each unit; return the address."""
    folder.mkdir()
    for number in sorted(set(map(place, record.units))):
        with closing(EmbeddedStore(folder / f"{number:02}.db", create=True)) as store:
            record.fill(store, encoder, lambda unit, number=number: place(unit) == number)  # type: ignore[misc]
    return f"sqlite-set:///{folder}"
