"""Measure the order of answers to plain questions, with weights trained without the package in question.

    python benchmarks/order.py --data FOLDER [--cache FOLDER] [--encoder static] [--packages NAMES] [--beside minilm]

For each package with plain questions (benchmarks/plain_questions.py), as a wheel and, if it contains tests, as its
source distribution: the share of questions whose first answer is right, or one of the first five, and MRR@10. Baselines
of the ranker are plain BM25 over the functions, the cosine of another encoder, and given weights. A block counts as its
function, and a function counts once. Weights for another encoder than the static one are trained on the judged
packages, regularised towards those of the static one. The candidates are collected once and cached, so that a second
run after a change of features or of training takes seconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "training")]

from kept_pools import find_right, open_kept  # noqa: E402
from lessons import (  # noqa: E402
    Lesson,
    keep_bounds,
    list_strange,
    read_declared_lessons,
    read_lessons,
    read_plain_lessons,
    read_pools,
    stack_lesson,
)
from measure import Figures, make_parser, open_folder, read_options, write_result  # noqa: E402
from question_sets import QuestionSet  # noqa: E402
from ranker_fit import Floats, Ranker, fit_stacks  # noqa: E402

from pkg.encode.registry import DEFAULT_ENCODER  # noqa: E402
from pkg.lab.evaluation.retrieval.rankings import PlainBM25  # noqa: E402
from pkg.model import Label  # noqa: E402
from pkg.retrieval.candidate_pool import Pool, Scores  # noqa: E402
from pkg.retrieval.features import FEATURES, measure_features  # noqa: E402

GROUPS = 10  # of packages left out together, some four in each: a fit takes seconds
DEEP = 10  # ranks that MRR considers
Ranks = list[int]  # of the first right answer to each question, from 1; 0 without one


def find_ranks(
    lesson: Lesson, label: Label, pools: Sequence[Pool], score: Callable[[Pool], Scores], alone: bool = False
) -> Ranks:
    """Rank the candidates of each question by their scores, and return the rank of the first from a right function.

    alone: exclude declarations.
    """
    ranks = []
    for question, pool in zip(lesson.questions, pools, strict=True):
        scores = np.round(score(pool), 9)
        chosen = [row for row in range(len(scores)) if not alone or pool.outlines[row].label is label]
        rows = sorted(chosen, key=lambda row: (-scores[row], pool.outlines[row].id))
        right = find_right(pool, lesson.chosen, question, of_function=True)
        places = dict.fromkeys(pool.owners[row].content_hash for row in rows)
        first = next((pool.owners[row].content_hash for row in rows if right[row]), None)
        ranks.append(0 if first is None else list(places).index(first) + 1)
    return ranks


def weigh(label: Label, weights: Sequence[float]) -> Callable[[Pool], Scores]:
    """Return a scorer of candidates like the product's, by weights [features]."""
    return lambda pool: measure_features(pool, label) @ np.array(weights)


def describe_ranks(ranks: Ranks) -> Figures:
    """Return the shares of questions whose first right answer has at most a given rank."""
    return {
        "first": round(statistics.mean(rank == 1 for rank in ranks), 4),
        "five": round(statistics.mean(0 < rank <= 5 for rank in ranks), 4),
        "mrr": round(statistics.mean(1 / rank if 0 < rank <= DEEP else 0.0 for rank in ranks), 4),
        "found": round(statistics.mean(rank > 0 for rank in ranks), 4),
    }


def rank_plainly(chosen: QuestionSet, encoder: str, cache: Path) -> Ranks:
    """Rank with plain BM25 over the functions."""
    with open_kept(chosen, encoder, cache) as graph:
        nodes = sorted(graph.store.nodes([Label.FUNCTION]), key=lambda node: node.id)
    bm25 = PlainBM25([f"{node.path}::{node.qualname}" for node in nodes], [node.content for node in nodes])
    return [_find_place(bm25.rank(question.text, 100), question.gold) for question in chosen.questions]


def _find_place(places: Sequence[str], gold: Sequence[str]) -> int:
    found = (number for number, place in enumerate(dict.fromkeys(places), 1) if f"/{place}".endswith(_ends(gold)))
    return next(found, 0)


def _ends(gold: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"/{place}" for place in gold)


class Learner:
    """Fits rankers of a label, each without the lessons of the packages that it judges."""

    def __init__(
        self, lessons: Sequence[Lesson], label: Label, encoder: str, cache: Path, prior: Learner | None = None
    ) -> None:
        """With a prior, fit only corrections to another learner's weights."""
        self._lessons = [each for each in lessons if label in each.worth]
        self._stacks = [stack_lesson(each, label, encoder, cache) for each in self._lessons]
        self._label, self._prior = label, prior
        self._start: Floats | None = None
        self._start = self.fit(()).weights

    def fit(self, packages: Collection[str]) -> Ranker:
        """Fit the ranker to all lessons except those of some packages, starting from the weights of all."""
        kept = [stack for each, stack in zip(self._lessons, self._stacks, strict=True) if each.package not in packages]
        ranker = fit_stacks(kept, self._start, self._prior.fit(packages).weights if self._prior else None)
        return keep_bounds(ranker, self._label, ranker if self._label is Label.FUNCTION else None)


def measure_label(
    learner: Learner, label: Label, judged: Sequence[Lesson], encoder: str, cache: Path
) -> Iterator[tuple[str, Figures]]:
    """Judge each package and form of it by weights trained without its group of packages."""
    names = list(dict.fromkeys(each.package for each in judged))
    for start in range(GROUPS):
        group = names[start::GROUPS]
        if group:
            weights = learner.fit(group).weights.tolist()
            for lesson in judged:
                if lesson.package in group:
                    pools = read_pools(lesson, label, encoder, cache)
                    yield lesson.name, describe_ranks(find_ranks(lesson, label, pools, weigh(label, weights)))


def measure_packages(
    lessons: Sequence[Lesson], score: Callable[[Pool], Scores], label: Label, encoder: str, cache: Path
) -> dict[str, Figures]:
    """Judge one scorer of candidates other than declarations on each package and form of it."""
    pools = ((each, read_pools(each, label, encoder, cache)) for each in lessons)
    return {each.name: describe_ranks(find_ranks(each, label, of_lesson, score, True)) for each, of_lesson in pools}


def read_given(path: Path, label: Label) -> list[float]:
    """Read given weights for static vectors; a feature missing from them has weight 0."""
    weights = json.loads(path.read_text(encoding="utf-8"))[DEFAULT_ENCODER][label.value]["weights"]
    return [float(weights.get(feature.__name__, 0.0)) for feature in FEATURES[label]]


def summarise_packages(figures: dict[str, Figures]) -> Figures:
    """Return the mean and the standard deviation over packages."""
    names = next(iter(figures.values())).keys()
    rows = {name: [each[name] for each in figures.values()] for name in names}
    return {
        "packages": len(figures),
        "mean": {name: round(statistics.mean(values), 4) for name, values in rows.items()},
        "spread": {name: round(statistics.pstdev(values), 4) for name, values in rows.items()},
        "least": {name: min(values) for name, values in rows.items()},
    }


def show(system: str, form: str, summary: Figures) -> None:
    """Print one line of the table."""
    mean, spread = summary["mean"], summary["spread"]
    cells = "  ".join(f"{name} {mean[name]:.3f} ±{spread[name]:.3f}" for name in ("first", "five", "mrr"))
    print(f"{system:20} {form:12} {cells}  found {mean['found']:.3f}  ({summary['packages']})", file=sys.stderr)


def measure(options: argparse.Namespace, cache: Path) -> dict[str, dict[str, Figures]]:
    """Measure each requested system: the figures of each package and form of it."""
    encoder, figures = options.encoder, dict[str, dict[str, Figures]]()
    plain, declared = read_plain_lessons(options.data, cache), read_declared_lessons(cache)
    everything = [*read_lessons(options.data, cache), *list_strange(plain), *plain, *declared]
    judged = [*plain, *declared]
    if options.packages:
        judged = [each for each in plain if each.package in options.packages.split(",") and each.name.endswith("wheel")]
    if options.plainly:
        ranks = ((each.name, rank_plainly(each.chosen, encoder, cache)) for each in judged if each not in declared)
        figures["bm25"] = {name: describe_ranks(of_package) for name, of_package in ranks}
    if options.beside:
        figures[f"cosine of {options.beside}"] = measure_packages(
            judged, lambda pool: pool.dense, Label.FUNCTION, options.beside, cache
        )
    for label in map(Label, options.labels.title().split(",")):
        name = label.value.lower()
        if options.given:
            score = weigh(label, read_given(options.given, label))
            figures[f"{name}, given"] = measure_packages(judged, score, label, encoder, cache)
        learner = Learner(everything, label, DEFAULT_ENCODER, cache)
        if encoder != DEFAULT_ENCODER:
            learner = Learner([*judged, *list_strange(judged)], label, encoder, cache, learner)
        figures[f"{name}, left out"] = dict(measure_label(learner, label, judged, encoder, cache))
    return figures


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="encoder of the graphs")
    parser.add_argument("--packages", help="packages that are judged, as wheels, with commas between; default: all")
    parser.add_argument("--labels", default="function,block", help="what is ranked, with commas between")
    parser.add_argument("--given", type=Path, help="file of weights that are measured beside")
    parser.add_argument("--plainly", action="store_true", help="measure BM25 beside")
    parser.add_argument("--beside", metavar="ENCODER", help="measure functions in the order of this encoder's cosines")
    parser.add_argument("--result", default="order", help="name of the file of results")
    options = read_options(parser)
    with open_folder(options.cache) as (cache, _):
        figures = measure(options, cache)
    result: Figures = {}
    for system, rows in figures.items():
        for form in ("wheel", "source", "declarations"):
            chosen = {name: row for name, row in rows.items() if name.endswith(form)}
            if not chosen:
                continue
            result.setdefault(system, {})[form] = {"all": summarise_packages(chosen), **chosen}
            show(system, form, result[system][form]["all"])
    write_result(options.result, result)


if __name__ == "__main__":
    main()
