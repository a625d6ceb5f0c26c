"""Measure how well an issue leads to the files and functions edited for it: 65 issues of SWE-bench Lite.

    python benchmarks/localise.py --data FOLDER [--cache FOLDER] [--repositories FOLDER] [--set training] [--only NAME]

Each issue, unchanged, is asked of the graph of its repository at the commit before the edit, tests included. An answer
is right at k if everything edited is among the first k. Nothing is tuned on these issues; tuning uses those of
SWE-bench Verified that are not in Lite (--set training).
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from localise_data import Instance, Repositories, read_development, read_training
from localise_graphs import build_graphs, place_graph
from measure import Figures, make_parser, open_folder, read_options, write_result

from pkg.api import Graph, open_graph
from pkg.encode.registry import load_encoder
from pkg.model import NodeFilter
from pkg.retrieval.file_ranking import find_files
from pkg.retrieval.long.long_search import encode_parts
from pkg.retrieval.query import encode_question
from pkg.retrieval.question import parse_question
from pkg.retrieval.search import Found, find_nodes

DEPTH, FILES = 10, 5  # requested functions and files
TARGETS = {"file@1": 0.60, "file@5": 0.84, "function@5": 0.52, "function@10": 0.60}


@dataclass(frozen=True, slots=True)
class Located:
    """Search results for one issue, best first, and the seconds they took."""

    files: tuple[str, ...]
    functions: tuple[str, ...]
    seconds: float

    def judge(self, instance: Instance) -> dict[str, bool]:
        """Return for each figure whether everything edited was found."""
        return {
            "file@1": {*instance.files} <= {*self.files[:1]},
            "file@5": {*instance.files} <= {*self.files[:5]},
            "function@5": {*instance.functions} <= {*self.functions[:5]},
            "function@10": {*instance.functions} <= {*self.functions[:10]},
        }


def locate(graph: Graph, text: str, *, is_whole: bool = False) -> Located:
    """Search for functions, then for files, as pkg query does; is_whole: take the text as one bag of words."""
    encoder, store, where = load_encoder(graph.store.encoder()[0]), graph.store, NodeFilter()
    start = time.perf_counter()
    question = parse_question(text)
    query, parts = encode_question(encoder, question.text), {} if is_whole else encode_parts(encoder, question)

    def find(mode: str, k: int) -> Found:
        return find_nodes(store, question, query, mode, k, where, "linear", parts)

    with store.snapshot():
        found = find("function", DEPTH)
        took = time.perf_counter() - start
        files, _ = find_files(store, lambda k: find("file", k), FILES)
    nodes = store.get([each.id for each in found.ranked])
    functions = tuple(dict.fromkeys(f"{node.path}:{node.qualname}" for node in nodes))
    return Located(tuple(hit.path for hit in files), functions, took)


def summarise_located(instances: Sequence[Instance], located: Sequence[Located]) -> Figures:
    """Return the shares of right answers with their targets, and the seconds per question."""
    judged = [found.judge(instance) for instance, found in zip(instances, located, strict=True)]
    shares = {name: statistics.mean(each[name] for each in judged) for name in TARGETS}
    seconds = sorted(found.seconds for found in located)
    return {
        "questions": len(judged),
        **{name: {"value": round(share, 4), "target": TARGETS[name]} for name, share in shares.items()},
        "seconds": {"median": round(statistics.median(seconds), 4), "max": round(seconds[-1], 4)},
    }


def measure(instances: Sequence[Instance], repositories: Repositories, cache: Path) -> Figures:
    """Search for every issue once its graph is built: part by part, and as one bag of words for comparison."""
    asked, located, whole = [], [], []
    for instance in build_graphs(instances, repositories, cache):
        with open_graph(f"sqlite:///{place_graph(instance.commit, cache)}") as graph:
            whole.append(locate(graph, instance.text, is_whole=True))  # also opens the files of the graph
            located.append(locate(graph, instance.text))
        asked.append(instance)
    rows = list(zip(asked, located, strict=True))
    return {
        "parts": summarise_located(asked, located),
        "one bag of words": summarise_located(asked, whole),
        "repositories": {
            name: summarise_located(*zip(*(row for row in rows if row[0].repository == name), strict=True))
            for name in sorted({each.repository for each in asked})
        },
        "issues": {instance.id: found.judge(instance) for instance, found in rows},
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--repositories", type=Path, help="folder of bare clones, owner+name; what lacks is cloned")
    parser.add_argument("--set", choices=("development", "training"), default="development")
    parser.add_argument("--only", help="repositories whose names hold this")
    options = read_options(parser)
    with open_folder(options.cache) as (cache, _):
        repositories = Repositories(options.repositories or cache / "repositories")
        instances = read_development(options.data, repositories)
        if options.set == "training":
            instances = read_training({each.repository for each in instances}, repositories)
        chosen = [each for each in instances if (options.only or "") in each.repository]
        if not chosen:
            sys.exit(f"no repository has '{options.only}' in its name; such as sphinx-doc/sphinx")
        write_result(
            "localise" if options.set == "development" else "localise_training", measure(chosen, repositories, cache)
        )


if __name__ == "__main__":
    main()
