"""Fit the ranker of pkg query on questions outside the evaluation except for development halves, and write its weights.

    PYTHONPATH=benchmarks python training/train_ranker.py --data FOLDER [--cache FOLDER] [--encoder minilm]

Functions are ranked for docstrings, with class and path and without, other than those of the evaluation, for the
development halves of CoSQA's questions and SpyderCodeQA's, and for plain questions on many packages; blocks for
comments above them, for plain questions, and for docstrings and CoSQA's, whose right block is the body of the function.
benchmarks/order.py fits the same without the package that it judges.

A model encodes some twenty functions per second, so the weights for encoders other than the static one are fitted with
minilm to plain questions on a few packages only, and regularised towards those of the static one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from lessons import (
    Lesson,
    keep_bounds,
    list_strange,
    read_declared_lessons,
    read_lessons,
    read_plain_lessons,
    stack_lesson,
)
from measure import make_parser, open_folder, read_options
from ranker_fit import Ranker, fit_stacks

from pkg.encode.registry import DEFAULT_ENCODER
from pkg.model import Label
from pkg.retrieval.features import FEATURES
from pkg.retrieval.ranking import OTHER, WEIGHTS, load_weights


def write_weights(name: str, rankers: dict[Label, Ranker]) -> None:
    """Write the weights for some encoders into the package."""
    row = {
        label.value: {
            "offset": round(ranker.offset, 4),
            "weights": {
                feature.__name__: round(float(weight), 4)
                for feature, weight in zip(FEATURES[label], ranker.weights, strict=True)
            },
        }
        for label, ranker in rankers.items()
    }
    rows = json.loads(WEIGHTS.read_text(encoding="utf-8")) | {name: row}
    WEIGHTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def fit_label(lessons: Sequence[Lesson], label: Label, encoder: str, cache: Path) -> Ranker:
    """Fit the ranker of a label to lessons, on graphs with vectors of an encoder."""
    learned = [stack_lesson(each, label, encoder, cache) for each in lessons if label in each.worth]
    prior = None if encoder == DEFAULT_ENCODER else np.array(load_weights(DEFAULT_ENCODER)[label].values)
    return fit_stacks(learned, prior=prior)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="encoder of the graphs")
    parser.add_argument("--packages", default="", help="packages whose questions are learned from, with commas between")
    options = read_options(parser)
    rankers: dict[Label, Ranker] = {}
    with open_folder(options.cache) as (cache, _):
        plain = read_plain_lessons(options.data, cache)
        lessons = [*read_lessons(options.data, cache), *plain, *list_strange(plain), *read_declared_lessons(cache)]
        if options.encoder != DEFAULT_ENCODER:
            names = {f"{name}-wheel" for name in options.packages.split(",")}
            plain = [each for each in plain if each.name in names]
            lessons = [*plain, *list_strange(plain)]
        for label in FEATURES:
            fitted = fit_label(lessons, label, options.encoder, cache)
            rankers[label] = keep_bounds(fitted, label, rankers.get(Label.FUNCTION, fitted))
    write_weights(DEFAULT_ENCODER if options.encoder == DEFAULT_ENCODER else OTHER, rankers)


if __name__ == "__main__":
    main()
