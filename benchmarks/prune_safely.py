"""Measure what pruning breaks and saves, by the safe rule and by the papers': docstrings as questions.

    python benchmarks/prune_safely.py --data FOLDER [--cache FOLDER] [--questions 300] [--encoder NAME]

The first lines of docstrings of two packages not used for tuning are asked in both modes, and the first hits are pruned
by each rule. Breakage is judged by broken_code, which is independent of the rules. The reference solutions of HumanEval
are pruned for their own prompts, and their hidden tests run in the sandbox. The safe rule may break nothing.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from broken_code import count_cut_statements, find_breakage
from hidden_tests import judge_all, read_forms
from measure import Figures, make_parser, open_folder, read_options, run_pkg, write_result
from packages import NETWORKX, Package, fetch_package

from pkg.api import Graph, open_graph
from pkg.lab.evaluation.code.benchmarks import Item
from pkg.model import Hit, Label, Node
from pkg.retrieval.query_options import Mode, PruneChoice
from pkg.retrieval.token_count import count_tokens
from pkg.sandbox import open_sandbox
from pkg.units import find_owner

PYPDF = Package("pypdf", "7.1.1", "04c5680d4b4cfa04ab505b09393fc949860c34a4dad6565284d11a2f5c3ce8b1")
HITS = 3  # per question
RULES: tuple[PruneChoice, ...] = ("safe", "paper")
MODES: tuple[Mode, ...] = ("function", "block")
FEWEST_WORDS = 3  # of a question


@dataclass(slots=True)
class Tally:
    """Effects of pruning on the hits of many questions."""

    counts: Counter[str] = field(default_factory=Counter)
    gains: list[float] = field(default_factory=list)
    statements: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def measure_package(package: Package, cache: Path, work: Path, count: int, encoder: str) -> Figures:
    """Run the docstrings of a package as questions, in both modes and by both rules."""
    address = f"sqlite:///{work / package.name}.db"
    run_pkg(["build", str(fetch_package(package, cache)), "--store", address, "--encoder", encoder], work)
    with open_graph(address) as graph:
        questions = _draw_questions(graph, count)
        return {
            mode: {rule: _describe(_measure_rule(graph, questions, mode, rule)) for rule in RULES} for mode in MODES
        }


def _draw_questions(graph: Graph, count: int) -> list[str]:
    """Draw distinct first lines of docstrings."""
    lines = (line.get("docstring") for line in graph.export() if line.get("label") == Label.FUNCTION.value)
    firsts = sorted({text.strip().splitlines()[0].strip() for text in lines if text and text.strip()})
    asked = [each for each in firsts if len(each.split()) >= FEWEST_WORDS]
    return random.Random(0).sample(asked, min(count, len(asked)))


def _measure_rule(graph: Graph, questions: list[str], mode: Mode, rule: PruneChoice) -> Tally:
    tally = Tally()
    for text in questions:
        hits = graph.query(text, mode=mode, top_k=HITS, prune=rule, budget=0, hops=0).hits
        tally.counts["questions"] += 1
        for hit in hits:
            _count_hit(graph, text, hit, tally)
    return tally


def _count_hit(graph: Graph, text: str, hit: Hit, tally: Tally) -> None:
    before, after = count_tokens(hit.content), count_tokens(hit.pruned_content)
    tally.counts += Counter(hits=1, tokens=before, tokens_left=after, pruned=bool(hit.pruned))
    if not hit.pruned:
        return
    tally.gains.append(hit.pruned[-1].score_after - hit.pruned[0].score_before)
    node, owner = _read_owner(graph, hit)
    margin = " " * owner.start_col
    cut = [(each.start_line - owner.start_line + 1, each.end_line - owner.start_line + 1) for each in hit.pruned]
    start = node.start - owner.start
    code = owner.content.encode()
    rest = code[:start] + hit.pruned_content.encode() + code[start + len(hit.content.encode()) :]
    whole, remaining = margin + owner.content, margin + rest.decode()
    found = find_breakage(whole, remaining, cut)
    if found is None:
        tally.counts["not_of_this_python"] += 1
        return
    faults = {
        "names_undefined": bool(found.undefined),
        "chains_broken": bool(found.chains),
        "returns_lost": found.exits_lost > 0,
        "only_loops_lost": found.loops_lost,
    }
    tally.counts += Counter({name: int(is_so) for name, is_so in faults.items()})
    tally.counts["broken"] += any(faults.values())
    tally.statements += count_cut_statements(whole, cut)
    if any(faults.values()):
        tally.examples.append(f"{hit.path}:{hit.start_line} {hit.qualname} cut {cut} [{text[:60]}]: {found}")


def _read_owner(graph: Graph, hit: Hit) -> tuple[Node, Node]:
    """Return the node of a hit, and the function that it is or belongs to."""
    (node,) = graph.store.get([hit.id])
    (owner,) = graph.store.get([find_owner(node.id, node.label, node.name)])
    return node, owner


def _describe(tally: Tally) -> Figures:
    counts = tally.counts
    saved = counts["tokens"] - counts["tokens_left"]
    named = ("questions", "hits", "pruned", "not_of_this_python", "broken")
    faults = ("names_undefined", "chains_broken", "returns_lost", "only_loops_lost")
    return {
        **{name: counts[name] for name in (*named, *faults)},
        "tokens_saved": saved,
        "share_of_tokens_saved": round(saved / max(counts["tokens"], 1), 4),
        "cosine_gained": round(statistics.mean(tally.gains), 4) if tally.gains else 0.0,
        "statements_cut": dict(tally.statements.most_common()),
        "examples": tally.examples[:5],
    }


def measure_solutions(data: Path, work: Path, encoder: str) -> Figures:
    """Prune the reference solutions of HumanEval for their own prompts, and run their hidden tests."""
    problems = read_forms(data, "humaneval")
    folder, address = work / "humaneval", f"sqlite:///{work}/humaneval.db"
    folder.mkdir()
    for number, problem in enumerate(problems):
        (folder / f"p{number:03}.py").write_text(problem.reference, encoding="utf-8")
    run_pkg(["build", str(folder), "--store", address, "--encoder", encoder], work)
    figures: dict[str, Any] = {"problems": len(problems)}
    with open_graph(address) as graph, open_sandbox("process") as sandbox:
        for rule in RULES:
            pruned = list(_prune_solutions(graph, problems, rule))
            passed = judge_all(sandbox, pruned)
            figures[rule] = {"pruned": len(pruned), "still_pass": sum(passed), "fail": len(passed) - sum(passed)}
    return figures


def _prune_solutions(graph: Graph, problems: list[Item], rule: PruneChoice) -> Iterator[tuple[str, Item]]:
    """Yield each solution that pruning changes, in its pruned form."""
    for number, problem in enumerate(problems):
        path = f"p{number:03}.py"
        ask = partial(graph.query, problem.query, path=path, prune=rule, budget=0, hops=0)
        for hit in (hit for mode in MODES for hit in ask(mode=mode, top_k=HITS).hits if hit.pruned):
            (node,) = graph.store.get([hit.id])
            code = problem.reference.encode()
            assert code[node.start : node.end] == hit.content.encode(), "the file holds the solution alone"
            yield (code[: node.start] + hit.pruned_content.encode() + code[node.end :]).decode(), problem


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--questions", type=int, default=300, help="questions of each package; default: 300")
    parser.add_argument("--encoder", default="static", help="encoder of the graphs; default: static")
    options = read_options(parser)
    with open_folder(options.cache) as (cache, work):
        figures: Figures = {
            package.name: measure_package(package, cache, work, options.questions, options.encoder)
            for package in (NETWORKX, PYPDF)
        }
        figures["humaneval"] = measure_solutions(options.data, work, options.encoder)
    broken = sum(figures[name][mode]["safe"]["broken"] for name in ("networkx", "pypdf") for mode in MODES)
    broken += figures["humaneval"]["safe"]["fail"]
    figures["broken_by_the_safe_rule"] = {"value": broken, "target": 0}
    suffix = "" if options.encoder == "static" else f"_{options.encoder}"
    write_result(f"prune_safely{suffix}", {"hits_a_question": HITS, **figures})
    if broken:
        sys.exit(f"the safe rule broke {broken} texts; the examples stand in the result file")


if __name__ == "__main__":
    main()
