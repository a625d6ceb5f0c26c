"""Small repositories, corpora and stores on disk, for tests of builds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from hypothesis import settings

from pkg.graph.embedded.checksums import seal_all, seal_head, sum_vector
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore

FEW_EXAMPLES = settings(max_examples=max(5, settings().max_examples // 10))
"""A tenth of the profile's examples, for tests that build several graphs per example."""

STORE_FILES = ["graph.db", "graph.db-sum", "graph.db-terms", "graph.db-vectors"]
"""File names of a closed store."""

SHOP = {
    "shop/cart.py": (
        'import json\nfrom .prices import find_price\n\n\nclass Cart:\n    """Hold items."""\n\n'
        "    def add(self, item):\n        if item in self.items:\n            self.items[item] += 1\n"
        "        else:\n            self.items[item] = 1\n\n"
        "    def total(self):\n        return sum(find_price(item) * n for item, n in self.items.items())\n"
    ),
    "shop/prices.py": (
        "def find_price(item):\n    for name, price in TABLE:\n        if name == item:\n            return price\n"
    ),
    "shop/old.py": "def total(items):\n    print 'total', len(items)\n",
}

GUIDES = {
    "guide.md": (
        '# Guide\n\nRead the settings; "quoted".\n\n## Retries\n\n- **times**: how often a request is sent again\n'
        "- how long it waits\n\n```python\ndef retry(times):\n    for _ in range(times):\n        yield\n```\n\n"
        "## Retries\n\n| key | value |\n| --- | --- |\n| wait | a;b |\n"
    ),
    "notes.rst": "Notes\n=====\n\n:größe: ä, ö\n\n.. function:: f(x)\n\n   Return it.\n",
}
"""Documents with facts of every kind, equal keys, and characters that files of a bulk import must quote."""


def remove_store(store: Path) -> None:
    """Delete the files of a store, some of which an open connection may remove at the same moment."""
    for file in store.parent.glob(f"{store.name}*"):
        file.unlink(missing_ok=True)


def write_tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder; return the folder."""
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def write_rows(path: Path, *rows: object) -> Path:
    """Write a corpus as JSON lines; a plain text becomes the output of its row."""
    objects = [{"output": row} if isinstance(row, str) else row for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in objects))
    return path


def open_graph_at(path: Path) -> EmbeddedStore:
    return EmbeddedStore(path, create=True)


@contextmanager
def open_built(folder: Path, files: Mapping[str, str | bytes], source: str) -> Iterator[EmbeddedStore]:
    """Write files below a folder, build their graph beside them and yield its store."""
    from pkg.indexing.build import build

    tree = write_tree(folder / "tree", files)
    with closing(open_graph_at(folder / "graph.db")) as store:
        build(str(tree), store, source=source)
        yield store


def change_sealed(path: Path, *statements: str, parameters: tuple[object, ...] = ()) -> None:
    """Run statements on a store outside of PKG, and update its checksum as if PKG had written it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement, parameters)
        connection.create_function("sum_vector", 1, sum_vector)
        connection.execute("UPDATE vector SET checksum = sum_vector(data)")
        seal_all(connection)
        seal_head(connection)


def export_lines(store: GraphStore) -> list[str]:
    """Export a graph with its vectors, one line for each node and relationship."""
    return [json.dumps(line) + "\n" for line in store.export(vectors=True)]


def list_ids(store: GraphStore, path: str | None = None) -> set[str]:
    """Return the ids of the nodes, of one file or of all."""
    lines = [line for line in store.export() if line["type"] == "node"]
    return {line["id"] for line in lines if path in (None, line.get("path"))}
