"""Judgements are summarised by pair and type of question, or by system and preference against a baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pkg.lab.evaluation.judgement_report import ALL, report_judgements
from pkg.lab.judge.judgements import Judgement


def choose(item: str, systems: tuple[str, str], verdict: str, run: int = 0, kind: str = "syntax") -> Judgement:
    return Judgement("pairwise", item, systems, "model", run=run, verdict=verdict, question_type=kind)


def grade(item: str, system: str, rating: int | None, length: int = 1, preference: str = "style") -> Judgement:
    return Judgement("grade", item, (system,), "model", preference, ratings=(rating,), lengths=(length,))


def test_win_rates_are_of_all_judgements_of_a_run_whatever_the_order_of_the_answers() -> None:
    judgements = [
        choose("1", ("a", "b"), "A"), choose("1", ("b", "a"), "B"),
        choose("2", ("a", "b"), "D"), choose("2", ("b", "a"), ""),
        choose("1", ("a", "b"), "B", 1), choose("1", ("b", "a"), "A", 1), choose("2", ("a", "b"), "C", 1),
        Judgement("pairwise", "2", ("b", "a"), "model", run=1, question_type="syntax", fault="too long"),
    ]  # fmt: skip
    report = report_judgements(judgements)
    (pair,) = report.pairs
    assert (pair.ours, pair.base, pair.type, pair.items, pair.runs) == ("a", "b", ALL, 2, 2)
    assert {name: rate.mean for name, rate in pair.outcomes.items()} == {
        "ours": 25.0, "base": 25.0, "no value": 25.0, "tie bad": 12.5, "tie good": 12.5
    }  # fmt: skip
    assert pair.outcomes["ours"].deviation == pytest.approx(50 / 2**0.5)
    assert (report.without_value, report.not_judged) == (2, 1)
    turned = report_judgements(judgements, baseline="a").pairs[0]
    assert (turned.ours, turned.base, turned.outcomes["base"].mean) == ("b", "a", 25.0)


def test_kinds_of_question_stand_beside_all_of_them_weighted_by_their_items() -> None:
    judgements = [choose(str(n), ("a", "b"), "A" if n else "B", kind="meta" if n > 2 else "syntax") for n in range(4)]
    found = {each.type: each.outcomes["ours"].mean for each in report_judgements(judgements).pairs}
    assert found == {"meta": 100.0, "syntax": pytest.approx(200 / 3), ALL: 75.0}


def test_three_systems_are_ranked_and_one_that_is_never_beaten_is_told() -> None:
    judgements = [choose(str(n), ("a", "b"), "AB"[n % 2]) for n in range(4)]
    judgements += [choose(str(n), ("top", "a"), "A") for n in range(4)]
    ranking = report_judgements(judgements).ranking
    assert ranking is not None
    assert ranking.strengths == {"a": pytest.approx(0.0), "b": pytest.approx(0.0)}
    assert ranking.apart == {"top": "never beaten by the others"}


def test_means_stand_beside_those_of_the_baseline() -> None:
    ratings: dict[str, list[int | None]] = {"good": [9, 8, 9, 8], "plain": [3, 2, 3, None], "bad": [1, 2, 3, 1]}
    judgements = [grade(str(n), s, r, 100 * (r or 0)) for s, given in ratings.items() for n, r in enumerate(given)]
    report = report_judgements(judgements, "plain")
    found = {each.system: each for each in report.systems}
    assert (found["good"].mean, found["plain"].unread, found["plain"].welch) == (8.5, 1, None)
    assert found["good"].welch is not None
    assert found["good"].welch.mark == "‡"
    assert found["bad"].wins == (0, 2, 1)
    assert found["bad"].extremes == (0, 4, 4)
    assert found["bad"].scores[1] == 2
    assert report.best_lengths is not None
    assert report.best_lengths.mean == 850
    zeroed = {each.system: each for each in report_judgements(judgements, "plain", unparsed_as_zero=True).systems}
    assert (zeroed["plain"].mean, zeroed["plain"].scores[0], zeroed["bad"].wins) == (2.0, 1, (1, 2, 1))


def test_runs_of_one_row_are_averaged_and_count_once() -> None:
    ratings = {"good": [9, 7, 8], "plain": [6, 7, 5]}
    once = [grade(str(n), system, rating) for system, given in ratings.items() for n, rating in enumerate(given)]
    thrice = [replace(each, run=run) for each in once for run in range(3)]
    one, three = ({each.system: each for each in report_judgements(given, "plain").systems} for given in (once, thrice))
    assert (three["good"].ratings, one["good"].ratings) == (9, 3)
    for name in ("mean", "interval", "welch", "wins", "extremes"):
        assert getattr(three["good"], name) == getattr(one["good"], name), name
    mixed = [replace(once[0], run=run, ratings=(rating,)) for run, rating in enumerate((9, 6))]
    (found,) = report_judgements(mixed, "").systems
    assert found.mean == 7.5


def test_a_file_of_equal_ratings_has_neither_best_nor_worst_nor_a_test() -> None:
    judgements = [grade(str(n), system, 5) for system in "ab" for n in range(3)]
    report = report_judgements(judgements, "b")
    assert report.systems[0].extremes == (0, 0, 3)
    assert report.systems[0].welch is not None
    assert (report.systems[0].welch.mark, report.systems[0].welch.note) == ("", "neither side varies")
    assert report.best_lengths is None


def test_judgements_of_two_kinds_are_no_report() -> None:
    with pytest.raises(ValueError, match="grade, pairwise"):
        report_judgements([grade("1", "a", 5), choose("1", ("a", "b"), "A")])


def test_a_truncated_answer_is_neither_best_nor_worst() -> None:
    ratings = {"a": 9, "b": 5, "c": 2}
    judgements = [grade("1", system, rating, rating) for system, rating in ratings.items()]
    judgements[0] = replace(judgements[0], truncated=("a",))
    report = report_judgements(judgements)
    assert {each.system: each.extremes for each in report.systems} == {"a": (0, 0, 1), "b": (1, 0, 1), "c": (0, 1, 1)}
    assert report.best_lengths is not None
    assert report.best_lengths.mean == 5
