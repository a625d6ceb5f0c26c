"""Tables of judgements of systems, and of the check of a judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pkg.console.streams import style_words
from pkg.console.tables import make_table
from pkg.errors import count_things
from pkg.lab.evaluation.statistics.win_rates import OUTCOMES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.judgement_report import JudgementReport, SystemReport
    from pkg.lab.evaluation.statistics.win_rates import WinRate

COLUMNS = ("items", "ours %", "base %", *OUTCOMES[2:])


def report_line(report: JudgementReport, check: dict[str, Any] | None, told: str) -> dict[str, Any]:
    """Return the summary as one line, with the check of its judge."""
    line = {"type": "summary", **asdict(report), "judge_check": told, "check": check}
    line["pairs"] = [
        {**asdict(each), "outcomes": {name: rate._asdict() for name, rate in each.outcomes.items()}}
        for each in report.pairs
    ]
    line["systems"] = [_system_line(each) for each in report.systems]
    if report.ranking is not None:
        line["ranking"] = report.ranking._asdict()
    for name, spread in (("best_lengths", report.best_lengths), ("worst_lengths", report.worst_lengths)):
        line[name] = spread and spread._asdict()
    return {name: value for name, value in line.items() if value not in ((), [], None) or name == "check"}


def _system_line(each: SystemReport) -> dict[str, Any]:
    tuples = {"welch": each.welch, "wins": each.wins, "extremes": each.extremes}
    return {**asdict(each), **{name: value and value._asdict() for name, value in tuples.items()}}


def view_report(report: JudgementReport) -> Iterator[RenderableType]:
    """Yield tables of outcomes or mean ratings, and counts of unparsed judgements."""
    counts = [count_things(report.judgements, "judgement"), f"{report.without_value:,} without a value"]
    counts += [f"{report.not_judged:,} not judged"] if report.not_judged else []
    counts += [f"{report.shortened:,} of shortened answers"] if report.shortened else []
    yield style_words(f"{report.kind}: {', '.join(counts)}", "bold")
    for oddity, count in report.oddities.items():
        yield style_words(f"{oddity}: {count:,}", "dim")
    if report.pairs:
        yield from _view_pairs(report)
    if report.systems:
        yield from _view_systems(report)


def _view_pairs(report: JudgementReport) -> Iterator[RenderableType]:
    rows = [
        (each.ours, each.base, each.type, str(each.items), *map(_say_rate, _order(each.outcomes)))
        for each in report.pairs
    ]
    yield make_table(("ours", "base", "questions", *COLUMNS), rows, right=COLUMNS)
    yield style_words("% of all judgements, ± the deviation over runs", "dim")
    ranking = report.ranking
    if ranking is not None and len(ranking.strengths) + len(ranking.apart) > 2:
        ranked = [(system, f"{strength:+.2f}") for system, strength in ranking.strengths.items()]
        yield make_table(("system", "strength (Bradley-Terry)"), [*ranked, *ranking.apart.items()])


def _order(outcomes: Any) -> list[WinRate]:
    return [outcomes[name] for name in OUTCOMES]


def _say_rate(rate: WinRate) -> str:
    return f"{rate.mean:.1f}" if rate.deviation is None else f"{rate.mean:.1f}±{rate.deviation:.1f}"


def _view_systems(report: JudgementReport) -> Iterator[RenderableType]:
    columns = ("mean", "95 %", "ratings", "unread", "win", "tie", "lose", "best %", "worst %")
    rows = [(each.system, each.preference, *_list_cells(each)) for each in report.systems]
    yield make_table(("system", "preference", *columns), rows, right=columns)
    scores = [str(score) for score in report.systems[0].scores]
    spread = [(each.system, each.preference, *map(str, each.scores.values())) for each in report.systems]
    yield make_table(("ratings of", "preference", *scores), spread, right=scores)
    best, worst = report.best_lengths, report.worst_lengths
    if best is not None and worst is not None:
        yield style_words(f"characters of best answers {best.mean:,.0f}, of worst {worst.mean:,.0f}, on average", "dim")
    if any(each.welch for each in report.systems):
        yield style_words("against the baseline: * p < .05, † p < .01, ‡ p < .001 (Welch)", "dim")


def _list_cells(each: SystemReport) -> list[str]:
    mark = each.welch.mark if each.welch else ""
    mean = "-" if each.mean is None else f"{each.mean:.2f}{mark}"
    interval = "" if each.interval is None else f"{each.interval.low:.1f}-{each.interval.high:.1f}"
    wins = ["", "", ""] if each.wins is None else [str(count) for count in each.wins]
    extremes = ["", ""]
    if each.extremes is not None and each.extremes.samples:
        best, worst, samples = each.extremes
        extremes = [f"{100 * best / samples:.0f}", f"{100 * worst / samples:.0f}"]
    return [mean, interval, str(each.ratings), str(each.unread), *wins, *extremes]
