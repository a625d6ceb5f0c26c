"""The arguments of each operation, with bounds, defaults and descriptions, as every front end checks them.

Annotations are resolved at run time, so no import here is under TYPE_CHECKING.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import ConfigDict, Field

from pkg.generation.ask.ask_options import ANSWER_TOKENS
from pkg.model import BlockKind
from pkg.rerank.candidates import StageName
from pkg.retrieval.deps.answer import Direction, QuestionKind, RelationKind
from pkg.retrieval.evidence.evidence_options import EVIDENCE_BUDGET, Retriever
from pkg.retrieval.query_options import BlockChoice, HelperChoice, Mode, PruneChoice, TestChoice

TEXT_BUDGET = 1500
"""Tokens of a text, which an agent keeps in its context."""
LONGEST_TEXT = 20_000  # characters of a question; an issue with its traceback has fewer
LONGEST_NAME = 1_000
MOST_CANDIDATES = 100
LONGEST_CANDIDATE = 100_000

_STRICT = ConfigDict(extra="forbid")

Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Source = Annotated[str | None, Field(max_length=LONGEST_NAME, description="One source only.")]
Paths = Annotated[list[Name], Field(max_length=100, description="Globs such as 'shop/*', or '!tests/*'.")]
Budget = Annotated[int, Field(ge=0, le=100_000, description="Tokens of the text; 0 for no limit.")]
Limit = Annotated[int, Field(ge=0, le=100_000, description="Lines of one kind; 0 for all.")]
Steps = Annotated[int, Field(ge=1, le=100)]


@dataclass(frozen=True)
class StatusRequest:
    """A request for the state of the service."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True)
class StatsRequest:
    """A request for the statistics of the graph."""

    __pydantic_config__ = _STRICT


@dataclass(frozen=True)
class ExploreRequest:
    """A question or names, to be answered with code and its calls."""

    __pydantic_config__ = _STRICT

    text: Annotated[Text, Field(description="A question, or names of functions and classes.")]
    source: Source = None
    path: Paths = field(default_factory=list)
    tests: TestChoice = "auto"
    budget: Budget = TEXT_BUDGET


@dataclass(frozen=True)
class QueryRequest:
    """A question for which blocks or functions are searched."""

    __pydantic_config__ = _STRICT

    text: Text
    mode: Mode = "block"
    top_k: Annotated[int, Field(ge=1, le=200)] = 3
    source: Source = None
    path: Paths = field(default_factory=list)
    kind: BlockKind | None = None
    blocks: BlockChoice = "all"
    prune: PruneChoice = "safe"
    helpers: HelperChoice = "needed"
    hops: Annotated[int, Field(ge=0, le=10)] = 1
    callers: bool = False
    tests: TestChoice = "auto"
    explain: bool = False
    budget: Budget = TEXT_BUDGET


@dataclass(frozen=True)
class PromptRequest:
    """A question for which a prompt with code is packed."""

    __pydantic_config__ = _STRICT

    text: Text
    mode: Mode = "block"
    top_k: Annotated[int, Field(ge=1, le=200)] = 1
    source: Source = None
    path: Paths = field(default_factory=list)
    prune: PruneChoice = "safe"
    helpers: HelperChoice = "all"
    hops: Annotated[int, Field(ge=0, le=10)] = 1
    budget: Budget = 8000


@dataclass(frozen=True)
class AskRequest:
    """A question to be answered in words with checked citations, or without a model by its evidence."""

    __pydantic_config__ = _STRICT

    question: Text
    retriever: Retriever = "graph"
    source: Source = None
    path: Paths = field(default_factory=list)
    tests: TestChoice = "auto"
    tokens: Annotated[int, Field(ge=0, le=100_000, description="Tokens of all evidence; 0 for no limit.")] = (
        EVIDENCE_BUDGET
    )
    max_tokens: Annotated[int, Field(ge=1, le=4_000, description="Tokens of the answer.")] = ANSWER_TOKENS
    budget: Budget = TEXT_BUDGET


@dataclass(frozen=True)
class ShowRequest:
    """A name whose source code is shown."""

    __pydantic_config__ = _STRICT

    name: Annotated[Name, Field(description="A name, path:line, path::Class.method, dotted module or path.")]
    source: Source = None
    limit: Limit = 10
    budget: Budget = TEXT_BUDGET


@dataclass(frozen=True)
class DepsRequest:
    """A question about dependencies."""

    __pydantic_config__ = _STRICT

    name: Annotated[Name | None, Field(description="As for show; cycles and unused go without.")] = None
    question: QuestionKind = "links"
    to: Annotated[Name | None, Field(description="The end of a path.")] = None
    direction: Annotated[Direction, Field(description="in: callers and importers; out: callees.")] = "both"
    relations: list[RelationKind] = field(default_factory=list)
    depth: Steps | None = None
    source: Source = None
    limit: Limit = 200
    budget: Budget = TEXT_BUDGET


@dataclass(frozen=True)
class ImpactRequest:
    """Names, or a git diff, whose change may break other code."""

    __pydantic_config__ = _STRICT

    names: Annotated[list[Name], Field(max_length=100)] = field(default_factory=list)
    diff: Annotated[Name | None, Field(description="A git revision to compare with, or REV..REV.")] = None
    staged: bool = False
    entries: Annotated[bool, Field(description="List the routes and commands that reach it.")] = False
    relations: list[RelationKind] = field(default_factory=list)
    depth: Steps | None = None
    source: Source = None
    limit: Limit = 200
    budget: Budget = TEXT_BUDGET


@dataclass(frozen=True)
class OutlineRequest:
    """A file, folder or source whose classes and functions are outlined."""

    __pydantic_config__ = _STRICT

    path: Annotated[Name | None, Field(description="File or folder of the source; all of it without.")] = None
    source: Source = None
    budget: Budget = TEXT_BUDGET


@dataclass(frozen=True)
class MapRequest:
    """A source or folder whose imports between folders are mapped."""

    __pydantic_config__ = _STRICT

    path: Annotated[Name | None, Field(description="Folder of the source; all of it without.")] = None
    files: Annotated[bool, Field(description="List files and their imports too.")] = False
    source: Source = None
    budget: Budget = TEXT_BUDGET


@dataclass(frozen=True)
class RerankRequest:
    """Several answers to one question, of which the best is chosen."""

    __pydantic_config__ = _STRICT

    query: Text
    candidates: Annotated[
        list[Annotated[str, Field(max_length=LONGEST_CANDIDATE)]], Field(min_length=1, max_length=MOST_CANDIDATES)
    ]
    examples: Annotated[list[Text], Field(max_length=100, description="Such as 'f(2) == 4'.")] = field(
        default_factory=list
    )
    stages: list[StageName] = field(default_factory=list)
    budget: Budget = TEXT_BUDGET


@dataclass(frozen=True)
class BuildRequest:
    """A source of the graph to be updated; all sources without one."""

    __pydantic_config__ = _STRICT

    source: Source = None
