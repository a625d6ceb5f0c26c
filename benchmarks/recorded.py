"""Build a source once, record the build's writes in files, and replay them for each load into a server."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakes import FakeStore, FakeWriter

from pkg.indexing.build import build
from pkg.model import Label
from pkg.units import UnitGraph, UnitLinks

if TYPE_CHECKING:
    from measure import Figures

UNITS, LINKS = "units.pickle", "links.pickle"


class RecordingStore(FakeStore):
    """Records the units and the links that one build writes in files of a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    @contextmanager
    def write(self) -> Iterator[FakeWriter]:
        """Record what a transaction has put, once it succeeds."""
        with super().write() as writer:
            yield writer
        units = (replace(unit, code=None) for unit in writer.state.units.values())  # code is only for resolution
        _write(self._folder / UNITS, units)
        _write(self._folder / LINKS, writer.state.links.values())


def record_build(tree: Path, source: str, folder: Path) -> Figures:
    """Build a source into files of a folder; return the CPU seconds of the stages and the size of the graph."""
    stages = build(str(tree), RecordingStore(folder), source=source).stages
    seconds = {f"{stage}_cpu_seconds": round(stages[stage], 2) for stage in ("extract", "encode", "resolve")}
    return seconds | _count_structure(folder) | _count_links(folder)


def read_units(folder: Path) -> Iterator[UnitGraph]:
    """Iterate over the units of a recorded build."""
    yield from _read(folder / UNITS)


def read_links(folder: Path) -> Iterator[UnitLinks]:
    """Iterate over the links of a recorded build."""
    yield from _read(folder / LINKS)


def strip_vectors(unit: UnitGraph) -> UnitGraph:
    """Cut the vectors of a unit to one number each."""
    parts = [
        part._replace(fragment=replace(part.fragment, vectors=part.fragment.vectors[:, :1])) if part.fragment else part
        for part in unit.parts
    ]
    return replace(unit, parts=tuple(parts))


def _write(path: Path, every: Iterable[UnitGraph | UnitLinks]) -> None:
    with path.open("wb") as file:
        for each in every:
            pickle.dump(each, file, pickle.HIGHEST_PROTOCOL)


def _read(path: Path) -> Iterator[Any]:
    with path.open("rb") as file, suppress(EOFError):
        while True:
            yield pickle.load(file)


def _count_structure(folder: Path) -> Figures:
    """Count the nodes and relationships that come from the texts."""
    counts, names = Counter(nodes=1), set()
    for unit in read_units(folder):
        rows = [row for part in unit.parts if part.fragment for row in part.fragment.nodes]
        functions = [row.name for row in rows if row.label is Label.FUNCTION]
        counts.update(nodes=1 + len(rows), relations=1 + len(rows) + len(functions))
        names.update(functions)
    return {"nodes": counts["nodes"] + len(names), "relations": counts["relations"]}


def _count_links(folder: Path) -> Figures:
    """Count what resolution adds: nodes for unbound calls and for libraries, and the relationships."""
    ends: set[str] = set()
    relations = 0
    for links in read_links(folder):
        ends.update(call.id for call in links.unbound)
        ends.update(links.libraries)
        relations += len(links.edges) + len(links.unbound)
    return {"nodes_of_links": len(ends), "links": relations}
