"""Say of one answer what of the query's examples holds, what fails and where, in words that a model can act on (U-09).

The same stages as for the choice among several answers: the code is found, loaded and asked in the sandbox, and every
example is tried by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pkg.errors import shorten
from pkg.extract.syntax import parse_code
from pkg.rerank.candidates import Check, Example, RerankOptions
from pkg.rerank.case import Case, Contender, make_case
from pkg.rerank.comparison import Rating
from pkg.rerank.conditions import split_expression
from pkg.rerank.decisions import show_value
from pkg.rerank.extraction import list_defined, list_versions
from pkg.rerank.stages.sandbox_stages import load_contenders, rate_examples
from pkg.rerank.stages.static_stages import list_doubts
from pkg.rerank.version_choice import choose_versions
from pkg.sandbox.protocol import Kind, Sandbox, Verdict

LONGEST = 300  # characters of a value or a message in words: enough to see what is wrong, and a value can be huge
MOST_TOLD = 5  # failures in the words; the others, of the same mistake as a rule, are counted

CLASSES = ("AssertionError", "NameError", "TypeError", "SyntaxError", "IndentationError")
"""The classes of failures that are counted; whatever else there is they call Other (P-33)."""
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
    """Give the class of a failure (P-33): one of CLASSES, or Other."""
    return _CLASS_OF.get(kind, OTHER)


@dataclass(frozen=True, slots=True)
class Failure:
    """One example that does not hold, or the reason why the code cannot even be loaded."""

    error: str  # the name of the exception; AssertionError for another value than was expected; else the limit reached
    error_class: str  # one of CLASSES, or Other
    message: str
    example: str = ""  # as it is shown; "" when the code was loaded
    line: int = 0  # of the code, from 1; 0 where there is none to name
    column: int = 0  # of a syntax error, from 1
    source: str = ""  # that line of the code
    expected: str = ""
    seen: str = ""

    def render(self) -> str:
        """Say it in words."""
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
    """What was found out about one answer."""

    code: str  # as it was run
    entry: str | None  # the function or class that is wanted, where that is known
    examples: tuple[str, ...]  # all that were tried
    failures: tuple[Failure, ...]  # in the order of the examples; one alone where the code cannot be run
    doubts: tuple[str, ...]  # what cannot work, seen without running it
    lacks_entry: bool  # the code parses and does not define what is wanted
    is_cut: bool  # the answer broke off, and its broken end was left out
    note: str  # what was done to find the code

    @property
    def passed(self) -> bool:
        """Tell whether all examples hold; where there are none, whether the code is whole, runs and leaves no doubt."""
        return not self.failures and (bool(self.examples) or not (self.doubts or self.is_cut))

    @property
    def held(self) -> int:
        """Count the examples that hold."""
        return len(self.examples) - len(self.failures) if self.is_run else 0

    @property
    def is_run(self) -> bool:
        """Tell whether the code could be loaded."""
        return all(each.example for each in self.failures)

    def render(self) -> str:
        """Say what is wrong, in words that a model can act on; "" for an answer that passed."""
        return "" if self.passed else "\n".join(self._list_words())

    def _list_words(self) -> Iterator[str]:
        yield from (each.render() for each in self.failures[:MOST_TOLD])
        if len(self.failures) > MOST_TOLD:
            yield f"{len(self.failures) - MOST_TOLD} more examples fail."
        if self.failures and self.is_run:
            yield f"{self.held} of {len(self.examples)} examples hold."
        yield from (f"{each[:1].upper()}{each[1:]}." for each in self.doubts)
        if self.is_cut:
            yield "The answer breaks off before its end; a shorter one is needed."


def check_answer(
    text: str,
    query: str,
    examples: Sequence[Any] = (),
    *,
    sandbox: Sandbox | None,
    options: RerankOptions | None = None,
) -> Diagnosis:
    """Find the code of an answer and try on it all that the query shows, and what is handed over beside it.

    An InputError says which of the examples handed over is none.
    """
    case = make_case(query, examples, options or RerankOptions(), sandbox, answers=[text])
    (contender,) = choose_versions(case, [list_versions(text, replace(case.question, entry=case.entry))])
    load_contenders(case, [contender])
    tree = parse_code(contender.code)
    return Diagnosis(
        code=contender.code,
        entry=case.entry,
        examples=tuple(map(show_example, case.examples)),
        failures=tuple(_list_failures(case, contender)),
        doubts=tuple(list_doubts(case, contender.code, tree)) if tree is not None else (),
        lacks_entry=tree is not None and case.entry is not None and case.entry not in list_defined(tree),
        is_cut=contender.found.is_cut,
        note=contender.found.note,
    )


def show_example(example: Example) -> str:
    """Say an example in one line; of a condition only what stands in the query."""
    source = example.source
    if not example.before and example.check is Check.TRUTH and source.startswith("bool(") and source.endswith(")"):
        return source[len("bool(") : -1] if example.expected else f"not ({source[len('bool(') : -1]})"
    return example.shown


def _list_failures(case: Case, contender: Contender) -> Iterator[Failure]:
    run = contender.run
    if run is None:
        return
    if run.load.kind is not Kind.OK:
        yield _make_failure(run.load, contender.code)
        return
    ratings = rate_examples(case, contender, case.examples)
    for example, end, rating in zip(case.examples, run.steps, ratings, strict=True):
        if not rating.rate:
            yield _explain(case, contender.code, example, end, rating)


def _explain(case: Case, code: str, example: Example, end: Verdict, rating: Rating) -> Failure:
    """Say why an example does not hold: its code raised something, or it came to another value."""
    shown, expected = show_example(example), shorten(_show_expected(example), LONGEST)
    if end.kind is not Kind.OK:
        return _make_failure(end, code, shown, expected)
    seen = shorten(_show_seen(case, example, end), LONGEST)
    note = shorten(rating.note, LONGEST)
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
    asked = split_expression(example.source, case.entry, example.before).asked
    value = show_value(end.value)
    return value if asked == example.source or example.check is Check.RAISES else f"{asked} == {value}"


def _make_failure(end: Verdict, code: str, example: str = "", expected: str = "") -> Failure:
    """Take apart how a load or a step ended."""
    found = _DETAIL.match(end.detail)
    error, message, line, column = found.group("error", "message", "line", "column") if found else ("",) * 4
    if not error:
        error, message = _LIMITS.get(end.kind, OTHER), end.detail
    number = int(line or 0)
    lines = code.split("\n")
    return Failure(
        error,
        classify(end.kind),
        shorten(message or "", LONGEST),
        example,
        number,
        int(column or 0),
        lines[number - 1] if 0 < number <= len(lines) else "",
        expected,
    )
