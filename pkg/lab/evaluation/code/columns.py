"""The columns of an evaluation: ways to obtain one answer to each item, and controls (P-26 to P-31)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pkg.errors import UsageError
from pkg.generation.prompt_templates.template_choice import TEMPLATES

Kind = Literal["written", "mended", "cascade", "chosen", "ideal"]
"""Source of an answer: written by the model; that of another column, corrected by the model after failed examples; or
chosen among those of other columns by the examples of the task, by a reranker, or by the hidden tests.
"""

Finder = Literal["", "bm25", "dense", "func-bm25", "func-pkg", "block-pkg", "signatures", "random", "gold", "deps"]
"""Method that finds the code shown in a prompt; "" for none."""


@dataclass(frozen=True, slots=True)
class Column:
    """One way to obtain an answer."""

    name: str
    title: str  # title in tables
    kind: Kind
    summary: str
    finder: Finder = ""
    form: str = ""  # prompt template, if not that of the run
    among: tuple[str, ...] = ()  # columns to choose from; the first wins ties
    is_paper: bool = False  # chosen by syntax, a run and similarity only (P-23 to P-25)

    @property
    def needs_graph(self) -> bool:
        """Return whether it shows code of a graph."""
        return self.finder not in ("", "gold")


_AMONG = ("none", "func-bm25", "func-pkg", "block-pkg")
_CASCADE = ("none", "signatures", "func-pkg", "none:brief")  # the steps of pkg generate for a small model
_PLACEBO = ("none", "none:brief", "none:raw", "none:generic")

_ORDER = ("written", "mended", "cascade", "chosen", "ideal")

_FIXED = (
    Column("none", "None", "written", "no code is shown (P-28)"),
    Column("bm25", "BM25", "written", "the best whole row by BM25 (P-29)", "bm25"),
    Column("dense", "Dense", "written", "the best whole row by the encoder of the graph (P-30)", "dense"),
    Column("func-bm25", "Func-BM25", "written", "the best function by BM25 (P-31)", "func-bm25"),
    Column("func-pkg", "Func-PKG", "written", "the best function of the graph, pruned (P-16 to P-18)", "func-pkg"),
    Column("block-pkg", "Block-PKG", "written", "the best block of the graph, pruned (P-15, P-17, P-18)", "block-pkg"),
    Column(
        "reranked", "Reranked", "chosen",
        "chosen by what the examples of the task show, then by syntax, names, behaviour and similarity", among=_AMONG,
    ),
    Column("ideal", "Ideal", "ideal", "right if any of the same candidates is: an upper bound (P-27)", among=_AMONG),
    Column("signatures", "Signatures", "written", "three names with a line each", "signatures"),
    Column(
        "cascade", "Cascade", "cascade",
        "no code is shown; where an example of the task fails, another answer for which all hold", among=_CASCADE,
    ),
    Column(
        "feedback", "Feedback", "mended", "as none, and told which examples fail, twice at most (U-13)", among=("none",)
    ),
    Column(
        "rag-feedback", "RAG and feedback", "mended",
        "as func-pkg, and told which examples fail, twice at most (U-13)", among=("func-pkg",),
    ),
    Column("deps", "Scope", "written", "signatures of what its class and module define and import", "deps"),
    Column("random", "Random helper", "written", "control: a function drawn at random", "random"),
    Column("gold", "Gold helper", "written", "control: the right answer itself is shown", "gold"),
    Column(
        "similarity", "Similarity", "chosen",
        "control: chosen by syntax, a run and similarity alone, as in the paper (P-23 to P-25)",
        among=_AMONG, is_paper=True,
    ),
    Column("placebo", "Reranked forms", "chosen", "control: as reranked, among forms without context", among=_PLACEBO),
    Column("placebo-ideal", "Ideal forms", "ideal", "control: as ideal, among forms without context", among=_PLACEBO),
)  # fmt: skip

PAPER = ("none", "bm25", "dense", "func-bm25", "func-pkg", "block-pkg", "reranked", "ideal")
"""The eight columns of the paper's tables."""

ATTEMPTS = ("feedback", "rag-feedback")
CONTROLS = ("signatures", "random", "gold", "similarity", "placebo", "placebo-ideal")
NAMES = tuple(column.name for column in _FIXED)
REPOSITORY = ("none", "none:brief", "func-pkg", "block-pkg", "signatures", "deps", "random", "gold")
"""Columns for masked functions of a repository."""


def choose_repository_columns(names: Iterable[str]) -> tuple[Column, ...]:
    """Return the columns for masked functions with these names; raises UsageError for one without masked functions."""
    chosen = choose_columns(names or REPOSITORY)
    for column in chosen:
        if column.name not in REPOSITORY and not column.form:
            raise UsageError(
                f"no column '{column.name}' of masked functions; expected some of: {', '.join(REPOSITORY)}, none:FORM"
            )
    return chosen


def choose_columns(names: Iterable[str]) -> tuple[Column, ...]:
    """Return the columns with these names, each after the columns that it chooses among, without duplicates.

    `none:FORM` is the column without code in another prompt template. Raises UsageError for an unknown name.
    """
    found: dict[str, Column] = {}
    for name in names:
        column = _find_column(name)
        for each in (*column.among, name):
            found.setdefault(each, _find_column(each))
    return tuple(sorted(found.values(), key=lambda column: _ORDER.index(column.kind)))


def _find_column(name: str) -> Column:
    first, _, form = name.partition(":")
    if form:
        if first != "none" or form not in TEMPLATES:
            raise UsageError(f"no column '{name}'; expected none:FORM with one of: {', '.join(TEMPLATES)}")
        return Column(name, f"None, {form}", "written", f"control: no code, in the form {form}", form=form)
    found = next((column for column in _FIXED if column.name == name), None)
    if found is None:
        raise UsageError(f"no column '{name}'; expected some of: {', '.join(NAMES)}, none:FORM")
    return found


def order_columns(names: Sequence[str]) -> list[str]:
    """Sort the names of columns as in tables: those of the paper, controls, other prompt templates."""
    return sorted(names, key=lambda name: (NAMES.index(name) if name in NAMES else len(NAMES), name))
