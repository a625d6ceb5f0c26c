"""Find the code that a condition shows, by the graph or a baseline (P-15, P-16, P-28 to P-31), and its leaks (A-16)."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from pkg.encode.encoder import Encoder, encode_in_batches
from pkg.errors import InputError, QueryError, UsageError
from pkg.extract.files import restore_path
from pkg.extract.input_options import parse_fingerprint
from pkg.extract.row_files import is_address
from pkg.extract.rows import read_rows
from pkg.generation.aligned_code import align_code
from pkg.generation.answer_context import read_context
from pkg.generation.gate import measure_signals
from pkg.generation.linking import Piece
from pkg.generation.prompt_templates.helper_text import list_helpers
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.code.benchmarks import Item
from pkg.lab.evaluation.code.evaluation_conditions import Finder
from pkg.lab.evaluation.retrieval.rankings import PlainBM25
from pkg.model import Label, Leak, Node, QueryResult, Skip
from pkg.retrieval.needed_imports import list_corpora
from pkg.retrieval.query import QueryOptions, run_query

if TYPE_CHECKING:
    from pkg.lab.evaluation.code.tutorial_contexts import TutorialFinder

DEPTH = 10  # hits among which the first self-contained one is shown
REFERENCE = "the reference"
"""Place of the reference when it is shown."""

FEWEST_LINES = 3  # lines of a function drawn at random, if there is one that long
_PLACE = re.compile(r"(?P<path>.*):(?P<first>\d+)-(?P<last>\d+) ", re.DOTALL)
"""Place of a piece of code, as written by helper_text.format_place; other places are whole rows."""


@dataclass(frozen=True, slots=True)
class ShownCode:
    """Code shown in a prompt, and helpers that may be linked into an answer that calls them."""

    helpers: tuple[HelperText, ...] = ()
    pieces: tuple[Piece, ...] = ()
    score: float | None = None  # of the best hit
    fits: bool | None = None  # whether any hit fits the question, if known
    notes: tuple[str, ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict)  # signals that predict whether it helps
    seconds: float = 0.0  # search time

    def to_row(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> ShownCode:
        """Build the shown code from JSON values."""
        pieces = tuple(
            Piece(each["name"], each["place"], each["code"], tuple(each["imports"])) for each in row["pieces"]
        )
        return cls(
            tuple(HelperText(*each) for each in row["helpers"]),
            pieces,
            row["score"],
            row["fits"],
            tuple(row["notes"]),
            row.get("signals", {}),
            row.get("seconds", 0.0),
        )


@dataclass(frozen=True, slots=True)
class _Text:
    place: str
    code: str


class CodeFinder(Protocol):
    """Finds the code that a condition shows."""

    def find(self, finder: Finder, item: Item) -> ShownCode:
        """Return the code that a condition shows for an item; empty for a condition without code."""


class ContextFinder:
    """Finds the code for items by the method of each condition; indexes of the graph are built once."""

    def __init__(self, store: GraphStore, encoder: Encoder, source: str | None = None, seed: int = 0) -> None:
        self._store, self._encoder, self._source, self._seed = store, encoder, source, seed
        self._ways: dict[Finder, Callable[[Item], ShownCode]] = {
            "bm25": lambda item: self._show(self._take(self._row_index, self._rows, item)),
            "dense": lambda item: self._show(self._rank_rows_densely(item)),
            "func-bm25": lambda item: self._show(self._take(self._function_index, self._functions, item)),
            "func-pkg": lambda item: self._query(item, "function"),
            "block-pkg": lambda item: self._query(item, "block"),
            "signatures": self._list_signatures,
            "random": self._draw,
            "tutorials": lambda item: self._tutorials.find_facts(item),
            "tutorials-text": lambda item: self._tutorials.find_passage(item),
        }

    def find(self, finder: Finder, item: Item) -> ShownCode:
        """Return the code that a condition shows for an item; empty for a condition without code.

        Raises UsageError for a condition of masked functions.
        """
        if finder == "gold":
            return show_reference(item)
        if finder and finder not in self._ways:
            raise UsageError(f"what the column {finder} shows is of masked functions alone: pkg eval repository")
        return self._ways[finder](item) if finder else ShownCode()

    def _query(self, item: Item, mode: Literal["function", "block"]) -> ShownCode:
        """Find the best self-contained function or block of the graph (P-17), or the best hit if none is."""
        try:
            found = self._ask(item, mode, DEPTH)
        except QueryError as fault:
            return ShownCode(notes=(str(fault),))
        notes: list[str] = []
        for hit in found.hits:
            # A hit is shown even if it does not fit the question; `fits` records whether it does.
            alone = replace(found, hits=(hit,), coverage=replace(found.coverage, fits=None))
            context = read_context(self._store, alone, alone)
            if context.code:
                others = (each for each in found.hits if each is not hit)
                signals = measure_signals(item.query, (hit, *others), self._corpora)
                return ShownCode(context.code, context.pieces, hit.score, found.coverage.fits, tuple(notes), signals)
            notes += context.notes
        best = replace(found, hits=found.hits[:1], coverage=replace(found.coverage, fits=None))
        signals = measure_signals(item.query, found.hits, self._corpora)
        return ShownCode(list_helpers(best), (), _read_score(found), found.coverage.fits, tuple(notes), signals)

    def _list_signatures(self, item: Item) -> ShownCode:
        try:
            found = self._ask(item, "function", DEPTH)
            found = replace(found, coverage=replace(found.coverage, fits=None))
        except QueryError as fault:
            return ShownCode(notes=(str(fault),))
        context = read_context(self._store, found, found)
        signals = measure_signals(item.query, found.hits, self._corpora)
        return ShownCode(context.signatures, context.pieces, _read_score(found), notes=context.notes, signals=signals)

    def _ask(self, item: Item, mode: Literal["function", "block"], k: int) -> QueryResult:
        options = QueryOptions(mode=mode, top_k=k, source=self._source, helpers="all", declarations=False)
        return run_query(self._store, self._encoder, item.query, options)

    def _draw(self, item: Item) -> ShownCode:
        functions = self._long_functions
        return self._show(random.Random(f"{self._seed} {item.id}").choice(functions) if functions else None)

    def _show(self, found: _Text | None) -> ShownCode:
        return ShownCode() if found is None else ShownCode((HelperText(found.place, found.code),))

    def _take(self, index: PlainBM25, texts: Sequence[_Text], item: Item) -> _Text | None:
        best = index.rank(item.query, 1)
        return texts[int(best[0])] if best else None

    def _rank_rows_densely(self, item: Item) -> _Text | None:
        cosines = self._row_vectors @ self._encoder.encode_query(item.query)
        return self._rows[int(np.argmax(cosines))]

    @cached_property
    def _tutorials(self) -> TutorialFinder:
        from pkg.lab.evaluation.code.tutorial_contexts import TutorialFinder

        return TutorialFinder(self._store, self._encoder, self._source)

    @cached_property
    def _corpora(self) -> set[str]:
        return list_corpora(self._store)

    @cached_property
    def _rows(self) -> list[_Text]:
        """Read the whole rows of corpora from their files, and each function of a repository as a row."""
        sources = [each for each in self._store.sources() if self._source in (None, each.name)]
        found: list[_Text] = []
        for source in sources:
            if source.kind == "corpus":
                _, read = parse_fingerprint(self._store.source_fingerprint(source.name) or "")
                if is_address(source.root):  # a graph, perhaps a stranger's, names it
                    raise InputError(f"the rows of {source.name} are in a bucket; build from a copy on this machine")
                rows = read_rows(restore_path(source.root), read.field)
                found += (
                    _Text(row.id, f"{row.query}\n{row.text}".strip()) for row in rows if not isinstance(row, Skip)
                )
            else:
                found += self._list_functions(source.name)
        if not found:
            raise InputError("the graph holds no code that a baseline could rank; run: pkg build PATH")
        return found

    @cached_property
    def _row_index(self) -> PlainBM25:
        return PlainBM25([str(place) for place in range(len(self._rows))], [row.code for row in self._rows])

    @cached_property
    def _row_vectors(self) -> np.typing.NDArray[np.float32]:
        return encode_in_batches(self._encoder, (row.code.encode("utf-8", "replace") for row in self._rows))

    @cached_property
    def _functions(self) -> list[_Text]:
        return list(self._list_functions(self._source))

    @cached_property
    def _function_index(self) -> PlainBM25:
        return PlainBM25([str(place) for place in range(len(self._functions))], [each.code for each in self._functions])

    @cached_property
    def _long_functions(self) -> list[_Text]:
        long = [each for each in self._functions if each.code.count("\n") + 1 >= FEWEST_LINES]
        return long or self._functions

    def _list_functions(self, source: str | None) -> Iterator[_Text]:
        """Yield the functions of a source sorted by position, without duplicates of the same text."""
        found: dict[str, Node] = {}
        for node in self._store.nodes((Label.FUNCTION,), source):
            kept = found.get(node.content_hash)
            if kept is None or node.id < kept.id:
                found[node.content_hash] = node
        for node in sorted(found.values(), key=lambda each: (each.source, each.path, each.start, each.id)):
            yield _Text(f"{node.path}:{node.start_line}-{node.end_line} {node.qualname}", align_code(node.content))


def show_reference(item: Item) -> ShownCode:
    """Show the reference itself: a control, as an upper bound for helpers."""
    return ShownCode((HelperText(REFERENCE, item.reference),))


def _read_score(found: QueryResult) -> float | None:
    return found.hits[0].score if found.hits else None


class ShownLeaks:
    """Finds the leaks of shown code by its place; the marks of the graph are read when first needed."""

    def __init__(
        self,
        store: GraphStore | None,
        read_marks: Callable[[], Mapping[str, Collection[Leak]]],
        read_documents: Callable[[], Mapping[str, Collection[Leak]]] = dict,
    ) -> None:
        """Take a graph, or None, and the functions that read the leaks: of its nodes by id, of documents by place."""
        self._store, self._read_marks, self._read_documents = store, read_marks, read_documents

    def with_documents(self, read_documents: Callable[[], Mapping[str, Collection[Leak]]]) -> ShownLeaks:
        """Return these leaks with those of documents, read by place when first needed."""
        return ShownLeaks(self._store, self._read_marks, read_documents)

    def tell(self, item: str, places: Sequence[str]) -> tuple[str, ...]:
        """Return the leaks of the code at some places, shown for an item, with their kinds: `same_code MBPP/2`."""
        found = {f"{leak.kind} {leak.task}" for place in places for leak in self._find(place)}
        return tuple(sorted(found | ({f"same_code {item}"} if REFERENCE in places else set())))

    def _find(self, place: str) -> Collection[Leak]:
        if place == REFERENCE:
            return ()
        if place in self._documents:
            return self._documents[place]
        if self._store is None:
            return ()
        piece = _PLACE.match(place)
        return self._marked[(piece["path"], int(piece["first"]), int(piece["last"])) if piece else place]

    @cached_property
    def _documents(self) -> Mapping[str, Collection[Leak]]:
        return self._read_documents()

    @cached_property
    def _marked(self) -> dict[tuple[str, int, int] | str, list[Leak]]:
        """Return the leaks by path and lines, and by path."""
        marks = self._read_marks()
        found: dict[tuple[str, int, int] | str, list[Leak]] = defaultdict(list)
        for node in self._store.get(sorted(marks)) if self._store else ():
            found[node.path, node.start_line, node.end_line] += marks[node.id]
            found[node.path] += marks[node.id]
        return found
