"""The stages that run code in the sandbox: definitions, examples, behaviour on inputs (P-24, A-08, U-09)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pkg.errors import shorten
from pkg.rerank.candidates import Check, Example, Verdict
from pkg.rerank.case import Case, Contender, choose_main, count_names
from pkg.rerank.comparison import Rating, rate_step, rate_word
from pkg.rerank.conditions import split_expression, write_line
from pkg.rerank.examples.literals import parse_expression
from pkg.rerank.trial import Agreement, Trial, measure_agreement
from pkg.rerank.value_requests import Ask, Form, Inquiry, ask_all
from pkg.sandbox import protocol
from pkg.sandbox.claims import clean_line
from pkg.sandbox.protocol import Kind, Sandbox


class SmokeStage:
    """Drop what fails when it is loaded."""

    name = "smoke"
    drops = True

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Load each candidate; the examples are asked in the same run, for the stage that follows."""
        load_contenders(case, contenders)
        return [self._judge_one(case, each) for each in contenders]

    def _judge_one(self, case: Case, contender: Contender) -> Verdict:
        if contender.run is None:
            return Verdict(self.name, True, 1.0, "not run")
        load = contender.run.load
        if case.question.is_script and load.detail.startswith("EOFError") and not case.options.takes_whole:
            return Verdict(self.name, True, 1.0, "it reads an input that nobody gave", load.seconds)
        passed = load.kind is Kind.OK
        return Verdict(
            self.name, passed, float(passed), "" if passed else f"{load.kind.value}: {load.detail}", load.seconds
        )


def load_contenders(case: Case, contenders: Sequence[Contender]) -> None:
    """Run those that have not run yet, with all examples as steps."""
    waiting = [each for each in contenders if each.run is None]
    if case.sandbox is None or not waiting:
        return
    shown = case.examples if "examples" in case.options.stages else ()
    examples = (*shown, *case.tests)
    asks = tuple(make_ask(each, case.entry) for each in examples)
    results = ask_all(case.sandbox, [Inquiry(each.code, asks) for each in waiting], case.limits)
    for contender, result in zip(waiting, results, strict=True):
        contender.run = result
    _ask_objects(case, case.sandbox, waiting, examples)


def _ask_objects(case: Case, sandbox: Sandbox, contenders: Sequence[Contender], examples: Sequence[Example]) -> None:
    """Ask the candidates' own objects for what cannot be decided outside, such as what a Stack is to contain."""
    places = [_list_undecided(case, each, examples) for each in contenders]
    asking = [each for each, found in zip(contenders, places, strict=True) if found]
    wanted = [found for found in places if found]
    if not wanted:
        return
    asks = [tuple(_ask_whole(examples[place], case.entry) for place in found) for found in wanted]
    inquiries = [Inquiry(each.code, own) for each, own in zip(asking, asks, strict=True)]
    for contender, found, result in zip(asking, wanted, ask_all(sandbox, inquiries, case.limits), strict=True):
        contender.word = dict(zip(found, result.steps, strict=True))


def _ask_whole(example: Example, entry: str | None) -> Ask:
    return replace(make_ask(example, entry), source=example.source)


def _list_undecided(case: Case, contender: Contender, examples: Sequence[Example]) -> list[int]:
    ends = contender.run.steps if contender.run is not None else ()
    ratings = [rate_step(example, end, case.entry) for example, end in zip(examples, ends, strict=True)]
    return [place for place, rating in enumerate(ratings) if rating.may_ask]


def make_ask(example: Example, entry: str | None = None) -> Ask:
    """Make what an example asks: what is expected, and what can be decided outside, is no part of it."""
    before = tuple(write_line(line, entry, example.before[:place]) for place, line in enumerate(example.before))
    if example.check is Check.PROGRAM:
        return Ask(example.source, Form.PROGRAM)
    if example.check in (Check.VALUE, Check.TRUTH):
        return Ask(split_expression(example.source, entry, example.before).asked, Form.VALUE, before)
    is_value = example.check is Check.OUTPUT and parse_expression(example.source) is not None
    return Ask(example.source, Form.VALUE if is_value else Form.STATEMENTS, before)


LONGEST = 120  # characters of a value in a reason


class ExamplesStage:
    """Rank by the share of the visible examples that hold; nobody is dropped, for an example may itself be wrong."""

    name = "examples"
    drops = False

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Compare what came out with what the query shows, here and not where the candidates run."""
        load_contenders(case, contenders)
        return [judge_examples(self.name, case, each, case.examples, 0) for each in contenders]


class OracleStage:
    """Rank by hidden tests, for research alone: a ranking that saw them measures nothing."""

    name = "oracle"
    drops = False

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Compare what came out with the tests that were handed over."""
        load_contenders(case, contenders)
        first = len(case.examples) if "examples" in case.options.stages else 0
        return [judge_examples(self.name, case, each, case.tests, first) for each in contenders]


def judge_examples(stage: str, case: Case, contender: Contender, examples: Sequence[Example], first: int) -> Verdict:
    """Count which examples hold; their steps in the run of the contender begin at `first`."""
    if contender.run is None or not examples:
        return Verdict(stage, True, 0.0, "none to try" if not examples else "not run")
    ends = contender.run.steps[first : first + len(examples)]
    ratings = rate_examples(case, contender, examples, first)
    held = [rating.rate > 0 for rating in ratings]
    score = sum(rating.rate for rating in ratings) / len(examples)
    seconds = sum(end.seconds for end in (*ends, *contender.word.values()))
    return Verdict(stage, all(held), score, _explain(examples, ends, ratings), seconds)


def rate_examples(case: Case, contender: Contender, examples: Sequence[Example], first: int = 0) -> list[Rating]:
    """Rate each example by how its step in the run of the contender ended; the steps begin at `first`."""
    ends = contender.run.steps[first : first + len(examples)] if contender.run is not None else ()
    ratings = [rate_step(example, end, case.entry) for example, end in zip(examples, ends, strict=True)]
    for place, end in contender.word.items():
        if first <= place < first + len(examples):
            rate = rate_word(examples[place - first], end)
            ratings[place - first] = ratings[place - first]._replace(rate=rate)
    return ratings


def _explain(examples: Sequence[Example], ends: Sequence[protocol.Verdict], ratings: Sequence[Rating]) -> str:
    """Say how many hold, what the first one that does not came to, and which could not be decided outside."""
    count = f"{sum(rating.rate > 0 for rating in ratings)} of {len(ratings)} hold"
    words = [rating.note for rating in ratings if rating.rate > 0 and rating.note]
    if words:
        count += f", {len(words)} of them by the candidate's own word ({words[0]})"
    for example, end, rating in zip(examples, ends, ratings, strict=True):
        if not rating.rate:
            return f"{count}; {shorten(example.shown, LONGEST)}: got {_show_end(example, end, rating)}"
    return count


def _show_end(example: Example, end: protocol.Verdict, rating: Rating) -> str:
    if end.kind is not Kind.OK:
        return shorten(f"{end.kind.value}: {end.detail}", LONGEST)
    seen = repr(end.output) if example.check in (Check.OUTPUT, Check.PROGRAM) else clean_line(end.value or "nothing")
    return shorten(seen, LONGEST) + (f" ({shorten(rating.note, LONGEST)})" if rating.note else "")


class BehaviourStage:
    """Let agreement vote among the candidates that the examples could not tell apart."""

    name = "behaviour"
    drops = False

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Compare those that hold the most examples; the others are behind them whatever they do."""
        best = max((each.score("examples") for each in contenders), default=0.0)
        judged = [each for each in contenders if each.score("examples") == best]
        if case.sandbox is None or len(judged) < 2:
            return [self._alone(each in judged and len(judged) == 1) for each in contenders]
        found = dict(zip(map(id, judged), self._compare(case, case.sandbox, judged), strict=True))
        return [found.get(id(each)) or self._alone(False) for each in contenders]

    def _alone(self, is_best: bool) -> Verdict:
        return Verdict(self.name, True, float(is_best), "nothing to compare with" if is_best else "not compared")

    def _compare(self, case: Case, sandbox: Sandbox, contenders: Sequence[Contender]) -> list[Verdict]:
        names = count_names(contenders)
        trial = Trial(case, sandbox, contenders, [choose_main(case, each, names) for each in contenders])
        outcomes = trial.find_outcomes()
        case.inputs = len(outcomes[0])
        first = next((place for place, each in enumerate(contenders) if 0 in each.places), None)
        agreements = measure_agreement(outcomes, trial.votes, first)
        total = sum(trial.votes)
        return [self._judge(each, total, spent) for each, spent in zip(agreements, trial.seconds, strict=True)]

    def _judge(self, agreement: Agreement, total: int, seconds: float) -> Verdict:
        inputs = f"{agreement.inputs} input{'s' * (agreement.inputs != 1)}"
        reason = (
            f"{agreement.partners} of {total} votes agree on {inputs}" if agreement.inputs else "no input to compare on"
        )
        if agreement.is_rough:
            reason += "; values too large to compare within a tolerance were compared exactly"
        return Verdict(self.name, True, round(agreement.score, 6), reason, seconds)
