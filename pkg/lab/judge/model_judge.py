"""A judge that is a text model: prompts in batches, what is known already not asked again, long ones shortened.

What a model answers is read by its own words alone; how that is done stands in
pkg.lab.judge.verdicts (Q-17, C-05, C-17).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import groupby, islice
from typing import NamedTuple, Protocol

from pkg.errors import ContextLengthError, ModelAnswerError, ModelError, UsageError
from pkg.lab.judge.judge_tasks import JudgeOptions, JudgeTask
from pkg.lab.judge.judgements import Judgement, JudgementFile, describe_task, make_judgement, make_key
from pkg.lab.judge.templates import write_prompt
from pkg.models.prompt_batch import BatchingModel, Conversation, write, write_all
from pkg.models.text_model import Decoding, Generation, TextModel, Usage
from pkg.models.usage import Price

OVERHEAD = 40  # tokens that a chat form puts around two messages
STEP = 0.75  # a text that does not fit is tried again at this share of the longest
SHORTEST = 200  # characters; of answers that are cut below this nobody could judge anything
BATCH = 16  # prompts for a model that writes several in the time of one
LEAST_ROOM = 256  # tokens of a prompt
OWN_FAULTS = (ContextLengthError, ModelAnswerError)  # of one prompt, whose task is then not judged; others end all
TYPICAL = 150  # tokens of a judgement: a few sentences


class Judge(Protocol):
    """Whoever says which answer is better, or how good one is."""

    @property
    def name(self) -> str:
        """Name the judge in every row and report."""

    def judge_all(self, tasks: Iterable[JudgeTask]) -> Iterator[Judgement]:
        """Judge tasks, in their order; what cannot be judged comes back with the reason as its fault."""


class _Asked(NamedTuple):
    """A task with its prompt; without one where it does not fit."""

    task: JudgeTask
    prompt: Conversation | None
    key: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """What judging would take."""

    judge: str
    tasks: int
    known: int  # of the tasks, that cost nothing
    unfit: int  # that do not fit into the window
    shortened: int
    prompt_tokens: int
    completion_tokens: int  # a few sentences each
    most_completion_tokens: int
    cost: float | None = None


class ModelJudge:
    """Has a text model judge, and keeps what it says."""

    def __init__(self, model: TextModel, options: JudgeOptions, kept: JudgementFile | None = None) -> None:
        """Take a model; a UsageError where its window leaves no room beside the answer."""
        self._model, self._options = model, options
        self.kept = kept if kept is not None else JudgementFile()
        if model.window is not None and model.window - options.max_tokens < LEAST_ROOM:
            raise UsageError(
                f"{model.name} has a window of {model.window} tokens, of which {options.max_tokens} are for its own"
                " words; give fewer with --max-tokens"
            )

    @property
    def name(self) -> str:
        """Name the model."""
        return self._model.name

    def judge_all(self, tasks: Iterable[JudgeTask]) -> Iterator[Judgement]:
        """Judge tasks in batches, each kept before the next is asked; raises what the model raises for good."""
        for run, group in groupby(tasks, key=lambda task: task.run):
            decoding = self._decode(run)
            while some := list(islice(group, self._count_batch())):
                yield from self._judge_some([self._ask(task, decoding) for task in some], decoding)

    def estimate(self, tasks: Iterable[JudgeTask], price: Price | None = None) -> JudgeEstimate:
        """Tell what judging takes; the model is asked for nothing."""
        asked = [self._ask(task, self._decode(task.run)) for task in tasks]
        fitting = [each for each in asked if each.prompt is not None]
        new = {each.key: each for each in fitting if self.kept.find(each.key) is None}
        prompt = sum(self._count(each.prompt) for each in new.values() if each.prompt is not None)
        completion = TYPICAL * len(new)
        return JudgeEstimate(
            self.name, len(asked), len(fitting) - sum(each.key in new for each in fitting), len(asked) - len(fitting),
            sum(each.left_out > 0 for each in asked), prompt, completion, self._options.max_tokens * len(new),
            None if price is None else price.count_cost(prompt, completion),
        )  # fmt: skip

    def _decode(self, run: int) -> Decoding:
        """Give the decoding of a run: another seed each, unless the likeliest token is taken whatever the seed."""
        options = self._options
        seed = options.seed + run if options.temperature > 0 else 0
        return Decoding(options.max_tokens, options.temperature, options.top_p, seed=seed)

    def _count_batch(self) -> int:
        if self._options.batch:
            return self._options.batch
        return BATCH if isinstance(self._model, BatchingModel) else max(1, self._model.parallel)

    def _ask(self, task: JudgeTask, decoding: Decoding) -> _Asked:
        """Write the prompt of a task, with its texts shortened alike where they do not fit."""
        whole = texts = task.texts
        longest = texts.find_longest()
        while not self._fits(prompt := write_prompt(task.kind, texts, task.preference)):
            longest = int(longest * STEP)
            if longest < SHORTEST:
                return _Asked(task, None)
            texts = whole.shorten(longest)
        left_out = max(0, whole.count_characters() - texts.count_characters())
        return _Asked(task, prompt, make_key(prompt, self._model.identity, decoding), left_out)

    def _fits(self, prompt: Conversation) -> bool:
        window = self._model.window
        return window is None or self._count(prompt) + self._options.max_tokens <= window

    def _count(self, prompt: Conversation) -> int:
        return OVERHEAD + sum(self._model.count_tokens(message.content) for message in prompt.messages)

    def _judge_some(self, asked: Sequence[_Asked], decoding: Decoding) -> Iterator[Judgement]:
        """Judge what can be asked at once; each text is kept as soon as it is there, also if another one fails."""
        new = {each.key: each for each in asked if each.prompt is not None and self.kept.find(each.key) is None}
        written: dict[str, Generation | ModelError] = {}
        for key, answer in self._write(new, decoding):
            written[key] = answer
            if isinstance(answer, Generation):
                self.kept.add(self._finish(new[key], written))
        for answer in written.values():
            if isinstance(answer, ModelError) and not isinstance(answer, OWN_FAULTS):
                raise answer
        found = [self._finish(each, written) for each in asked]
        for judgement in found:
            self.kept.add(judgement)
        yield from found

    def _write(self, asked: Mapping[str, _Asked], decoding: Decoding) -> Iterator[tuple[str, Generation | ModelError]]:
        """Give the text for each key as soon as it is there, or the fault of the model."""
        prompts = {key: each.prompt for key, each in asked.items() if each.prompt is not None}
        if isinstance(self._model, BatchingModel) and len(prompts) > 1:
            try:
                yield from zip(prompts, write_all(self._model, list(prompts.values()), decoding), strict=True)
                return
            except OWN_FAULTS:
                pass  # of one prompt; the others are asked by themselves
        with ThreadPoolExecutor(max(1, self._model.parallel)) as pool:
            futures = {pool.submit(self._try, prompt, decoding): key for key, prompt in prompts.items()}
            for future in as_completed(futures):
                yield futures[future], future.result()

    def _try(self, prompt: Conversation, decoding: Decoding) -> Generation | ModelError:
        try:
            return write(self._model, prompt, decoding)
        except ModelError as fault:
            return fault

    def _finish(self, asked: _Asked, written: Mapping[str, Generation | ModelError]) -> Judgement:
        task, key = asked.task, asked.key
        if asked.prompt is None:
            fault = f"the prompt does not fit into the window of {self._model.window} tokens, even shortened"
            return Judgement(**describe_task(task), judge=self.name, fault=fault)
        answer = written.get(key)
        if isinstance(answer, ModelError):
            return Judgement(**describe_task(task), judge=self.name, fault=str(answer), key=key)
        if answer is not None:
            is_cut = answer.finish == "length"
            return make_judgement(task, self.name, answer.text, key, answer.usage, asked.left_out, is_cut)
        known = self.kept.find(key)
        assert known is not None, "what was not asked is known"
        return make_judgement(task, self.name, known.text, key, Usage(), asked.left_out, known.is_cut)
