"""Judgements are drawn as the paper draws them, each figure only where there is something to show."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from pkg.cli import main
from pkg.lab.evaluation.judgement_report import report_judgements
from pkg.lab.evaluation.rating_statistics import Extremes, Wins
from pkg.lab.evaluation.report.rating_pictures import sum_extremes, sum_scores, sum_wins
from pkg.lab.judge.judgements import Judgement

RATINGS: dict[str, list[tuple[int | None, ...]]] = {
    "style": [(5, 2), (3, 3), (1, 4)],
    "readability": [(4, 2), (None, 3)],
}


def annotate(preference: str, number: int, ratings: tuple[int | None, ...]) -> Judgement:
    return Judgement(
        "annotate", f"{preference}{number}", ("gguf:/m/a.gguf", "gguf:/m/b.gguf"), "coder", preference,
        ratings=ratings, lengths=(100, 300),
    )  # fmt: skip


JUDGEMENTS = [annotate(name, number, each) for name, rated in RATINGS.items() for number, each in enumerate(rated)]


def draw(folder: Path, judgements: list[Judgement], *words: str) -> tuple[Result, list[str]]:
    path = folder / "judged.jsonl"
    path.write_text("".join(f"{json.dumps(each.to_json())}\n" for each in judgements))
    done = CliRunner().invoke(main, ["judge", "report", str(path), "--figures", str(folder / "figures"), *words])
    assert done.exit_code == 0, done.output
    return done, sorted(path.stem for path in (folder / "figures").glob("*.svg"))


def test_preferences_are_summed_up() -> None:
    systems = report_judgements(JUDGEMENTS, "gguf:/m/b.gguf").systems
    assert sum_wins(systems) == {"gguf:/m/a.gguf": Wins(2, 1, 1)}
    assert sum_extremes(systems)["gguf:/m/a.gguf"] == Extremes(2, 1, 4)
    assert sum_scores(systems)["gguf:/m/b.gguf"] == {1: 0, 2: 2, 3: 2, 4: 1, 5: 0}


def test_the_figures_of_an_annotation_are_written_with_its_systems(tmp_path: Path) -> None:
    done, names = draw(tmp_path, JUDGEMENTS, "--baseline", "b", "--no-json")
    assert names == ["annotate-coder-best", "annotate-coder-lengths", "annotate-coder-ratings", "annotate-coder-wins"]
    assert "/m/" not in done.stdout
    assert "against b" in (tmp_path / "figures" / "annotate-coder-wins.svg").read_text()
    assert (tmp_path / "figures" / "annotate-coder-best.png").stat().st_size > 1000


def test_equal_ratings_have_a_distribution_alone(tmp_path: Path) -> None:
    assert draw(tmp_path, [annotate("style", 0, (3, 3))])[1] == ["annotate-coder-ratings"]


def test_unread_ratings_have_no_figure(tmp_path: Path) -> None:
    done, names = draw(tmp_path, [annotate("style", 0, (None, None))])
    assert names == []
    assert "no ratings to show" in done.stderr


def test_comparisons_are_drawn_by_outcome(tmp_path: Path) -> None:
    judged = [Judgement("pairwise", str(n), ("graph", "none"), "coder", run=n % 2, verdict="A") for n in range(4)]
    assert draw(tmp_path, judged)[1] == ["win-rates-graph-none"]
