"""Check one answer against the examples of the query and describe each failure in words that a model can act on (U-09).

The steps are those of the reranker: the code is extracted and loaded in the sandbox, and each example is tried alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pkg.errors import shorten
from pkg.extract.syntax import parse_code
from pkg.rerank.candidates import Check, Example, RerankOptions
from pkg.rerank.case import Case, DistinctCandidate, make_case
from pkg.rerank.conditions import split_expression
from pkg.rerank.decisions import show_value
from pkg.rerank.example_rating import Rating
from pkg.rerank.extraction import list_defined, list_versions
from pkg.rerank.stages.sandbox_stages import choose_versions, load_candidates, rate_examples
from pkg.rerank.stages.static_stages import list_warnings
from pkg.sandbox.protocol import Kind, Sandbox, Verdict

MAX_SHOWN = 300  # characters of a value or a message
MAX_REPORTED = 5  # failures that are described; the others usually have the same cause and are counted

CLASSES = ("AssertionError", "NameError", "TypeError", "SyntaxError", "IndentationError")
"""Classes of failures that are counted; all others are Other (P-33)."""
OTHER = "Other"

_CLASS_OF = {
    Kind.ASSERTION: "AssertionError",
    Kind.NAME: "NameError",
    Kind.TYPE: "TypeError",
    Kind.SYNTAX: "SyntaxError",
    Kind.INDENTATION: "IndentationError",
}
_LIMITS = {Kind.TIMEOUT: "TimeoutError", Kind.MEMORY: "MemoryError", Kind.EXIT: "SystemExit"}  # seen from outside
_DETAIL = re.compile(
    r"(?:(?P<error>[A-Za-z_]\w*(?:\.\w+)*)(?:: |$|(?= \(line )))?(?P<message>.*?)"
    r"(?: \(line (?P<line>\d+)(?:, column (?P<column>\d+))?\))?$"
)


def classify(kind: Kind) -> str:
    """Return the class of a failure (P-33): one of CLASSES, or Other."""
    return _CLASS_OF.get(kind, OTHER)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed example, or the reason why the code cannot be loaded."""

    error: str  # name of the exception; AssertionError for an unexpected value; otherwise the exceeded limit
    error_class: str  # one of CLASSES, or Other
    message: str
    example: str = ""  # as shown; "" for a failure to load the code
    line: int = 0  # of the code, from 1; 0 if unknown
    column: int = 0  # of a syntax error, from 1
    source: str = ""  # that line of the code
    expected: str = ""
    seen: str = ""

    def render(self) -> str:
        """Return the failure as a sentence."""
        place = f" in line {self.line}" if self.line else ""
        place += f", position {self.column}" if self.column else ""
        shown = f": {self.source.strip()}" if self.source.strip() else ""
        if self.error == "AssertionError" and self.seen:
            return f"{self.example} fails (AssertionError): expected {self.expected}, got {self.seen}."
        fault = f"{self.error}: {self.message}" if self.message else self.error
        if not self.example:
            return f"The code cannot be run: {fault}{place}{shown}"
        return f"{self.example} fails with {fault}{place}{shown}"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Result of checking one answer."""

    code: str  # as it was run
    entry: str | None  # name of the required function or class, if known
    examples: tuple[str, ...]  # all that were tried
    failures: tuple[Failure, ...]  # in the order of the examples; only one if the code cannot be run
    warnings: tuple[str, ...]  # faults found without running the code
    lacks_entry: bool  # the code parses but does not define the entry point
    is_cut: bool  # the answer is incomplete, and its broken end was removed
    note: str  # how the code was extracted

    @property
    def passed(self) -> bool:
        """Return whether all examples hold; without any, whether the code is complete, loads and has no warnings."""
        return not self.failures and (bool(self.examples) or not (self.warnings or self.is_cut))

    @property
    def held(self) -> int:
        """Return the number of examples that hold."""
        return len(self.examples) - len(self.failures) if self.is_run else 0

    @property
    def is_run(self) -> bool:
        """Return whether the code could be loaded."""
        return all(each.example for each in self.failures)

    def render(self) -> str:
        """Return a description of the faults for a model; "" for an answer that passed."""
        return "" if self.passed else "\n".join(self._list_sentences())

    def _list_sentences(self) -> Iterator[str]:
        yield from (each.render() for each in self.failures[:MAX_REPORTED])
        if len(self.failures) > MAX_REPORTED:
            yield f"{len(self.failures) - MAX_REPORTED} more examples fail."
        if self.failures and self.is_run:
            yield f"{self.held} of {len(self.examples)} examples hold."
        yield from (f"{each[:1].upper()}{each[1:]}." for each in self.warnings)
        if self.is_cut:
            yield "The answer is incomplete; a shorter one is needed."


def check_answer(
    text: str,
    query: str,
    examples: Sequence[Any] = (),
    *,
    sandbox: Sandbox | None,
    options: RerankOptions | None = None,
) -> Diagnosis:
    """Extract the code of an answer and try the examples of the query and of the caller on it.

    Raises an InputError for an invalid example of the caller.
    """
    case = make_case(query, examples, options or RerankOptions(), sandbox, answers=[text])
    (candidate,) = choose_versions(case, [list_versions(text, replace(case.question, entry=case.entry))])
    load_candidates(case, [candidate])
    tree = parse_code(candidate.code)
    return Diagnosis(
        code=candidate.code,
        entry=case.entry,
        examples=tuple(map(show_example, case.examples)),
        failures=tuple(_list_failures(case, candidate)),
        warnings=tuple(list_warnings(case, candidate.code, tree)) if tree is not None else (),
        lacks_entry=tree is not None and case.entry is not None and case.entry not in list_defined(tree),
        is_cut=candidate.extracted.is_cut,
        note=candidate.extracted.note,
    )


def show_example(example: Example) -> str:
    """Return an example as one line; a condition as it stands in the query."""
    source = example.source
    if not example.before and example.check is Check.TRUTH and source.startswith("bool(") and source.endswith(")"):
        return source[len("bool(") : -1] if example.expected else f"not ({source[len('bool(') : -1]})"
    return example.shown


def _list_failures(case: Case, candidate: DistinctCandidate) -> Iterator[Failure]:
    run = candidate.run
    if run is None:
        return
    if run.load.kind is not Kind.OK:
        yield _make_failure(run.load, candidate.code)
        return
    ratings = rate_examples(case, candidate, case.examples)
    for example, end, rating in zip(case.examples, run.steps, ratings, strict=True):
        if not rating.rate:
            yield _explain(case, candidate.code, example, end, rating)


def _explain(case: Case, code: str, example: Example, end: Verdict, rating: Rating) -> Failure:
    """Return the failure of an example: an exception, or an unexpected value."""
    shown, expected = show_example(example), shorten(_show_expected(example), MAX_SHOWN)
    if end.kind is not Kind.OK:
        return _make_failure(end, code, shown, expected)
    seen = shorten(_show_seen(case, example, end), MAX_SHOWN)
    note = shorten(rating.note, MAX_SHOWN)
    return Failure("AssertionError", "AssertionError", note, shown, expected=expected, seen=seen)


def _show_expected(example: Example) -> str:
    if example.check is Check.RAISES:
        return f"an exception: {example.expected}"
    if example.check in (Check.OUTPUT, Check.PROGRAM):
        return f"the output {example.expected!r}"
    return "no exception" if example.check is Check.ASSERTION else repr(example.expected)


def _show_seen(case: Case, example: Example, end: Verdict) -> str:
    if example.check in (Check.OUTPUT, Check.PROGRAM):
        return f"the output {end.output!r}"
    if end.value is None:
        return "no exception"
    request = split_expression(example.source, case.entry, example.before).request
    value = show_value(end.value)
    return value if request == example.source or example.check is Check.RAISES else f"{request} == {value}"


def _make_failure(end: Verdict, code: str, example: str = "", expected: str = "") -> Failure:
    """Build a failure from the verdict on a load or a step."""
    found = _DETAIL.match(end.detail)
    error, message, line, column = found.group("error", "message", "line", "column") if found else ("",) * 4
    if not error:
        error, message = _LIMITS.get(end.kind, OTHER), end.detail
    number = int(line or 0)
    lines = code.split("\n")
    return Failure(
        error=error,
        error_class=classify(end.kind),
        message=shorten(message or "", MAX_SHOWN),
        example=example,
        line=number,
        column=int(column or 0),
        source=lines[number - 1] if 0 < number <= len(lines) else "",
        expected=expected,
    )
