"""Answer the items of a benchmark in every condition, score the answers and store all results (P-22, P-26, P-32).

Conditions written by the model come first, in batches; those that choose among their answers need no further text.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from pkg.errors import UsageError
from pkg.generation.generate_options import GenerateOptions
from pkg.generation.prompt_templates.fitting import fit_prompt
from pkg.generation.prompt_templates.prompt_template import Attempt, Prompt
from pkg.generation.prompt_templates.template_choice import choose_template
from pkg.generation.sample_writer import render_sent
from pkg.generation.samples import keep_complete
from pkg.lab.evaluation.code.benchmarks import Benchmark, Item
from pkg.lab.evaluation.code.contexts import CodeFinder, ShownCode, ShownLeaks, show_reference
from pkg.lab.evaluation.code.evaluation_conditions import Condition
from pkg.lab.evaluation.code.hidden_tests import AnswerJudge
from pkg.lab.evaluation.code.run_folder import Record, RunFolder
from pkg.lab.lab_options import SolverOptions
from pkg.local_errors import describe_local
from pkg.models.prompt_batch import Conversation, write_each
from pkg.models.text_model import Decoding, Generation, TextModel, Usage
from pkg.rerank.candidates import Candidate, RerankOptions, Task, paper_options
from pkg.rerank.diagnosis import OTHER, check_answer
from pkg.rerank.reranker import Reranker
from pkg.sandbox.protocol import Sandbox

MOST_ATTEMPTS = 3  # at one answer, as in U-10
DEFAULT_TEMPERATURE = GenerateOptions().temperature
KEY_DIGITS = 24  # hexadecimal digits of the hash that identifies a generation

EvaluationListen = Callable[[str, int, int, float], None]
"""Called with the condition, the number of its finished answers, their total, and the seconds since it began."""


_Missing = tuple[Item, int]
"""An item, and the number of its missing sample."""


class _Asked(NamedTuple):
    """A prompt to send, with the code that it shows."""

    item: Item
    sample: int
    shown: ShownCode
    prompt: Prompt
    places: tuple[str, ...]
    decoding: Decoding
    key: str


class Evaluation:
    """One run over a benchmark; results already in the folder are kept."""

    def __init__(
        self,
        benchmark: Benchmark,
        model: TextModel,
        judge: AnswerJudge,
        folder: RunFolder,
        options: SolverOptions,
        finder: CodeFinder | None = None,
        sandbox: Sandbox | None = None,
        listen: EvaluationListen = lambda condition, done, total, seconds: None,
        leaks: ShownLeaks | None = None,
    ) -> None:
        """Create a run.

        finder: finds the code for conditions that show some. sandbox: runs candidates for rerankers. leaks: finds the
        solutions that shown code contains.
        """
        self._items, self._model, self._judge, self._folder = benchmark.items, model, judge, folder
        self._options, self._finder, self._sandbox, self._listen = options, finder, sandbox, listen
        self._leaks = leaks

    def run(self, conditions: Sequence[Condition]) -> None:
        """Fill the conditions in order; raises UsageError for one that needs a graph if there is none."""
        self._complete_leaks()
        for condition in conditions:
            if condition.needs_graph and self._finder is None:
                raise UsageError(f"the column {condition.name} shows code of a graph; name one with --store")
            fill = {"written": self._write, "mended": self._mend}.get(condition.kind, self._choose)
            began, missing = time.monotonic(), self._list_missing(condition)
            total = len(self._items) * self._options.samples
            known = total - len(missing)
            self._listen(condition.name, known, total, 0.0)
            for done, record in enumerate(fill(condition, missing), known + 1):
                self._folder.add_record(record)
                self._listen(condition.name, done, total, time.monotonic() - began)

    def _complete_leaks(self) -> None:
        """Add leaks to records written without them."""
        for record in list(self._folder.records.values()) if self._leaks is not None else ():
            if record.leaks is None:
                self._folder.add_record(replace(record, leaks=self._tell_leaks(record.item, record.shown)))

    def _tell_leaks(self, item: str, places: Sequence[str]) -> tuple[str, ...] | None:
        return None if self._leaks is None else self._leaks.tell(item, places)

    def _list_missing(self, condition: Condition) -> list[_Missing]:
        every = ((item, sample) for item in self._items for sample in range(self._options.samples))
        known = self._folder.records
        return [
            (item, sample)
            for item, sample in every
            if (found := known.get((condition.name, item.id, sample))) is None or found.is_lost
        ]

    def _write(self, condition: Condition, missing: Sequence[_Missing]) -> Iterator[Record]:
        for start in range(0, len(missing), self._options.batch):
            asked = []
            for item, sample in missing[start : start + self._options.batch]:
                try:
                    asked.append(self._ask(condition, item, sample))
                except Exception as fault:
                    yield _lose(condition, item, sample, fault)
            yield from self._score(condition, asked, self._generate(asked))

    def _mend(self, condition: Condition, missing: Sequence[_Missing]) -> Iterator[Record]:
        """Send the model its answers with the examples that they fail, and take its next ones (U-06 to U-10, U-13)."""
        for start in range(0, len(missing), self._options.batch):
            batch = missing[start : start + self._options.batch]
            best = {(item.id, sample): self._read_among(condition, item, sample)[0] for item, sample in batch}
            told: dict[tuple[str, int], list[Attempt]] = defaultdict(list)
            for _ in range(MOST_ATTEMPTS - 1):
                asked = []
                for item, sample in batch:
                    record = best[item.id, sample]
                    if record.is_shown_right or record.is_lost:
                        continue
                    try:
                        found = check_answer(record.code, item.task, (), sandbox=self._sandbox)
                        if found.failures:
                            told[item.id, sample].append(Attempt(record.code, found.render()))
                            asked.append(self._ask(condition, item, sample, told[item.id, sample]))
                    except Exception as fault:
                        best[item.id, sample] = _lose(condition, item, sample, fault)
                for each, made in zip(asked, self._score(condition, asked, self._generate(asked)), strict=True):
                    best[each.item.id, each.sample] = replace(made, attempts=len(told[each.item.id, each.sample]) + 1)
            for item, sample in batch:
                record = best[item.id, sample]
                yield record if told[item.id, sample] else _take_over(record, condition)

    def _ask(self, condition: Condition, item: Item, sample: int, told: Sequence[Attempt] = ()) -> _Asked:
        """Build the prompt for an item, without helpers that exceed the context window of the model.

        told: earlier answers and their failures; if two of them are the same, the temperature is raised above zero.
        """
        shown = ShownCode() if told else self._find(condition, item)
        template = choose_template(condition.template or self._options.form, self._model)
        tokens, temperature = self._options.max_tokens, self._options.temperature
        fitted = fit_prompt(template, self._judge.make_task(item), shown.helpers, self._model, tokens, told)
        if len({each.code for each in told}) < len(told):
            temperature = temperature or DEFAULT_TEMPERATURE
        seed = self._options.seed + sample + len(told)
        decoding = Decoding(tokens, temperature, stop=fitted.prompt.stop, seed=seed)
        sent = f"{self._model.identity}\n{decoding}\n{render_sent(fitted.prompt)}"
        key = hashlib.sha256(sent.encode("utf-8", "replace")).hexdigest()[:KEY_DIGITS]
        places = tuple(helper.place for helper in fitted.helpers)
        return _Asked(item, sample, shown, fitted.prompt, places, decoding, key)

    def _find(self, condition: Condition, item: Item) -> ShownCode:
        if not condition.finder:
            return ShownCode()
        known = self._folder.contexts.get((condition.finder, item.id))
        if known is not None:
            return ShownCode.from_row(known)
        began = time.monotonic()
        found = show_reference(item) if self._finder is None else self._finder.find(condition.finder, item)
        found = replace(found, seconds=round(time.monotonic() - began, 3))
        self._folder.add_context(condition.finder, item.id, found.to_row())
        return found

    def _generate(self, asked: Sequence[_Asked]) -> Iterator[Generation]:
        """Yield the text for each prompt: a stored one, or a new one, written in a batch of the same decoding."""
        known = self._folder.generations
        groups: dict[Decoding, list[_Asked]] = defaultdict(list)
        for each in {one.key: one for one in asked if one.key not in known}.values():
            groups[each.decoding].append(each)
        for decoding, group in groups.items():
            prompts = [each.prompt for each in group]
            sent = [Conversation(each.messages) if each.text is None else each.text for each in prompts]
            for index, found in write_each(self._model, sent, decoding):
                each = group[index]
                self._folder.add_generation(each.key, {"prompt": render_sent(each.prompt), **asdict(found)})
        for each in asked:
            row = known[each.key]
            yield Generation(row["text"], row["finish"], Usage(**row["usage"]))

    def _score(self, condition: Condition, asked: Sequence[_Asked], texts: Iterable[Generation]) -> Iterator[Record]:
        made = [self._read(condition, each, text) for each, text in zip(asked, texts, strict=True)]
        scores = self._judge.score_all((each.code, one.item) for each, one in zip(made, asked, strict=True))
        for record, score in zip(made, scores, strict=True):
            if not record.is_lost:
                record = replace(record, passed=score.passed, error=score.error, detail=score.detail)
            yield record

    def _read(self, condition: Condition, asked: _Asked, text: Generation) -> Record:
        """Read an answer; an unexpected error loses this answer alone."""
        try:
            return self._read_answer(condition, asked, text)
        except Exception as fault:
            return _lose(condition, asked.item, asked.sample, fault)

    def _read_answer(self, condition: Condition, asked: _Asked, text: Generation) -> Record:
        whole = asked.prompt.join(text.text, text.finish)
        found = self._judge.read_answer(asked.item, whole, asked.shown.pieces if self._options.link else ())
        return Record(
            condition.name, asked.item.id, asked.sample, False, "",
            leaks=self._tell_leaks(asked.item.id, asked.places),
            form=asked.prompt.template, shown=asked.places, linked=found.linked,
            score=asked.shown.score, fits=asked.shown.fits, signals=asked.shown.signals,
            is_shown_right=found.is_shown_right,
            prompt_tokens=text.usage.prompt_tokens, completion_tokens=text.usage.completion_tokens,
            seconds=round(text.usage.seconds, 3), retrieval_seconds=asked.shown.seconds,
            is_cut=found.is_cut or text.finish == "length", code=found.code,
        )  # fmt: skip

    def _choose(self, condition: Condition, missing: Sequence[_Missing]) -> Iterator[Record]:
        """Choose among answers of other conditions: by the examples, by a reranker, or by the hidden tests (P-27).

        By examples and reranker a truncated answer is chosen only where no other is as good; the papers choose it.
        """
        reranker = Reranker(paper_options() if condition.is_paper else RerankOptions(), self._sandbox)
        for item, sample in missing:
            among = self._read_among(condition, item, sample)
            chosen = among[0]
            if condition.kind == "cascade" and chosen.is_shown_right is False:
                right = (each for each in among if each.is_shown_right)
                chosen = min(right, key=lambda each: each.is_cut, default=chosen)
            elif condition.kind == "ideal":
                chosen = next((each for each in among if each.passed), chosen)
            elif condition.kind == "chosen":
                flags = [(each.is_cut and not condition.is_paper, bool(each.is_shown_right)) for each in among]
                kept = [among[number] for number in keep_complete(flags)]
                candidates = tuple(Candidate(each.column, each.code) for each in kept)
                try:
                    name = reranker.rank(Task(item.task, candidates)).chosen
                except Exception as fault:
                    yield _lose(condition, item, sample, fault)
                    continue
                chosen = next(each for each in among if each.column == name)
            yield _take_over(chosen, condition)

    def _read_among(self, condition: Condition, item: Item, sample: int) -> list[Record]:
        return [self._folder.records[name, item.id, sample] for name in condition.among]


def _lose(condition: Condition, item: Item, sample: int, fault: Exception) -> Record:
    """Return the record of an answer lost to an internal error; it is requested again when the run is resumed."""
    return Record(condition.name, item.id, sample, False, OTHER, describe_local(fault))


_FREE: dict[str, Any] = {"prompt_tokens": 0, "completion_tokens": 0, "seconds": 0.0, "retrieval_seconds": 0.0}
"""Costs of a choice among existing answers."""


def _take_over(record: Record, condition: Condition) -> Record:
    return replace(record, column=condition.name, chosen=record.column, **_FREE)
