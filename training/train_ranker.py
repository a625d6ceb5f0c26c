"""Fit the ranker of pkg query on questions that nothing is measured by but development halves, and write its weights.

    PYTHONPATH=benchmarks python training/train_ranker.py --data FOLDER [--cache FOLDER] [--encoder static]

Functions are ranked for docstrings, with class and path and without, of which there are others than those that are
measured by, for the development halves of CoSQA's questions and SpyderCodeQA's, and for plain questions on many
packages; blocks for comments above them, for plain questions, and for docstrings and CoSQA's, whose right block is the
body of the function. benchmarks/order.py fits the same without the package that it judges.
"""

from __future__ import annotations

import json

from lessons import keep_bounds, list_strange, read_declared_lessons, read_lessons, read_plain_lessons, stack_lesson
from measure import make_parser, open_folder, read_options
from ranker_fit import Ranker, fit_stacks

from pkg.model import Label
from pkg.retrieval.features import FEATURES
from pkg.retrieval.ranking import WEIGHTS


def write_weights(rankers: dict[Label, Ranker]) -> None:
    """Write the weights where the product reads them."""
    rows = {
        label.value: {
            "offset": round(ranker.offset, 4),
            "weights": {
                feature.__name__: round(float(weight), 4)
                for feature, weight in zip(FEATURES[label], ranker.weights, strict=True)
            },
        }
        for label, ranker in rankers.items()
    }
    WEIGHTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--encoder", default="static", help="encoder of the graphs")
    options = read_options(parser)
    rankers: dict[Label, Ranker] = {}
    with open_folder(options.cache) as (cache, _):
        plain = read_plain_lessons(options.data, cache)
        lessons = [*read_lessons(options.data, cache), *plain, *list_strange(plain), *read_declared_lessons(cache)]
        for label in FEATURES:
            learned = [stack_lesson(each, label, options.encoder, cache) for each in lessons if label in each.worth]
            fitted = fit_stacks(learned)
            rankers[label] = keep_bounds(fitted, label, rankers.get(Label.FUNCTION, fitted))
    write_weights(rankers)


if __name__ == "__main__":
    main()
