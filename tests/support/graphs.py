"""Build small graphs from source text for tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from fakes import FakeEncoder, FakeStore

from pkg.extract.python import extract_unit
from pkg.indexing.fields import FieldReader, FieldSpans, extract_terms
from pkg.model import EMBEDDED_LABELS, Class, CodeUnit, Function, Label, Source
from pkg.terms.packed_terms import NodeKeys, pack_terms
from pkg.units import CallSite, Fragment, NodeRow, Part, UnitGraph, hash_bytes, hash_inside, hash_key
from pkg.vectors.quantised import round_vectors


def make_store(files: dict[str, str], source: str = "demo") -> FakeStore:
    """Return a store in memory with files."""
    store = FakeStore()
    store.ensure_schema(FakeEncoder.name, FakeEncoder.dimension)
    add_files(store, files, source)
    return store


def add_files(store: FakeStore, files: dict[str, str], source: str) -> None:
    """Add files to a store under a separate source."""
    with store.write() as writer:
        writer.put_source(Source(source, "repository", f"/{source}"))
        for path, text in files.items():
            writer.replace_file(make_unit(source, path, text.encode()))
        names = writer.missing_names(source)
        vectors = round_vectors(FakeEncoder().encode([name.encode() for name in names]))
        writer.put_names(source, dict(zip(names, vectors, strict=True)))


def make_unit(source: str, path: str, text: bytes) -> UnitGraph:
    """Build the graph of one file: one fragment with its definitions, blocks and call sites."""
    code = extract_unit(text)
    rows = tuple(_list_rows(source, path, code))
    spans = np.array([(row.start, row.end) for row in rows if row.label in EMBEDDED_LABELS], np.int64).reshape(-1, 2)
    vectors = round_vectors(FakeEncoder().encode_spans(text, spans))
    calls = tuple(CallSite(c.expression, c.line, -1 if c.function is None else c.function) for c in code.calls)
    key = hash_bytes(path.encode() + text)
    part = Part(key, 1, Fragment(key, text, rows, vectors, _pack_terms(path, code, rows), calls))
    digest = f"{hash_bytes(text):016x}"
    return UnitGraph(source, Label.FILE, path, digest, digest, code.language, code.status, code.reason, (part,))


def _pack_terms(path: str, code: CodeUnit, rows: tuple[NodeRow, ...]) -> bytes:
    fields = FieldSpans(code.text, 0, path, code.blocks, code.comments)
    for number, each in enumerate(code.definitions):
        if isinstance(each, Function):
            fields.add_function(number, each)
        else:
            fields.add_class(each, [(each.span.start, each.span.end)], ())
    definitions = rows[: len(code.definitions)]
    ids, contents = np.array([(row.id, row.content_hash) for row in definitions], np.uint64).reshape(-1, 2).T
    terms = extract_terms(FieldReader(), [fields])[0]
    return pack_terms([row.label for row in definitions], NodeKeys(ids, contents), terms)


def _list_rows(source: str, path: str, code: CodeUnit) -> Iterator[NodeRow]:
    """Yield definitions first and then blocks, so that indices of the code unit map by an offset."""
    row = NodeRow(0, Label.FUNCTION, -1, "", "", None, 0, 0, 0, 0, 0, None)
    for index, each in enumerate(code.definitions):
        label = Label.CLASS if isinstance(each, Class) else Label.FUNCTION
        base = row._replace(label=label, parent=-1 if each.parent is None else each.parent, name=each.name)
        identity = hash_key(source, path, label.value, each.qualname, str(index))
        yield _place(base._replace(id=identity, qualname=each.qualname), code.text, each.span.start, each.span.end)
    for block in code.blocks:
        owner = code.definitions[block.function]
        parent = block.function if block.parent is None else len(code.definitions) + block.parent
        base = row._replace(label=Label.BLOCK, parent=parent, name=block.path, kind=block.kind)
        function = hash_key(source, path, Label.FUNCTION.value, owner.qualname, str(block.function))
        identity = hash_inside(function, block.path)
        yield _place(base._replace(id=identity), code.text, block.span.start, block.span.end)


def _place(row: NodeRow, text: bytes, start: int, end: int) -> NodeRow:
    lines = text.count(b"\n", 0, start) + 1, text.count(b"\n", 0, end) + 1
    row = row._replace(start=start, end=end, start_line=lines[0], end_line=lines[1])
    return row._replace(content_hash=hash_bytes(text[start:end]))
