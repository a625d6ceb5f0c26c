"""Turn loaded files and rows into unit graphs: extract, cut into fragments, encode, read terms.

Units are prepared in batches, in this process or in several, and returned in order; memory is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from pkg.cluster.processes import Processes
from pkg.encode.encoder import Encoder, Spans, encode_spans
from pkg.encode.registry import find_kind, forget_encoders, load_encoder
from pkg.errors import UsageError
from pkg.extract.discovery import looks_minified
from pkg.extract.documents.document_reader import read_document
from pkg.extract.documents.reading import Reading
from pkg.extract.files import decode_source
from pkg.extract.python import extract_unit
from pkg.extract.text_files.text_kinds import TextKind, find_text_kind
from pkg.extract.text_files.text_sections import extract_text
from pkg.indexing.fields import FieldReader, extract_terms
from pkg.indexing.inputs import LoadedUnit
from pkg.indexing.pending_facts import PendingFacts
from pkg.indexing.pending_nodes import CodePieces, PendingChunks, PendingNodes
from pkg.indexing.written_docstrings import NO_TEXTS, GeneratedTexts
from pkg.local_errors import INTERNAL, LocalErrors, is_local
from pkg.model import CodeUnit, DocumentUnit, Label, Span, Status, TextUnit
from pkg.resources import count_cores, return_free_memory
from pkg.units import Part, UnitGraph, describe_code, format_id, hash_bytes
from pkg.vectors.quantised import round_vectors

SENT_LIMIT = 100_000  # fragment keys kept (about 10 MB), so that repeated code of a corpus is encoded once

LOST_SUMMARY = f"{INTERNAL}: its calls and imports are not resolved"
LOST_UNIT = f"{INTERNAL}: nothing of it was extracted"

AnyPending: TypeAlias = "PendingNodes | PendingChunks"
AnyUnit: TypeAlias = "CodeUnit | TextUnit | DocumentUnit"
PendingPart = tuple[int, int, "AnyPending | None"]  # key, first line, and None if it was sent before


class Preparer:
    """Prepare batches of units of one source; keeps the encoder and the keys of fragments that it has sent."""

    def __init__(self, source: str, encoder: Encoder, generated: GeneratedTexts = NO_TEXTS) -> None:
        """Begin a source; generated: texts for functions whose code occurs again."""
        self._source = source
        self._encoder = encoder
        self._generated = generated
        self._fields = FieldReader()
        self._sent: set[int] = set()

    def prepare(self, batch: Sequence[LoadedUnit]) -> tuple[list[UnitGraph], dict[str, float]]:
        """Prepare a batch; return its units in order, and the CPU seconds of each stage.

        If that fails, each unit is prepared alone, so that an unexpected exception costs one file or row.
        """
        start = time.process_time()
        try:
            pending = [self._extract_parts(unit) for unit in batch]
            middle = time.process_time()
            units = self._finish(batch, pending)
        except Exception as fault:
            if not is_local(fault):
                raise
            self._sent.clear()  # fragments of this batch were not sent
            return [self._prepare_alone(unit) for unit in batch], {"extract": time.process_time() - start}
        return units, {"extract": middle - start, "encode": time.process_time() - middle}

    def _prepare_alone(self, unit: LoadedUnit) -> UnitGraph:
        """Prepare one unit; retry without the summary of its code, and finally return it as failed."""
        errors = LocalErrors()
        for with_summary in (True, False):
            try:
                (made,) = self._finish([unit], [self._extract_parts(unit, with_summary)])
            except Exception as fault:
                errors.note(fault, "extract", unit.path)
                self._sent.clear()
                continue
            if len(errors):
                return replace(made, status=Status.PARTIAL, reason=LOST_SUMMARY, errors=tuple(errors.sorted()))
            return made
        lost = CodeUnit(b"", "text" if find_text_kind(unit.path) else "python", Status.FAILED, LOST_UNIT)
        return replace(self._make_unit(unit, lost, ()), errors=tuple(errors.sorted()))

    def _extract_parts(self, unit: LoadedUnit, with_summary: bool = True) -> tuple[AnyUnit, list[PendingPart]]:
        if unit.reading is not None:
            return self._read_document(unit, unit.reading)
        key = hash_bytes(b"\0".join((unit.path.encode("utf-8", "replace"), unit.content_hash.encode())))
        kind = find_text_kind(unit.path) if unit.label is Label.FILE else None
        code = _extract(unit, kind, with_summary)
        if isinstance(code, TextUnit):
            failed = code.status is Status.FAILED
            return code, [] if failed else [(key, 1, PendingChunks(code, self._source, unit.path))]
        if unit.label is Label.ROW:
            return code, list(self._cut_parts(code))
        if code.status is Status.FAILED and not code.definitions:
            return code, []
        whole = Span(0, len(code.text), 1, 1)
        place = self._source, unit.path
        return code, [(key, 1, PendingNodes(CodePieces(code), whole, place, unit.path, self._generated))]

    def _read_document(self, unit: LoadedUnit, reading: Reading) -> tuple[DocumentUnit, list[PendingPart]]:
        """Read a document: one fragment, whose key is that of its text and its reader."""
        document = read_document(unit.text, unit.path, reading)
        if unit.verdict is not None:
            language, status, reason = unit.verdict
            document = replace(document, language=language, status=status, reason=reason)
        if not document.facts:
            return document, []
        named = unit.path.encode("utf-8", "replace"), unit.content_hash.encode(), reading.version.encode()
        pending = PendingFacts(document, self._source, unit.path, unit.label is Label.ROW)
        return document, [(hash_bytes(b"\0".join(named)), 1, pending)]

    def _cut_parts(self, code: CodeUnit) -> Iterator[PendingPart]:
        """Yield a part for each top-level definition and import of a row; equal ones are stored once (A-03)."""
        pieces = CodePieces(code)
        tops = {definition.span for definition in code.definitions if definition.parent is None}
        covered = 0
        for span in sorted(tops | {item.span for item in code.imports}, key=lambda span: (span.start, -span.end)):
            if span.end <= covered:  # an import inside a function belongs to the function's fragment
                continue
            covered = span.end
            key = hash_bytes(code.text[span.start : span.end])
            is_new = key not in self._sent
            if len(self._sent) >= SENT_LIMIT:
                self._sent.clear()
            self._sent.add(key)
            place = self._source, format_id(key)
            yield key, span.start_line, PendingNodes(pieces, span, place, "", self._generated) if is_new else None

    def _finish(self, batch: Sequence[LoadedUnit], pending: list[tuple[AnyUnit, list[PendingPart]]]) -> list[UnitGraph]:
        """Encode the spans of all fragments in one pass over their joined texts (A-06), and distribute the vectors."""
        fresh = [each for _, parts in pending for _, _, each in parts if each is not None]
        made = zip(self._encode(fresh), extract_terms(self._fields, [each.fields for each in fresh]), strict=True)
        units = []
        for unit, (code, parts) in zip(batch, pending, strict=True):
            finished = (
                Part(key, line, None if each is None else each.finish(key, *next(made))) for key, line, each in parts
            )
            units.append(self._make_unit(unit, code, tuple(finished)))
        return units

    def _encode(self, pending: list[AnyPending]) -> Iterator[np.typing.NDArray[np.float16]]:
        """Iterate over the vectors of each fragment: float16 [spans of the fragment, dimension]."""
        texts = [each.encoded_text for each in pending]
        offset, spans = 0, []
        for each, text in zip(pending, texts, strict=True):
            spans += [(offset + start, offset + end) for start, end in each.spans]
            offset += len(text) + 1
        joined = np.array(spans, np.int64).reshape(-1, 2)
        headings = [heading for each in pending for heading in each.headings]
        vectors = _encode_rounded(self._encoder, b"\n".join(texts), joined, headings)
        ends = np.cumsum([len(each.spans) for each in pending])
        return iter(np.split(vectors, ends[:-1]) if pending else [])

    def _make_unit(self, unit: LoadedUnit, code: AnyUnit, parts: tuple[Part, ...]) -> UnitGraph:
        known = None
        if isinstance(code, CodeUnit) and unit.label is Label.FILE and parts:
            known = describe_code(self._source, unit.path, code)
        return UnitGraph(
            source=self._source,
            label=unit.label,
            path=unit.path,
            fingerprint=unit.fingerprint,
            content_hash=unit.content_hash,
            language=code.language,
            status=code.status,
            reason=code.reason,
            parts=parts,
            code=known,
        )


def _encode_rounded(
    encoder: Encoder, text: bytes, spans: Spans, headings: Sequence[str]
) -> np.typing.NDArray[np.float16]:
    """Encode spans in batches, as encoding takes many times the memory of the resulting vectors.

    Neighbouring spans are encoded together, with only the text around them: float16 [spans, dimension].
    """
    vectors = np.zeros((len(spans), encoder.dimension), np.float16)
    order = np.argsort(spans[:, 0], kind="stable")
    for low in range(0, len(spans), SPANS_AT_ONCE):
        chosen = order[low : low + SPANS_AT_ONCE]
        part = spans[chosen]
        first = int(part[:, 0].min())
        last = text.find(b"\n", int(part[:, 1].max()))  # a span may end inside a word, which counts whole
        last = last if last >= 0 else len(text)
        encoded = encode_spans(encoder, text[first:last], part - first, [headings[place] for place in chosen.tolist()])
        vectors[chosen] = round_vectors(encoded)
    return vectors


def _extract(unit: LoadedUnit, kind: TextKind | None, with_summary: bool) -> CodeUnit | TextUnit:
    """Extract a text file of some kind, or code; a unit of an export keeps the verdict of its first extraction."""
    if kind is not None:
        found: CodeUnit | TextUnit = extract_text(unit.text, kind, unit.path)
    elif unit.verdict is not None:
        found = extract_unit(unit.text, with_summary=with_summary)
    else:
        found = _extract_row(unit.text) if unit.label is Label.ROW else _extract_file(unit.text, with_summary)
    if unit.verdict is None:
        return found
    language, status, reason = unit.verdict
    return replace(found, language=language, status=status, reason=reason)


def _extract_row(text: bytes) -> CodeUnit:
    """Find the code in an answer and extract it; status and reason are those of the answer."""
    from pkg.extract.answers import find_code

    answer = find_code(text.decode("utf-8", "replace"))
    code = extract_unit(answer.code, answer.tree, with_summary=False)
    return code if answer.status is Status.OK else replace(code, status=answer.status, reason=answer.reason)


def _extract_file(raw: bytes, with_summary: bool) -> CodeUnit:
    """Extract a file; decode it if it is not UTF-8, skip it with a reason if it is minified or binary."""
    text, note = decode_source(raw)
    if looks_minified(text):
        return CodeUnit(b"", "python", Status.FAILED, "minified or generated: very long lines")
    code = extract_unit(text, with_summary=with_summary)
    return code if note is None or code.reason else replace(code, reason=note)


_preparer: Preparer | None = None  # in a worker process


def prepare_in_processes(
    source: str, batches: Iterator[list[LoadedUnit]], encoder: str, workers: int, generated: GeneratedTexts = NO_TEXTS
) -> Iterator[tuple[list[UnitGraph], dict[str, float]]]:
    """Yield the result of Preparer.prepare for each batch in order; raise InputError if a worker process dies."""
    set_up = __name__, set_up_worker.__name__, source, encoder, dict(generated)
    # A worker sends a fragment once, so that a batch of a dead one cannot be given to another.
    with closing(Processes(workers, attempts=1, set_up=set_up)) as engine:
        yield from engine.map(_prepare_batch, batches)


def set_up_worker(source: str, encoder: str, generated: GeneratedTexts) -> None:
    """Load what a worker process needs for all batches."""
    global _preparer
    _preparer = Preparer(source, load_encoder(encoder), generated)


def _prepare_batch(batch: list[LoadedUnit]) -> tuple[list[UnitGraph], dict[str, float]]:
    assert _preparer is not None, "a worker prepares only after it was set up"
    return _preparer.prepare(batch)


SPANS_AT_ONCE = 2048  # encoded together, at 6 kB each
BATCH_BYTES = 200_000  # text per batch: large enough to amortise fixed costs, small in memory
BATCH_UNITS = 500
FORGET_BYTES = 500_000  # above this, the word cache of an encoder costs more than loading it again
LARGE_BYTES = 2_000_000  # below this, a second process costs more than it saves


def prepare_all(
    source: str,
    units: Iterable[LoadedUnit],
    encoder: str,
    jobs: int,
    size: int,
    seconds: dict[str, float],
    generated: GeneratedTexts = NO_TEXTS,
) -> Iterator[UnitGraph]:
    """Prepare all units, in order for any number of workers; CPU seconds are added to `seconds` by stage.

    jobs: worker processes; 0: one per processor if there is enough to do. size: bytes of the units, 0 if unknown.
    A heavy encoder works in one process, because each copy takes memory. generated: the generated texts of the source.
    Raises UsageError for a negative number of jobs.
    """
    workers = 1 if find_kind(encoder).is_heavy else count_workers(jobs, size)
    batches = cut_batches(units)
    if workers > 1:
        prepared = prepare_in_processes(source, batches, encoder, workers, generated)
    else:
        prepared = map(Preparer(source, load_encoder(encoder), generated).prepare, batches)
    for graphs, spent in prepared:
        for stage, value in spent.items():
            seconds[stage] = seconds.get(stage, 0.0) + value
        yield from graphs


def count_workers(jobs: int, size: int = 0) -> int:
    """Return the number of worker processes; size: bytes of the units, 0 if unknown.

    jobs: 0 for one per processor if there is enough to do. Raises UsageError for a negative number.
    """
    if jobs < 0:
        raise UsageError(f"jobs is {jobs}; expected 0 (one for each processor) or more")
    is_large = size == 0 or size >= LARGE_BYTES
    return jobs or (count_cores() if is_large else 1)


def release_encoder(encoder: str, size: int) -> None:
    """Release the memory of an encoder that loads fast, after much was encoded."""
    if (size == 0 or size >= FORGET_BYTES) and not find_kind(encoder).is_heavy:
        forget_encoders()
        return_free_memory()


def cut_batches(units: Iterable[LoadedUnit]) -> Iterator[list[LoadedUnit]]:
    """Cut units into batches."""
    batch: list[LoadedUnit] = []
    size = 0
    for unit in units:
        batch.append(unit)
        size += len(unit.text)
        if size >= BATCH_BYTES or len(batch) >= BATCH_UNITS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
