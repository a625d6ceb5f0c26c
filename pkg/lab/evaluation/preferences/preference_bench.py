"""A run on a bench of preferences: its folder, the answers of the models, and the items for a judge (C-16, C-17).

`run.json` identifies the run, `answers.jsonl` has a line for each answer, written as it arrives; each pair of judge and
references has a file of judgements, listed in `gradings.jsonl`. Models, judges and references may be added later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pkg.errors import InputError, PathError, UsageError
from pkg.lab.datasets.bench_references import request_references
from pkg.lab.datasets.dataset_rows import Row, hash_words
from pkg.lab.datasets.request_runner import Reply, RequestRunner
from pkg.lab.evaluation.code.run_folder import RUN, VERSION, append_line, check_head, check_model, read_lines
from pkg.lab.evaluation.report.report_format import name_file
from pkg.lab.judge.items import JudgedItem
from pkg.lab.lab_options import DatasetOptions

ANSWERS, GRADINGS = "answers.jsonl", "gradings.jsonl"
BENCHMARK = "preferences"


@dataclass(frozen=True, slots=True)
class BenchAnswer:
    """The answer of a model to a row of the bench; the text is empty if there is none."""

    id: str
    system: str
    text: str
    is_cut: bool = False
    reason: str = ""  # why there is no text

    @property
    def key(self) -> tuple[str, str]:
        """Return the key of the answer in its run."""
        return self.system, self.id


@dataclass(frozen=True, slots=True)
class Grading:
    """The judgements of one judge by one set of references, in a file of the run."""

    judge: str
    references: str
    file: str

    @property
    def name(self) -> str:
        """Return the name as in the tables of the paper: the judge, then the references."""
        return f"{self.judge} / {self.references}"


class PreferenceFolder:
    """The folder of a run; without a path nothing is stored."""

    def __init__(self, path: Path | None, rows: Sequence[Row], options: DatasetOptions) -> None:
        """Open or create a run.

        Raises UsageError if the folder holds a run of other rows or options, PathError if it cannot be written.
        """
        self.path = path
        self.answers: dict[tuple[str, str], BenchAnswer] = {}
        if path is None:
            return
        facts = {"max_tokens": options.max_tokens, "temperature": options.temperature, "seed": options.seed}
        bench = hash_words(*(word for row in rows for word in (row["id"], row["instruction"], row["preference"])))
        items = [row["id"] for row in rows]
        head = {"version": VERSION, "benchmark": BENCHMARK, "bench": bench, **facts, "items": items}
        try:
            path.mkdir(parents=True, exist_ok=True)
            if (path / RUN).exists():
                check_head(path, head)
            elif (path / ANSWERS).exists():
                raise UsageError(f"{path} holds answers without {RUN}; expected an empty folder")
            else:
                (path / RUN).write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")
        except OSError as fault:
            raise PathError(f"cannot write into the folder {path}: {fault.strerror}") from None
        self.answers = {answer.key: answer for answer in read_answers(path)}

    def add(self, answer: BenchAnswer) -> None:
        """Store an answer."""
        self.answers[answer.key] = answer
        if self.path is not None:
            append_line(self.path / ANSWERS, asdict(answer))

    def check_model(self, label: str, identity: str) -> None:
        """Store the identity of a model; raises UsageError if the answers of its label are of another one."""
        if self.path is not None:
            check_model(self.path, label, identity)

    def open_grading(self, judge: str, references: str) -> Grading:
        """Return the grading by a judge and references, which is listed from now on."""
        grading = Grading(judge, references, f"{name_file(f'judgements {judge} {references}')}.jsonl")
        if self.path is not None and grading not in self.list_gradings():
            append_line(self.path / GRADINGS, asdict(grading))
        return grading

    def list_gradings(self) -> list[Grading]:
        """Return the gradings of the run, in the order of their first judgement."""
        return list(read_gradings(self.path)) if self.path is not None else []


def read_answers(path: Path) -> Iterator[BenchAnswer]:
    """Yield the answers of a run; raises InputError for an invalid line."""
    for row in read_lines(path / ANSWERS):
        try:
            yield BenchAnswer(**row)
        except TypeError as fault:
            raise InputError(f"a line of {path / ANSWERS} is no answer ({fault}); delete it") from None


def read_gradings(path: Path) -> Iterator[Grading]:
    """Yield the gradings of a run; raises InputError for an invalid line."""
    for row in read_lines(path / GRADINGS):
        try:
            yield Grading(**row)
        except TypeError as fault:
            raise InputError(f"a line of {path / GRADINGS} is no grading ({fault}); delete it") from None


def answer_bench(
    rows: Sequence[Row], system: str, runner: RequestRunner, options: DatasetOptions
) -> Iterator[BenchAnswer]:
    """Yield the answer of a model to each row, as soon as it is there."""
    for reply in runner.run(request_references(rows, options)):
        runner.report_reply()
        yield _make_answer(reply, system)


def list_missing(rows: Sequence[Row], system: str, answers: Mapping[tuple[str, str], BenchAnswer]) -> list[Row]:
    """Return the rows that a model has not answered yet."""
    return [row for row in rows if (system, str(row["id"])) not in answers]


def _make_answer(reply: Reply, system: str) -> BenchAnswer:
    text = reply.text.strip()
    reason = reply.fault or ("" if text else "nothing written")
    return BenchAnswer(str(reply.request.row["id"]), system, text, reply.is_cut, reason)


def join_references(rows: Sequence[Row], references: Iterable[Row], name: str) -> tuple[list[Row], int]:
    """Return the rows with the references of a file of a name, and the number of rows without one.

    Raises InputError if no row has one.
    """
    known = {row["id"]: row for row in references}
    found = [{**row, "reference": known[row["id"]].get("reference", "")} for row in rows if row["id"] in known]
    kept = [row for row in found if isinstance(row["reference"], str) and row["reference"].strip()]
    if not kept:
        raise InputError(f"no row of the bench has a reference in {name}; expected the output of pkg data references")
    return kept, len(rows) - len(kept)


def make_graded_items(
    rows: Iterable[Row], answers: Mapping[tuple[str, str], BenchAnswer], systems: Sequence[str]
) -> list[JudgedItem]:
    """Combine rows, references and answers into items for a judge; empty answers are left out."""
    items = []
    for row in rows:
        found = [answers[system, row["id"]] for system in systems if (system, row["id"]) in answers]
        whole = [each for each in found if each.text]
        items.append(
            JudgedItem(
                str(row["id"]), str(row["instruction"]), {each.system: each.text for each in whole},
                str(row.get("reference") or ""), preference=str(row["preference"]),
                truncated=frozenset(each.system for each in whole if each.is_cut),
            )
        )  # fmt: skip
    return items
