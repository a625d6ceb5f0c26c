"""Options of evidence; a light module, as the command line imports it at every start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pkg.model import NodeFilter
from pkg.retrieval.query_options import TEST_CHOICES, Globs, TestChoice, check_choice, check_minimum, list_globs

Retriever = Literal["graph", "chunks", "both"]
RETRIEVERS: tuple[Retriever, ...] = get_args(Retriever)
"""The nodes and links of the graph; the papers' chunks of characters (A-37); both, interleaved."""

EVIDENCE_BUDGET = 2500
"""Tokens: the smallest context windows in use hold 8,000, and question, earlier turns and answer need as much again."""


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """Settings for gathering evidence."""

    retriever: Retriever = "graph"
    budget: int = EVIDENCE_BUDGET  # tokens of all pieces; 0 for no limit
    top_k: int = 0  # maximum of pieces; 0 for as many as fit into the budget
    source: str | None = None
    path: Globs = None
    tests: TestChoice = "auto"

    def __post_init__(self) -> None:
        """Raise UsageError for invalid options."""
        check_choice("retriever", self.retriever, RETRIEVERS)
        check_choice("tests", self.tests, TEST_CHOICES)
        check_minimum("budget", self.budget, 0)
        check_minimum("top_k", self.top_k, 0)


DEFAULT_EVIDENCE = EvidenceOptions()


def node_filter(options: EvidenceOptions) -> NodeFilter:
    """Return the filter on paths that searches apply."""
    tests = {"auto": None, "only": True, "no": False}[options.tests]
    return NodeFilter(options.source, list_globs(options.path), tests=tests)
