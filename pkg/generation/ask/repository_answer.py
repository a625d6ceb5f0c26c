"""The data of an answer in words: its statements, their citations, and the checks of these."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pkg.generation.ask.support import Verdict
from pkg.models.text_model import Usage
from pkg.retrieval.deps.link_facts import LinkFact
from pkg.retrieval.evidence.evidence import Evidence, Gathered

CitationState = Literal["supported", "partly", "unsupported", "missing"]
"""Whether the cited piece supports the statement; `missing` if there is no piece of that number."""


@dataclass(frozen=True, slots=True)
class Citation:
    """The citation of one piece by a statement, with the places of the piece."""

    number: int
    state: CitationState
    places: tuple[str, ...] = ()  # path:line; of a list of links, the lines that the statement names
    is_added: bool = False  # by the check, because the model cited nothing

    @property
    def is_wrong(self) -> bool:
        """Return whether the piece does not support the statement."""
        return self.state in ("unsupported", "missing")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, list item or piece of code of an answer."""

    text: str
    citations: tuple[Citation, ...] = ()
    unknown_names: tuple[str, ...] = ()  # code names that are neither in the evidence nor in the question
    verdict: Verdict = "unsupported"  # of all cited pieces together, and of the graph for links
    links: tuple[LinkFact, ...] = ()  # what the statement says about links, compared with the graph

    @property
    def is_supported(self) -> bool:
        """Return whether the cited pieces, or the graph, support the statement."""
        return self.verdict == "supported"


@dataclass(frozen=True, slots=True)
class RepositoryAnswer:
    """An answer in words with its evidence; without a model, the evidence alone."""

    question: str
    gathered: Gathered
    numbers: tuple[int, ...] = ()  # of its pieces; in a conversation a piece keeps its first number
    shown: tuple[Evidence, ...] = ()  # the pieces in the prompt, ordered by number
    text: str = ""
    written: str = ""  # by the model, with the unsupported statements
    statements: tuple[Statement, ...] = ()
    is_refused: bool = False
    reason: str = ""  # of a refusal
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    is_cut: bool = False
    notes: tuple[str, ...] = ()

    @property
    def wrong(self) -> list[Citation]:
        """List the citations that do not support their statements."""
        return [each for statement in self.statements for each in statement.citations if each.is_wrong]

    @property
    def places(self) -> list[str]:
        """List the places of the supporting citations, each once."""
        supported = [each for statement in self.statements for each in statement.citations if not each.is_wrong]
        return list(dict.fromkeys(place for each in supported for place in each.places))
