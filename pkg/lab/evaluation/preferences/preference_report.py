"""The results of a run on a bench of preferences: mean grades by preference, with wins against a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from pkg.lab.evaluation.judgement_report import JudgementReport, SystemReport, report_judgements
from pkg.lab.evaluation.preferences.preference_bench import Grading, PreferenceFolder
from pkg.lab.evaluation.rating_statistics import Wins
from pkg.lab.evaluation.report.rating_pictures import sum_wins
from pkg.lab.judge.judge_tasks import PREFERENCES
from pkg.lab.judge.judgements import Judgement, read_judgements


@dataclass(frozen=True, slots=True)
class SystemGrades:
    """The mean grades of one system by one judge and set of references."""

    system: str
    means: Mapping[str, float]  # by preference
    average: float | None  # of the means of all preferences, which weigh the same; None without a grade
    grades: int
    unread: int
    cut: int  # answers that ended at the token limit
    empty: int  # rows without an answer
    wins: Wins | None  # against the baseline, over all preferences


@dataclass(frozen=True, slots=True)
class PreferenceReport:
    """The grades of all systems by one judge and set of references."""

    judge: str
    references: str
    baseline: str
    rows: int
    grades: tuple[SystemGrades, ...]
    judged: JudgementReport

    @property
    def name(self) -> str:
        """Return the judge and the references, as in the tables of the paper (C-19)."""
        return f"{self.judge} / {self.references}"


def report_grading(
    grading: Grading,
    judgements: Sequence[Judgement],
    folder: PreferenceFolder,
    systems: Sequence[str],
    rows: int,
    baseline: str = "",
    seed: int = 0,
) -> PreferenceReport:
    """Average the grades by system and preference, and compare them with those of the baseline (C-18, C-20).

    rows: of the bench that have a reference.
    """
    judged = report_judgements(judgements, baseline, seed=seed)
    wins = sum_wins(judged.systems)
    grades = tuple(_average(system, judged.systems, folder, wins.get(system), rows) for system in systems)
    return PreferenceReport(grading.judge, grading.references, baseline, rows, grades, judged)


def _average(
    system: str, figures: Sequence[SystemReport], folder: PreferenceFolder, wins: Wins | None, rows: int
) -> SystemGrades:
    own = [each for each in figures if each.system == system]
    means = {each.preference: each.mean for each in own if each.mean is not None}
    ordered = {name: means[name] for name in PREFERENCES if name in means}
    answers = [each for each in folder.answers.values() if each.system == system]
    return SystemGrades(
        system, ordered, fmean(ordered.values()) if ordered else None, sum(each.ratings for each in own),
        sum(each.unread for each in own), sum(each.is_cut for each in answers),
        rows - sum(bool(each.text) for each in answers), wins,
    )  # fmt: skip


def list_earlier(
    path: Path | None, folder: PreferenceFolder, current: Grading, systems: Sequence[str], rows: int
) -> Iterator[PreferenceReport]:
    """Yield the reports of the other gradings in the folder of a run, such as by another judge (C-19)."""
    for grading in folder.list_gradings():
        file = None if path is None else path / grading.file
        if grading == current or file is None or not file.exists():
            continue
        judgements = [each for each in read_judgements(file) if not each.case and each.systems[0] in systems]
        if judgements:
            yield report_grading(grading, judgements, folder, systems, rows)
