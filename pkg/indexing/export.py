"""Read an export: its files and rows become inputs that build the same graph again."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from pkg.errors import CorpusError, PathError
from pkg.extract.documents.reading import ExportedFacts, Reading
from pkg.graph.graph_records import find_generated
from pkg.indexing.inputs import Input, LoadedUnit
from pkg.indexing.written_docstrings import NO_TEXTS, GeneratedTexts
from pkg.model import HEADINGS, NOT_GENERATED, Fact, Generated, Label, Source, Span, Status


@contextmanager
def open_export(path: str) -> Iterator[list[Input]]:
    """List the sources of an export as inputs with streamed units; - is standard input, kept in a temporary file.

    Raises PathError without such a file, and CorpusError, also while units are read, for a line that is not part of an
    export.
    """
    if path != "-" and not Path(path).is_file():
        raise PathError(f"no such file: {path}; expected a file that pkg export wrote")
    with tempfile.NamedTemporaryFile() as spool:
        if path == "-":
            shutil.copyfileobj(sys.stdin.buffer, spool)
            spool.flush()
            path = spool.name
        sources, generated, facts = _read_heads(path)
        yield [_make_input(path, line, generated.get(line["name"], NO_TEXTS), facts) for line in sources]


FactLines: TypeAlias = dict[tuple[str, str], list[dict[str, Any]]]
"""The lines of the facts of each document, by source and path."""


def _read_heads(path: str) -> tuple[list[dict[str, Any]], dict[str, dict[int, Generated]], FactLines]:
    """Read the sources, for each source its generated texts, and the facts of documents."""
    sources: list[dict[str, Any]] = []
    generated: dict[str, dict[int, Generated]] = {}
    facts: FactLines = {}
    for line in _read_nodes(path):
        if line["label"] == Label.SOURCE.value:
            sources.append(line)
        elif line["label"] == Label.FACT.value:
            kept = {name: each for name, each in line.items() if name not in ("content", "vector")}
            facts.setdefault((line["source"], line["path"]), []).append(kept)
        elif (texts := find_generated(line)) != NOT_GENERATED:
            generated.setdefault(line["source"], {})[int(line["content_hash"], 16)] = texts
    return sources, generated, facts


def _make_input(path: str, line: dict[str, Any], generated: GeneratedTexts, facts: FactLines) -> Input:
    source = Source(line["name"], line["kind"], line["root"], line.get("revision"), line.get("package", ""))
    return Input(source, "", None, stream=lambda: _stream_units(path, source.name, facts), generated=generated)


def _stream_units(path: str, source: str, facts: FactLines) -> Iterator[LoadedUnit]:
    for line in _read_nodes(path):
        if line["label"] in (Label.FILE.value, Label.ROW.value) and line["source"] == source:
            yield _restore_unit(line, facts.get((source, line["path"]), []))


def _restore_unit(line: dict[str, Any], facts: list[dict[str, Any]]) -> LoadedUnit:
    """Place the fragments of a unit at their lines; language, status and reason are those of the first extraction."""
    text, at_line = bytearray(), 1
    for first_line, part in line["parts"]:
        text += (
            b"\n" * (first_line - at_line) if first_line > at_line or not text else b"; "
        )  # imports may share a line
        text += part.encode("utf-8", "surrogateescape")
        at_line = text.count(b"\n") + 1
    verdict = (line["language"], Status(line["status"]), line.get("reason"))
    return LoadedUnit(
        line["path"], "", Label(line["label"]), line["content_hash"], bytes(text), verdict, _restore_facts(facts)
    )


def _restore_facts(lines: list[dict[str, Any]]) -> Reading | None:
    """Return the facts of a document, parents first; None for a file of code or a text that is cut into sections."""
    if not lines:
        return None
    ordered = sorted(lines, key=lambda line: (line["start"], -line["end"], len(line["qualname"]), line["qualname"]))
    places = {line["qualname"]: number for number, line in enumerate(ordered)}
    facts = tuple(
        Fact(
            line["name"],
            line["qualname"],
            line["kind"],
            Span(line["start"], line["end"], line["start_line"], line["end_line"]),
            places.get(line["qualname"].removesuffix(line["name"]).removesuffix(HEADINGS)),
            line.get("value"),
        )
        for line in ordered
    )
    return Reading("markdown", exported=ExportedFacts(facts, tuple(line.get("language", "") for line in ordered)))


def _read_nodes(path: str) -> Iterator[dict[str, Any]]:
    """Yield the node lines of an export after checking its header."""
    number = 0
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, text in enumerate(file, 1):
            try:
                line = json.loads(text)
                kind = line["type"]
            except (ValueError, TypeError, KeyError):
                raise CorpusError(
                    f"{path} line {number} is not a line of an export; expected what pkg export writes"
                ) from None
            if number == 1 and (kind, line.get("version")) != ("graph", 1):
                raise CorpusError(
                    f"{path} does not begin with the header of an export (version 1); expected what pkg export writes"
                )
            if kind == "relation":  # relationships follow the nodes; a build derives them again
                return
            if kind == "node":
                yield line
    if not number:
        raise CorpusError(f"{path} is empty; expected what pkg export writes")
