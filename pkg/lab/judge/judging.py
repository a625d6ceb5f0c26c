"""Judges, with a text model or without one, and running them over tasks; the file of the last check.

Any model can be the judge (Q-20, C-19). It gets prompts in batches; stored judgements are reused, and long texts
shortened (Q-17, C-05, C-17). A text that ends without its value is continued at the beginning of one, if the model can
continue texts: small models do not stop giving reasons. The score of the judge without a model, a baseline, is the mean
of the word overlap with the reference, the share of citations that are in the evidence, and the share of tests that
pass. It ignores meaning: a right answer in other words scores low, a wrong one in the same words high.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, Protocol

from pkg.errors import ContextLengthError, ModelAnswerError, ModelError, PathError, UsageError
from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.judge_check import JudgeCheck, check_judge, count_cases, list_planted_tasks, plant_cases
from pkg.lab.judge.judge_tasks import JudgeOptions, JudgeTask, add_prefill, restore_prefill, write_prompt
from pkg.lab.judge.judgements import (
    GRADES,
    LEVELS,
    Judgement,
    JudgementFile,
    begin_value,
    describe_task,
    make_judgement,
    make_key,
)
from pkg.lab.judge.ratings import Rating
from pkg.models.prompt_batch import BatchingModel, Conversation, write, write_all
from pkg.models.registry import check_ready, open_model
from pkg.models.text_model import Decoding, Generation, TextModel, Usage
from pkg.models.usage import Price
from pkg.rerank.extraction import extract_code
from pkg.rerank.parsed_question import Question
from pkg.sandbox.protocol import Kind, Program, Sandbox, Step
from pkg.sandbox.worker_pool import open_sandbox

CHAT_OVERHEAD = 40  # tokens that a chat template adds to two messages
SHRINK_FACTOR = 0.75  # of the longest text, for each attempt to make a prompt fit
MIN_TEXT_LENGTH = 200  # characters; an answer that is cut below this cannot be judged
BATCH_SIZE = 16  # prompts for a model that writes a batch in about the time of one
MIN_PROMPT_TOKENS = 256
PROMPT_ERRORS = (ContextLengthError, ModelAnswerError)  # cost one task; other errors end the run
TYPICAL_COMPLETION = 150  # tokens of a judgement: a few sentences
VALUE_TOKENS = 8  # of a value alone: a number or a letter, and the end of its line
COPIED = ("\n## Form", "\n## An example of the form", "\n## What to", "\n### Instruction\n")
"""Stop strings: headings of the prompts, which small models copy after their answer. Services allow four."""

NAME = "overlap"
"""The name of the judge without a model, in rows and reports."""

TIE_MARGIN = 0.05  # scores closer than this are a tie: about one word in twenty
GOOD_SCORE = 0.5  # from this score on, a tie is one of good answers

_WORD = re.compile(r"\w+")
_CITATION = re.compile(r"\[(\d+)\](?!\()")
_PLACE = re.compile(r"([\w./\\-]+\.\w+):(\d+)")
NO_MODEL = "none"
"""The name of the judge without a model on the command line."""

CHECK_RUNS = 2  # the fewest runs with which self-agreement can be measured

Listen = Callable[[int, int], None]
"""Called with the number of judged tasks and the total."""


class Judge(Protocol):
    """Compares answers, or rates them."""

    @property
    def name(self) -> str:
        """Return the name of the judge in rows and reports."""

    def judge_all(self, tasks: Iterable[JudgeTask]) -> Iterator[Judgement]:
        """Judge tasks in their order; the judgement of a task that cannot be judged has the reason as its fault."""


class _TaskPrompt(NamedTuple):
    """A task with its prompt, or None if it does not fit into the window."""

    task: JudgeTask
    prompt: Conversation | None
    key: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """Estimated requests, tokens and cost of judging."""

    judge: str
    tasks: int
    known: int  # tasks that are stored already
    unfit: int  # tasks that do not fit into the window
    shortened: int
    prompt_tokens: int
    completion_tokens: int  # TYPICAL_COMPLETION for each new task
    most_completion_tokens: int
    cost: float | None = None


class ModelJudge:
    """Judges with a text model and stores its judgements."""

    def __init__(self, model: TextModel, options: JudgeOptions, stored: JudgementFile | None = None) -> None:
        """Take a model; raises UsageError if its window is too small for a prompt and the answer."""
        self._model, self._options = model, options
        self.stored = stored if stored is not None else JudgementFile()
        if model.window is not None and model.window - options.max_tokens < MIN_PROMPT_TOKENS:
            raise UsageError(
                f"{model.name} has a window of {model.window} tokens, of which {options.max_tokens} are reserved for"
                " its answer; lower --max-tokens"
            )

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self._model.name

    def judge_all(self, tasks: Iterable[JudgeTask]) -> Iterator[Judgement]:
        """Judge tasks in batches, each stored before the next is sent; raises ModelError if the model fails."""
        for run, group in groupby(tasks, key=lambda task: task.run):
            decoding = self._make_decoding(run)
            while batch := list(islice(group, self._choose_batch_size())):
                yield from self._judge_batch([self._write_prompt(task, decoding) for task in batch], decoding)

    def estimate(self, tasks: Iterable[JudgeTask], price: Price | None = None) -> JudgeEstimate:
        """Estimate the cost of judging, without a request to the model."""
        prompts = [self._write_prompt(task, self._make_decoding(task.run)) for task in tasks]
        fitting = [each for each in prompts if each.prompt is not None]
        new = {each.key: each for each in fitting if self.stored.find(each.key) is None}
        prompt_tokens = sum(self._count_tokens(each.prompt) for each in new.values() if each.prompt is not None)
        completion_tokens = TYPICAL_COMPLETION * len(new)
        added = VALUE_TOKENS if self._model.can_prime else 0  # of each value that an answer lacks
        return JudgeEstimate(
            judge=self.name,
            tasks=len(prompts),
            known=sum(each.key not in new for each in fitting),
            unfit=len(prompts) - len(fitting),
            shortened=sum(each.left_out > 0 for each in prompts),
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            most_completion_tokens=sum(
                self._options.max_tokens + added * len(each.task.systems) for each in new.values()
            ),
            cost=None if price is None else price.count_cost(prompt_tokens, completion_tokens),
        )

    def _make_decoding(self, run: int) -> Decoding:
        """Return the decoding of a run: each has a seed of its own, except at temperature 0."""
        options = self._options
        seed = options.seed + run if options.temperature > 0 else 0
        return Decoding(options.max_tokens, options.temperature, options.top_p, seed=seed)

    def _choose_batch_size(self) -> int:
        if self._options.batch:
            return self._options.batch
        return BATCH_SIZE if isinstance(self._model, BatchingModel) else max(1, self._model.parallel)

    def _write_prompt(self, task: JudgeTask, decoding: Decoding) -> _TaskPrompt:
        """Write the prompt of a task; if it does not fit, all texts are cut to the same length."""
        whole = texts = task.texts
        longest = texts.measure_longest()
        while not self._fits(prompt := self._prime(task, write_prompt(task.kind, texts, task.preference))):
            longest = int(longest * SHRINK_FACTOR)
            if longest < MIN_TEXT_LENGTH:
                return _TaskPrompt(task, None)
            texts = whole.shorten(longest)
        left_out = max(0, whole.count_characters() - texts.count_characters())
        return _TaskPrompt(task, prompt, make_key(prompt, self._model.identity, decoding), left_out)

    def _prime(self, task: JudgeTask, prompt: Conversation) -> Conversation:
        return add_prefill(task.kind, prompt) if self._model.can_prime else prompt

    def _fits(self, prompt: Conversation) -> bool:
        window = self._model.window
        return window is None or self._count_tokens(prompt) + self._options.max_tokens <= window

    def _count_tokens(self, prompt: Conversation) -> int:
        return CHAT_OVERHEAD + sum(self._model.count_tokens(message.content) for message in prompt.messages)

    def _judge_batch(self, batch: Sequence[_TaskPrompt], decoding: Decoding) -> Iterator[Judgement]:
        """Judge a batch; each text is stored as soon as it is complete, even if another request fails."""
        new = {each.key: each for each in batch if each.prompt is not None and self.stored.find(each.key) is None}
        written: dict[str, Generation | ModelError] = {}
        for key, answer in self._write(new, decoding):
            written[key] = answer
            if isinstance(answer, Generation):
                self.stored.add(self._finish(new[key], written))
        for answer in written.values():
            if isinstance(answer, ModelError) and not isinstance(answer, PROMPT_ERRORS):
                raise answer
        found = [self._finish(each, written) for each in batch]
        for judgement in found:
            self.stored.add(judgement)
        yield from found

    def _write(
        self, batch: Mapping[str, _TaskPrompt], decoding: Decoding
    ) -> Iterator[tuple[str, Generation | ModelError]]:
        """Yield each key with its text or the error of the model, as soon as it is complete."""
        prompts = {key: each.prompt for key, each in batch.items() if each.prompt is not None}
        decoding = replace(decoding, stop=COPIED)
        if isinstance(self._model, BatchingModel) and len(prompts) > 1:
            try:
                written = write_all(self._model, list(prompts.values()), decoding)
                for key, each in zip(prompts, written, strict=True):
                    yield key, self._add_value(batch[key].task, prompts[key], each, decoding)
                return
            except PROMPT_ERRORS:
                pass  # caused by one prompt of the batch: retry each alone
        with ThreadPoolExecutor(max(1, self._model.parallel)) as pool:
            futures = {pool.submit(self._try, batch[key].task, each, decoding): key for key, each in prompts.items()}
            for future in as_completed(futures):
                yield futures[future], future.result()

    def _try(self, task: JudgeTask, prompt: Conversation, decoding: Decoding) -> Generation | ModelError:
        try:
            return self._add_value(task, prompt, write(self._model, prompt, decoding), decoding)
        except ModelError as fault:
            return fault

    def _add_value(self, task: JudgeTask, prompt: Conversation, written: Generation, decoding: Decoding) -> Generation:
        """Continue a text that ends without a value at the beginning of the value, if the model can."""
        for _ in task.systems if self._model.can_prime and written.text.strip() else ():
            text = restore_prefill(prompt, written.text)
            begun = begin_value(task.kind, text, len(task.systems))
            if not begun:
                break
            asked = Conversation(tuple(each for each in prompt.messages if each.role != "assistant"))
            left = decoding.max_tokens - written.usage.completion_tokens if task.kind == "annotate" else 0
            shorter = replace(decoding, max_tokens=max(left, VALUE_TOKENS))
            try:
                more = write(self._model, asked.begin(f"{text.rstrip()}\n{begun}"), shorter)
            except PROMPT_ERRORS:  # the window is full
                break
            is_cut = written.finish == "length" or (more.finish == "length" and task.kind == "annotate")
            text = f"{written.text.rstrip()}\n{begun}{more.text}"
            written = Generation(text, "length" if is_cut else "stop", written.usage + more.usage)
        return written

    def _finish(self, sent: _TaskPrompt, written: Mapping[str, Generation | ModelError]) -> Judgement:
        task, key = sent.task, sent.key
        if sent.prompt is None:
            fault = f"the prompt does not fit into the window of {self._model.window} tokens, even shortened"
            return Judgement(**describe_task(task), judge=self.name, fault=fault)
        answer = written.get(key)
        if isinstance(answer, ModelError):
            return Judgement(**describe_task(task), judge=self.name, fault=str(answer), key=key)
        if answer is not None:
            is_cut = answer.finish == "length"
            text = restore_prefill(sent.prompt, answer.text)
            return make_judgement(task, self.name, text, key, answer.usage, sent.left_out, is_cut)
        known = self.stored.find(key)
        assert known is not None, "a prompt that was not sent is stored"
        return make_judgement(task, self.name, known.text, key, Usage(), sent.left_out, known.is_cut)


class OverlapJudge:
    """Judges by scores; the same answers get the same judgement in any order."""

    def __init__(self, sandbox: Sandbox | None = None, stored: JudgementFile | None = None) -> None:
        """Take the sandbox in which the code of answers is run; without one, tests are ignored."""
        self._sandbox = sandbox
        self.stored = stored if stored is not None else JudgementFile()
        self._passed: dict[tuple[str, str], float] = {}  # shares of tests, by answer and tests

    @property
    def name(self) -> str:
        """Return NAME."""
        return NAME

    def judge_all(self, tasks: Iterable[JudgeTask]) -> Iterator[Judgement]:
        """Judge tasks in their order; an item without reference, evidence and tests gets a fault."""
        for task in tasks:
            judgement = self._judge(task)
            self.stored.add(judgement)
            yield judgement

    def _judge(self, task: JudgeTask) -> Judgement:
        scores = [self._score(task.item, system) for system in task.systems]
        fields = describe_task(task)
        known = [score for score in scores if score is not None]
        if len(known) < len(scores):
            return Judgement(**fields, judge=NAME, fault="no reference, no evidence and no tests to compare with")
        described = ", ".join(f"{system} {score:.3f}" for system, score in zip(task.systems, known, strict=True))
        key = f"{NAME} {task.kind} {task.item.id} {described} {task.preference} {task.run}"
        if task.kind == "pairwise":
            return Judgement(**fields, judge=NAME, verdict=_compare(known[0], known[1]), text=described, key=key)
        scale = LEVELS if task.kind == "annotate" else GRADES
        ratings = tuple(round(scale[0] + (scale[1] - scale[0]) * score) for score in known)
        return Judgement(**fields, judge=NAME, ratings=ratings, text=described, key=key)

    def _score(self, item: JudgedItem, system: str) -> float | None:
        answer = item.answers[system]
        parts = [
            measure_overlap(answer, item.reference, item.question) if item.reference else None,
            measure_citations(answer, item) if item.evidence else None,
            self._run_tests(item, answer) if item.tests and self._sandbox is not None else None,
        ]
        counted = [part for part in parts if part is not None]
        return fmean(counted) if counted else None

    def _run_tests(self, item: JudgedItem, answer: str) -> float:
        """Return the share of tests that the code of an answer passes."""
        assert self._sandbox is not None
        key = (answer, "\n".join(item.tests))
        if key not in self._passed:
            code = extract_code(answer, Question(item.question)).code
            steps = tuple(Step(test, is_expression=False) for test in item.tests)
            ends = self._sandbox.run(Program(code, steps)).steps if answer.strip() else ()
            self._passed[key] = sum(end.kind is Kind.OK for end in ends) / len(steps)
        return self._passed[key]


def _compare(first: float, second: float) -> str:
    if abs(first - second) < TIE_MARGIN:
        return "C" if min(first, second) >= GOOD_SCORE else "D"
    return "A" if first > second else "B"


def measure_overlap(answer: str, reference: str, question: str = "") -> float:
    """Return the F1 score of the words of an answer, which is 1 for equal texts.

    Words of the question are ignored, so that repeating it gains nothing, unless the reference has no others.
    """
    if answer.strip() == reference.strip():
        return 1.0
    said, wanted, asked = (Counter(_WORD.findall(text.casefold())) for text in (answer, reference, question))
    if wanted.keys() - asked.keys():
        said, wanted = (
            Counter({word: count for word, count in words.items() if word not in asked}) for words in (said, wanted)
        )
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total()) if shared else 0.0


def measure_citations(answer: str, item: JudgedItem) -> float:
    """Return the share of citations, [n] or path:line, that refer to the evidence; 0 without citations."""
    numbers = [1 <= int(number[:6]) <= len(item.evidence) for number in _CITATION.findall(answer)]
    places = [
        any(each.path == path and each.start_line <= int(line[:9]) <= each.end_line for each in item.evidence)
        for path, line in _PLACE.findall(answer)
    ]
    return fmean([*numbers, *places]) if numbers or places else 0.0


@contextmanager
def open_judge(model: str | None, options: JudgeOptions, stored: JudgementFile, has_tests: bool) -> Iterator[Judge]:
    """Open a model as judge, or the judge without a model, with a sandbox if there are tests to run.

    Raises the errors of the model or the sandbox.
    """
    if model not in (None, NO_MODEL):
        text_model = open_model(str(model))
        try:
            yield ModelJudge(text_model, options, stored)
        finally:
            text_model.close()
        return
    sandbox: Sandbox | None = open_sandbox() if has_tests else None
    try:
        yield OverlapJudge(sandbox, stored)
    finally:
        if sandbox is not None:
            sandbox.close()


def check_judge_name(model: str | None) -> None:
    """Raise UsageError for an invalid judge and MissingExtraError for a missing package, before answers are written."""
    if model not in (None, NO_MODEL):
        check_ready(str(model))


def judge_tasks(judge: Judge, tasks: Sequence[JudgeTask], listen: Listen | None = None) -> Iterator[Judgement]:
    """Judge tasks in their order and report progress."""
    for done, judgement in enumerate(judge.judge_all(tasks), 1):
        if listen is not None:
            listen(done, len(tasks))
        yield judgement


def plan_check(options: JudgeOptions) -> JudgeOptions:
    """Return the options of a check, with at least CHECK_RUNS runs."""
    return replace(options, runs=max(options.runs, CHECK_RUNS))


def run_check(
    judge: Judge,
    options: JudgeOptions,
    items: Sequence[JudgedItem],
    judgements: Sequence[Judgement],
    ratings: Sequence[Rating] | None = None,
    tolerance: float | None = None,
    listen: Listen | None = None,
) -> JudgeCheck:
    """Judge planted cases, and measure the judge from these, its judgements and the ratings of people."""
    planted = list_planted_tasks(plant_cases(items), options.kind)
    cases = count_cases(judge_tasks(judge, planted, listen))
    return check_judge(judge.name, options.kind, judgements, cases, items, ratings, tolerance)


def name_check(path: Path) -> Path:
    """Return the path of the check beside a file of judgements."""
    return path.with_name(f"{path.name}.check.json")


def write_check(path: Path, check: JudgeCheck) -> None:
    """Write a check beside the judgements; raises PathError if it cannot be written."""
    try:
        name_check(path).write_text(json.dumps(check.to_json(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as fault:
        raise PathError(f"cannot write {name_check(path)}: {fault.strerror}; expected a folder that exists") from None


def find_check(judge: str, kind: str, *paths: Path | None) -> dict[str, Any] | None:
    """Return the last check of a judge beside one of the files; None if there is none of this judge and kind."""
    for path in paths:
        try:
            found = json.loads(name_check(path).read_text(encoding="utf-8")) if path is not None else None
        except (OSError, ValueError):
            continue
        if isinstance(found, dict) and (found.get("judge"), found.get("kind")) == (judge, kind):
            return found
    return None
