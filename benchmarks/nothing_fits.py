"""Measure the verdict "nothing fits" on questions that a package can answer and others that it cannot.

    python benchmarks/nothing_fits.py --data FOLDER [--cache FOLDER] [--encoder static]

data/fit_questions.json holds 40 questions of each kind on four packages, none of which was used for tuning: their
authors did not write the threshold. Each goes through `pkg query` as shipped, and is judged again by weights trained
without the four packages. Precision is the share of "nothing fits" verdicts that is right, recall the share of
unanswerable questions with that verdict. For comparison, CoSQA's development set, whose questions have an answer, is
asked of its corpus.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosqa_questions import read_cosqa_questions
from measure import ROOT, Figures, make_parser, open_folder, read_options, write_result
from question_sets import DEVELOPMENT, QuestionSet

sys.path[:0] = [str(ROOT), str(ROOT / "training")]

from kept_pools import open_kept  # noqa: E402
from train_floor import MISSED, ask_all, judge_left_out, lower_floor, read_sets  # noqa: E402

from pkg.api import Graph  # noqa: E402
from pkg.encode.registry import load_encoder  # noqa: E402
from pkg.errors import QueryError  # noqa: E402
from pkg.model import NodeFilter  # noqa: E402
from pkg.retrieval.query import encode_question  # noqa: E402
from pkg.retrieval.query_options import Mode  # noqa: E402
from pkg.retrieval.question import parse_question  # noqa: E402
from pkg.retrieval.question_fit import Evidence, FitWeights, fits  # noqa: E402
from pkg.retrieval.search import find_nodes  # noqa: E402

QUESTIONS = Path(__file__).with_name("data") / "fit_questions.json"
MODES: tuple[Mode, ...] = ("block", "function")
HITS = 3
TARGET = 0.9


@dataclass(frozen=True, slots=True)
class Judged:
    """One question, whether it can be answered, and the product's verdict."""

    text: str
    can_fit: bool
    told: bool | None
    evidence: Evidence | None


def judge_package(chosen: QuestionSet, mode: Mode, encoder: str, cache: Path) -> Iterator[Judged]:
    """Run both kinds of questions on a package, as the product does."""
    rows = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    with open_kept(chosen, encoder, cache) as graph:
        for kind in ("fits", "nothing_fits"):
            for row in rows[kind]:
                if chosen.name == f"{row['package']}-wheel":
                    yield _judge(graph, row["text"], mode, kind == "fits")


def _judge(graph: Graph, text: str, mode: Mode, can_fit: bool) -> Judged:
    encoder = load_encoder(graph.store.encoder()[0])
    try:
        query = encode_question(encoder, text)
    except QueryError:  # no word of it is known, which the product reports
        return Judged(text, can_fit, False, None)
    with graph.store.snapshot():
        asked = parse_question(text), query, mode, HITS, NodeFilter(), "linear"
        found = find_nodes(graph.store, *asked, by_function=True, with_declarations=True)
    return Judged(text, can_fit, fits(found.evidence, encoder.name), found.evidence)


def describe(judged: Sequence[Judged]) -> Figures:
    """Return precision and recall of "nothing fits"."""
    said = [each for each in judged if each.told is False]
    right = sum(not each.can_fit for each in said)
    strange = sum(not each.can_fit for each in judged)
    return {
        "precision": {"value": round(right / max(len(said), 1), 3), "target": TARGET},
        "recall": {"value": round(right / max(strange, 1), 3), "target": TARGET},
        "wrongly_told": [each.text for each in said if each.can_fit],
        "not_told": [each.text for each in judged if not each.can_fit and each.told is not False],
    }


def judge_again(judged: Sequence[Judged], floor: FitWeights) -> list[Judged]:
    """Judge the same questions by other weights."""
    return [
        each
        if each.evidence is None or each.told is None or each.evidence.is_named
        else Judged(each.text, each.can_fit, floor.score(each.evidence) >= 0, each.evidence)
        for each in judged
    ]


def measure(data: Path, cache: Path, encoder: str) -> Figures:
    """Measure both kinds of questions, and weights trained without their packages."""
    sets = read_sets(data, cache)
    rows = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    names = {f"{row['package']}-wheel" for kind in rows.values() for row in kind}
    others = [each for each in sets if each.name not in names]
    without = lower_floor(ask_all(others, encoder, cache))
    asked = ask_all(sets, encoder, cache)
    left_out = list(judge_left_out(asked))
    least = sorted(score for each, score in left_out if each.fits)[int(MISSED * sum(each.fits for each, _ in left_out))]
    figures: Figures = {
        "plain_questions_left_out": {
            "missed": MISSED,
            "strange_found": round(
                sum(score < least for each, score in left_out if not each.fits)
                / sum(not each.fits for each, _ in left_out),
                3,
            ),
        }
    }
    for mode in MODES:
        judged = [one for each in sets if each.name in names for one in judge_package(each, mode, encoder, cache)]
        figures[mode] = {
            "questions": len(judged),
            "shipped": describe(judged),
            "learned_without_these_packages": describe(judge_again(judged, without)),
        }
    return figures | {"cosqa_told_wrongly": _measure_cosqa(data, cache, encoder)}


def _measure_cosqa(data: Path, cache: Path, encoder: str) -> Figures:
    chosen = read_cosqa_questions(data)
    with open_kept(chosen, encoder, cache) as graph:
        texts = [question.text for question in chosen.choose_half(DEVELOPMENT)]
        told = [_judge(graph, text, "function", True).told for text in texts]
    return {"questions": len(told), "share": round(sum(each is False for each in told) / len(told), 3)}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--encoder", default="static", help="encoder of the graphs; default: static")
    options = read_options(parser)
    with open_folder(options.cache) as (cache, _):
        figures = measure(options.data, cache, options.encoder)
    suffix = "" if options.encoder == "static" else f"_{options.encoder}"
    write_result(f"nothing_fits{suffix}", {"encoder": options.encoder, **figures})


if __name__ == "__main__":
    main()
