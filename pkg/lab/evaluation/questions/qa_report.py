"""Summarise an evaluation of questions: how often the right file is found, and figures of the answers (Q-18, Q-22)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pkg.lab.evaluation.judgement_report import ALL, JudgementReport
from pkg.lab.evaluation.questions.qa_records import QaRecord
from pkg.lab.evaluation.statistics.proportions import Interval, find_share_interval

DEPTHS = (1, 5)


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
