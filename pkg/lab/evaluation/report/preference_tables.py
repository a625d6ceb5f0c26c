"""The tables and figures of CodeUltraFeedback's bench, with its results below ours (C-18 to C-20)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import nan

from pkg.lab.evaluation.preferences.preference_report import PreferenceReport
from pkg.lab.evaluation.rating_statistics import Wins
from pkg.lab.evaluation.report.pictures import draw_heat_map
from pkg.lab.evaluation.report.rating_pictures import draw_wins
from pkg.lab.evaluation.report.report_format import NOTHING, Picture, Section, Table, write_number
from pkg.lab.judge.judge_tasks import PREFERENCES

TITLE = "Grades by preference"
HEADINGS = ("instruction following", "explanation", "efficiency", "readability", "style", "average")
"""Names of the preferences in the order of PREFERENCES, and their average."""

GRADES: Mapping[str, tuple[float, ...]] = {
    "CodeLlama-13B": (5.11, 7.06, 6.17, 6.86, 6.52, 6.34),
    "CodeLlama-34B": (5.19, 7.09, 6.42, 7.06, 6.67, 6.49),
    "DeepSeek-6.7B": (5.31, 7.15, 6.89, 7.33, 6.83, 6.70),
    "WizardCoder-33B": (5.74, 7.00, 6.93, 7.62, 6.95, 6.85),
    "GPT-4": (7.33, 8.35, 8.58, 8.71, 8.42, 8.28),
    "CodeLlama-7B": (4.86, 6.30, 6.16, 6.42, 6.27, 6.00),
    "CodeLlama-7B, SFT": (5.33, 6.61, 6.55, 7.31, 6.76, 6.51),
    "CodeLlama-7B, DPO": (5.25, 7.59, 7.60, 7.93, 7.37, 7.15),
    "CodeLlama-7B, SFT and DPO": (5.32, 7.83, 7.89, 7.99, 7.78, 7.36),
}
"""Mean grades by GPT-3.5 with references of GPT-3.5, in the order of HEADINGS (C-18)."""

JUDGES = ("GPT-3.5 / GPT-3.5", "GPT-3.5 / GPT-4", "GPT-4 / GPT-4")
"""Judges and references of the paper's table 4."""

AVERAGES: Mapping[str, tuple[float | None, ...]] = {
    "CodeLlama-13B": (6.34, 5.58, 4.83),
    "CodeLlama-34B": (6.49, 5.84, 5.36),
    "DeepSeek-6.7B": (6.70, 6.07, 6.32),
    "WizardCoder-33B": (6.85, 6.26, 6.75),
    "GPT-3.5": (None, 7.18, 7.35),
    "GPT-4": (8.28, None, None),
    "CodeLlama-7B": (6.00, 5.46, 4.72),
    "CodeLlama-7B, SFT": (6.51, 5.83, 5.84),
    "CodeLlama-7B, DPO": (7.15, 6.79, 5.08),
    "CodeLlama-7B, SFT and DPO": (7.36, 7.08, 5.85),
}
"""Average grades by judge and references, in the order of JUDGES (C-19)."""

PAPER_WINS = (
    "In the paper no untuned model wins more than 10.8 % of the answers against GPT-4; DPO adds 4.8 points of wins and"
    " 15.4 of ties to CodeLlama-7B, SFT and DPO 6.2 and 16.4, and GPT-4 still wins more than 60 %."
)


def list_preference_sections(report: PreferenceReport, earlier: Sequence[PreferenceReport]) -> Iterator[Section]:
    """Yield the tables of the paper with our figures above, a heat map, and wins against the baseline.

    earlier: reports by other judges or references.
    """
    text = f"{report.rows} answers of each model, graded from 1 to 10 by {report.judge} with references of"
    text += f" {report.references}. The average weighs all preferences the same."
    yield Section(TITLE, 2, text, tuple(_list_tables(report, earlier)), tuple(_list_pictures(report)))


def _list_tables(report: PreferenceReport, earlier: Sequence[PreferenceReport]) -> Iterator[Table]:
    rows = [
        (each.system, *(write_number(grade, 2) for grade in (*map(each.means.get, PREFERENCES), each.average)))
        for each in report.grades
    ]
    rows += [(f"paper, {name}", *(write_number(grade, 2) for grade in grades)) for name, grades in GRADES.items()]
    note = "The paper's are of 500 answers, 100 of each preference, by GPT-3.5 with references of GPT-3.5."
    yield Table(("mean grade", *HEADINGS), tuple(rows), note)
    yield _write_intervals(report)
    wins = [(each.system, each.wins) for each in report.grades if each.wins is not None]
    if wins:
        yield _write_wins(wins, report.baseline)
    yield _write_judges([report, *earlier])


def _write_intervals(report: PreferenceReport) -> Table:
    rows = tuple(
        (
            f"{each.system}, {each.preference}", write_number(each.mean, 2),
            NOTHING if each.interval is None else f"{each.interval.low:.2f} to {each.interval.high:.2f}",
            "" if each.welch is None else f"{each.welch.difference:+.2f}{each.welch.mark}",
            str(each.ratings), str(each.unread),
        )
        for each in report.judged.systems
    )  # fmt: skip
    counts = ", ".join(f"{each.system} {each.cut} cut and {each.empty} empty" for each in report.grades)
    note = (
        f"95 %: bootstrap; difference from {report.baseline or 'no baseline'}: * p < .05, † p < .01, ‡ p < .001"
        f" (Welch); unread: grades that could not be parsed. Answers: {counts}."
    )
    return Table(("by preference", "mean", "95 %", "difference", "grades", "unread"), rows, note)


def _write_wins(wins: Sequence[tuple[str, Wins]], baseline: str) -> Table:
    rows = tuple(
        (system, str(sum(each)), *(f"{100 * count / sum(each):.1f}" for count in each)) for system, each in wins
    )
    names = (f"against {baseline}", "answers", "wins, %", "ties, %", "losses, %")
    return Table(names, rows, f"By the grades of the same row. {PAPER_WINS}")


def _write_judges(reports: Sequence[PreferenceReport]) -> Table:
    """Write the paper's table 4: averages by judge and references."""
    systems = dict.fromkeys(each.system for report in reports for each in report.grades)
    own = [
        (
            system,
            *(write_number(_find_average(report, system), 2) for report in reports),
            *(NOTHING,) * len(JUDGES),
        )
        for system in systems
    ]
    theirs = [
        (f"paper, {name}", *(NOTHING,) * len(reports), *(write_number(each, 2) for each in averages))
        for name, averages in AVERAGES.items()
    ]
    names = ("average by judge / references", *(report.name for report in reports), *JUDGES)
    return Table(names, (*own, *theirs), "As in table 4 of the paper.")


def _find_average(report: PreferenceReport, system: str) -> float | None:
    return next((each.average for each in report.grades if each.system == system), None)


def _list_pictures(report: PreferenceReport) -> Iterator[Picture]:
    graded = [each for each in report.grades if each.average is not None]
    if graded:
        values = [[each.means.get(name, nan) for name in PREFERENCES] + [each.average or nan] for each in graded]
        draw = partial(draw_heat_map, values, [each.system for each in graded], HEADINGS, "mean grade", 2)
        yield Picture("preferences-grades", "mean grade of each model by preference", draw)
    wins = {each.system: each.wins for each in report.grades if each.wins is not None and any(each.wins)}
    if wins:
        caption = f"wins, ties and losses against {report.baseline}"
        yield Picture("preferences-wins", caption, partial(draw_wins, wins, report.baseline))
