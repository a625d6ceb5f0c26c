"""Questions about a repository with reference answers (Q-01), options, files and figures of their evaluation (Q-22).

`run.json` identifies the run; `answers.jsonl` has a line for each question and system. A run can be resumed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pkg.errors import InputError, PathError, UsageError
from pkg.generation.ask.ask_options import ANSWER_TOKENS
from pkg.lab.evaluation.code.run_folder import RUN, VERSION, append_line, check_head, check_model, read_lines
from pkg.lab.evaluation.judgement_report import ALL, JudgementReport
from pkg.lab.evaluation.share_statistics import Interval, find_share_interval
from pkg.lab.judge.items import Excerpt, JudgedItem, ReadRows, parse_item, parse_rows
from pkg.retrieval.evidence.evidence_options import EVIDENCE_BUDGET
from pkg.retrieval.query_options import check_choice, check_minimum

System = Literal["graph", "chunks", "both", "none"]
SYSTEMS: tuple[System, ...] = get_args(System)
"""Sources of evidence; none: the model answers from memory."""

RETRIEVERS_ALONE: tuple[System, ...] = ("graph", "chunks", "both")

TUNED: tuple[System, ...] = ("none", "graph", "chunks")
"""Sources of evidence in a comparison of several models, such as one before and after tuning (Q-22)."""

DEPTHS = (1, 5)
ANSWERS, JUDGEMENTS, PAGE = "answers.jsonl", "judgements.jsonl", "answers.html"


def name_system(system: str, label: str) -> str:
    """Return the name of a system of one model, such as graph@coder; the system alone without a label."""
    return f"{system}@{label}" if label else system


@dataclass(frozen=True, slots=True)
class QaItem:
    """A question, and the path of the file that answers it; "" if unknown."""

    item: JudgedItem
    path: str = ""


def read_questions(lines: Iterable[str]) -> ReadRows[QaItem]:
    """Read rows in the format of SpyderCodeQA; invalid ones are returned with the reason."""
    return parse_rows(lines, lambda row: QaItem(parse_item(row), find_path(row)), lambda each: each.item.id)


def find_path(row: Mapping[str, Any]) -> str:
    """Return the path of the file of a row: its own, or one made of its module and file name.

    The first part of the dotted module is the name of the repository itself.
    """
    if isinstance(row.get("path"), str):
        return str(row["path"])
    about = row.get("meta_data")
    if not isinstance(about, dict) or not isinstance(about.get("file_name"), str):
        return ""
    module = about.get("module")
    folders = module.split(".")[1:] if isinstance(module, str) else []
    return "/".join((*folders, about["file_name"]))


@dataclass(frozen=True, slots=True)
class QaOptions:
    """Options of an evaluation of questions: the systems and their answers."""

    systems: tuple[System, ...] = ()  # () for all available ones
    budget: int = EVIDENCE_BUDGET  # tokens of evidence
    source: str | None = None
    oracle_file: bool = False  # search only the right file, as the paper does
    max_tokens: int = ANSWER_TOKENS
    batch: int = 0  # answers between two writes; 0 for the batch size of the model
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options; raises UsageError."""
        for system in self.systems:
            check_choice("system", system, SYSTEMS)
        check_minimum("budget", self.budget, 0)
        check_minimum("max_tokens", self.max_tokens, 1)
        check_minimum("batch", self.batch, 0)

    def choose_systems(self, has_model: bool) -> tuple[System, ...]:
        """Return the sources of evidence to compare; raises UsageError for one that needs a model if there is none."""
        if "none" in self.systems and not has_model:
            raise UsageError("the system 'none' is a model that answers from memory; give --model, or other systems")
        return self.systems or (SYSTEMS if has_model else RETRIEVERS_ALONE)


@dataclass(frozen=True, slots=True)
class QaRecord:
    """The result of one system for one question."""

    id: str
    system: str
    type: str
    rank: int | None  # of the right file among those of the evidence, from 1; None if absent
    has_gold: bool  # whether the right file is known and in the graph
    fits: bool | None = None
    pieces: int = 0
    text: str = ""  # of the answer; "" without a model
    is_refused: bool = False
    reason: str = ""
    statements: int = 0
    supported: int = 0  # statements that a piece of evidence supports
    citations: int = 0  # written by the model
    wrong: int = 0  # wrong ones among the citations
    cites_gold: bool = False  # whether a valid citation leads to the right file
    evidence: tuple[Mapping[str, Any], ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """Return the key of the record in its run."""
        return self.system, self.id


class QaFolder:
    """The folder of an evaluation; without a path nothing is stored."""

    def __init__(self, path: Path | None, head: Mapping[str, Any]) -> None:
        """Open or create a run; raises UsageError if the folder holds another one, PathError if writing fails."""
        self.path = path
        self.records: dict[tuple[str, str], QaRecord] = {}
        if path is None:
            return
        wanted = json.loads(json.dumps({"version": VERSION, "benchmark": "qa", **head}))
        try:
            path.mkdir(parents=True, exist_ok=True)
            if (path / RUN).exists():
                check_head(path, wanted)
            else:
                (path / RUN).write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")
        except OSError as fault:
            raise PathError(f"cannot write into the folder {path}: {fault.strerror}") from None
        self.records = {record.key: record for record in read_qa_records(path)}

    def check_model(self, label: str, identity: str) -> None:
        """Store the identity of a model; raises UsageError if the answers of its label are of another one."""
        if self.path is not None:
            check_model(self.path, label, identity)

    def add(self, record: QaRecord) -> None:
        """Store a record."""
        self.records[record.key] = record
        if self.path is not None:
            append_line(self.path / ANSWERS, asdict(record))


def read_qa_records(path: Path) -> Iterator[QaRecord]:
    """Yield the records of a run; raises InputError for an invalid line."""
    for row in read_lines(path / ANSWERS):
        try:
            yield QaRecord(**{**row, "evidence": tuple(row.get("evidence", ()))})
        except TypeError as fault:
            raise InputError(f"a line of {path / ANSWERS} is no record ({fault}); delete it") from None


def make_judged(
    items: Iterable[QaItem], records: Mapping[tuple[str, str], QaRecord], systems: Sequence[str]
) -> list[JudgedItem]:
    """Combine the answers of all systems by question, with the evidence of the first system that has any."""
    judged = []
    for each in items:
        found = [records[system, each.item.id] for system in systems if (system, each.item.id) in records]
        answers = {record.system: record.text for record in found if record.text}
        shown = next((record.evidence for record in found if record.evidence), ())
        item = each.item
        judged.append(
            JudgedItem(
                item.id, item.question, answers, item.reference, item.tests, item.preference, item.type,
                tuple(Excerpt(row["path"], row["start_line"], row["end_line"], row["content"]) for row in shown),
            )
        )  # fmt: skip
    return judged


@dataclass(frozen=True, slots=True)
class QaFigures:
    """The figures of one system for one type of question."""

    system: str
    type: str
    questions: int
    with_gold: int  # questions whose right file is in the graph
    hits: dict[int, int]  # questions whose right file is among the first files, by depth
    intervals: dict[int, Interval]  # of the share of all questions
    refused: int = 0
    answered: int = 0
    statements: int = 0
    supported: int = 0
    citations: int = 0
    wrong: int = 0
    cites_gold: int = 0
    tokens: int = 0  # of prompts and answers


@dataclass(frozen=True, slots=True)
class QaReport:
    """The figures of an evaluation."""

    systems: tuple[str, ...]
    has_answers: bool
    oracle_file: bool
    figures: tuple[QaFigures, ...]
    judged: JudgementReport | None = None
    judge_check: str = ""  # summary of the check of the judge


def report_questions(
    records: Iterable[QaRecord],
    systems: Sequence[str],
    oracle_file: bool = False,
    judged: JudgementReport | None = None,
    judge_check: str = "",
) -> QaReport:
    """Count by system and type of question, and over all types."""
    known = [record for record in records if record.system in systems]
    types = sorted({record.type for record in known if record.type})
    figures = [
        _count(system, name, [each for each in known if each.system == system and name in (ALL, each.type)])
        for system in systems
        for name in ((*types, ALL) if len(types) > 1 else (ALL,))
    ]
    has_answers = any(record.text for record in known)
    return QaReport(tuple(systems), has_answers, oracle_file, tuple(figures), judged, judge_check)


def _count(system: str, name: str, records: Sequence[QaRecord]) -> QaFigures:
    hits = {depth: sum(each.rank is not None and each.rank <= depth for each in records) for depth in DEPTHS}
    return QaFigures(
        system, name, len(records), sum(each.has_gold for each in records), hits,
        {depth: find_share_interval(count, len(records)) for depth, count in hits.items()},
        sum(each.is_refused for each in records), sum(bool(each.text) and not each.is_refused for each in records),
        sum(each.statements for each in records), sum(each.supported for each in records),
        sum(each.citations for each in records), sum(each.wrong for each in records),
        sum(each.cites_gold for each in records),
        sum(each.prompt_tokens + each.completion_tokens for each in records),
    )  # fmt: skip
