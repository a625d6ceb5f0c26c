"""The nouns of an answer: its statements, what each cites, and what became of the citations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pkg.models.text_model import Usage
from pkg.retrieval.evidence.evidence import Evidence, Gathered

CitationState = Literal["supported", "unsupported", "missing"]
"""The piece says what the statement says; it says none of it; there is no piece of that number."""


@dataclass(frozen=True, slots=True)
class Citation:
    """One number that a statement cites, with the places that it stands for."""

    number: int
    state: CitationState
    places: tuple[str, ...] = ()  # path:line; of a list of links, the lines that the statement speaks of
    is_added: bool = False  # whether the model cited nothing, and the piece that says the most of it was looked up

    @property
    def is_wrong(self) -> bool:
        """Tell whether the citation does not hold."""
        return self.state != "supported"


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, list item or piece of code of an answer."""

    text: str
    citations: tuple[Citation, ...] = ()
    unknown_names: tuple[str, ...] = ()  # code names of it that stand in no evidence and not in the question

    @property
    def is_supported(self) -> bool:
        """Tell whether a piece of evidence says what the statement says."""
        return any(not each.is_wrong for each in self.citations)


@dataclass(frozen=True, slots=True)
class RepositoryAnswer:
    """An answer in words with what it stands on; without a model, the evidence alone."""

    question: str
    gathered: Gathered
    numbers: tuple[int, ...] = ()  # of its pieces; in a conversation a piece keeps the one that it first had
    shown: tuple[Evidence, ...] = ()  # the pieces that the model saw, in the order of their numbers
    text: str = ""
    written: str = ""  # by the model, where the answer was refused all the same
    statements: tuple[Statement, ...] = ()
    is_refused: bool = False
    reason: str = ""  # of a refusal
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    is_cut: bool = False
    notes: tuple[str, ...] = ()

    @property
    def wrong(self) -> list[Citation]:
        """List the citations that do not hold."""
        return [each for statement in self.statements for each in statement.citations if each.is_wrong]

    @property
    def places(self) -> list[str]:
        """List the places that citations which hold stand for, each once."""
        held = [each for statement in self.statements for each in statement.citations if not each.is_wrong]
        return list(dict.fromkeys(place for each in held for place in each.places))
