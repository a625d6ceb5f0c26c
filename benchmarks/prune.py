"""Check pruning on 1,000 functions each of django and spyder: it parses, the score never falls, cuts are recorded.

    python benchmarks/prune.py --data FOLDER [--cache FOLDER] [--functions 1000] [--seed 0]

Every sampled function and its body block is pruned for 5 random questions, docstrings of other functions and MBPP
texts, by the papers' rule and by the safe one. The cuts are checked against the nodes of the graph independently: the
syntax tree of the pruned text must be that of the whole text without the cut statements. Cuts of the safe rule must
appear as folds in the text. Failures are listed by name, and the exit code is 1.
"""

from __future__ import annotations

import ast
import random
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure import Figures, make_parser, open_folder, read_options, run_pkg, summarise, write_result
from packages import DJANGO, SPYDER, Package, fetch_package
from shared_data import read_questions

from pkg.api import Graph, open_graph
from pkg.encode.encoder import Encoder, Vectors
from pkg.encode.headings import make_heading
from pkg.encode.registry import load_encoder
from pkg.errors import QueryError
from pkg.model import Hit, Label, Node
from pkg.retrieval.hits import HitOpener, read_hits
from pkg.retrieval.query import encode_question
from pkg.retrieval.query_options import PruneChoice, QueryOptions
from pkg.retrieval.ranking import Ranked

QUESTIONS = 5  # for each function
ROUNDING = 1e-5  # of float32 sums
RULES: tuple[PruneChoice, ...] = ("paper", "safe")
FOLD = re.compile(r"^[ \t]*# \.\.\. lines (\d+)-(\d+) folded(?:\r?\n|\Z)", re.MULTILINE)


@dataclass(slots=True)
class Tally:
    """Counts of pruned texts, and every fault by name."""

    counts: Counter[str] = field(default_factory=Counter)
    gains: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def check_package(package: Package, questions: list[str], cache: Path, work: Path, count: int, seed: int) -> Tally:
    """Build the graph of a package and prune a sample of its functions."""
    address = f"sqlite:///{work / package.name}.db"
    run_pkg(["build", str(fetch_package(package, cache)), "--store", address], work)
    dice, tally = random.Random(seed), Tally()
    with open_graph(address) as graph:
        functions, docstrings = _list_functions(graph)
        encoder = load_encoder(graph.store.encoder()[0])
        sample = dice.sample(functions, min(count, len(functions)))
        for node_id in sample:
            pool = [text for owner, text in docstrings if owner != node_id]
            asked = list(_draw_questions(encoder, dice, pool + questions))
            for node in _list_texts(graph, node_id):
                tally.counts["texts"] += 1
                tally.counts["texts_not_of_this_python"] += _parse(node.content, node.start_col) is None
                for text, query in asked:
                    for rule in RULES:
                        _check_one(graph, encoder, node, text, query, rule, tally)
        tally.counts["functions"] = len(sample)
    return tally


def _list_functions(graph: Graph) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the ids of all functions, and the docstrings with the ids of their functions."""
    functions: list[str] = []
    docstrings: list[tuple[str, str]] = []
    for line in graph.export():
        if line.get("label") == Label.FUNCTION.value:
            functions.append(line["id"])
            if line.get("docstring"):
                docstrings.append((line["id"], line["docstring"]))
    return functions, docstrings


def _list_texts(graph: Graph, node_id: str) -> list[Node]:
    """Return the nodes that the two modes would prune: the function, and its body block (A-05)."""
    bodies = [node for node in graph.store.subtree(node_id) if node.kind == "body" and node.label is Label.BLOCK]
    return graph.store.get([node_id]) + bodies[:1]


def _draw_questions(encoder: Encoder, dice: random.Random, pool: list[str]) -> Iterator[tuple[str, Vectors]]:
    """Draw questions until enough of them contain a word known to the encoder."""
    found = 0
    while found < QUESTIONS:
        text = dice.choice(pool)
        try:
            yield text, encode_question(encoder, text)
        except QueryError:
            continue
        found += 1


def _check_one(
    graph: Graph, encoder: Encoder, node: Node, text: str, query: Vectors, rule: PruneChoice, tally: Tally
) -> None:
    """Prune one text for one question by one rule, and record every violation."""
    headings = [make_heading(node.path, node.qualname)]
    score = float(encoder.encode([node.content.encode()], headings)[0] @ query)
    start = time.process_time()
    read = next(read_hits(graph.store, [Ranked(node.id, score, score, node.content_hash, slope=1)]))
    opened = HitOpener(graph.store, encoder, query, QueryOptions(prune=rule)).open(read)
    tally.milliseconds.append((time.process_time() - start) * 1000)
    hit = opened.hit
    tally.counts["prunings"] += 1
    tally.counts[f"with_a_cut_{rule}"] += bool(hit.pruned)
    tally.counts[f"refusals_{rule}"] += sum(" kept: " in line for line in opened.explain)
    if hit.pruned and rule == "paper":
        tally.gains.append(hit.score_pruned - hit.score)
    scored = _drop_folds(hit) if rule == "safe" else hit.pruned_content
    after = float(encoder.encode([scored.encode()], headings)[0] @ query)
    faults = (*_find_faults(graph, node, hit, after), *(_find_fold_faults(hit) if rule == "safe" else ()))
    for fault in faults:
        tally.faults.append(
            f"{node.source}: {node.path}:{node.start_line} {node.qualname} [{text[:60]!r}] {rule}: {fault}"
        )


def _find_faults(graph: Graph, node: Node, hit: Hit, after: float) -> Iterator[str]:
    """Yield the rules of pruning (P-18, A-04) that a hit violates."""
    if hit.score_pruned < hit.score or any(cut.score_after < cut.score_before for cut in hit.pruned):
        yield f"the score fell from {hit.score} to {hit.score_pruned}"
    if abs(hit.score_pruned - after) > ROUNDING:
        yield f"the score after pruning is told as {hit.score_pruned}, and is {after}"
    if bool(hit.pruned) != (hit.pruned_content != hit.content):
        yield f"{len(hit.pruned)} cuts are listed, and the text has {'not ' * bool(hit.pruned)}changed"
    whole = _parse(hit.content, node.start_col)
    if whole is None:
        return  # such as Python 2: the whole does not parse either
    pruned = _parse(hit.pruned_content, node.start_col)
    if pruned is None:
        yield "the pruned text does not parse"
        return
    blocks = graph.store.get([cut.block_id for cut in hit.pruned])
    for cut, block in zip(hit.pruned, blocks, strict=True):
        if (cut.start_line, cut.end_line, cut.kind) != (block.start_line, block.end_line, block.kind):
            yield f"the cut of lines {cut.start_line}-{cut.end_line} is not block {block.path}:{block.start_line}"
    if _outline(_parse(_fill_gaps(node, blocks), node.start_col)) != _outline(pruned):
        yield "the pruned text is not the whole text without the cut statements"


def _drop_folds(hit: Hit) -> str:
    """Remove the folds; the first line of a text has lost its margin, and so must a line that replaces it."""
    text = FOLD.sub("", hit.pruned_content)
    return text.lstrip(" \t\r\n") if FOLD.match(hit.pruned_content) else text.rstrip() if hit.pruned else text


def _find_fold_faults(hit: Hit) -> Iterator[str]:
    """Yield the cuts without a fold, and the folds without a cut."""
    folds = [(int(first), int(last)) for first, last in FOLD.findall(hit.pruned_content)]
    if folds != [(cut.start_line, cut.end_line) for cut in hit.pruned]:
        yield f"the folds are {folds}"


def _fill_gaps(node: Node, blocks: list[Node]) -> str:
    """Replace each cut block by `pass`."""
    text = node.content.encode()
    for block in sorted(blocks, key=lambda block: -block.start):
        text = text[: block.start - node.start] + b"pass" + text[block.end - node.start :]
    return text.decode()


def _parse(text: str, column: int) -> ast.Module | None:
    """Parse a text that began at a column; tabs before it are tried if spaces do not fit."""
    heads = (" " * column, "\t" * column) if column else ("",)
    for head in heads:
        try:
            return ast.parse(f"if 1:\n{head}{text}" if column else text)
        except (SyntaxError, ValueError):
            continue
    return None


def _outline(tree: ast.Module | None) -> str | None:
    """Dump a syntax tree without positions and without `pass`, which may fill a gap."""
    if tree is None:
        return None
    for node in ast.walk(tree):
        for name, suite in ast.iter_fields(node):
            if isinstance(suite, list):
                setattr(node, name, [each for each in suite if not isinstance(each, ast.Pass)])
    return ast.dump(tree)


def _describe(tally: Tally) -> Figures:
    counts: dict[str, Any] = dict(sorted(tally.counts.items()))
    return counts | {
        "gain_of_a_cut": summarise(tally.gains),
        "cpu_ms": summarise(tally.milliseconds),
        "failures": {"value": len(tally.faults), "target": 0},
        "failed": tally.faults,
    }


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--functions", type=int, default=1000, help="functions of each package; default: 1000")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample; default: 0")
    options = read_options(parser)
    warnings.simplefilter("ignore")  # invalid escapes in the packages' own code
    questions = read_questions(options.data)[-974:]  # MBPP
    with open_folder(options.cache) as (cache, work):
        tallies = {
            package.name: check_package(package, questions, cache, work, options.functions, options.seed)
            for package in (DJANGO, SPYDER)
        }
    figures = {name: _describe(tally) for name, tally in tallies.items()}
    write_result("prune", {"seed": options.seed, "questions_a_function": QUESTIONS, **figures})
    faults = [fault for tally in tallies.values() for fault in tally.faults]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
