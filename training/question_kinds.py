"""Learn how questions for constants are asked, from the written questions, and write the weights of their words.

    PYTHONPATH=. python training/question_kinds.py [--without PACKAGES]

A logistic regression over the terms of a question and over its first ones. With packages left out, nothing is written:
the area under the ROC curve on the questions about these is printed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from asked_questions import AskedQuestion, read_asked_questions
from scipy import optimize, sparse, stats
from term_weights import write_term_weights

from pkg.terms.question_kinds import FILE, list_kind_terms
from pkg.terms.words import split_terms
from pkg.trained import WEIGHTS

FEWEST = 5  # questions that a term must occur in
DECAY = 2.0  # regularisation of each weight to 0
LEAST = 0.02  # smaller weights are left out

Floats = npt.NDArray[np.float64]


def list_terms(question: AskedQuestion) -> list[str]:
    """List what decides the kind of a question."""
    return list_kind_terms(tuple(dict.fromkeys(split_terms(question.text.encode()))))


def learn_kinds(questions: Sequence[AskedQuestion]) -> dict[str, float]:
    """Return the weight of each term for the log odds that a question asks for a constant."""
    rows = [list_terms(each) for each in questions]
    counts = Counter(term for row in rows for term in dict.fromkeys(row))
    columns = {term: column for column, term in enumerate(sorted(t for t, n in counts.items() if n >= FEWEST))}
    places = [
        (row, columns[term]) for row, terms in enumerate(rows) for term in dict.fromkeys(terms) if term in columns
    ]
    matrix = sparse.csr_matrix((np.ones(len(places)), np.transpose(places)), (len(rows), len(columns)))
    signs = np.array([1.0 if each.is_constant else -1.0 for each in questions])

    def measure(weights: Floats) -> tuple[float, Floats]:
        margins = signs * (matrix @ weights)
        loss = np.logaddexp(0, -margins).sum() + DECAY / 2 * weights @ weights
        slope = matrix.T @ (-signs / (1 + np.exp(margins))) + DECAY * weights
        return float(loss), np.asarray(slope)

    found = optimize.minimize(measure, np.zeros(len(columns)), jac=True, method="L-BFGS-B")
    return {term: float(found.x[column]) for term, column in columns.items() if abs(found.x[column]) >= LEAST}


def measure_curve(weights: dict[str, float], questions: Sequence[AskedQuestion]) -> float:
    """Return the area under the ROC curve: how often a question for a constant scores above another."""
    scores = np.array([sum(weights.get(term, 0.0) for term in dict.fromkeys(list_terms(each))) for each in questions])
    is_constant = np.array([each.is_constant for each in questions])
    return float(stats.mannwhitneyu(scores[is_constant], scores[~is_constant]).statistic) / (
        int(is_constant.sum()) * int((~is_constant).sum())
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", default="", help="packages that are left out and judged, with commas between")
    without = parser.parse_args().without.split(",")
    questions = list(read_asked_questions())
    judged = [each for each in questions if each.package in without]
    weights = learn_kinds([each for each in questions if each.package not in without])
    if judged:
        print(f"area under the curve on {len(judged)} questions: {measure_curve(weights, judged):.3f}")
    else:
        write_term_weights(weights, WEIGHTS / FILE)


if __name__ == "__main__":
    main()
