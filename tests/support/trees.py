"""Small repositories, corpora and stores on disk, for tests of builds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hypothesis import settings

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore

FEW_EXAMPLES = settings(max_examples=max(5, settings().max_examples // 10))
"""A tenth of the profile's examples, for tests of which each example builds several graphs."""

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


def write_tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder; give the folder."""
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


def export_lines(store: GraphStore) -> list[str]:
    """Export a graph with its vectors, a line for each node and relationship."""
    return [json.dumps(line) + "\n" for line in store.export(vectors=True)]


def list_ids(store: GraphStore, path: str | None = None) -> set[str]:
    """List the ids of the nodes, of one file or of all."""
    lines = [line for line in store.export() if line["type"] == "node"]
    return {line["id"] for line in lines if path in (None, line.get("path"))}
