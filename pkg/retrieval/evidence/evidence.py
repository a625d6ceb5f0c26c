"""The nouns of evidence: one numbered piece that an answer may cite, and all that was gathered for a question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pkg.model import Stale

EvidenceKind = Literal["file", "links", "code", "text", "window"]
"""What a file holds; what depends on what; a definition; a section of a text file; characters of any file (Q-07)."""


class PlacedLine(NamedTuple):
    """One line of a piece of evidence that stands somewhere else than the piece, such as a caller."""

    path: str
    line: int
    text: str
    name: str = ""  # of what is linked, by which a statement may speak of it; "" for the file itself


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece that an answer may cite, as a prompt shows it."""

    kind: EvidenceKind
    source: str
    path: str
    start_line: int
    end_line: int
    title: str
    content: str
    score: float = field(default=0.0, compare=False)  # in one question; another finds the same piece with another
    lines: tuple[PlacedLine, ...] = ()  # of links, each with its own place

    @property
    def place(self) -> str:
        """Write where it stands, as editors open it."""
        return f"{self.path}:{self.start_line}" if self.start_line else self.path

    @property
    def span(self) -> str:
        """Write where it stands, with its last line."""
        return f"{self.place}-{self.end_line}" if self.end_line > self.start_line else self.place


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was gathered for a question, best first."""

    text: str
    pieces: tuple[Evidence, ...]
    fits: bool | None = None  # whether anything fits; None where that cannot be judged
    looked_at: dict[str, int] = field(default_factory=dict)  # how many pieces of each kind were compared
    left_out: int = 0  # pieces over the budget
    notes: tuple[str, ...] = ()
    stale: tuple[Stale, ...] = ()

    def list_files(self) -> list[tuple[str, str]]:
        """List the files of the pieces by source and path, best first."""
        return list(dict.fromkeys(self._walk_files()))

    def _walk_files(self) -> Iterator[tuple[str, str]]:
        for piece in self.pieces:
            yield piece.source, piece.path
            yield from ((piece.source, line.path) for line in piece.lines)
