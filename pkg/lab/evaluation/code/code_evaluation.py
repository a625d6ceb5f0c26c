"""Answer the items of a benchmark in every column, score the answers and store all results (P-22, P-26, P-32).

Columns written by the model come first, in batches; those that choose among their answers need no further text.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pkg.errors import UsageError
from pkg.generation.generate_options import GenerateOptions
from pkg.generation.prompt_templates.fitting import fit_prompt
from pkg.generation.prompt_templates.prompt_template import Attempt, Prompt
from pkg.generation.prompt_templates.template_choice import choose_template
from pkg.generation.sample_writer import render_sent
from pkg.lab.evaluation.code.answer_judge import AnswerJudge
from pkg.lab.evaluation.code.benchmark_items import Benchmark, Item
from pkg.lab.evaluation.code.columns import Column
from pkg.lab.evaluation.code.contexts import CodeFinder, ShownCode, show_reference
from pkg.lab.evaluation.code.run_folder import Record, RunFolder
from pkg.lab.evaluation.code.scorer import Score
from pkg.lab.evaluation.code.shown_leaks import ShownLeaks
from pkg.lab.evaluation.code.solver_options import SolverOptions
from pkg.local_errors import describe_local
from pkg.models.prompt_batch import Conversation, write_each
from pkg.models.text_model import Decoding, Generation, TextModel, Usage
from pkg.rerank.candidates import Candidate, RerankOptions, Task, paper_options
from pkg.rerank.diagnosis import OTHER, check_answer
from pkg.rerank.reranker import Reranker

if TYPE_CHECKING:
    from pkg.models.prompt_batch import Prompt as Sent
    from pkg.sandbox.protocol import Sandbox

MOST_ATTEMPTS = 3  # at one answer, as in U-10
DEFAULT_HEAT = GenerateOptions().temperature
KEY_DIGITS = 24  # hexadecimal digits of the hash that identifies a generation

EvaluationListen = Callable[[str, int, int, float], None]
"""Called with the column, the number of its finished answers, their total, and the seconds since it began."""


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
        listen: EvaluationListen = lambda column, done, total, seconds: None,
        leaks: ShownLeaks | None = None,
    ) -> None:
        """Create a run.

        finder: finds the code for columns that show some. sandbox: runs candidates for rerankers. leaks: finds the
        solutions that shown code contains.
        """
        self._items, self._model, self._judge, self._folder = benchmark.items, model, judge, folder
        self._options, self._finder, self._sandbox, self._listen = options, finder, sandbox, listen
        self._leaks = leaks

    def run(self, columns: Sequence[Column]) -> None:
        """Fill the columns in order; raises UsageError for one that needs a graph if there is none."""
        self._complete_leaks()
        for column in columns:
            if column.needs_graph and self._finder is None:
                raise UsageError(f"the column {column.name} shows code of a graph; name one with --store")
            fill = {
                "written": self._write,
                "mended": self._mend,
                "cascade": self._choose_by_examples,
                "chosen": self._choose,
                "ideal": self._look_back,
            }[column.kind]
            began, missing = time.monotonic(), self._list_missing(column)
            total = len(self._items) * self._options.samples
            known = total - len(missing)
            self._listen(column.name, known, total, 0.0)
            for done, record in enumerate(fill(column, missing), known + 1):
                self._folder.add_record(record)
                self._listen(column.name, done, total, time.monotonic() - began)

    def _complete_leaks(self) -> None:
        """Add leaks to records written without them."""
        for record in list(self._folder.records.values()) if self._leaks is not None else ():
            if record.leaks is None:
                self._folder.add_record(replace(record, leaks=self._tell_leaks(record.item, record.shown)))

    def _tell_leaks(self, item: str, places: Sequence[str]) -> tuple[str, ...] | None:
        return None if self._leaks is None else self._leaks.tell(item, places)

    def _list_missing(self, column: Column) -> list[_Missing]:
        every = ((item, sample) for item in self._items for sample in range(self._options.samples))
        known = self._folder.records
        return [
            (item, sample)
            for item, sample in every
            if (found := known.get((column.name, item.id, sample))) is None or found.is_lost
        ]

    def _write(self, column: Column, missing: Sequence[_Missing]) -> Iterator[Record]:
        for start in range(0, len(missing), self._options.batch):
            asked = []
            for item, sample in missing[start : start + self._options.batch]:
                try:
                    asked.append(self._ask(column, item, sample))
                except Exception as fault:
                    yield _lose(column, item, sample, fault)
            yield from self._score(column, asked, self._generate(asked))

    def _mend(self, column: Column, missing: Sequence[_Missing]) -> Iterator[Record]:
        """Send the model its answers with the examples that they fail, and take its next ones (U-06 to U-10, U-13)."""
        for start in range(0, len(missing), self._options.batch):
            batch = missing[start : start + self._options.batch]
            best = {(item.id, sample): self._read_among(column, item, sample)[0] for item, sample in batch}
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
                            asked.append(self._ask(column, item, sample, told[item.id, sample]))
                    except Exception as fault:
                        best[item.id, sample] = _lose(column, item, sample, fault)
                for each, made in zip(asked, self._score(column, asked, self._generate(asked)), strict=True):
                    best[each.item.id, each.sample] = replace(made, attempts=len(told[each.item.id, each.sample]) + 1)
            for item, sample in batch:
                record = best[item.id, sample]
                yield record if told[item.id, sample] else _take_over(record, column)

    def _ask(self, column: Column, item: Item, sample: int, told: Sequence[Attempt] = ()) -> _Asked:
        """Build the prompt for an item, without helpers that exceed the context window of the model.

        told: earlier answers and their failures; if two of them are the same, the temperature is raised above zero.
        """
        shown = ShownCode() if told else self._find(column, item)
        form = choose_template(column.form or self._options.form, self._model)
        tokens, heat = self._options.max_tokens, self._options.temperature
        fitted = fit_prompt(form, self._judge.make_task(item), shown.helpers, self._model, tokens, told)
        if len({each.code for each in told}) < len(told):
            heat = heat or DEFAULT_HEAT
        decoding = Decoding(tokens, heat, stop=fitted.prompt.stop, seed=self._options.seed + sample + len(told))
        sent = f"{self._model.identity}\n{decoding}\n{render_sent(fitted.prompt)}"
        key = hashlib.sha256(sent.encode("utf-8", "replace")).hexdigest()[:KEY_DIGITS]
        places = tuple(helper.place for helper in fitted.helpers)
        return _Asked(item, sample, shown, fitted.prompt, places, decoding, key)

    def _find(self, column: Column, item: Item) -> ShownCode:
        if not column.finder:
            return ShownCode()
        known = self._folder.contexts.get((column.finder, item.id))
        if known is not None:
            return ShownCode.from_row(known)
        began = time.monotonic()
        found = show_reference(item) if self._finder is None else self._finder.find(column.finder, item)
        found = replace(found, seconds=round(time.monotonic() - began, 3))
        self._folder.add_context(column.finder, item.id, found.to_row())
        return found

    def _generate(self, asked: Sequence[_Asked]) -> Iterator[Generation]:
        """Yield the text for each prompt: a stored one, or a new one, written in a batch of the same decoding."""
        known = self._folder.generations
        groups: dict[Decoding, list[_Asked]] = defaultdict(list)
        for each in {one.key: one for one in asked if one.key not in known}.values():
            groups[each.decoding].append(each)
        for decoding, group in groups.items():
            sent = [_read_sent(each.prompt) for each in group]
            for each, found in zip(group, write_each(self._model, sent, decoding), strict=True):
                self._folder.add_generation(each.key, {"prompt": render_sent(each.prompt), **asdict(found)})
        for each in asked:
            row = known[each.key]
            yield Generation(row["text"], row["finish"], Usage(**row["usage"]))

    def _score(self, column: Column, asked: Sequence[_Asked], texts: Iterable[Generation]) -> Iterator[Record]:
        made = [self._read(column, each, text) for each, text in zip(asked, texts, strict=True)]
        scores = self._judge.score_all((each.code, one.item) for each, one in zip(made, asked, strict=True))
        for record, score in zip(made, scores, strict=True):
            yield record if record.is_lost else _with_score(record, score)

    def _read(self, column: Column, asked: _Asked, text: Generation) -> Record:
        """Read an answer; an unexpected error loses this answer alone."""
        try:
            return self._read_answer(column, asked, text)
        except Exception as fault:
            return _lose(column, asked.item, asked.sample, fault)

    def _read_answer(self, column: Column, asked: _Asked, text: Generation) -> Record:
        whole = asked.prompt.join(text.text, text.finish)
        found = self._judge.read_answer(asked.item, whole, asked.shown.pieces if self._options.link else ())
        return Record(
            column.name, asked.item.id, asked.sample, False, "",
            leaks=self._tell_leaks(asked.item.id, asked.places),
            form=asked.prompt.template, shown=asked.places, linked=found.linked,
            score=asked.shown.score, fits=asked.shown.fits, signals=asked.shown.signals,
            is_shown_right=found.is_shown_right,
            prompt_tokens=text.usage.prompt_tokens, completion_tokens=text.usage.completion_tokens,
            seconds=round(text.usage.seconds, 3), retrieval_seconds=asked.shown.seconds,
            is_cut=found.is_cut or text.finish == "length", code=found.code,
        )  # fmt: skip

    def _choose_by_examples(self, column: Column, missing: Sequence[_Missing]) -> Iterator[Record]:
        """Take the first answer unless it fails an example of the task; then the first for which all examples hold."""
        for item, sample in missing:
            among = self._read_among(column, item, sample)
            first = among[0]
            holding = (each for each in among[1:] if each.is_shown_right)
            yield _take_over(next(holding, first) if first.is_shown_right is False else first, column)

    def _choose(self, column: Column, missing: Sequence[_Missing]) -> Iterator[Record]:
        """Choose among the answers of other columns with the reranker, without hidden tests."""
        reranker = Reranker(paper_options() if column.is_paper else RerankOptions(), self._sandbox)
        for item, sample in missing:
            among = self._read_among(column, item, sample)
            candidates = tuple(Candidate(each.column, each.code) for each in among)
            try:
                chosen = reranker.rank(Task(item.task, candidates)).chosen
            except Exception as fault:
                yield _lose(column, item, sample, fault)
                continue
            yield _take_over(next(each for each in among if each.column == chosen), column)

    def _look_back(self, column: Column, missing: Sequence[_Missing]) -> Iterator[Record]:
        """Take an answer that passes the hidden tests, if there is one (P-27)."""
        for item, sample in missing:
            among = self._read_among(column, item, sample)
            yield _take_over(next((each for each in among if each.passed), among[0]), column)

    def _read_among(self, column: Column, item: Item, sample: int) -> list[Record]:
        return [self._folder.records[name, item.id, sample] for name in column.among]


def _read_sent(prompt: Prompt) -> Sent:
    return prompt.text if prompt.text is not None else Conversation(prompt.messages)


def _lose(column: Column, item: Item, sample: int, fault: Exception) -> Record:
    """Return the record of an answer lost to an internal error; it is requested again when the run is resumed."""
    return Record(column.name, item.id, sample, False, OTHER, describe_local(fault))


def _with_score(record: Record, score: Score) -> Record:
    return replace(record, passed=score.passed, error=score.error, detail=score.detail)


_FREE: dict[str, Any] = {"prompt_tokens": 0, "completion_tokens": 0, "seconds": 0.0, "retrieval_seconds": 0.0}
"""Costs of a choice among existing answers."""


def _take_over(record: Record, column: Column) -> Record:
    return replace(record, column=column.name, chosen=record.column, **_FREE)
