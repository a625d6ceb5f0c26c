"""Fit the ranker of long questions on issues and the functions edited for them, and write its weights.

    PYTHONPATH=benchmarks python training/train_long_ranker.py --data FOLDER [--cache FOLDER] [--repositories FOLDER]

Issues are those of SWE-bench Verified that are not in Lite, with few edited functions. Weights fitted without a
repository are evaluated, and reported, on those of its issues that are like Lite's; the weights written are fitted to
all.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from localise_data import Instance, Repositories, read_development, read_training
from localise_graphs import build_graphs, place_graph
from measure import make_parser, open_folder, read_options
from ranker_fit import Judged, Ranker, fit_ranker

from pkg.api import open_graph
from pkg.encode.registry import load_encoder
from pkg.model import NodeFilter
from pkg.retrieval.long.long_search import FEATURES, WEIGHTS, collect_long_pool, encode_parts, measure_long
from pkg.retrieval.query import encode_question
from pkg.retrieval.question import parse_question

MOST_FUNCTIONS = 5  # edited for a training issue; an issue with more edits describes few of them
MOST_IN_LITE = 3  # the same for an issue like those of Lite, nearly all of which have no more, in one file
ANSWERS = 20
DIGITS = 4  # of a weight


@dataclass(frozen=True, slots=True)
class Lesson:
    """An issue with its candidates: their features, and the place of each as path:qualname."""

    instance: Instance
    judged: Judged
    places: tuple[str, ...]


def read_lessons(instances: Sequence[Instance], repositories: Repositories, cache: Path) -> Iterator[Lesson]:
    """Collect the candidates for each issue that is a long question."""
    for instance in build_graphs(instances, repositories, cache):
        question = parse_question(instance.text)
        if not question.parts:
            continue
        with open_graph(f"sqlite:///{place_graph(instance.commit, cache)}") as graph, graph.store.snapshot():
            encoder = load_encoder(graph.store.encoder()[0])
            query, vectors = encode_question(encoder, question.text), encode_parts(encoder, question)
            pool = collect_long_pool(graph.store, question, query, vectors, ANSWERS, NodeFilter())
        places = tuple(f"{each.path}:{each.qualname}" for each in pool.whole.outlines)
        right = np.array([place in instance.functions for place in places], bool)
        yield Lesson(instance, Judged(measure_long(pool), right, 1.0), places)


def judge_left_out(lessons: Sequence[Lesson]) -> dict[str, float]:
    """Judge each repository's issues by weights fitted to those of the others."""
    found: dict[str, list[bool]] = {"file@1": [], "file@5": [], "function@5": [], "function@10": []}
    for name in sorted({each.instance.repository for each in lessons}):
        ranker = fit_ranker([each.judged for each in lessons if each.instance.repository != name])
        for lesson in lessons:
            if lesson.instance.repository == name and _is_like_lite(lesson.instance):
                files, functions = _rank(lesson, ranker)
                found["file@1"].append({*lesson.instance.files} <= {*files[:1]})
                found["file@5"].append({*lesson.instance.files} <= {*files[:5]})
                found["function@5"].append({*lesson.instance.functions} <= {*functions[:5]})
                found["function@10"].append({*lesson.instance.functions} <= {*functions[:10]})
    return {key: round(statistics.mean(values), 3) for key, values in found.items()}


def _rank(lesson: Lesson, ranker: Ranker) -> tuple[list[str], list[str]]:
    sums = lesson.judged.features @ ranker.weights
    functions = [lesson.places[row] for row in np.argsort(-sums, kind="stable")]
    return list(dict.fromkeys(place.partition(":")[0] for place in functions)), list(dict.fromkeys(functions))


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--repositories", type=Path, help="folder of bare clones, owner+name; what lacks is cloned")
    options = read_options(parser)
    with open_folder(options.cache) as (cache, _):
        repositories = Repositories(options.repositories or cache / "repositories")
        names = {each.repository for each in read_development(options.data, repositories)}
        issues = [each for each in read_training(names, repositories) if len(each.functions) <= MOST_FUNCTIONS]
        lessons = list(read_lessons(issues, repositories, cache))
    ranker = fit_ranker([each.judged for each in lessons])
    weights = {name: round(float(value), DIGITS) for name, value in zip(FEATURES, ranker.weights, strict=True)}
    row = {"offset": round(ranker.offset, DIGITS), "weights": weights}
    WEIGHTS.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    print(f"{len(lessons)} issues, each repository left out in turn: {judge_left_out(lessons)}")
    print(f"written: {WEIGHTS}")


def _is_like_lite(issue: Instance) -> bool:
    return len(issue.files) == 1 and len(issue.functions) <= MOST_IN_LITE


if __name__ == "__main__":
    main()
