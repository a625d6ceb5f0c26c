"""Resolve django as a build does: which calls are bound, reasons for the others, call places, and cost (A-12).

    python benchmarks/resolve.py --data FOLDER [--cache FOLDER] [--rounds 3] [--sample FILE]

`sites` are call sites; those that reach a builtin or another package are counted separately, the shares are of the
rest. `localisation` compares the pairs (file, last name of the callee) with those from the syntax trees of the standard
library. --sample writes 100 bound edges, drawn with a fixed seed, for a manual check.
"""

from __future__ import annotations

import ast
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from measure import Figures, make_parser, open_folder, read_line, read_options, run_pkg, summarise, write_result
from packages import DJANGO, unpack_package

from pkg.api import open_graph
from pkg.extract.python import extract_unit
from pkg.graph.store import GraphStore
from pkg.local_errors import LocalErrors
from pkg.model import Edge, Label, Node, RelationType
from pkg.resolution.machine import Machine
from pkg.resolution.program import Program
from pkg.resolution.site_links import LinkWriter
from pkg.units import UnitText, describe_code

FILES, CHANGED = (
    ("django/db/models/query.py", "django/http/request.py"),
    "\n\ndef added(values):\n    return list(values)\n",
)
WHOLE, MEMORY, UPDATE, UNCHANGED = 4.5, 250.0, 0.6, 0.15  # CPU seconds, megabytes
F1 = 0.96
SAMPLE, SEED = 100, 5


def measure_cost(tree: Path, work: Path, rounds: int) -> Figures:
    """Build everything, then nothing, then two files, and return the cost of each."""
    whole, memory, resolving, unchanged, updates = [], [], [], [], []
    for number in range(rounds):
        store = ["--store", f"sqlite:///{work / str(number)}.db", "--source", "django", "--json"]
        run = run_pkg(["build", str(tree), *store], work)
        whole.append(run.cpu)
        memory.append(run.memory)
        resolving.append(read_line(run)["stages"]["resolve"])
        unchanged.append(run_pkg(["build", str(tree), *store], work).cpu)
        kept = {name: (tree / name).read_text(encoding="utf-8") for name in FILES}
        for name, text in kept.items():
            (tree / name).write_text(text + CHANGED, encoding="utf-8")
        updates.append(run_pkg(["build", str(tree), *store], work).cpu)
        for name, text in kept.items():
            (tree / name).write_text(text, encoding="utf-8")
    return {
        "build_cpu_seconds": summarise(whole, WHOLE),
        "resolve_stage_cpu_seconds": summarise(resolving),
        "memory_mb": summarise(memory, MEMORY),
        "two_files_cpu_seconds": summarise(updates, UPDATE),
        "unchanged_cpu_seconds": summarise(unchanged, UNCHANGED),
    }


def read_units(tree: Path) -> list[UnitText]:
    """Extract the files of the package."""
    paths = sorted(path for path in tree.rglob("*.py"))
    return [describe_code("django", str(path.relative_to(tree)), extract_unit(path.read_bytes())) for path in paths]


def count_sites(units: list[UnitText]) -> Figures:
    """Count the call sites by result, unbound ones by reason, and the edges by rule."""
    machine = Machine(Program({unit.path: unit for unit in units}, "", LocalErrors()))
    machine.solve()
    writer = LinkWriter("django", machine)
    sites: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    for unit in units:
        links = writer.write(unit.path)
        sites.update(asdict(writer.counts[unit.path]))
        reasons.update(each.reason.partition(":")[0] for each in links.unbound)  # without the variable's name
        calls = (edge for edge in links.edges if edge.type is RelationType.CALLS)
        rules.update(f"{edge.confidence}: {edge.rule}" for edge in calls)
    inside = sum(sites.values()) - sites["external"]
    shares = {name: round(sites[name] / inside, 4) for name in ("bound", "possible", "unbound")}
    return {
        "call_sites": dict(sites),
        "shares_inside": shares,
        "unbound_by_reason": dict(reasons.most_common()),
        "edges_by_rule": dict(rules.most_common()),
    }


def compare_places(units: list[UnitText]) -> Figures:
    """Compare the places of calls with those that the standard library's parser finds."""
    found: set[tuple[str, str]] = set()
    truth: set[tuple[str, str]] = set()
    for unit in units:
        names = (call.expression.rpartition(".")[2] for call in extract_unit(unit.text).calls)
        found |= {(unit.path, name) for name in names if name.isidentifier()}
        truth |= {(unit.path, name) for name in _list_called(unit.text)}
    right = len(found & truth)
    precision, recall = right / len(found), right / len(truth)
    return {
        "pairs": len(truth),
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f1": {"value": round(2 * precision * recall / (precision + recall), 4), "target": F1},
    }


def _list_called(text: bytes) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id
            elif isinstance(node.func, ast.Attribute):
                yield node.func.attr


def write_sample(store: GraphStore, target: Path) -> None:
    """Write bound edges for a manual check: the caller, the line and text of the call, and the callee."""
    edges = [edge for edge in store.edges([RelationType.CALLS]) if edge.confidence != "possible"]
    nodes = {node.id: node for node in store.nodes([Label.FILE, Label.FUNCTION, Label.CLASS])}
    drawn = random.Random(SEED).sample(sorted(edges, key=_order), SAMPLE)
    target.write_text("".join(_render(edge, nodes) for edge in sorted(drawn, key=_order)), encoding="utf-8")


def _order(edge: Edge) -> tuple[str, str, int]:
    return edge.start, edge.end, edge.line or 0


def _render(edge: Edge, nodes: dict[str, Node]) -> str:
    start, end = nodes[edge.start], nodes[edge.end]
    caller = f"{start.path}:{edge.line} {start.qualname}"
    return f"{caller} -> {end.path}:{end.start_line} {end.qualname} ({edge.rule}, {edge.confidence})\n"


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each cost is taken; default: 3")
    parser.add_argument("--sample", type=Path, help="file for 100 bound edges to be checked by hand")
    options = read_options(parser)
    with open_folder(options.cache) as (cache, work):
        tree = unpack_package(DJANGO, cache, work / "tree")
        figures = {"package": f"{DJANGO.name} {DJANGO.version}"} | measure_cost(tree, work, options.rounds)
        units = read_units(tree)
        figures |= count_sites(units) | {"localisation": compare_places(units)}
        if options.sample:
            with open_graph(f"sqlite:///{work / '0'}.db") as graph:
                write_sample(graph.store, options.sample)
    write_result("resolve", figures)


if __name__ == "__main__":
    main()
