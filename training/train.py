"""Learn all weights of PKG from real packages, and write them with their model card into the package.

    python training/train.py --data FOLDER [--cache FOLDER] [--work FOLDER]

Needs training/requirements.txt. FOLDER holds the evaluation sets (benchmarks/shared_data.py), which are excluded from
training. Each long step stores its result in the work folder, and is skipped while that exists.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from asked_questions import read_asked_questions  # noqa: E402
from card import Card, write_card  # noqa: E402
from cosqa_questions import read_cosqa_questions  # noqa: E402
from docstring_questions import read_docstring_questions  # noqa: E402
from excluded_sets import read_exclusions  # noqa: E402
from exclusions import Exclusions  # noqa: E402
from field_sets import read_question_set, read_training_set  # noqa: E402
from field_weights import score_fields, tune_fields, write_fields  # noqa: E402
from kept_model import keep_model  # noqa: E402
from known_words import find_forms  # noqa: E402
from learned import Learned, average_rows  # noqa: E402
from learning import know_words, learn_rows  # noqa: E402
from matrices import Pairs  # noqa: E402
from name_gains import learn_name_gains, write_name_gains  # noqa: E402
from packages import fetch_package  # noqa: E402
from pairs import make_pairs  # noqa: E402
from question_kinds import learn_kinds  # noqa: E402
from question_sets import QuestionSet  # noqa: E402
from related_words import write_related  # noqa: E402
from scores import Scores, score_encoder  # noqa: E402
from sources import TrainingPackage, list_packages, mine_package, read_mined  # noqa: E402
from static_files import write_static  # noqa: E402
from term_weights import learn_term_weights, write_term_weights  # noqa: E402
from word_list import list_words, write_words  # noqa: E402

from pkg.encode.static import StaticEncoder  # noqa: E402
from pkg.encode.word_table import load_word_table  # noqa: E402
from pkg.terms.question_kinds import FILE as KINDS  # noqa: E402
from pkg.terms.term_weights import FILE as NAME_GAINS  # noqa: E402
from pkg.terms.words import COMPOUNDS_FILE as COMPOUNDS  # noqa: E402
from pkg.terms.words import forget_stems  # noqa: E402
from pkg.trained import WEIGHTS  # noqa: E402

DIMENSION = 256
SEEDS = (0, 1, 2)
"""Seeds of the runs whose rows are averaged: a single run has .007 less MRR@10 on docstrings by the cosine."""

CARD = Path(__file__).with_name("MODEL_CARD.md")


def main() -> None:
    """Run all steps: fetch and mine, exclude, learn, tune, score, write the card."""
    options, start = read_options(), time.process_time()
    options.work.mkdir(parents=True, exist_ok=True)
    packages = list_packages()
    files = [mine_package(package, options.cache, options.work) for package in packages]
    write_words(list_words(map(read_mined, files)), WEIGHTS / COMPOUNDS)
    forget_stems()  # later steps split words by the new list
    exclusions = read_exclusions(options.cache, options.data, options.work)
    asked = list(read_asked_questions())
    names = [package.name for package in packages]
    pairs = make_pairs(map(read_mined, files), names, exclusions, asked)
    tell(f"{dict(pairs.counts)}")
    know = cache(lambda: know_words(pairs, find_forms(map(read_mined, files))))

    def learn(seed: int) -> Learned:
        return keep_model(
            options.work, DIMENSION, seed, lambda: learn_rows(pairs, names, know(), DIMENSION, seed, tell)
        )

    write_static(average_rows([learn(seed) for seed in SEEDS]), pairs, WEIGHTS)
    write_related(load_word_table(), (WEIGHTS / "static.txt").read_text("utf-8").splitlines(), WEIGHTS)
    write_name_gains(learn_name_gains(pairs, names), WEIGHTS / NAME_GAINS)
    write_term_weights(learn_kinds(asked), WEIGHTS / KINDS)
    sets = [read_docstring_questions(options.cache), read_cosqa_questions(options.data)]
    scores = [
        *score_static(sets),
        *tune_lexical(sets, pairs, packages, exclusions, options),
    ]
    for score in scores:
        tell(f"{score}")
    card = Card(packages, pairs, scores, len(SEEDS), round(time.process_time() - start))
    write_card(card, WEIGHTS, CARD)
    fit_ranker(options)


def fit_ranker(options: argparse.Namespace) -> None:
    """Fit the ranker on graphs built with the weights just written; a separate process loads them again."""
    script = Path(__file__).with_name("train_ranker.py")
    folders = ["--data", str(options.data), "--cache", str(options.cache)]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'benchmarks'}"}
    subprocess.run([sys.executable, str(script), *folders], env=environment, check=True)


def score_static(sets: list[QuestionSet]) -> list[Scores]:
    """Score the encoder alone, as it was written."""
    encoder = StaticEncoder(load_word_table())
    docstrings = sets[0]
    return [*(score_encoder(encoder, each) for each in sets), score_encoder(encoder, docstrings, has_places=False)]


def tune_lexical(
    sets: list[QuestionSet],
    pairs: Pairs,
    packages: list[TrainingPackage],
    exclusions: Exclusions,
    options: argparse.Namespace,
) -> list[Scores]:
    """Learn the weights of terms, tune those of fields with them, and write both."""
    terms = learn_term_weights(pairs)
    write_term_weights(terms, WEIGHTS / "term_weights.npy")
    wheels = (fetch_package(package.package, options.cache) for package in packages)
    counted = [*map(read_question_set, sets), read_training_set(wheels, exclusions)]
    fields = tune_fields(counted, terms, tell)
    write_fields(fields, WEIGHTS / "lexical.json")
    reached = score_fields(counted, fields, terms)
    return [Scores("lexical", each.name, round(score, 4), None) for each, score in zip(counted, reached, strict=True)]


def tell(line: str) -> None:
    """Print the progress of the run."""
    print(line, file=sys.stderr, flush=True)


def read_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the evaluation sets")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/pkg-benchmarks").expanduser(), help="downloads")
    parser.add_argument("--work", type=Path, default=Path("~/.cache/pkg-training").expanduser(), help="what is kept")
    return parser.parse_args()


if __name__ == "__main__":
    main()
