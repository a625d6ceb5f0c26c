"""The conditions of an evaluation: ways to obtain one answer to each item, and controls (P-26 to P-31).

Options, stored fields and tables call a condition a column, as the tables of the paper do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pkg.errors import UsageError
from pkg.generation.prompt_templates.template_choice import TEMPLATES

Kind = Literal["written", "mended", "cascade", "chosen", "ideal"]
"""Source of an answer: written by the model; that of another condition, corrected by the model after failed examples;
or chosen among those of other conditions by the examples of the task, by a reranker, or by the hidden tests.
"""

Part = Literal["signature", "docstring", "usage", "body"]
"""The part of a helper that a prompt shows: its header; header and docstring; header and a line that calls it; or all
but its docstring.
"""

Finder = Literal[
    "", "bm25", "dense", "func-bm25", "func-pkg", "block-pkg", "signatures", "random", "gold",
    "tutorials", "tutorials-text",
    "deps", "usages", "similar", "func-pkg:signature", "func-pkg:docstring", "func-pkg:usage", "func-pkg:body",
    "documents", "documents-reranked",
]  # fmt: skip
"""Method that finds the code shown in a prompt; "" for none."""


DOCUMENT_FINDERS: tuple[Finder, ...] = ("documents", "documents-reranked")
"""Finders of questions with solutions in files, without a graph."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One way to obtain an answer."""

    name: str
    title: str  # title in tables
    kind: Kind
    summary: str
    finder: Finder = ""
    template: str = ""  # prompt template, if not that of the run
    among: tuple[str, ...] = ()  # conditions to choose from; the first wins ties
    is_paper: bool = False  # chosen by syntax, a run and similarity only (P-23 to P-25)

    @property
    def needs_graph(self) -> bool:
        """Return whether it shows code of a graph."""
        return self.finder not in ("", "gold", *DOCUMENT_FINDERS)

    @property
    def needs_documents(self) -> bool:
        """Return whether it shows questions with solutions from files."""
        return self.finder in DOCUMENT_FINDERS


_AMONG = ("none", "func-bm25", "func-pkg", "block-pkg")
_CASCADE = ("none", "signatures", "func-pkg", "none:brief")  # the steps of pkg generate for a small model
_PLACEBO = ("none", "none:brief", "none:raw", "none:generic")

_ORDER = ("written", "mended", "cascade", "chosen", "ideal")

_DOCUMENTS = (
    Condition(
        "documents", "Documents", "written", "similar questions with their solutions, by cosine (U-02, U-03, U-06)",
        "documents", "similar",
    ),
    Condition(
        "documents-reranked", "Documents, reranked", "written", "as documents, ordered by late interaction (U-04)",
        "documents-reranked", "similar",
    ),
    Condition(
        "documents-feedback", "Documents and feedback", "mended",
        "as documents-reranked, and told which examples fail, twice at most (U-13)", template="similar",
        among=("documents-reranked",),
    ),
)  # fmt: skip
"""The conditions of the paper on RAG with feedback."""

_FIXED = (
    Condition("none", "None", "written", "no code is shown (P-28)"),
    Condition("bm25", "BM25", "written", "the best whole row by BM25 (P-29)", "bm25"),
    Condition("dense", "Dense", "written", "the best whole row by the encoder of the graph (P-30)", "dense"),
    Condition("func-bm25", "Func-BM25", "written", "the best function by BM25 (P-31)", "func-bm25"),
    Condition("func-pkg", "Func-PKG", "written", "the best function of the graph, pruned (P-16 to P-18)", "func-pkg"),
    Condition(
        "block-pkg", "Block-PKG", "written", "the best block of the graph, pruned (P-15, P-17, P-18)", "block-pkg"
    ),
    Condition(
        "reranked", "Reranked", "chosen",
        "chosen by what the examples of the task show, then by syntax, names, behaviour and similarity", among=_AMONG,
    ),
    Condition("ideal", "Ideal", "ideal", "right if any of the same candidates is: an upper bound (P-27)", among=_AMONG),
    Condition("signatures", "Signatures", "written", "three names with a line each", "signatures"),
    Condition(
        "cascade", "Cascade", "cascade",
        "no code is shown; where an example of the task fails, another answer for which all hold", among=_CASCADE,
    ),
    Condition(
        "feedback", "Feedback", "mended", "as none, and told which examples fail, twice at most (U-13)", among=("none",)
    ),
    Condition(
        "rag-feedback", "RAG and feedback", "mended",
        "as func-pkg, and told which examples fail, twice at most (U-13)", among=("func-pkg",),
    ),
    *_DOCUMENTS,
    Condition("tutorials", "Tutorials", "written", "the best facts of documents, pruned (P-12)", "tutorials"),
    Condition(
        "tutorials-text", "Tutorials as text", "written", "the best passage of the documents by the encoder (P-12)",
        "tutorials-text",
    ),
    Condition("deps", "Scope", "written", "signatures of what its class and module define and import", "deps"),
    Condition("usages", "Usages", "written", "lines of the callers of the function, around the calls", "usages"),
    Condition(
        "similar", "Similar function", "written", "the function with the most similar role, name and parameters",
        "similar",
    ),
    Condition("random", "Random helper", "written", "control: a function drawn at random", "random"),
    Condition("gold", "Gold helper", "written", "control: the right answer itself is shown", "gold"),
    Condition(
        "similarity", "Similarity", "chosen",
        "control: chosen by syntax, a run and similarity alone, as in the paper (P-23 to P-25)",
        among=_AMONG, is_paper=True,
    ),
    Condition(
        "placebo", "Reranked forms", "chosen", "control: as reranked, among forms without context", among=_PLACEBO
    ),
    Condition(
        "placebo-ideal", "Ideal forms", "ideal", "control: as ideal, among forms without context", among=_PLACEBO
    ),
)  # fmt: skip

_PARTS = (
    Condition(
        "func-pkg:signature", "Func-PKG, header", "written", "as func-pkg, only the headers", "func-pkg:signature"
    ),
    Condition(
        "func-pkg:docstring", "Func-PKG, docstring", "written", "as func-pkg, headers and docstrings",
        "func-pkg:docstring",
    ),
    Condition(
        "func-pkg:usage", "Func-PKG, usage", "written", "as func-pkg, headers and a line that calls the function",
        "func-pkg:usage",
    ),
    Condition("func-pkg:body", "Func-PKG, body", "written", "as func-pkg, without docstrings", "func-pkg:body"),
)  # fmt: skip
"""Conditions that show a part of the helper of func-pkg."""

PAPER = ("none", "bm25", "dense", "func-bm25", "func-pkg", "block-pkg", "reranked", "ideal")
"""The eight conditions of the paper's tables."""

NAMES = tuple(condition.name for condition in _FIXED)
_ORDERED = (*NAMES, *(condition.name for condition in _PARTS))
REPOSITORY = ("none", "none:brief", "func-pkg", "block-pkg", "signatures", "deps", "random", "gold")
"""Default conditions for masked functions of a repository."""

MASKED_ONLY = ("deps", "usages", "similar", *(condition.name for condition in _PARTS))
"""Conditions for masked functions of a repository alone."""


def choose_repository_conditions(names: Iterable[str]) -> tuple[Condition, ...]:
    """Return the conditions for masked functions with these names; raises UsageError for any other."""
    chosen = choose_conditions(names or REPOSITORY)
    known = tuple(dict.fromkeys((*REPOSITORY, *MASKED_ONLY)))
    for condition in chosen:
        if condition.name not in known and not condition.template:
            raise UsageError(
                f"no column '{condition.name}' of masked functions; expected some of: {', '.join(known)}, none:FORM"
            )
    return chosen


def choose_benchmark_conditions(names: Iterable[str]) -> tuple[Condition, ...]:
    """Return the conditions for a benchmark with these names; raises UsageError for one of masked functions alone."""
    chosen = choose_conditions(names or PAPER)
    for condition in chosen:
        if condition.name in MASKED_ONLY:
            raise UsageError(f"the column {condition.name} is only for masked functions: pkg eval repository")
    return chosen


def choose_conditions(names: Iterable[str]) -> tuple[Condition, ...]:
    """Return the conditions with these names, each after the conditions that it chooses among, without duplicates.

    `none:FORM` is the condition without code in another prompt template, `func-pkg:PART` shows a part of the helper.
    Raises UsageError for an unknown name.
    """
    found: dict[str, Condition] = {}
    for name in names:
        condition = _find_condition(name)
        for each in (*condition.among, name):
            found.setdefault(each, _find_condition(each))
    return tuple(sorted(found.values(), key=lambda condition: _ORDER.index(condition.kind)))


def _find_condition(name: str) -> Condition:
    found = next((condition for condition in (*_FIXED, *_PARTS) if condition.name == name), None)
    if found is not None:
        return found
    first, _, template = name.partition(":")
    if first == "func-pkg":
        raise UsageError(f"no column '{name}'; expected func-pkg:PART with one of: {', '.join(get_args(Part))}")
    if template:
        if first != "none" or template not in TEMPLATES:
            raise UsageError(f"no column '{name}'; expected none:FORM with one of: {', '.join(TEMPLATES)}")
        summary = f"control: no code, in the form {template}"
        return Condition(name, f"None, {template}", "written", summary, template=template)
    raise UsageError(f"no column '{name}'; expected some of: {', '.join(NAMES)}, none:FORM, func-pkg:PART")


def order_conditions(names: Sequence[str]) -> list[str]:
    """Sort the names of conditions as in tables: those of the paper, controls, parts, other prompt templates."""
    return sorted(names, key=lambda name: (_ORDERED.index(name) if name in _ORDERED else len(_ORDERED), name))


def name_condition(condition: str) -> str:
    """Return the title of a condition."""
    return next(each.title for each in choose_conditions([condition]) if each.name == condition)
