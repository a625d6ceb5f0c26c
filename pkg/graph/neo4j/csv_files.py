"""Write nodes and relationships as the CSV files that `neo4j-admin database import` reads.

Texts are quoted, so that an empty text and none differ; arrays are parted by a character that no source code has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from pkg.graph.neo4j.cypher import FRAGMENT, GRAPH_LABELS, LINKS, STORE
from pkg.graph.neo4j.writing import count_key
from pkg.model import Label

if TYPE_CHECKING:
    from pkg.graph.neo4j.batches import Properties

ARRAY_DELIMITER = "\x1f"  # ASCII's own separator of units: a decorator may well hold commas and semicolons

_PIECE = (
    "id", "source", "fragment", "path", "name", "qualname", "kind", "start", "end", "start_line", "end_line",
    "start_col", "position", "content", "content_hash",
)  # fmt: skip
_UNIT = ("id", "source", "path", "name", "fingerprint", "content_hash", "language", "status", "reason")
_COUNTS = tuple(count_key(label) for label in GRAPH_LABELS[1:])
NODE_COLUMNS: dict[str, tuple[str, ...]] = {
    STORE: ("id", "generation", "stamp", "encoder", "dimension", "version", "number"),
    Label.SOURCE.value: (
        "id", "source", "name", "kind", "root", "revision", "fingerprint", "skipped", "stages", "state", *_COUNTS,
    ),
    Label.FILE.value: _UNIT,
    Label.ROW.value: _UNIT,
    FRAGMENT: ("id", "source", "key", "text", "calls", "terms"),
    Label.CLASS.value: (*_PIECE, "docstring", "decorators", "bases"),
    Label.FUNCTION.value: (
        *_PIECE, "docstring", "docstring_source", "decorators", "is_async", "embedding",
    ),
    Label.BLOCK.value: (*_PIECE, "depth", "caption", "embedding"),
    Label.IMPORT.value: (*_PIECE, "module", "imported", "alias", "level", "embedding"),
    Label.FUNCTION_NAME.value: ("id", "source", "name", "content_hash", "embedding"),
    Label.LIBRARY.value: ("id", "source", "name", "content_hash"),
    Label.CALL.value: ("id", "source", "expression", "reason", "path", "line"),
    LINKS: ("id", "source", "path", "notes"),
}  # fmt: skip
"""The properties of each label, in the order of the columns."""

_NUMBERS = (
    "generation", "dimension", "version", "number", "start", "end", "start_line", "end_line", "start_col", "position",
    "depth", "level", "line", *_COUNTS,
)  # fmt: skip
_TYPES = dict.fromkeys(_NUMBERS, "long") | {
    "id": "ID", "is_async": "boolean", "decorators": "string[]", "bases": "string[]", "text": "byte[]",
    "calls": "byte[]", "terms": "byte[]", "notes": "byte[]", "embedding": "float[]",
}  # fmt: skip
"""The type of each property that is not a text."""

_ID_SPACES = {LINKS: "ID(links)"}
"""Labels whose ids are those of other nodes as well, which no relationship of the files refers to."""

RELATION_HEADER = ":START_ID,:END_ID,line:long,rule,confidence,path\n"

Relation = tuple[str, str, int | None, str | None, str | None, str | None]  # start, end, line, rule, confidence, path


class _Numbers(dict[float, str]):
    """Write numbers, each once: those of half precision are 65,536 at most.

    The digits are the fewest that single precision needs, which is what the import reads: a quarter less to parse.
    """

    def __missing__(self, number: float) -> str:
        text = self[number] = str(np.float32(number)).removesuffix(".0")
        return text


_number_texts = _Numbers()
_byte_texts = [str(byte - 256 if byte > 127 else byte) for byte in range(256)]  # Java's bytes have signs


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


_RENDER: dict[str, Callable[[Any], str]] = {
    "ID": _quote,
    "string": _quote,
    "long": str,
    "boolean": lambda value: str(value).lower(),
    "string[]": lambda texts: _quote(ARRAY_DELIMITER.join(texts)),
    "byte[]": lambda data: ARRAY_DELIMITER.join(map(_byte_texts.__getitem__, data)),
    "float[]": lambda numbers: ARRAY_DELIMITER.join(map(_number_texts.__getitem__, numbers)),
}


class CsvFiles:
    """A folder of CSV files that are open for writing: one for each label and each type of relationship."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened = ExitStack()
        self._files: dict[str, IO[bytes]] = {}
        self.nodes: dict[str, int] = {}  # written of each label
        self.relations: dict[str, int] = {}  # written of each type
        self.longest = 0  # bytes of the longest row, which has to fit the buffer of the import

    def put_nodes(self, label: str, nodes: Iterable[Properties]) -> None:
        """Write nodes of a label; a property that has no column is an error of this program."""
        columns = NODE_COLUMNS[label]
        types = [_TYPES.get(name, "string") for name in columns]
        shown = [_ID_SPACES.get(label, kind) if kind == "ID" else kind for kind in types]
        header = ",".join(f"{name}:{kind}" for name, kind in zip(columns, shown, strict=True)) + "\n"
        renders = [(name, _RENDER[kind]) for name, kind in zip(columns, types, strict=True)]
        rows = [_render_row(node, renders) for node in nodes]
        self._write(label, header, rows)
        self.nodes[label] = self.nodes.get(label, 0) + len(rows)

    def put_relations(self, kind: str, relations: Iterable[Relation]) -> None:
        """Write relationships of a type."""
        rows = [_render_relation(relation) for relation in relations]
        self._write(kind, RELATION_HEADER, rows)
        self.relations[kind] = self.relations.get(kind, 0) + len(rows)

    def _write(self, name: str, header: str, rows: list[str]) -> None:
        file = self._files.get(name)
        if file is None:
            file = self._files[name] = self._opened.enter_context((self._folder / f"{name}.csv").open("wb"))
            file.write(header.encode())
        for row in rows:
            data = row.encode("utf-8", "replace")
            self.longest = max(self.longest, len(data))
            file.write(data)

    def flush(self) -> None:
        """Give the system what is still in memory."""
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        """Close all files."""
        self._opened.close()


def _render_row(node: Properties, renders: list[tuple[str, Callable[[Any], str]]]) -> str:
    values = ("" if (value := node.get(name)) is None else render(value) for name, render in renders)
    return ",".join(values) + "\n"


def _render_relation(relation: Relation) -> str:
    start, end, line, *facts = relation
    texts = [start, end, "" if line is None else str(line), *("" if fact is None else _quote(fact) for fact in facts)]
    return ",".join(texts) + "\n"
