"""The tables and bars of SpyderCodeQA: win rates of tuned models and of retrieval, with the paper's (Q-20 to Q-22)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pkg.lab.evaluation.judgement_report import ALL, PairReport
from pkg.lab.evaluation.report.report_format import (
    COLOURS,
    HATCHES,
    NOTHING,
    Picture,
    Section,
    Table,
    name_file,
    new_figure,
    write_number,
)
from pkg.lab.evaluation.share_statistics import OUTCOMES, WinRate, weight_shares

TITLE = "Win rates of answers"
TYPES: Mapping[str, str] = {"syntax": "semantics", "dependencies": "dependencies", "meta": "meta-information"}
"""Types of the questions by their names in the data, with those of the paper."""

QUESTIONS: Mapping[str, int] = {"syntax": 140, "dependencies": 135, "meta": 50}
"""Questions of the paper by type."""


class Published(NamedTuple):
    """A share of the paper for each outcome, in per cent: those of `OUTCOMES`; None where it states none."""

    ours: float
    base: float
    no_value: float | None = None
    tie_bad: float | None = None
    tie_good: float | None = None
    deviation: float | None = None  # of ours


_P = Published
PUBLISHED: Mapping[str, Mapping[str, Published]] = {
    "fine-tuned against base": {
        "syntax": _P(63.1, 27.86, 7.38, 1.19, 0.71, 3.2), "dependencies": _P(59.26, 35.56, 4.2, 0.74, 0.37, 2.56),
        "meta": _P(38.67, 58.67, 2, 0.67, 0, 3.2),
    },
    "RAG against base": {
        "syntax": _P(62.38, 32.86, 3.33, 0.71, 0.71, 1.1), "dependencies": _P(54.07, 39.26, 5.68, 0.49, 0.49, 2.5),
        "meta": _P(50.67, 42, 6, 0, 1.33, 1.1),
    },
    "both against base": {
        "syntax": _P(70.71, 25.24, 3.81, 0.35, 0, 3.5), "dependencies": _P(61.97, 33.1, 4.2, 0.74, 0.74, 1.9),
        "meta": _P(51.33, 42.67, 6, 0, 0, 3),
    },
    "both against GPT-3.5": {
        "syntax": _P(78.33, 16.19, 4.76, 0.71, 0, 3.8), "dependencies": _P(74.07, 17.29, 8.15, 0.25, 0, 1.5),
        "meta": _P(50.67, 40.67, 7.33, 0, 2, 5),
    },
}  # fmt: skip
"""Table 1 of the paper (Q-22); all averages are of three runs of GPT-3.5 as the judge."""

ABLATIONS: Mapping[str, Mapping[str, Published]] = {
    "both, data made once": {
        "syntax": _P(63.81, 29.05), "dependencies": _P(53.58, 40.25), "meta": _P(48, 47.33),
    },
    "both, data made twice": {
        "syntax": _P(70.71, 25.24), "dependencies": _P(61.97, 33.09), "meta": _P(51.33, 42.67),
    },
    "both, data made four times": {
        "syntax": _P(66.19, 28.09), "dependencies": _P(53.33, 40.49), "meta": _P(46.67, 50.67),
    },
    "both, judged by GPT-4": {
        "syntax": _P(72.86, 15, 0, 7.86, 4.29), "dependencies": _P(73.33, 17.04, 0.74, 4.44, 4.44),
        "meta": _P(64, 32, 0, 2, 2),
    },
}  # fmt: skip
"""Tables 2 and 3 of the paper (Q-20): sizes of the data, and another judge. The paper's data are made twice."""


def list_win_rate_sections(pairs: Sequence[PairReport], judge: str) -> Iterator[Section]:
    """Yield the tables of win rates with those of the paper, and a picture of each comparison (Q-21)."""
    text = (
        f"Judged by {judge}. Shares of all judgements in per cent, ± their deviation over runs; overall: the types"
        " weighted by their questions."
    )
    yield Section(TITLE, 2, text, (_write_rates(pairs),), tuple(list_outcome_pictures(pairs)))
    note = "As in tables 2 and 3 of the paper, to compare models that are tuned on data made once, twice or four times."
    rows = tuple(row for name, shares in ABLATIONS.items() for row in _list_published(name, shares))
    yield Section("Size of the data, and another judge", 3, "", (Table(_NAMES, rows, note),))


_NAMES = ("win rates, %", "questions", "ours", "base", "no value", "tie, bad", "tie, good")


def _write_rates(pairs: Sequence[PairReport]) -> Table:
    own = [
        (f"{each.ours} against {each.base}", f"{_name_type(each.type)} ({each.items})", *map(write_rate, rates))
        for each in pairs
        if (rates := [each.outcomes[name] for name in OUTCOMES])
    ]
    theirs = [row for name, shares in PUBLISHED.items() for row in _list_published(name, shares)]
    note = "As in table 1 of the paper, whose overall shares are weighted here."
    return Table(_NAMES, (*own, *theirs), note)


def _name_type(name: str) -> str:
    return TYPES.get(name, name)


def write_rate(rate: WinRate) -> str:
    """Format a share with its deviation, if it has one."""
    return f"{rate.mean:.1f}" if rate.deviation is None else f"{rate.mean:.1f} ± {rate.deviation:.1f}"


def _list_published(name: str, shares: Mapping[str, Published]) -> Iterator[tuple[str, ...]]:
    for kind, each in shares.items():
        rates = (each.base, each.no_value, each.tie_bad, each.tie_good)
        ours = write_rate(WinRate(each.ours, each.deviation))
        yield f"paper, {name}", f"{TYPES[kind]} ({QUESTIONS[kind]})", ours, *(write_number(rate, 1) for rate in rates)
    won = weight_shares({kind: each.ours for kind, each in shares.items()}, QUESTIONS)
    lost = weight_shares({kind: each.base for kind, each in shares.items()}, QUESTIONS)
    total = f"{ALL} ({sum(QUESTIONS.values())})"
    yield f"paper, {name}", total, write_number(won, 1), write_number(lost, 1), NOTHING, NOTHING, NOTHING


def list_outcome_pictures(pairs: Sequence[PairReport]) -> Iterator[Picture]:
    """Yield a picture of each two systems."""
    for ours, base in dict.fromkeys((each.ours, each.base) for each in pairs):
        group = [each for each in pairs if (each.ours, each.base) == (ours, base)]
        caption = f"{ours} against {base}: outcomes by type of question, with the deviation over runs"
        yield Picture(name_file(f"win rates {ours} {base}"), caption, partial(draw_outcomes, group))


def draw_outcomes(pairs: Sequence[PairReport]) -> Any:
    """Draw the share of each outcome by type of question as bars with their deviation over runs (Q-21)."""
    figure = new_figure(2.2 + 1.5 * len(pairs), 3.4)
    axes = figure.subplots()
    places, width = np.arange(len(pairs)), 0.16
    names = {"ours": pairs[0].ours, "base": pairs[0].base}
    for number, outcome in enumerate(OUTCOMES):
        rates = [each.outcomes[outcome] for each in pairs]
        axes.bar(
            places + (number - 2) * width, [rate.mean for rate in rates], width,
            yerr=[rate.deviation or 0.0 for rate in rates], capsize=2, color=COLOURS[number], hatch=HATCHES[number],
            edgecolor="white", label=names.get(outcome, outcome),
        )  # fmt: skip
    axes.set_xticks(places, [f"{_name_type(each.type)}\n({each.items})" for each in pairs])
    axes.set_ylabel("judgements, %")
    axes.set_ylim(0, 100)
    figure.legend(loc="outside lower center", ncols=len(OUTCOMES))
    return figure
