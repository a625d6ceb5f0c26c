"""Gather evidence for a question in words: what it names, what it finds, what stands above that (Q-14, Q-23)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pkg.model import Node
from pkg.retrieval.deps.paths import list_sources, name_unit
from pkg.retrieval.evidence.code_evidence import list_code
from pkg.retrieval.evidence.evidence import Evidence, Gathered
from pkg.retrieval.evidence.evidence_options import DEFAULT_EVIDENCE, EvidenceOptions
from pkg.retrieval.evidence.file_evidence import summarise_files
from pkg.retrieval.evidence.linked_evidence import list_importers, list_links
from pkg.retrieval.evidence.question_subjects import Subjects, find_subjects
from pkg.retrieval.explore import explore
from pkg.retrieval.explore_options import ExploreOptions
from pkg.retrieval.freshness import find_stale
from pkg.retrieval.question import parse_question
from pkg.retrieval.token_count import count_tokens

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore

NAMED_SHARE = 0.5  # of the budget that what the question names may take
ABOVE_SHARE = 0.1  # that the files around the code that was found may take
FILES_ABOVE = 2


def gather_evidence(
    store: GraphStore, encoder: Encoder, text: str, options: EvidenceOptions = DEFAULT_EVIDENCE
) -> Gathered:
    """Gather evidence within a budget, best first; a QueryError where nothing can be asked."""
    with store.snapshot():
        subjects = find_subjects(store, text, list_sources(store, options.source))
        pack = _Pack(options.budget, options.top_k)
        pack.take(_list_named(store, text, subjects), NAMED_SHARE)
        room = int(max(options.budget - pack.used, 0) * (1 - ABOVE_SHARE)) or int(not options.budget) - 1
        found = explore(store, encoder, text, ExploreOptions(max(room, 0), options.source, options.path, options.tests))
        code = list(list_code(found, options.tests != "no" and (options.tests == "only" or asks_tests(text))))
        pack.take(code)
        if not subjects.files:
            pack.take(summarise_files(store, list(_read_files(store, code)), in_short=True))
        stale = find_stale(store, ((piece.source, piece.path) for piece in pack.pieces))
    fits = True if subjects else found.fits
    return Gathered(text, tuple(pack.pieces), fits, left_out=pack.left_out, notes=found.notes, stale=stale)


def asks_tests(text: str) -> bool:
    """Tell whether a question asks for tests."""
    return parse_question(text).asks_tests


def _list_named(store: GraphStore, text: str, subjects: Subjects) -> Iterator[Evidence]:
    """Give what the question names: its files in short, and the links of its definitions and libraries."""
    yield from summarise_files(store, subjects.files)
    yield from list_links(store, text, subjects.definitions)
    yield from list_importers(store, subjects.libraries)


def _read_files(store: GraphStore, pieces: Iterable[Evidence]) -> Iterator[Node]:
    """Read the files that the best pieces of code stand in."""
    repositories = {source.name for source in store.sources() if source.kind == "repository"}
    places = dict.fromkeys((each.source, each.path) for each in pieces if each.source in repositories)
    yield from store.get([name_unit(*place) for place in list(places)[:FILES_ABOVE]])


@dataclass(slots=True)
class _Pack:
    """What is shown so far within a budget of tokens, each place once."""

    budget: int
    most: int
    used: int = 0
    left_out: int = 0
    pieces: list[Evidence] = field(default_factory=list)

    def take(self, pieces: Iterable[Evidence], share: float = 1.0) -> None:
        """Take the pieces that fit into the budget, and together into a share of what is left of it."""
        limit = self.used + int((self.budget - self.used) * share)
        for piece in pieces:
            if any(_is_same(piece, known) for known in self.pieces):
                continue
            size = count_tokens(f"{piece.span} {piece.title}\n{piece.content}")
            if (self.most and len(self.pieces) >= self.most) or (self.budget and self.used + size > limit):
                self.left_out += 1
                continue
            self.pieces.append(piece)
            self.used += size


def _is_same(piece: Evidence, other: Evidence) -> bool:
    """Tell whether two pieces show one thing."""
    places = [(each.kind, each.source, each.path, each.start_line, each.title) for each in (piece, other)]
    return places[0] == places[1]
