"""The data of evidence: one numbered piece that an answer may cite, and all pieces gathered for a question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pkg.model import Stale
from pkg.retrieval.link_questions.link_answers import LinkAnswers

EvidenceKind = Literal["file", "links", "code", "text", "fact", "window"]
"""A summary of a file; links; a definition; a section of a text file; a fact of a document; a chunk of characters of
any file (Q-07)."""


class PlacedLine(NamedTuple):
    """One line of a piece of evidence with a place of its own, such as a caller."""

    path: str
    line: int
    text: str
    name: str = ""  # of the linked definition, by which a statement may refer to it; "" for the file itself


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece that an answer may cite, as shown in a prompt."""

    kind: EvidenceKind
    source: str
    path: str
    start_line: int
    end_line: int
    title: str
    content: str
    score: float = field(default=0.0, compare=False)  # depends on the question
    lines: tuple[PlacedLine, ...] = ()  # of links, each with its own place

    @property
    def place(self) -> str:
        """Return the place as editors open it."""
        return f"{self.path}:{self.start_line}" if self.start_line else self.path

    @property
    def span(self) -> str:
        """Return the place with its last line."""
        return f"{self.place}-{self.end_line}" if self.end_line > self.start_line else self.place


@dataclass(frozen=True, slots=True)
class Gathered:
    """Evidence gathered for a question, best first."""

    text: str
    pieces: tuple[Evidence, ...]
    fits: bool | None = None  # whether anything fits; None where that cannot be judged
    looked_at: dict[str, int] = field(default_factory=dict)  # number of pieces of each kind that were compared
    left_out: int = 0  # pieces over the budget
    notes: tuple[str, ...] = ()
    stale: tuple[Stale, ...] = ()
    links: LinkAnswers | None = None  # of a question about links, from the graph; their pieces come first

    def list_files(self) -> list[tuple[str, str]]:
        """List the files of the pieces by source and path, best first."""
        return list(dict.fromkeys(self._walk_files()))

    def _walk_files(self) -> Iterator[tuple[str, str]]:
        for piece in self.pieces:
            yield piece.source, piece.path
            yield from ((piece.source, line.path) for line in piece.lines)
