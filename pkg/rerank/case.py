"""State shared by the stages while they judge the candidates of one task."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pkg.rerank.candidates import Example, Extracted, RerankOptions, Verdict
from pkg.rerank.examples.example_search import (
    find_entry,
    find_examples,
    find_samples,
    keep_consistent,
    parse_given,
    parse_tests,
)
from pkg.rerank.parsed_question import Definition, Function, Parameter, Question, list_parameters, parse_question
from pkg.sandbox import protocol
from pkg.sandbox.protocol import Limits, Result, Sandbox


@dataclass(slots=True)
class DistinctCandidate:
    """Candidates with the same code, judged once."""

    indices: list[int]  # of the candidates in the task
    extracted: Extracted
    stripped: str = ""  # the code without comments and docstrings
    tree: ast.Module | None = None  # set by the syntax stage
    run: Result | None = None  # results of the load and of the examples
    own_results: dict[int, protocol.Verdict] = field(
        default_factory=dict
    )  # by step: what its own objects make of an example
    dropped: str | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def votes(self) -> int:
        """Return the number of candidates with this code."""
        return len(self.indices)

    @property
    def code(self) -> str:
        """Return the code as it is run."""
        return self.extracted.code

    def score(self, stage: str) -> float:
        """Return the score of a stage, 0 if the stage has not judged this candidate."""
        return self.verdicts[stage].score if stage in self.verdicts else 0.0


@dataclass(slots=True)
class Case:
    """One task while it is judged."""

    question: Question
    examples: tuple[Example, ...]
    entry: str | None
    options: RerankOptions
    sandbox: Sandbox | None
    tests: tuple[Example, ...] = ()  # hidden tests, only with --oracle-tests
    is_oracle: bool = False
    inputs: int = 0  # number of inputs generated to compare behaviour
    notes: list[str] = field(default_factory=list)
    ignores_entry: bool = False  # no candidate matches the entry point, so it was probably misread

    @property
    def limits(self) -> Limits:
        """Return the limits of one load, or of all examples of one candidate."""
        seconds = self.options.cpu_seconds
        return Limits(cpu_seconds=seconds, wall_seconds=2 * seconds + 1)

    @property
    def short_limits(self) -> Limits:
        """Return the limits of the calls that compare behaviour: their inputs are generated, so some may never end."""
        seconds = self.options.cpu_seconds / 4
        return replace(self.limits, cpu_seconds=seconds, wall_seconds=2 * seconds + 1)


def make_case(
    query: str,
    examples: Iterable[Any],
    options: RerankOptions,
    sandbox: Sandbox | None,
    tests: Any = None,
    answers: Iterable[str] = (),
) -> Case:
    """Parse the query with its examples, the examples of the caller, and hidden tests if there are any.

    answers: texts of the candidates, which help to find the entry point. Raises an InputError for an invalid example
    or test.
    """
    answers = list(answers)
    question = parse_question(query, answers)
    given = parse_given(examples, question)
    consistent = keep_consistent([*given, *find_examples(question)])
    hidden = parse_tests(tests) if tests is not None else ()
    entry = find_entry(question, consistent)
    if not question.entry and (samples := find_samples(question, answers, consistent)):
        question, consistent, entry = replace(question, is_program=True), [*given, *samples], None
    return Case(question, tuple(consistent), entry, options, sandbox, hidden, is_oracle=tests is not None)


def list_functions(tree: ast.Module) -> dict[str, Definition]:
    """Return the top-level functions and classes by name; the last definition of a name wins."""
    return {each.name: each for each in tree.body if isinstance(each, Definition)}


def choose_main(case: Case, candidate: DistinctCandidate, names: Counter[str]) -> Function | None:
    """Choose the function whose behaviour is compared: the entry point, the most common one, or the last one."""
    if candidate.tree is None:
        return None
    functions = {name: each for name, each in list_functions(candidate.tree).items() if isinstance(each, Function)}
    if case.entry and not case.ignores_entry:
        return functions.get(case.entry)
    common = max(functions, key=lambda name: names[name], default=None)
    if common is not None and names[common] > 1:
        return functions[common]
    return next(reversed(functions.values()), None)


def count_names(candidates: Sequence[DistinctCandidate]) -> Counter[str]:
    """Count the votes for each defined name."""
    names: Counter[str] = Counter()
    for each in candidates:
        for name in list_functions(each.tree) if each.tree is not None else ():
            names[name] += each.votes
    return names


def find_parameters(case: Case, mains: Sequence[Function]) -> tuple[Parameter, ...]:
    """Return the required parameters: those that the query names, or else those of most candidates."""
    parameters = case.question.parameters
    if parameters is None:
        parameters = _merge_signatures([found for each in mains if (found := list_parameters(each)) is not None])
    return tuple(each for each in parameters if not each.is_optional)


def _merge_signatures(signatures: Sequence[tuple[Parameter, ...]]) -> tuple[Parameter, ...]:
    """Merge signatures: the most common length, and per position the most common name and annotation."""
    if not signatures:
        return ()
    length = max(sorted(lengths := Counter(map(len, signatures))), key=lambda each: lengths[each])
    positions = zip(*(each for each in signatures if len(each) == length), strict=True)
    return tuple(_merge_parameters(each) for each in positions)


def _merge_parameters(parameters: Sequence[Parameter]) -> Parameter:
    return Parameter(
        _find_most_common(each.name for each in parameters),
        _find_most_common(each.annotation for each in parameters if each.annotation),
        all(each.is_optional for each in parameters),
    )


def _find_most_common(texts: Iterable[str]) -> str:
    counted = Counter(texts)
    return max(sorted(counted), key=lambda each: counted[each], default="")
