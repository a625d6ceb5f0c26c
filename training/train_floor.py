"""Fit the score threshold of pkg query, below which nothing fits, and write its weights.

    PYTHONPATH=benchmarks python training/train_floor.py --data FOLDER [--cache FOLDER] [--encoders static]

The plain questions on each package are asked of that package, and of others, which can answer them only by chance. A
logistic model separates the two by measurements of the candidates (pkg.retrieval.question_fit), with equal weight. Its
offset is then set so that few answerable questions, judged by models fitted without their package, are below the
threshold (MISSED).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from kept_pools import collect_pools, open_kept
from measure import make_parser, open_folder, read_options
from plain_questions import read_package_questions
from question_sets import Question, QuestionSet

from pkg.model import Label
from pkg.retrieval.question_fit import MEASURES, WEIGHTS, Evidence, FitWeights, measure_evidence
from pkg.retrieval.ranking import OTHER

MISSED = 0.07
"""Tolerated share of answerable questions with the verdict "nothing fits": the detection of other packages' questions
improves ever more slowly with a higher one."""
STRANGE = 60  # other packages' questions asked of each package, three times as many as its own
ANSWERS = 10  # requested per question
LABELS = (Label.FUNCTION, Label.BLOCK)  # one threshold for both
RIDGE = 1.0  # of the standardised weights
OF_COSINES = [MEASURES.index(name) for name in ("cosine", "both")]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its own package, the package that was asked, and the resulting evidence."""

    on: str
    of: str
    evidence: Evidence

    @property
    def fits(self) -> bool:
        """Return whether the package can answer it."""
        return self.on == self.of


def ask_all(sets: Sequence[QuestionSet], encoder: str, cache: Path) -> list[Asked]:
    """Run each package's own questions and a sample of the others' on it."""
    return [asked for chosen in sets for asked in _ask(chosen, sets, encoder, cache)]


def _ask(chosen: QuestionSet, sets: Sequence[QuestionSet], encoder: str, cache: Path) -> Iterator[Asked]:
    others = [(each.name, question) for each in sets if each is not chosen for question in each.questions]
    drawn = np.random.default_rng(0).permutation(len(others))[:STRANGE]
    pairs = [(chosen.name, question) for question in chosen.questions] + [others[each] for each in drawn]
    with open_kept(chosen, encoder, cache) as graph:
        for label in LABELS:
            questions: list[Question] = [question for _, question in pairs]
            for (on, _), pool in zip(pairs, collect_pools(graph, questions, label, ANSWERS), strict=True):
                evidence = measure_evidence([pool])
                if evidence is not None:
                    yield Asked(on, chosen.name, evidence)


def fit_floor(asked: Sequence[Asked], by_words: bool = False) -> FitWeights:
    """Fit the weights by Newton's method, with equal weight for both kinds; by_words: without the cosine."""
    measured = np.array([each.evidence.measures for each in asked])
    if by_words:
        measured[:, OF_COSINES] = 0.0
    right = np.array([each.fits for each in asked], float)
    worth = np.where(right == 1, 0.5 / right.sum(), 0.5 / (1 - right).sum()) * len(right)
    mean, deviation = measured.mean(axis=0), np.maximum(measured.std(axis=0), 1e-9)
    columns = np.c_[(measured - mean) / deviation, np.ones(len(right))]
    values, ridge = np.zeros(columns.shape[1]), np.diag([RIDGE] * len(MEASURES) + [0.0])
    for _ in range(30):
        rate = 1 / (1 + np.exp(-columns @ values))
        slope = columns.T @ (worth * (right - rate)) - ridge @ values
        bend = (columns * (worth * rate * (1 - rate))[:, None]).T @ columns + ridge
        values = values + np.linalg.solve(bend, slope)
    weights = values[:-1] / deviation
    if by_words:
        weights[OF_COSINES] = 0.0
    return FitWeights(tuple(weights.tolist()), float(values[-1] - weights @ mean))


def lower_floor(asked: Sequence[Asked], by_words: bool = False) -> FitWeights:
    """Fit the weights, and set the offset by questions judged without their package."""
    scores = [score for each, score in judge_left_out(asked, by_words) if each.fits]
    floor = fit_floor(asked, by_words)
    return floor._replace(offset=floor.offset - float(np.quantile(scores, MISSED)))


def judge_left_out(asked: Sequence[Asked], by_words: bool = False) -> Iterator[tuple[Asked, float]]:
    """Score each question by weights fitted without the asked package and without the question's own."""
    for package in sorted({each.of for each in asked}):
        floor = fit_floor([each for each in asked if package not in (each.of, each.on)], by_words)
        yield from ((each, floor.score(each.evidence)) for each in asked if each.of == package)


def describe_left_out(asked: Sequence[Asked], by_words: bool = False) -> dict[str, float]:
    """Return the shares of questions of each kind below the threshold, judged without their package."""
    judged = list(judge_left_out(asked, by_words))
    least = float(np.quantile([score for each, score in judged if each.fits], MISSED))
    below = {kind: np.mean([score < least for each, score in judged if each.fits == kind]) for kind in (True, False)}
    return {"missed": round(float(below[True]), 3), "found_of_other_packages": round(float(below[False]), 3)}


def read_sets(data: Path, cache: Path) -> list[QuestionSet]:
    """Return the plain questions on wheels: one form of each package."""
    return [chosen for package, chosen in read_package_questions(data, cache) if not package.is_source]


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--encoders", default="static", help="encoders to fit for, with commas between them")
    options = read_options(parser)
    floors: dict[str, FitWeights] = {}
    judged: dict[str, dict[str, float]] = {}
    with open_folder(options.cache) as (cache, _):
        sets = read_sets(options.data, cache)
        for encoder in options.encoders.split(","):
            asked = ask_all(sets, encoder, cache)
            floors[encoder], judged[encoder] = lower_floor(asked), describe_left_out(asked)
            if OTHER not in floors:  # the words are the same for every encoder
                floors[OTHER], judged[OTHER] = (
                    lower_floor(asked, by_words=True),
                    describe_left_out(asked, by_words=True),
                )
    rows = {
        name: {
            "offset": round(floor.offset, 4),
            "weights": {name: round(weight, 4) for name, weight in zip(MEASURES, floor.weights, strict=True)},
        }
        for name, floor in floors.items()
    }
    WEIGHTS.write_text(json.dumps({"left_out": judged, "floors": rows}, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(judged))


if __name__ == "__main__":
    main()
