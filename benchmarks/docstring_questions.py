"""Questions from docstrings: find the function, out of 20,000, whose docstring begins like this.

The functions are drawn from the packages of evaluation_code; each is written to a file of its original path and a class
of its original name, without its docstring, so that a graph is built as of any repository. Functions of equal code or
equal place are deduplicated.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from evaluation_code import STANDARD_LIBRARY, read_files
from question_sets import Question, QuestionSet, keep_set, take_lowest

from pkg.extract.python import extract_unit
from pkg.extract.recipe.docstring_removal import is_outermost, is_question, remove_spans, summarise_docstring
from pkg.model import CodeUnit, Function, Status

FUNCTIONS = 20_000
ASKED, FURTHER, FURTHER_BARE = slice(0, 1_000), slice(1_000, 3_500), slice(3_500, 5_000)
"""Slices of the questions, in the order of their hashes: for measuring, and others for training a ranker."""


@dataclass(frozen=True, slots=True)
class Documented:
    """A function with its docstring's first paragraph, and its code without any docstring."""

    path: str
    qualname: str
    summary: str
    code: bytes  # including the white space before its first line

    @property
    def place(self) -> str:
        """Return the place as questions spell it."""
        return f"{self.path}::{self.qualname}"

    @property
    def indent(self) -> bytes:
        """Return the white space before the first line."""
        return self.code[: len(self.code) - len(self.code.lstrip())]


def read_docstring_questions(cache: Path) -> QuestionSet:
    """Return the questions, generated once and cached."""
    return keep_set(f"docstrings-{STANDARD_LIBRARY}", cache, "function", lambda folder: _make(cache, folder))


def read_bare_questions(cache: Path) -> QuestionSet:
    """Return the same questions about the same functions, without their classes and with meaningless paths."""
    return keep_set(f"bare-{STANDARD_LIBRARY}", cache, "function", lambda folder: _make_bare(cache, folder))


def read_further_questions(cache: Path) -> QuestionSet:
    """Return other questions about the same functions, none of the 1,000: a ranker may train on all of them."""
    name = f"further-docstrings-{STANDARD_LIBRARY}"
    return keep_set(name, cache, "function", lambda folder: _make(cache, folder, FURTHER))


def read_further_bare_questions(cache: Path) -> QuestionSet:
    """Return further questions, about the functions without class and path."""
    name = f"further-bare-{STANDARD_LIBRARY}"
    return keep_set(name, cache, "function", lambda folder: _make_bare(cache, folder, FURTHER_BARE))


def _make(cache: Path, folder: Path, drawn: slice = ASKED) -> Iterator[Question]:
    kept = _choose_functions(cache)
    for path, functions in groupby(kept, key=lambda each: each.path):
        _write_file(folder / path, list(functions))
    yield from _choose_questions({each: each.place for each in kept}, drawn)


def _make_bare(cache: Path, folder: Path, drawn: slice = ASKED) -> Iterator[Question]:
    places = {}
    for number, each in enumerate(_choose_functions(cache)):
        path, name = f"{number:05}.py", each.qualname.rpartition(".")[2]
        (folder / path).write_text(textwrap.dedent(each.code.decode()), encoding="utf-8")
        places[each] = f"{path}::{name}"
    yield from _choose_questions(places, drawn)


def _choose_functions(cache: Path) -> list[Documented]:
    found = {each.place: each for each in _drop_equals(_list_documented(cache))}
    chosen = set(take_lowest(found, FUNCTIONS, "functions"))
    return [each for place, each in found.items() if place in chosen]


def _choose_questions(places: dict[Documented, str], drawn: slice) -> Iterator[Question]:
    asked = {each.summary: place for each, place in places.items() if is_question(each.summary)}
    for text in take_lowest(asked, drawn.stop, "questions")[drawn]:
        yield Question(text, (asked[text],))


def _drop_equals(functions: Iterable[Documented]) -> Iterator[Documented]:
    """Yield the first function of each place, of each code and of each summary."""
    seen: set[object] = set()
    for each in functions:
        marks = {each.place, b" ".join(each.code.split()), ("summary", each.summary)}
        if not marks & seen:
            yield each
        seen |= marks


def _list_documented(cache: Path) -> Iterator[Documented]:
    """Yield every function with a docstring and a body, outside other functions."""
    for path, text in read_files(cache):
        code = extract_unit(text, with_summary=False)
        for definition in code.definitions:
            if isinstance(definition, Function) and is_outermost(code, definition):
                yield from _strip(path, code, definition)


def _strip(path: str, code: CodeUnit, function: Function) -> Iterator[Documented]:
    """Yield a function without its docstring and nested ones, unless too little is left or it no longer parses."""
    summary = summarise_docstring(code.text, function)
    start, end = code.text.rfind(b"\n", 0, function.span.start) + 1, function.span.end
    if not summary or code.text[start : function.span.start].strip():
        return
    each = Documented(
        path, function.qualname, summary, remove_spans(code.text, start, end, list(_inner_docstrings(code, function)))
    )
    found = extract_unit(_head(each) + each.code, with_summary=False)
    if found.status is Status.OK and any(block.kind == "body" for block in found.blocks):
        yield each


def _head(function: Documented) -> bytes:
    """Return the headers above a function: its classes, or `if True:` for an indented function outside classes."""
    owners = function.qualname.split(".")[:-1]
    if not owners and function.indent:
        return b"if True:\n"
    return b"".join(b" " * depth + b"class %s:\n" % name.encode() for depth, name in enumerate(owners))


def _inner_docstrings(code: CodeUnit, function: Function) -> Iterator[tuple[int, int]]:
    for each in code.definitions:
        if each.docstring and function.span.start <= each.span.start and each.span.end <= function.span.end:
            yield each.docstring.start, each.docstring.end


def _write_file(path: Path, functions: list[Documented]) -> None:
    """Write the functions of one file, in their classes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pieces = []
    for (head, _), group in groupby(functions, key=lambda each: (_head(each), each.indent)):
        pieces += [head, *(each.code + b"\n\n" for each in group)]
    path.write_bytes(b"".join(pieces))
