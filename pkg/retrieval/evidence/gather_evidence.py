"""Gather evidence for a question in words: the subjects it names, the code it finds, the files of that (Q-14, Q-23)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from pkg.model import Source
from pkg.retrieval.deps.paths import list_sources, name_unit
from pkg.retrieval.evidence.code_evidence import list_code
from pkg.retrieval.evidence.evidence import Evidence, Gathered
from pkg.retrieval.evidence.evidence_options import DEFAULT_EVIDENCE, EvidenceOptions, node_filter
from pkg.retrieval.evidence.file_evidence import summarise_files
from pkg.retrieval.evidence.linked_evidence import list_importers, list_links
from pkg.retrieval.evidence.question_subjects import Subjects, find_subjects
from pkg.retrieval.evidence.text_evidence import find_sections
from pkg.retrieval.evidence.window_evidence import WindowIndex
from pkg.retrieval.explore import explore
from pkg.retrieval.explore_options import ExploreOptions
from pkg.retrieval.freshness import find_stale
from pkg.retrieval.query import encode_question
from pkg.retrieval.question import parse_question
from pkg.retrieval.token_count import count_tokens

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore

NAMED_SHARE = 0.6  # of the budget, for the subjects that the question names
ABOVE_SHARE = 0.1  # of the budget, for the files of the found code
FILES_ABOVE = 2
MAX_WINDOWS = 10  # of a question: with 1,500 characters each they exceed the usual budget


def gather_evidence(
    store: GraphStore,
    encoder: Encoder,
    text: str,
    options: EvidenceOptions = DEFAULT_EVIDENCE,
    windows: WindowIndex | None = None,
) -> Gathered:
    """Gather evidence within a budget, best first; raises QueryError for an invalid question.

    windows: the chunks of the same sources, for a retriever that uses them.
    """
    with store.snapshot():
        sources = list_sources(store, options.source)
        pack, chunks = _Pack(options.budget, options.top_k), list[Evidence]()
        if options.retriever != "graph" and windows is not None:
            chunks = list(windows.search(encode_question(encoder, text), options, MAX_WINDOWS))
        if options.retriever == "chunks":
            pack.add(chunks)
            found = _SearchResult()
        else:
            found = _add_nodes(_Gatherer(store, encoder, text, options, sources), pack, chunks)
        stale = find_stale(store, ((piece.source, piece.path) for piece in pack.pieces))
    looked_at = {**found.looked_at, **({"window": len(windows.windows)} if windows else {})}
    return Gathered(
        text=text,
        pieces=tuple(pack.pieces),
        fits=found.fits,
        looked_at=looked_at,
        left_out=pack.left_out,
        notes=found.notes,
        stale=stale,
    )


@dataclass(frozen=True, slots=True)
class _SearchResult:
    """Results of a search among the nodes, beside its pieces."""

    fits: bool | None = None
    looked_at: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Gatherer:
    """One question to the nodes and links of a graph."""

    store: GraphStore
    encoder: Encoder
    text: str
    options: EvidenceOptions
    sources: Sequence[Source]

    @cached_property
    def query(self) -> Vectors:
        """Return the vector of the question: float32 [dimension]."""
        return encode_question(self.encoder, self.text)

    @property
    def with_tests(self) -> bool:
        """Return whether tests may answer it."""
        choice = self.options.tests
        return choice == "only" or (choice == "auto" and parse_question(self.text).asks_tests)

    def list_named(self, subjects: Subjects) -> Iterator[Evidence]:
        """Yield the subjects of the question: summaries of files, and links of definitions and libraries."""
        yield from summarise_files(self.store, subjects.files)
        yield from list_links(self.store, self.text, subjects.definitions)
        yield from list_importers(self.store, subjects.libraries)

    def list_above(self, pieces: Iterable[Evidence]) -> Iterator[Evidence]:
        """Return short summaries of the files of the best code."""
        repositories = {source.name for source in self.sources if source.kind == "repository"}
        places = dict.fromkeys((each.source, each.path) for each in pieces if each.source in repositories)
        files = self.store.get([name_unit(*place) for place in list(places)[:FILES_ABOVE]])
        return summarise_files(self.store, files, in_short=True)


def _add_nodes(gatherer: _Gatherer, pack: _Pack, chunks: Sequence[Evidence]) -> _SearchResult:
    """Add the subjects of the question, then the found code interleaved with chunks, then the files of that."""
    options = gatherer.options
    subjects = find_subjects(gatherer.store, gatherer.text, gatherer.sources).narrow(node_filter(options))
    pack.add(gatherer.list_named(subjects), NAMED_SHARE)
    limits = options.source, options.path, options.tests
    explored = explore(gatherer.store, gatherer.encoder, gatherer.text, ExploreOptions(pack.room, *limits))
    code = list(list_code(explored, gatherer.with_tests))
    sections = find_sections(gatherer.store, gatherer.query, gatherer.text, options)
    found = _merge(code, sections.pieces)
    pack.add(_interleave(found, chunks))
    if not subjects.files:
        pack.add(gatherer.list_above(code))
    fits = True if subjects or sections.fits else explored.fits
    return _SearchResult(fits, {"section": sections.searched}, explored.notes)


def _interleave(found: Sequence[Evidence], chunks: Sequence[Evidence]) -> Iterator[Evidence]:
    """Insert a chunk after every two pieces of the graph: chunks are right less often."""
    waiting = iter(chunks)
    for number, piece in enumerate(found, 1):
        yield piece
        if number % 2 == 0:
            yield from islice(waiting, 1)
    yield from waiting


def _merge(code: Sequence[Evidence], sections: Sequence[Evidence]) -> list[Evidence]:
    """Merge code and sections by score, each list in its own order.

    The score of code is the rate of right answers, that of a section the mean of its cosine and lexical score.
    """
    merged: list[Evidence] = []
    waiting = deque(sections)
    for piece in code:
        while waiting and waiting[0].score > piece.score:
            merged.append(waiting.popleft())
        merged.append(piece)
    return [*merged, *waiting]


@dataclass(slots=True)
class _Pack:
    """Pieces added so far within a token budget, each place once."""

    budget: int
    max_pieces: int
    used: int = 0
    left_out: int = 0
    pieces: list[Evidence] = field(default_factory=list)
    places: set[tuple[object, ...]] = field(default_factory=set)  # of the pieces

    @property
    def room(self) -> int:
        """Return the part of the budget for code; 0 for no limit."""
        return max(int((self.budget - self.used) * (1 - ABOVE_SHARE)), 1) if self.budget else 0

    def add(self, pieces: Iterable[Evidence], share: float = 1.0) -> None:
        """Add the pieces that fit into the budget, and together into a share of its rest."""
        limit = self.used + int((self.budget - self.used) * share)
        for piece in pieces:
            place = piece.kind, piece.source, piece.path, piece.start_line, piece.title
            if place in self.places:
                continue
            size = count_tokens(f"{piece.span} {piece.title}\n{piece.content}")
            if (self.max_pieces and len(self.pieces) >= self.max_pieces) or (self.budget and self.used + size > limit):
                self.left_out += 1
                continue
            self.pieces.append(piece)
            self.places.add(place)
            self.used += size
