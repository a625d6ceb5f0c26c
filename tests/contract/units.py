"""Build the input of stores: extracted files and rows, and small graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Encoder
from pkg.encode.registry import load_encoder
from pkg.graph.store import GraphStore, StoreWriter
from pkg.indexing.inputs import LoadedUnit, hash_text
from pkg.indexing.prepare import Preparer
from pkg.model import Edge, Label, Source
from pkg.units import UnitGraph, UnitLinks
from pkg.vectors.quantised import round_vectors

READER = '''"""Read settings."""
import os
from json import loads as parse_json


class Reader(Base):
    """Read one file."""

    def read(self, path):
        """Read the settings of a path."""
        with open(path) as file:
            if file.readable():
                return parse_json(file.read())
        return None


def find_settings(folder):
    for name in os.listdir(folder):
        if name.endswith(".json"):
            yield Reader().read(name)
'''
WRITER = """from .reader import Reader


def write(path, text):
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError as fault:
        print(fault)


async def copy(source, target):
    while True:
        match await source.take():
            case None:
                break
            case text:
                write(target, text)
"""
FILES = {"pack/reader.py": READER, "pack/writer.py": WRITER}


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    return load_encoder("static")


def prepare(source: str, texts: Mapping[str, str], label: Label = Label.FILE) -> list[UnitGraph]:
    """Extract and encode files or rows like a build."""
    loaded = [
        LoadedUnit(path, f"seen-{hash_text(text.encode())}", label, hash_text(text.encode()), text.encode())
        for path, text in texts.items()
    ]
    units, _ = Preparer(source, encoder()).prepare(loaded)
    return units


def put(writer: StoreWriter, source: str, units: Iterable[UnitGraph]) -> None:
    """Put a source with its units and the names of their functions."""
    writer.put_source(Source(source, "repository", f"/{source}"), "first")
    for unit in units:
        writer.replace_file(unit)
    put_names(writer, source)


def put_names(writer: StoreWriter, source: str) -> None:
    names = writer.missing_names(source)
    if names:
        vectors = round_vectors(encoder().encode([name.encode() for name in names]))
        writer.put_names(source, dict(zip(names, vectors, strict=True)))


def fill(
    store: GraphStore,
    texts: Mapping[str, str],
    source: str = "demo",
    label: Label = Label.FILE,
) -> None:
    """Write one source into a store."""
    store.ensure_schema(encoder().name, encoder().dimension)
    with store.write() as writer:
        put(writer, source, prepare(source, texts, label))


def fill_files(store: GraphStore) -> None:
    """Write two files: generation 1."""
    fill(store, FILES)


def put_links(store: GraphStore, *links: UnitLinks, source: str = "demo") -> None:
    """Put links in a separate write."""
    with store.write() as writer:
        writer.put_links(source, links)


def put_edges(store: GraphStore, path: str, *edges: Edge) -> None:
    """Replace the links of a file of the source by some relationships."""
    put_links(store, UnitLinks(path, edges))


def encode(text: str, heading: str = "") -> npt.NDArray[np.float32]:
    return np.asarray(encoder().encode([text.encode()], [heading])[0], np.float32)


def find_id(store: GraphStore, label: Label, name: str) -> str:
    """Return the id of the only node of a label with a name; blocks by `function:path`."""
    wanted = [
        str(line["id"])
        for line in store.export()
        if line.get("label") == label.value
        and name in (line.get("name"), line.get("path"), f"{line.get('qualname')}:{line.get('name')}")
    ]
    assert len(wanted) == 1, f"{len(wanted)} nodes are called {name}"
    return wanted[0]


def names_of(store: GraphStore, ids: Iterable[str]) -> list[str]:
    return [node.name for node in store.get(list(ids))]
