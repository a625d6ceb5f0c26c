"""What the stages know while they judge the candidates of one task."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pkg.rerank.candidates import Example, Extracted, RerankOptions, Verdict
from pkg.rerank.examples.find import find_entry, find_examples, keep_consistent, parse_handed, parse_tests
from pkg.rerank.examples.program_samples import find_samples
from pkg.rerank.wanted import Definition, Function, Parameter, Question, list_parameters, parse_question
from pkg.sandbox import protocol
from pkg.sandbox.protocol import Limits, Result, Sandbox


@dataclass(slots=True)
class Contender:
    """All candidates of the same code, judged once."""

    places: list[int]  # of the candidates in the task
    found: Extracted
    stripped: str = ""  # the code without what it says about itself
    tree: ast.Module | None = None  # once the syntax is right
    run: Result | None = None  # the load and the examples
    word: dict[int, protocol.Verdict] = field(default_factory=dict)  # by step: what its own objects make of an example
    dropped: str | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def votes(self) -> int:
        """Count the candidates of this code."""
        return len(self.places)

    @property
    def code(self) -> str:
        """Give the code as it is run."""
        return self.found.code

    def score(self, stage: str) -> float:
        """Give the score of a stage; what a stage has not judged counts nothing."""
        return self.verdicts[stage].score if stage in self.verdicts else 0.0


@dataclass(slots=True)
class Case:
    """One task as the stages see it."""

    question: Question
    examples: tuple[Example, ...]
    entry: str | None
    options: RerankOptions
    sandbox: Sandbox | None
    tests: tuple[Example, ...] = ()  # hidden ones, of --oracle-tests alone
    is_oracle: bool = False
    inputs: int = 0  # made for the comparison of behaviour
    notes: list[str] = field(default_factory=list)
    is_doubted: bool = False  # no candidate is what the query was read to want, so that counts for nothing

    @property
    def limits(self) -> Limits:
        """Bound one load, or all examples of one candidate."""
        seconds = self.options.cpu_seconds
        return Limits(cpu_seconds=seconds, wall_seconds=2 * seconds + 1)

    @property
    def short_limits(self) -> Limits:
        """Bound the calls that candidates are compared on: nobody asked for those, and some may never end."""
        seconds = self.options.cpu_seconds / 4
        return replace(self.limits, cpu_seconds=seconds, wall_seconds=2 * seconds + 1)


def make_case(
    query: str,
    handed: Iterable[Any],
    options: RerankOptions,
    sandbox: Sandbox | None,
    tests: Any = None,
    answers: Iterable[str] = (),
) -> Case:
    """Read what a query wants and shows, what was handed over beside it, and hidden tests where there are any.

    answers: the texts of the candidates, which tell what of the query is wanted.

    An InputError says what is wrong with an example or a test.
    """
    answers = list(answers)
    question = parse_question(query, answers)
    given = parse_handed(handed, question)
    examples = keep_consistent([*given, *find_examples(question)])
    hidden = parse_tests(tests) if tests is not None else ()
    entry = find_entry(question, examples)
    if not question.entry and (samples := find_samples(question, answers, examples)):
        question, examples, entry = replace(question, is_program=True), [*given, *samples], None
    return Case(question, tuple(examples), entry, options, sandbox, hidden, is_oracle=tests is not None)


def list_functions(tree: ast.Module) -> dict[str, Definition]:
    """List the definitions at the top level by name; the last one of a name counts."""
    return {each.name: each for each in tree.body if isinstance(each, Definition)}


def choose_main(case: Case, contender: Contender, names: Counter[str]) -> Function | None:
    """Choose the function whose behaviour counts: the wanted one, the most common one, or the last one."""
    if contender.tree is None:
        return None
    functions = {name: each for name, each in list_functions(contender.tree).items() if isinstance(each, Function)}
    if case.entry and not case.is_doubted:
        return functions.get(case.entry)
    common = max(functions, key=lambda name: names[name], default=None)
    if common is not None and names[common] > 1:
        return functions[common]
    return next(reversed(functions.values()), None)


def count_names(contenders: Sequence[Contender]) -> Counter[str]:
    """Count by votes how often each function is defined."""
    names: Counter[str] = Counter()
    for each in contenders:
        for name in list_functions(each.tree) if each.tree is not None else ():
            names[name] += each.votes
    return names


def find_parameters(case: Case, mains: Sequence[Function]) -> tuple[Parameter, ...]:
    """Give the parameters that a call needs: those that the query tells, or else those that most candidates have."""
    told = case.question.parameters
    if told is None:
        signatures = [found for each in mains if (found := list_parameters(each)) is not None]
        told = _merge_signatures(signatures)
    return tuple(each for each in told if not each.is_optional)


def _merge_signatures(signatures: Sequence[tuple[Parameter, ...]]) -> tuple[Parameter, ...]:
    """Give each place the name and the annotation that most candidates give it; the first by text of equals."""
    if not signatures:
        return ()
    width = max(sorted(widths := Counter(map(len, signatures))), key=lambda each: widths[each])
    columns = zip(*(each for each in signatures if len(each) == width), strict=True)
    return tuple(_merge_column(column) for column in columns)


def _merge_column(column: Sequence[Parameter]) -> Parameter:
    return Parameter(
        _find_common(each.name for each in column),
        _find_common(each.annotation for each in column if each.annotation),
        all(each.is_optional for each in column),
    )


def _find_common(texts: Iterable[str]) -> str:
    counted = Counter(texts)
    return max(sorted(counted), key=lambda each: counted[each], default="")
