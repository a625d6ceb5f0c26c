"""Build a graph of a folder and ask it a question.

    python examples/ask.py FOLDER "parse a date from a string"

The graph is stored in the file ask.db of the current folder: the second question is answered at once.
"""

from __future__ import annotations

import sys

import pkg

STORE = "sqlite:///ask.db"


def main(folder: str, question: str) -> None:
    """Print the three best functions: their places, their callees, and their pruned code."""
    report = pkg.build_graph(folder, store=STORE)
    with pkg.open_graph(STORE) as graph:
        result = graph.query(question, mode="function", top_k=3, source=report.source)
    for hit in result.hits:
        print(f"{hit.path}:{hit.start_line} {hit.qualname}, score {hit.score_pruned:.3f}")
        for helper in hit.helpers:
            print(f"  calls {helper.path}:{helper.start_line} {helper.qualname}")
        print(hit.pruned_content, end="\n\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("two arguments expected: FOLDER QUESTION")
    try:
        main(*sys.argv[1:])
    except pkg.PkgError as fault:
        sys.exit(str(fault))
