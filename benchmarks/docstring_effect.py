"""Measure the effect of written docstrings on finding functions: people's docstrings are removed and used as questions.

    python benchmarks/docstring_effect.py [--cache FOLDER] [--model MODEL ...] [--questions 1000]
        [--package networkx|requests] [--written FOLDER]

All docstrings are removed from a copy of a package: networkx, or requests, which is small enough for a small model on a
CPU. With --written, written docstrings are kept in FOLDER and reused. A question is the first paragraph of a docstring,
and the answer its function. Measured are the bare graph, then docstrings of the template, and of each named model; the
figures with people's docstrings in place are the upper bound. Hits count up to rank ten. Functions whose code or first
paragraph is not unique are not asked for.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import Figures, make_parser, open_folder, run_pkg, write_result
from packages import NETWORKX, REQUESTS, Package, unpack_package
from question_sets import take_lowest

from pkg.api import Graph, Listener, enhance_graph, open_graph, remove_docstrings
from pkg.extract.python import extract_unit
from pkg.extract.recipe.docstring_removal import is_question, summarise_docstring
from pkg.model import Function, Label, Status
from pkg.retrieval.query_options import RankingMethod

DEPTH = 10
PACKAGES = {each.name: each for each in (NETWORKX, REQUESTS)}
RANKINGS: tuple[RankingMethod, ...] = ("linear", "dense")


@dataclass(frozen=True, slots=True)
class Asked:
    """The first paragraph of a docstring, and the place of its function."""

    text: str
    path: str
    qualname: str


def strip_file(path: str, text: bytes) -> tuple[bytes, list[Asked]]:
    """Remove the docstrings from the functions of a file; a function with no other statement keeps its own."""
    code = extract_unit(text, with_summary=False)
    bodies = {block.function: block.span.start for block in code.blocks if block.kind == "body"}
    pieces, done, asked = [], 0, []
    for number, each in enumerate(code.definitions):
        if isinstance(each, Function) and each.docstring is not None and number in bodies:
            pieces.append(text[done : each.docstring.start])
            done = bodies[number]
            asked.append(Asked(summarise_docstring(text, each), path, each.qualname))
    stripped = b"".join((*pieces, text[done:]))
    is_whole = code.status is Status.OK and extract_unit(stripped, with_summary=False).status is Status.OK
    return (stripped, asked) if is_whole else (text, [])


def strip_tree(tree: Path) -> list[Asked]:
    """Remove the docstrings from all files of a folder; return the possible questions."""
    found: list[Asked] = []
    for file in sorted(tree.rglob("*.py")):
        stripped, asked = strip_file(file.relative_to(tree).as_posix(), file.read_bytes())
        file.write_bytes(stripped)
        found += asked
    return found


def choose_questions(asked: Sequence[Asked], graph: Graph, count: int) -> list[Asked]:
    """Choose questions by hash, among those that identify a single function."""
    functions = list(graph.store.nodes([Label.FUNCTION]))
    codes = Counter(node.content_hash for node in functions)
    places = Counter((node.path, node.qualname) for node in functions if codes[node.content_hash] == 1)
    texts = Counter(each.text for each in asked)
    fit = [each for each in asked if texts[each.text] == 1 and places[each.path, each.qualname] == 1]
    chosen = set(take_lowest([each.text for each in fit if is_question(each.text)], count, "questions"))
    return [each for each in fit if each.text in chosen]


def measure_graph(address: str, questions: Sequence[Asked]) -> Figures:
    """Run all questions on a graph, with each ranking."""
    with open_graph(address) as graph:
        return {ranking: measure_ranks(list(find_ranks(graph, questions, ranking))) for ranking in RANKINGS}


def find_ranks(graph: Graph, questions: Sequence[Asked], ranking: RankingMethod) -> Iterator[int]:
    """Yield the rank of each answer; 0 if it is not among the first."""
    for each in questions:
        hits = graph.query(each.text, mode="function", top_k=DEPTH, ranking=ranking, budget=0, prune=False, hops=0).hits
        wanted = each.path, each.qualname
        yield next((hit.rank for hit in hits if (hit.path, hit.qualname) == wanted), 0)


def measure_ranks(ranks: Sequence[int]) -> Figures:
    """Sum up ranks: their mean reciprocal, and how many are first and among the ten."""
    return {
        "MRR@10": round(sum(1 / rank for rank in ranks if rank) / len(ranks), 4),
        "first": round(sum(rank == 1 for rank in ranks) / len(ranks), 4),
        "among 10": round(sum(rank > 0 for rank in ranks) / len(ranks), 4),
    }


def enhance(address: str, model: str) -> Figures:
    """Write and store docstrings; return the cost."""
    start, busy = time.perf_counter(), time.process_time()
    (report,) = enhance_graph(model, store=address, listener=Listener(agree=lambda text: True))
    return {
        "written": report.written,
        "functions": report.functions,
        "failed": len(report.failed),
        "prompt": report.prompt,
        "CPU seconds": round(time.process_time() - busy, 2),
        "seconds": round(time.perf_counter() - start, 1),
        "prompt tokens": report.usage.prompt_tokens,
        "completion tokens": report.usage.completion_tokens,
    }


def measure(package: Package, cache: Path, work: Path, models: Sequence[str], count: int) -> Figures:
    """Build the graphs, with people's docstrings and without any, and enhance the second."""
    human, bare = (f"sqlite:///{work / name}.db" for name in ("human", "bare"))
    tree = unpack_package(package, cache, work)
    run_pkg(["build", str(tree), "--store", human], work)
    asked = strip_tree(tree)
    run_pkg(["build", str(tree), "--store", bare], work)
    with open_graph(bare) as graph:
        questions = choose_questions(asked, graph, count)
    found = {"human": measure_graph(human, questions), "none": measure_graph(bare, questions)}
    written: Figures = {}
    for model in models:
        name = model.rpartition("/")[2]  # of a model file only the name, not its folder
        written[name] = enhance(bare, model)
        found[name] = measure_graph(bare, questions)
        remove_docstrings(model, store=bare)
    return {
        "package": f"{package.name} {package.version}",
        "docstrings taken out": len(asked),
        "questions": len(questions),
        "written": written,
        "found": found,
    }


def main() -> None:
    """Measure and write the figures."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", action="append", default=[], help="a text model that writes too; may be repeated")
    parser.add_argument("--questions", type=int, default=1000, help="questions at most; default: 1000")
    parser.add_argument("--package", choices=PACKAGES, default=NETWORKX.name)
    parser.add_argument("--written", type=Path, help="folder that keeps what was written; default: a temporary one")
    options = parser.parse_args()
    package = PACKAGES[options.package]
    with open_folder(options.cache) as (cache, work):
        os.environ["XDG_CACHE_HOME"] = str(
            options.written or work
        )  # docstrings of an older version would distort the figures
        figures = measure(package, cache, work, ["template", *options.model], options.questions)
    write_result("docstring_effect" if package is NETWORKX else f"docstring_effect_{package.name}", figures)
    for name, rankings in figures["found"].items():
        print(name, rankings)


if __name__ == "__main__":
    main()
