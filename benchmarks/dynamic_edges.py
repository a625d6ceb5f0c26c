"""Compare the calls of a graph with those observed at run time, under the tests of twelve packages.

    python benchmarks/dynamic_edges.py [--cache FOLDER] [--packages NAMES] [--misses FILE]

A call is a pair of a function, or the code of a file, and a function, both of the package itself; trace_calls.py
defines what counts as one. Recall is the share of the observed pairs that the graph has: as certain or likely edges,
and including possible ones. Precision covers the edges whose caller has run the line of the call: the share of their
pairs that was observed, also through the standard library (contextlib), or through a nested function, as in
decorators. Unobserved edges to generators and coroutines are left out, since a function other than the caller may drive
them. A line that has run may contain a call that has not: the share is a lower bound.
`overall` covers the packages used while the resolver was written, `held_out` those that were added later and tuned
nothing. `rules` has the precision for each rule of an edge and its confidence; an edge counts once for each rule that
has a line of it.
`misses` counts the pairs without a certain or likely edge, by what the graph records for the caller: why a call there
is unbound, that the calls of the line lead elsewhere, or nothing. The traced pairs are cached, so that a second run
after a change of the resolver takes seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure import Figures, make_parser, open_folder, run_pkg, run_process, write_result
from packages import (
    CLICK,
    JINJA2,
    LARK,
    MARKDOWN,
    MARSHMALLOW,
    MISTUNE,
    PARSO,
    PLUGGY,
    PYPARSING,
    SQLPARSE,
    TINYDB,
    TOMLKIT,
    Package,
    unpack_package,
)

from pkg.model import CERTAIN, LIKELY, POSSIBLE

TRACER = Path(__file__).with_name("trace_calls.py")
RECALL, RECALL_POSSIBLE, PRECISION, PRECISION_LIKELY = 0.85, 0.92, 0.995, 0.75
SURE = (CERTAIN, LIKELY)

REQUIREMENTS = (
    "attrs==26.1.0", "idna==3.20", "iniconfig==2.3.1", "Jinja2==3.1.6", "MarkupSafe==3.0.4", "outcome==1.3.0.post0",
    "packaging==26.4", "pluggy==1.7.0", "Pygments==2.21.0", "pytest==9.2.0", "PyYAML==6.0.4",
    "railroad-diagrams==3.0.1", "simplejson==4.3.0", "sniffio==1.3.1", "sortedcontainers==2.4.0", "trio==0.35.0",
    "click==8.5.1",
)  # fmt: skip
"""Requirements of the tests; the packages' own code comes from their source distributions."""

Place = tuple[str, int]
"""The file of a function and its first line; 0 for the code of the file."""
Pair = tuple[Place, Place]
Rule = tuple[str, str]
"""The rule that produced an edge, and its confidence."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A package, the folder of its code in the source distribution, and the pytest arguments that run its tests."""

    package: Package
    folder: str
    tests: tuple[str, ...]
    is_held_out: bool = False


_REFUSED = "tests/test_syntax/extensions/test_md_in_html.py"  # fails on this version of pytest

TESTED = (
    Tested(PLUGGY, "src/pluggy", ("testing",)),
    Tested(JINJA2, "src/jinja2", ("tests",)),
    Tested(CLICK, "src/click", ("tests",)),
    Tested(MARSHMALLOW, "src/marshmallow", ("tests",)),
    Tested(PARSO, "parso", ("test",)),
    Tested(LARK, "lark", ("tests",)),
    Tested(MISTUNE, "src/mistune", ("tests", "-k", "not quadratically"), is_held_out=True),  # too slow when traced
    Tested(TOMLKIT, "tomlkit", ("tests",), is_held_out=True),
    Tested(PYPARSING, "pyparsing", ("tests", "-k", "not random"), is_held_out=True),  # different calls in each run
    Tested(TINYDB, "tinydb", ("tests",), is_held_out=True),
    Tested(MARKDOWN, "markdown", ("tests", "--ignore", _REFUSED), is_held_out=True),
    Tested(SQLPARSE, "sqlparse", ("tests", "-k", "not dos"), is_held_out=True),  # too slow when traced
)


@dataclass(frozen=True, slots=True)
class Trace:
    """Calls observed under the tests of a package."""

    pairs: dict[Pair, int]  # with the line of the call
    indirect: set[Pair]  # through the standard library, or through a function inside another
    resumed: set[Place]  # generators and coroutines
    lines: set[Place]

    def has_seen(self, pair: Pair) -> bool:
        """Return whether the tests have observed a pair, directly or indirectly."""
        return pair in self.pairs or pair in self.indirect


@dataclass(slots=True)
class Graph:
    """The calls of a package in a graph."""

    lines: dict[Pair, dict[str, set[int]]] = field(default_factory=dict)  # of the calls, by confidence
    rules: dict[tuple[Pair, Rule], set[int]] = field(default_factory=dict)  # the same lines by rule
    bound: set[Place] = field(default_factory=set)  # lines with a bound call
    unbound: dict[Place, list[dict[str, Any]]] = field(default_factory=dict)  # calls, by caller
    names: dict[Place, str] = field(default_factory=dict)

    def find_confidence(self, pair: Pair) -> str | None:
        """Return the best confidence of an edge; None without an edge."""
        held = self.lines.get(pair, ())
        return next((each for each in (*SURE, POSSIBLE) if each in held), None)


@dataclass(slots=True)
class Score:
    """Counts of pairs: by confidence, those observed, and those judged and right."""

    seen: int = 0
    found: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    judged_by_rule: Counter[Rule] = field(default_factory=Counter)
    right_by_rule: Counter[Rule] = field(default_factory=Counter)
    misses: Counter[str] = field(default_factory=Counter)

    def add(self, other: Score) -> None:
        """Add the counts of another package."""
        self.seen += other.seen
        for mine, its in ((self.found, other.found), (self.judged, other.judged), (self.right, other.right)):
            mine.update(its)
        self.judged_by_rule.update(other.judged_by_rule)
        self.right_by_rule.update(other.right_by_rule)
        self.misses.update(other.misses)

    def describe(self) -> Figures:
        """Return the shares and their targets."""
        sure = sum(self.found[each] for each in SURE)
        return {
            "pairs": self.seen,
            "recall_certain_likely": _compare(sure, self.seen, RECALL),
            "recall_with_possible": _compare(self.found.total(), self.seen, RECALL_POSSIBLE),
            "precision_certain": _compare(self.right[CERTAIN], self.judged[CERTAIN], PRECISION),
            "precision_likely": _compare(self.right[LIKELY], self.judged[LIKELY], PRECISION_LIKELY),
            "precision_possible": _compare(self.right[POSSIBLE], self.judged[POSSIBLE], None),
            "misses": dict(self.misses.most_common()),
        }


def describe_rules(scores: Mapping[str, Score]) -> Figures:
    """Return by rule and confidence the number of judged edges and the observed share, in each of the scores."""
    rules: Figures = {}
    for rule, confidence in sorted({each for score in scores.values() for each in score.judged_by_rule}):
        key = rule, confidence
        rules.setdefault(rule, {})[confidence] = {
            name: {"judged": judged, "seen": round(score.right_by_rule[key] / judged, 4)}
            for name, score in scores.items()
            if (judged := score.judged_by_rule[key])
        }
    return rules


def print_rules(rules: Figures, names: Iterable[str]) -> None:
    """Print a line for each rule and confidence: the judged edges and the observed share, in each score."""
    for rule, by_confidence in rules.items():
        for confidence, found in by_confidence.items():
            shares = (
                f"{name} {found[name]['seen']:.3f} of {found[name]['judged']:,}" for name in names if name in found
            )
            print(f"{rule} ({confidence}): {', '.join(shares)}")


def _compare(part: int, whole: int, target: float | None) -> Figures:
    figures: Figures = {"value": round(part / whole, 4) if whole else 1.0, "of": whole}
    return figures if target is None else figures | {"target": target}


def trace_tests(tested: Tested, cache: Path, work: Path) -> tuple[Path, Trace]:
    """Unpack a package and run its tests under the tracer, unless the trace is cached."""
    tree = next(unpack_package(tested.package, cache, work / "tree").iterdir())
    folder = tree / tested.folder
    kept = name_trace(tested, cache)
    if not kept.exists():
        python = make_environment(cache)
        variables = (f"PYTHONPATH={folder.parent}", "PYTHONDONTWRITEBYTECODE=1")
        run_process(("env", *variables, str(python), str(TRACER), str(folder), str(kept), *tested.tests), tree)
    return folder, read_trace(kept)


def name_trace(tested: Tested, cache: Path) -> Path:
    """Return the cached trace file of a package."""
    told = json.dumps((tested.package.sha256, tested.folder, tested.tests, REQUIREMENTS, TRACER.read_text("utf-8")))
    return cache / f"calls-{tested.package.name}-{hashlib.sha256(told.encode()).hexdigest()[:8]}.json"


def make_environment(cache: Path) -> Path:
    """Install the requirements of the tests into a cached environment, and return its interpreter."""
    told = json.dumps((REQUIREMENTS, sys.version))
    folder = cache / f"environment-{hashlib.sha256(told.encode()).hexdigest()[:8]}"
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        run_process((sys.executable, "-m", "venv", str(folder)), cache)
        pip = (str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps")
        run_process((*pip, *REQUIREMENTS), cache)
        ready.touch()
    return python


def read_trace(path: Path) -> Trace:
    """Read the output of trace_calls.py."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if found["status"]:
        print(
            f"{path.name}: not all tests pass (status {found['status']} of pytest); what they call counts all the same"
        )
    pairs = {((a, b), (c, d)): line for a, b, c, d, line in found["pairs"]}
    distant = {((a, b), (c, d)) for a, b, c, d in found["distant"]}
    resumed, inner, lines = ({(a, b) for a, b in found[name]} for name in ("resumed", "inner", "lines"))
    return Trace(pairs, distant | follow_inner({*pairs, *distant}, inner), resumed, lines)


def follow_inner(pairs: set[Pair], inner: set[Place]) -> set[Pair]:
    """Return the pairs that call each other through a nested function, as decorators produce."""
    callees: dict[Place, list[Place]] = {}
    for caller, callee in pairs:
        callees.setdefault(caller, []).append(callee)
    return {(caller, last) for caller, callee in pairs if callee in inner for last in callees.get(callee, ())}


def read_graph(folder: Path, work: Path) -> Graph:
    """Build the graph of a package, and read its calls."""
    store = ("--store", f"sqlite:///{work / 'calls.db'}")
    run_pkg(["build", str(folder), *store, "--no-text", "--json"], work)
    return parse_graph([json.loads(line) for line in run_pkg(["export", *store], work).output.splitlines()])


def parse_graph(lines: Sequence[dict[str, Any]]) -> Graph:
    """Parse the calls from the lines of an export."""
    graph, places, calls = Graph(), {}, {}
    for each in lines:
        if each.get("label") in ("File", "Function"):
            place = places[each["id"]] = each["path"], each.get("start_line", 0)
            graph.names[place] = each["qualname"]
        elif each.get("label") == "Call":
            calls[each["id"]] = each
    for each in lines:
        if each["type"] == "relation" and each["name"] == "UNRESOLVED":
            graph.unbound.setdefault(places[each["start"]], []).append(calls[each["end"]])
        elif each["type"] == "relation" and each["name"] == "CALLS":
            caller, callee = places[each["start"]], places.get(each["end"])
            graph.bound.add((caller[0], each["line"]))
            if callee is not None:
                by_confidence = graph.lines.setdefault((caller, callee), {})
                by_confidence.setdefault(each["confidence"], set()).add(each["line"])
                rule = each["rule"], each["confidence"]
                graph.rules.setdefault(((caller, callee), rule), set()).add(each["line"])
    return graph


def judge(graph: Graph, trace: Trace) -> tuple[Score, list[Figures]]:
    """Compare a graph with a trace; return the counts, and the missing and the unobserved pairs."""
    score, faults = Score(seen=len(trace.pairs)), []
    for pair, line in sorted(trace.pairs.items()):
        confidence = graph.find_confidence(pair)
        if confidence is not None:
            score.found[confidence] += 1
        if confidence not in SURE:
            cause = "possible" if confidence else explain(graph, pair, line)
            score.misses[cause] += 1
            faults.append(_describe("missed", graph, pair, line, cause))
    for pair, by_confidence in sorted(graph.lines.items()):
        confidence = graph.find_confidence(pair) or POSSIBLE
        run = _list_run(trace, pair, by_confidence[confidence])
        if run:
            is_seen = trace.has_seen(pair)
            score.judged[confidence] += 1
            score.right[confidence] += is_seen
            if not is_seen:
                faults.append(_describe("unseen", graph, pair, run[0], confidence))
    for (pair, rule), lines in graph.rules.items():
        if _list_run(trace, pair, lines):
            score.judged_by_rule[rule] += 1
            score.right_by_rule[rule] += trace.has_seen(pair)
    return score, faults


def _list_run(trace: Trace, pair: Pair, lines: Iterable[int]) -> list[int]:
    """Return the lines of an edge that have run; none if the trace cannot show the caller of its callee."""
    if pair[1] in trace.resumed and not trace.has_seen(pair):
        return []
    return [line for line in sorted(lines) if (pair[0][0], line) in trace.lines]


def explain(graph: Graph, pair: Pair, line: int) -> str:
    """Return what a graph records about a call for which it has no edge."""
    caller, callee = pair
    unbound = graph.unbound.get(caller, ())
    name = graph.names.get(callee, "").rpartition(".")[2]
    for each in unbound:
        if each["start_line"] == line and each["name"].rpartition(".")[2] == name:
            return str(each["reason"])
    for each in unbound:
        if each["start_line"] == line:
            return str(each["reason"])
    return "leads elsewhere" if (caller[0], line) in graph.bound else "no site"


def _describe(kind: str, graph: Graph, pair: Pair, line: int, cause: str) -> Figures:
    (path, _), (target, start) = pair
    names = [graph.names.get(place, f"line {place[1]}") for place in pair]
    return {
        "kind": kind, "cause": cause, "caller": f"{path}:{names[0]}", "line": line,
        "callee": f"{target}:{names[1]}", "callee_line": start,
    }  # fmt: skip


def write_faults(path: Path | None, faults: Iterable[Figures]) -> None:
    """Write the missing and the unobserved pairs as JSON lines."""
    if path is not None:
        path.write_text("".join(json.dumps(each) + "\n" for each in faults), encoding="utf-8")


def main() -> None:
    options = read_options()
    scores = {name: Score() for name in ("overall", "held_out")}
    packages, faults = {}, []
    with open_folder(options.cache) as (cache, work):
        for tested in options.packages:
            name = tested.package.name
            own = work / name
            own.mkdir()
            folder, trace = trace_tests(tested, cache, own)
            score, found = judge(read_graph(folder, own), trace)
            packages[f"{name} {tested.package.version}"] = score.describe()
            scores["held_out" if tested.is_held_out else "overall"].add(score)
            source = {each: (folder / each).read_text(encoding="utf-8").splitlines() for each, _ in trace.lines}
            for each in found:
                code = source[each["caller"].partition(":")[0]][each["line"] - 1].strip()
                faults.append({"package": name, **each, "code": code})
    write_faults(options.misses, faults)
    rules = describe_rules(scores)
    sums = {name: score.describe() for name, score in scores.items() if score.seen}
    print_rules(rules, scores)
    write_result("dynamic_edges", {**sums, "by_package": packages, "rules": rules})


def read_options() -> argparse.Namespace:
    """Parse the options."""
    parser = make_parser(__doc__)
    names = {each.package.name: each for each in TESTED}
    parser.add_argument("--packages", nargs="+", choices=names, default=names, help="some of the packages")
    parser.add_argument("--misses", type=Path, help="file to which each pair that is missing or was not seen goes")
    options = parser.parse_args()
    options.packages = [names[each] for each in options.packages]
    return options


if __name__ == "__main__":
    main()
