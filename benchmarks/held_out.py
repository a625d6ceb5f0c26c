"""Run plain questions on packages not used for training or tuning, and questions about code outside functions.

    python benchmarks/held_out.py [--data FOLDER] [--cache FOLDER] [--encoder static]

Three sets, twenty or ten questions per package, written with their answers before any was asked: on seven held-out
packages (four of five questions are about functions, the others about constants, fields, classes and modules), on
constants, settings, enums and fields of three packages, and on six packages in everyday words, which avoid the words
of the code. The product runs with its defaults except for the number of hits; the baseline is the cosine alone, and
functions are also reordered by minilm where it is installed. A block counts as its function.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from measure import Figures, make_parser, open_folder, read_options, run_pkg, write_result
from packages import DECLARED, EVERYDAY, HELD_OUT, Package, fetch_package

from pkg.api import Graph, open_graph
from pkg.encode.registry import KINDS
from pkg.lab.evaluation.retrieval.rank_scores import find_interval
from pkg.model import Hit, Label

DATA = Path(__file__).with_name("data")
SETS = {"held_out_questions": HELD_OUT, "declaration_questions": DECLARED, "everyday_questions": EVERYDAY}
FIRST = 5  # hits examined
SYSTEMS: dict[str, Callable[[Graph, str], tuple[Hit, ...]]] = {
    "blocks": lambda graph, text: graph.query(text, top_k=FIRST, prune="none", hops=0).hits,
    "functions": lambda graph, text: graph.query(text, mode="function", top_k=FIRST, prune="none", hops=0).hits,
    "declarations": lambda graph, text: graph.query(text, mode="declaration", top_k=FIRST, hops=0).hits,
    "cosine alone": lambda graph, text: graph.query(text, mode="function", ranking="dense", top_k=FIRST, hops=0).hits,
}
if not KINDS["minilm"].list_missing():
    SYSTEMS["functions, reordered by minilm"] = lambda graph, text: (
        graph.query(text, mode="function", top_k=FIRST, prune="none", hops=0, rerank_hits="minilm").hits
    )
Ranks: TypeAlias = dict[str, list[int]]  # of the first right hit for each question, by system; 0 without one


def name_place(hit: Hit) -> str:
    """Return the place of a hit as answers spell it: a path, with the qualified name of all but a module."""
    return hit.path if hit.label == Label.MODULE.value else f"{hit.path}::{hit.qualname}"


def ask_package(package: Package, rows: Iterable[dict[str, object]], encoder: str, cache: Path, work: Path) -> Ranks:
    """Build the graph of a package and ask every system its questions."""
    store = f"sqlite:///{work / package.name}.db"
    run_pkg(["build", str(fetch_package(package, cache)), "--store", store, "--encoder", encoder], work)
    ranks: Ranks = {name: [] for name in SYSTEMS}
    with open_graph(store) as graph:
        for row in rows:
            for name, ask in SYSTEMS.items():
                places = [name_place(hit) for hit in ask(graph, str(row["text"]))]
                ranks[name].append(next((n for n, place in enumerate(places, 1) if place in row["gold"]), 0))  # type: ignore[operator]
    return ranks


def describe(of_packages: dict[str, Ranks]) -> Figures:
    """Return the shares of right first hits and first fives, by package and overall, with standard deviations."""
    return {
        name: _describe_system({package: ranks[name] for package, ranks in of_packages.items()}) for name in SYSTEMS
    }


def _describe_system(ranks: dict[str, list[int]]) -> Figures:
    every = [rank for each in ranks.values() for rank in each]
    fives = [_share(each, FIRST) for each in ranks.values()]
    return {
        "questions": len(every),
        "first": _share(every, 1),
        "first_five": _share(every, FIRST),
        "first_five_95%": [round(bound, 3) for bound in find_interval([float(0 < rank <= FIRST) for rank in every])],
        "first_five_spread_over_packages": round(statistics.stdev(fives), 3),
        "packages": {
            name: {"first": _share(each, 1), "first_five": _share(each, FIRST)} for name, each in ranks.items()
        },
    }


def _share(ranks: list[int], depth: int) -> float:
    return round(sum(0 < rank <= depth for rank in ranks) / len(ranks), 3)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--encoder", default="static", help="encoder of the graphs; default: static")
    options = read_options(parser)
    figures: Figures = {"encoder": options.encoder}
    with open_folder(options.cache) as (cache, work):
        for name, packages in SETS.items():
            rows = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
            asked = {p.name: ask_package(p, rows[p.name], options.encoder, cache, work) for p in packages}
            figures[name] = describe(asked)
    write_result(
        "held_out" if options.encoder == "static" else f"held_out-{options.encoder.partition(':')[0]}", figures
    )


if __name__ == "__main__":
    main()
