"""The published figures beside ours agree with each other, as far as the papers state sums and means of them."""

from __future__ import annotations

from statistics import fmean

import pytest

from pkg.lab.evaluation.report.forgetting_tables import CODE_ULTRA_FEEDBACK
from pkg.lab.evaluation.report.preference_tables import AVERAGES, GRADES
from pkg.lab.evaluation.report.win_rate_tables import ABLATIONS, PUBLISHED, list_win_rate_sections


def test_overall_win_rates_are_those_of_the_text_within_a_tenth() -> None:
    table, *_ = next(list_win_rate_sections([], "a judge")).tables
    overall = {row[0]: row[2] for row in table.rows if row[1] == "overall (325)"}
    assert overall == {
        "paper, fine-tuned against base": "57.7",
        "paper, RAG against base": "57.1",
        "paper, both against base": "64.1",
        "paper, both against GPT-3.5": "72.3",
    }


@pytest.mark.parametrize("name", PUBLISHED)
def test_outcomes_of_a_type_are_nearly_all(name: str) -> None:
    for each in PUBLISHED[name].values():
        shares = each.ours, each.base, each.no_value or 0.0, each.tie_bad or 0.0, each.tie_good or 0.0
        assert sum(shares) == pytest.approx(100, abs=0.75)  # the paper rounds, and the runs of a row


def test_the_data_made_twice_are_those_of_the_main_result() -> None:
    main, twice = PUBLISHED["both against base"], ABLATIONS["both, data made twice"]
    assert [twice[kind].ours for kind in main] == [main[kind].ours for kind in main]


@pytest.mark.parametrize("name", GRADES)
def test_the_average_is_the_mean_of_the_preferences_and_the_first_of_the_judges(name: str) -> None:
    *grades, average = GRADES[name]
    assert fmean(grades) == pytest.approx(average, abs=0.011)
    assert AVERAGES[name][0] == average


def test_models_of_both_tables_have_the_same_names() -> None:
    assert set(CODE_ULTRA_FEEDBACK) <= set(GRADES)
