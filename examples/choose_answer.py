"""Choose the best of several answers to one question, each in a file of its own.

    python examples/choose_answer.py "Write a function. double(2) returns 4" first.py second.py

The answers run in a sandbox; the examples that the question shows decide most.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pkg


def main(question: str, *files: str) -> None:
    """Print the files, the best one first, each with the objections to it."""
    answers = [{"id": file, "text": Path(file).read_text(encoding="utf-8")} for file in files]
    ranking = pkg.rank_candidates(question, answers)
    found = {each.id: each for each in ranking.candidates}
    for name in ranking.order:
        reasons = [f"{verdict.stage}: {verdict.reason}" for verdict in found[name].verdicts if not verdict.passed]
        print("  ".join([f"{found[name].rank}. {name}", *reasons]))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("a question and at least one file expected: QUESTION FILE...")
    try:
        main(*sys.argv[1:])
    except pkg.PkgError as fault:
        sys.exit(str(fault))
