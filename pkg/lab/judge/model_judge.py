"""The judge that is a text model: it sends prompts in batches, reuses stored judgements and shortens long texts.

pkg.lab.judge.verdicts parses the texts (Q-17, C-05, C-17).
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
from pkg.lab.judge.templates import Kind, add_prefill, restore_prefill, write_prompt
from pkg.models.prompt_batch import BatchingModel, Conversation, write, write_all
from pkg.models.text_model import Decoding, Generation, TextModel, Usage
from pkg.models.usage import Price

CHAT_OVERHEAD = 40  # tokens that a chat template adds to two messages
SHRINK_FACTOR = 0.75  # of the longest text, for each attempt to make a prompt fit
MIN_TEXT_LENGTH = 200  # characters; an answer that is cut below this cannot be judged
BATCH_SIZE = 16  # prompts for a model that writes a batch in about the time of one
MIN_PROMPT_TOKENS = 256
PROMPT_ERRORS = (ContextLengthError, ModelAnswerError)  # cost one task; other errors end the run
TYPICAL_COMPLETION = 150  # tokens of a judgement: a few sentences


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
        return JudgeEstimate(
            judge=self.name,
            tasks=len(prompts),
            known=sum(each.key not in new for each in fitting),
            unfit=len(prompts) - len(fitting),
            shortened=sum(each.left_out > 0 for each in prompts),
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            most_completion_tokens=self._options.max_tokens * len(new),
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
        while not self._fits(prompt := self._prime(task.kind, write_prompt(task.kind, texts, task.preference))):
            longest = int(longest * SHRINK_FACTOR)
            if longest < MIN_TEXT_LENGTH:
                return _TaskPrompt(task, None)
            texts = whole.shorten(longest)
        left_out = max(0, whole.count_characters() - texts.count_characters())
        return _TaskPrompt(task, prompt, make_key(prompt, self._model.identity, decoding), left_out)

    def _prime(self, kind: Kind, prompt: Conversation) -> Conversation:
        return add_prefill(kind, prompt) if self._model.can_prime else prompt

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
        if isinstance(self._model, BatchingModel) and len(prompts) > 1:
            try:
                yield from zip(prompts, write_all(self._model, list(prompts.values()), decoding), strict=True)
                return
            except PROMPT_ERRORS:
                pass  # caused by one prompt of the batch: retry each alone
        with ThreadPoolExecutor(max(1, self._model.parallel)) as pool:
            futures = {pool.submit(self._try, prompt, decoding): key for key, prompt in prompts.items()}
            for future in as_completed(futures):
                yield futures[future], future.result()

    def _try(self, prompt: Conversation, decoding: Decoding) -> Generation | ModelError:
        try:
            return write(self._model, prompt, decoding)
        except ModelError as fault:
            return fault

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
