"""Gather evidence for a question in words: the subjects it names, the code it finds, the files of that (Q-14, Q-23)."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from pkg.model import Label, Node, Source
from pkg.retrieval.candidate_pool import Scores
from pkg.retrieval.chunk_search import find_chunks
from pkg.retrieval.deps.answer import is_test
from pkg.retrieval.deps.paths import list_sources, name_unit
from pkg.retrieval.evidence.evidence import Evidence, Gathered, PlacedLine
from pkg.retrieval.evidence.evidence_options import DEFAULT_EVIDENCE, EvidenceOptions, node_filter
from pkg.retrieval.evidence.fact_evidence import FactPieces, list_fact_pieces
from pkg.retrieval.evidence.subject_evidence import Subjects, find_subjects, list_importers, list_links, summarise_files
from pkg.retrieval.evidence.window_evidence import WindowIndex, index_windows
from pkg.retrieval.explore import Connection, Exploration, Piece, explore_code, format_connection
from pkg.retrieval.freshness import find_stale
from pkg.retrieval.link_questions.link_answers import LinkAnswers, answer_link_question, write_link_body
from pkg.retrieval.query import encode_question
from pkg.retrieval.query_options import ExploreOptions
from pkg.retrieval.question import Question, parse_question
from pkg.retrieval.token_count import count_tokens

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore
    from pkg.retrieval.search import Found
    from pkg.terms.inverted_index import TermScores


NAMED_SHARE = 0.6  # of the budget, for the subjects that the question names
ABOVE_SHARE = 0.1  # of the budget, for the files of the found code
FILES_ABOVE = 2
MAX_WINDOWS = 10  # of a question: with 1,500 characters each they exceed the usual budget
MAX_PIECES = 8  # of code: later ones rarely answer the question
LINK_HEAD = 20  # tokens of the place of a piece of links
MIN_SHARE = 0.2  # of the best piece's score, for another piece
MAX_CONNECTIONS = 8  # calls, callers and uses listed
SEARCH_DEPTH = 30  # best chunks that are ranked again
MAX_SECTIONS, MAX_OF_FILE = 6, 2
DEPTH_COST = 0.04
"""Of the score, for each folder: files nearer to the root are about the whole. Of 26 questions about the documents of
spyder 20 have the right file first with it, and 15 without."""
ABOVE_CODE = 0.15
"""Excess of a section's score over that of code that answers as well: the best one has half of it for its words alone.
Of the questions about spyder most have the right file first with .1 to .2."""
FITS_BETTER = 0.4
"""Excess of the best section's score over that of the best code, from which a question is not about code."""
CODE_FIRST = 4  # pieces of code before the first section, for a question about code
SECTIONS_BESIDE_CODE = 2
_DOCUMENTS = re.compile(
    r"\b(?:install\w*|set(?:ting)? up|upgrad\w*|licen[cs]\w*|copyright|document(?:ation|ed|s)?|docs|readme|changelog"
    r"|manual|guid(?:e|es|elines?)|tutorials?|faq|contribut\w*|donat\w*|financial\w*|sponsor\w*|authors?|maintainers?"
    r"|reviewers?|releas(?:e|es|ed|ing)|versions?|support(?:s|ed)?|requirements?|required|dependenc(?:y|ies)|logo|project"
    r"|recommended|how (?:do|can|should|would) (?:i|we|you|one)|how to|(?:can|may|should) i|used for"
    r"|purpose of the \w+ \w* ?package)\b"
    r"|\b[\w-]+\.(?:md|rst|txt|toml|cfg|ini|ya?ml|json)\b",
    re.IGNORECASE,
)
"""Words of questions that documents answer: about installation, use, licence, releases and the project itself."""
ALIKE = 0.55  # minimal similarity of a related word
MIN_COSINE, MIN_HELD = 0.4, 0.25
"""Thresholds for a section to fit: its cosine, and its share of the question's words, by their rarity."""


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
        links = None
        if options.retriever == "graph":
            links = answer_link_question(store, text, options.source, options.path, options.tests)
        if links is not None:
            pack.add(list_link_pieces(links, options.budget))
        if options.retriever != "graph" and windows is not None:
            chunks = list(windows.search(encode_question(encoder, text), options, MAX_WINDOWS))
        if links is not None and links.is_whole and pack.pieces:
            found = _SearchResult(True)
        elif options.retriever == "chunks":
            pack.add(chunks)
            found = _SearchResult()
        else:
            found = _add_nodes(_Gatherer(store, encoder, text, options, sources), pack, chunks)
        stale = find_stale(store, ((piece.source, piece.path) for piece in pack.pieces))
    looked_at = {**found.looked_at, **({"window": len(windows.windows)} if windows else {})}
    return Gathered(
        text=text,
        pieces=tuple(pack.pieces),
        fits=True if links is not None else found.fits,
        looked_at=looked_at,
        left_out=pack.left_out,
        notes=found.notes,
        stale=stale if links is None else tuple(dict.fromkeys((*links.stale, *stale))),
        links=links,
    )


def list_link_pieces(links: LinkAnswers, budget: int) -> Iterator[Evidence]:
    """Yield each answer about links as a piece with the places of its links."""
    share = budget // len(links.answers) if budget else 0
    for each in links.answers:
        room = max(share - count_tokens(each.head) - LINK_HEAD, 1) if budget else 0
        lines = tuple(PlacedLine(line.path, line.line, line.text, line.name) for line in each.lines)
        yield Evidence(
            "links", each.place.source, each.place.path, each.place.line, each.place.line, each.title,
            write_link_body(each, room), 1.0, lines,
        )  # fmt: skip


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

    @cached_property
    def question(self) -> Question:
        """Return the parsed question."""
        return parse_question(self.text)

    @property
    def with_tests(self) -> bool:
        """Return whether tests may answer it."""
        choice = self.options.tests
        return choice == "only" or (choice == "auto" and self.question.asks_tests)

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
    explored = explore_code(gatherer.store, gatherer.encoder, gatherer.text, ExploreOptions(pack.room, *limits))
    code = list(list_code(explored, gatherer.with_tests))
    sections = find_sections(gatherer.store, gatherer.query, gatherer.text, options)
    facts = _find_facts(gatherer)
    texts = (
        sorted((*sections.pieces, *facts.pieces), key=lambda piece: -piece.score) if facts.pieces else sections.pieces
    )
    found = merge_sections(code, texts, asks_documents(gatherer.text))
    pack.add(_interleave(found, chunks))
    if not subjects.files:
        pack.add(gatherer.list_above(code))
    fits = True if subjects or sections.fits or facts.fits else explored.fits
    looked_at = {"section": sections.searched, **({"fact": facts.searched} if facts.searched else {})}
    return _SearchResult(fits, looked_at, explored.notes)


def _find_facts(gatherer: _Gatherer) -> FactPieces:
    """Find the best facts of documents for the question."""
    store, question = gatherer.store, gatherer.question
    terms = _choose_terms(question)
    judge = partial(_judge_fit, store, question, terms, Label.FACT)
    return list_fact_pieces(store, gatherer.encoder, gatherer.query, terms, gatherer.options, judge, ABOVE_CODE)


def _judge_fit(store: GraphStore, question: Question, terms: Mapping[str, float], label: Label, found: Found) -> bool:
    """Return whether any node has a high cosine and holds enough of the question."""
    parts = store.text_parts([each.id for each in found.ranked], terms, label)
    held = _measure_held(question, list(terms), parts).tolist()
    return any(each.cosine >= MIN_COSINE and share >= MIN_HELD for each, share in zip(found.ranked, held, strict=True))


def _interleave(found: Sequence[Evidence], chunks: Sequence[Evidence]) -> Iterator[Evidence]:
    """Insert a chunk after every two pieces of the graph: chunks are right less often."""
    waiting = iter(chunks)
    for number, piece in enumerate(found, 1):
        yield piece
        if number % 2 == 0:
            yield from islice(waiting, 1)
    yield from waiting


def asks_documents(text: str) -> bool:
    """Return whether a question is about installation, use, licence or documents, and not about code."""
    return bool(_DOCUMENTS.search(text))


def merge_sections(code: Sequence[Evidence], sections: Sequence[Evidence], by_score: bool) -> list[Evidence]:
    """Merge code and sections, each list in its own order: by score, or code first and few sections.

    The score of code is the rate of right answers, that of a section the mean of its cosine and lexical score. Sections
    are also merged by score if nothing in the code fits nearly as well as they do.
    """
    best_code, best_section = (max((each.score for each in some), default=0.0) for some in (code, sections))
    if not by_score and best_section - best_code < FITS_BETTER:
        shown = iter(sections[:SECTIONS_BESIDE_CODE])
        first = [*code[:CODE_FIRST], *islice(shown, 1), *code[CODE_FIRST:]]
        return [*first, *shown]
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


@dataclass
class EvidenceReader:
    """Evidence of a graph, with the chunks of characters of its current generation."""

    store: GraphStore
    options: EvidenceOptions = DEFAULT_EVIDENCE
    windows: WindowIndex | None = None

    def read(self, encoder: Encoder, text: str) -> Gathered:
        """Gather evidence from one generation; raises QueryError for an invalid question."""
        with self.store.snapshot():
            if self.options.retriever != "graph":
                self.index(encoder)
            return gather_evidence(self.store, encoder, text, self.options, self.windows)

    def index(self, encoder: Encoder) -> None:
        """Cut and encode the chunks of characters, unless they exist for this generation."""
        if self.windows is None or self.windows.generation != self.store.generation():
            sources = [each.name for each in list_sources(self.store, self.options.source)]
            self.windows = index_windows(self.store, encoder, sources)


def list_code(found: Exploration, with_tests: bool) -> Iterator[Evidence]:
    """Yield the best pieces of an exploration, then the connections between them as one piece (P-06).

    with_tests: include tests; otherwise they are included only if there is nothing else.
    """
    shown = [piece for piece in found.pieces if piece.content]
    pieces = [piece for piece in shown if with_tests or not is_test(piece.place)] or shown
    best = max((piece.score or 0.0 for piece in pieces), default=0.0)
    shown = [each for each in pieces if each.role == "between" or (each.score or 0.0) >= best * MIN_SHARE]
    shown = shown[:MAX_PIECES]
    yield from map(_make_piece, shown)
    ids = {piece.place.id for piece in shown}
    links = [each for each in (*found.calls, *found.callers, *found.uses) if each.start.id in ids or each.end.id in ids]
    yield from _list_connections(
        [each for each in links if with_tests or not (is_test(each.start) or is_test(each.end))]
    )


def _make_piece(piece: Piece) -> Evidence:
    place = piece.place
    content = piece.content if piece.summary is None else f"{piece.content}\n    {piece.summary}"
    title = f"{place.label.lower()} {place.qualname}"
    return Evidence("code", place.source, place.path, place.line, piece.end_line, title, content, piece.score or 0.0)


def _list_connections(connections: Sequence[Connection]) -> Iterator[Evidence]:
    if not connections:
        return
    shown = connections[:MAX_CONNECTIONS]
    lines = tuple(
        PlacedLine(
            link.start.path,
            link.line,
            f"{link.start.qualname} -> {link.end.qualname}",
            link.start.qualname,
        )
        for link in shown
    )
    first = shown[0]
    content = "\n".join(map(format_connection, shown))
    yield Evidence(
        "links", first.start.source, first.start.path, first.line, first.line, "calls at this code", content, 0.0, lines
    )


@dataclass(frozen=True, slots=True)
class Sections:
    """Sections for a question, best first, and whether any of them fits."""

    pieces: tuple[Evidence, ...]
    searched: int
    fits: bool


def find_sections(store: GraphStore, query: Vectors, text: str, options: EvidenceOptions) -> Sections:
    """Find the best sections of text files for a question, whose vector is float32 [dimension] (Q-06, Q-07)."""
    question = parse_question(text)
    terms = _choose_terms(question)
    found = find_chunks(store, query, terms, SEARCH_DEPTH, node_filter(options))
    if not found.ranked:
        return Sections((), found.searched, False)
    ids = [each.id for each in found.ranked]
    nodes = store.get(ids)
    fits = _judge_fit(store, question, terms, Label.CHUNK, found)
    scored = [
        (each.score - DEPTH_COST * node.path.count("/"), node) for each, node in zip(found.ranked, nodes, strict=True)
    ]
    scored.sort(key=lambda pair: -pair[0])
    best = [_make(node, score) for score, node in _take_some(scored)]
    return Sections(tuple(best), found.searched, fits)


def _take_some(scored: Sequence[tuple[float, Node]]) -> Iterator[tuple[float, Node]]:
    """Yield the best sections, a few for each file."""
    taken: Counter[tuple[str, str]] = Counter()
    for score, node in scored:
        place = node.source, node.path
        if taken[place] < MAX_OF_FILE and taken.total() < MAX_SECTIONS:
            taken[place] += 1
            yield score, node


def _measure_held(question: Question, terms: Sequence[str], parts: TermScores) -> Scores:
    """Return the share of a question that each section holds, by the rarity of its terms: float64 [sections].

    A related word counts as the term.
    """
    holds, own = parts.scores > 0, len(question.weights)
    for place, term in enumerate(terms[:own]):
        for other in range(own, len(terms)):
            if terms[other] in question.related.get(term, {}):
                holds[:, place] |= holds[:, other]
    return np.asarray(holds[:, :own] @ parts.rarities[:own] / (parts.rarities[:own].sum() or 1), np.float64)


def _choose_terms(question: Question) -> dict[str, float]:
    """Return the weights of the terms of a question, followed by those of related words."""
    terms = dict(question.weights)
    for term, others in question.related.items():
        for other, likeness in others.items():
            if likeness >= ALIKE:
                terms.setdefault(other, question.weights[term] * likeness)
    return terms


def _make(node: Node, score: float) -> Evidence:
    title = f"section {node.qualname}" if node.qualname else "text"
    return Evidence(
        "text", node.source, node.path, node.start_line, node.end_line, title, node.content, score - ABOVE_CODE
    )
