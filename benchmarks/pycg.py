"""Resolve the calls of the PyCG micro-benchmark and compare them with its ground truth, by category (A-12).

    python benchmarks/pycg.py --data FOLDER

All 112 cases are run. An edge is a pair of a caller and a callee; those found with confidence certain or likely count,
`possible` ones are counted separately. Calls of builtins and of methods of builtin types, which the ground truth also
lists, are compared by its names for them. `inside` excludes them: the graph has edges only between functions of the
repository. Every wrong or missing edge is listed by case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from measure import Figures, make_parser, read_options, write_result
from shared_data import PYCG, find_files, read_rows

from pkg.extract.python import extract_unit
from pkg.extract.summary.operations import LAMBDA, SITE_DEFINITION
from pkg.local_errors import LocalErrors
from pkg.model import POSSIBLE
from pkg.resolution.machine import Machine
from pkg.resolution.program import Code, Program
from pkg.resolution.site_outcomes import External, settle
from pkg.units import describe_code

PRECISION, RECALL = 0.98, 0.90

Pair = tuple[str, str]


@dataclass(slots=True)
class Score:
    """Right, wrong and missing edges."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def add(self, case: str, found: set[Pair], truth: set[Pair]) -> None:
        """Compare the edges of one case."""
        self.right += len(found & truth)
        self.wrong += [f"{case}: {caller} -> {callee}" for caller, callee in sorted(found - truth)]
        self.missing += [f"{case}: {caller} -> {callee}" for caller, callee in sorted(truth - found)]

    def describe(self, is_whole: bool = False) -> Figures:
        """Return precision and recall with their targets, and each fault if the score covers everything."""
        figures: Figures = {
            "precision": {"value": _divide(self.right, self.right + len(self.wrong)), "target": PRECISION},
            "recall": {"value": _divide(self.right, self.right + len(self.missing)), "target": RECALL},
            "edges": self.right + len(self.missing),
        }
        return figures | {"wrong": self.wrong, "missing": self.missing} if is_whole else figures


def _divide(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def find_edges(files: dict[str, str]) -> tuple[set[Pair], set[Pair]]:
    """Resolve a case: the edges that are certain or likely, and those that are only possible."""
    units = {path: describe_code("case", path, extract_unit(text.encode())) for path, text in sorted(files.items())}
    machine = Machine(Program(units, "", LocalErrors()))
    machine.solve()
    sure: set[Pair] = set()
    guessed: set[Pair] = set()
    for module in machine.program.modules.values():
        for code in module.codes:
            for site, found in code.outcomes.items():
                targets, _ = settle(found, code.summary.find_kind(site) == SITE_DEFINITION)
                for target in targets:
                    if target.code.class_info is None:  # creating an object counts as a call of its constructor
                        pair = _name_code(code), _name_code(target.code)
                        (guessed if target.confidence == POSSIBLE else sure).add(pair)
                for outcome in found:
                    if isinstance(outcome, External):
                        sure.add((_name_code(code), _name_library(outcome.name)))
    return sure, guessed - sure


def _name_code(code: Code) -> str:
    """Return the module and qualified name of code; a lambda has its number within the enclosing code."""
    parts: list[str] = []
    each: Code | None = code
    while each is not None and each.parent is not None:
        if each.summary.kind == LAMBDA:
            lambdas = [o for o in each.module.codes if o.summary.kind == LAMBDA and o.parent is each.parent]
            parts.append(f"<lambda{lambdas.index(each) + 1}>")
        elif parts or each.class_info is None:
            parts.append(each.name)
        each = each.parent
    module = code.module.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return ".".join([module, *reversed(parts)])


def _name_library(name: str) -> str:
    method = re.fullmatch(r"builtins\.(str|dict|list|tuple|set|int)\(\)\.(\w+)", name)
    if method:
        return f"<**Py{method[1].capitalize()}**>.{method[2]}"
    return name.replace("builtins.", "<builtin>.", 1)


def read_truth(row: dict[str, Any]) -> set[Pair]:
    """Read the edges of a case."""
    return {(caller, callee) for caller, callees in row["expected"].items() for callee in callees}


def main() -> None:
    options = read_options(make_parser(__doc__))
    whole, inside = Score(), Score()
    categories: dict[str, Score] = {}
    inner: dict[str, Score] = {}
    guessed: Counter[str] = Counter()
    for row in _read_cases(options.data):
        (found, possible), truth = find_edges(row["files"]), read_truth(row)
        for score in (whole, categories.setdefault(row["category"], Score())):
            score.add(row["id"], found, truth)
        for score in (inside, inner.setdefault(row["category"], Score())):
            score.add(row["id"], set(filter(_is_inside, found)), set(filter(_is_inside, truth)))
        guessed["right"] += len(possible & truth - found)
        guessed["wrong"] += len(possible - truth)
    figures = {
        "cases": sum(1 for _ in _read_cases(options.data)),
        "all": whole.describe(is_whole=True),
        "inside": inside.describe(),
        "possible_edges": dict(guessed),
        "categories": {name: score.describe() for name, score in sorted(categories.items())},
        "categories_inside": {name: score.describe() for name, score in sorted(inner.items())},
    }
    write_result("pycg", figures)


def _is_inside(pair: Pair) -> bool:
    return not pair[1].startswith("<") and not pair[1].startswith("builtins")


def _read_cases(data: Any) -> Iterator[dict[str, Any]]:
    (path,) = find_files(data, PYCG)
    return read_rows(path)


if __name__ == "__main__":
    main()
