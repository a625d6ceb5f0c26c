"""Calibrate the check of cited statements: true statements about packages, and the same with one thing changed.

    python benchmarks/citation_support.py [--cache FOLDER]

True statements come from the code itself: reworded sentences of docstrings, default values, raised exceptions, calls,
bases and homes of definitions, each cited with the code that says it. A perturbed one has another number, another name,
a negation more or less, or the opposite direction. The first three packages were used to choose the thresholds; the
last three tuned nothing. A statement counts as supported only with the verdict `supported`.
"""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from measure import Figures, compare, make_parser, open_folder, read_options, write_result
from packages import JINJA2, MARSHMALLOW, MISTUNE, PLUGGY, TINYDB, TOMLKIT, Package, unpack_package

from pkg.api import build_graph, open_graph
from pkg.generation.ask.citations import check_statements
from pkg.model import Label, Node, RelationType
from pkg.retrieval.deps.link_facts import LinkFacts
from pkg.retrieval.evidence.evidence import Evidence

TUNED, HELD_OUT = (JINJA2, MARSHMALLOW, PLUGGY), (MISTUNE, TINYDB, TOMLKIT)
COUNT = 200  # statements of each kind in each set of packages
SEED = 7
REWORDED = {
    "return": "gives back", "returns": "gives back", "create": "makes", "creates": "makes", "given": "passed",
    "get": "fetches", "check": "verifies", "called": "run", "used": "needed", "object": "instance", "if": "whether",
    "this": "the", "will": "does", "using": "with", "current": "present", "specified": "chosen",
}  # fmt: skip
OPPOSITES = {
    "before": "after", "after": "before", "first": "last", "last": "first", "add": "remove", "adds": "removes",
    "remove": "add", "read": "write", "write": "read", "start": "end", "minimum": "maximum", "maximum": "minimum",
    "true": "false", "enable": "disable", "always": "never", "include": "exclude", "more": "less", "open": "close",
    "left": "right", "input": "output", "encode": "decode", "load": "save", "valid": "invalid", "required": "optional",
}  # fmt: skip


class Made(NamedTuple):
    """A statement with its evidence; `change` names what was changed, "" for a true one."""

    kind: str
    change: str
    text: str
    evidence: Evidence


def make_evidence(node: Node) -> Evidence:
    """Return the code of a definition as evidence."""
    title = f"{node.label.value.lower()} {node.qualname}"
    return Evidence("code", node.source, node.path, node.start_line, node.end_line, title, node.content)


def list_true(
    nodes: Sequence[Node], calls: Sequence[tuple[Node, Node]], bases: Sequence[tuple[Node, Node]]
) -> Iterator[Made]:
    """Yield true statements of all kinds."""
    for node in nodes:
        evidence, name = make_evidence(node), node.qualname
        tree = _parse(node.content)
        if tree is None:
            continue
        for sentence in re.split(r"(?<=\.)\s+", " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())):
            words = sentence.rstrip(".").split()
            if 6 <= len(words) <= 30 and ":" not in sentence:
                yield Made("docstring", "", f"`{name}` {_reword(words)}.", evidence)
        if isinstance(tree, ast.ClassDef):
            continue
        for parameter, default in _list_defaults(tree):
            yield Made("default", "", f"By default, `{parameter}` of `{name}` is {default}.", evidence)
        for raised in _list_raised(tree):
            yield Made("raise", "", f"`{name}` raises `{raised}` for a wrong value.", evidence)
        yield Made("home", "", f"`{name}` is defined in `{node.path}`.", evidence)
    yield from (Made("call", "", f"`{a.qualname}` calls `{b.qualname}`.", make_evidence(a)) for a, b in calls)
    yield from (Made("base", "", f"`{a.qualname}` inherits from `{b.qualname}`.", make_evidence(a)) for a, b in bases)


def _parse(content: str) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
    try:
        first = ast.parse("\n".join(content.splitlines())).body[0]
    except (SyntaxError, IndexError, ValueError):
        return None
    return first if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else None


def _reword(words: Sequence[str]) -> str:
    return " ".join(REWORDED.get(word.lower(), word if index else word.lower()) for index, word in enumerate(words))


def _list_defaults(tree: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str]]:
    named = [*tree.args.posonlyargs, *tree.args.args]
    pairs = [
        *zip(named[::-1], tree.args.defaults[::-1], strict=False),
        *zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if isinstance(default, ast.Constant) and type(default.value) in (int, float, bool):
            yield argument.arg, str(default.value)


def _list_raised(tree: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            yield node.exc.func.id


def perturb(made: Made, names: Sequence[str], source: random.Random) -> Iterator[Made]:
    """Yield the statement with one thing changed, in each way that applies."""
    text = made.text
    if number := re.search(r"(?<![\w.`])\d+(?:\.\d+)?(?![\w`])", text):
        other = str(round(float(number[0]) + source.choice((1, 2, 5, 10)), 2)).removesuffix(".0")
        yield made._replace(change="number", text=f"{text[: number.start()]}{other}{text[number.end() :]}")
    quoted = re.findall(r"`([^`]+)`", text)
    old = quoted[-1] if made.kind != "home" else quoted[0]
    new = source.choice([name for name in names if name.rpartition(".")[2] not in made.evidence.content])
    yield made._replace(change="name", text=text.replace(f"`{old}`", f"`{new}`"))
    verb = re.search(r"(?<=` )(calls|inherits|raises|gives|makes|fetches|verifies|is)\b", text)
    if verb:
        plain = {"gives": "give", "is": "is", "verifies": "verify", "fetches": "fetch"}.get(verb[0], verb[0][:-1])
        negated = "is not" if plain == "is" else f"does not {plain}"
        yield made._replace(change="negation", text=f"{text[: verb.start()]}{negated}{text[verb.end() :]}")
    elif made.kind == "docstring" and " not " in text:
        yield made._replace(change="negation", text=text.replace(" not ", " ", 1))
    elif made.kind == "docstring":
        head, _, rest = text.partition("` ")
        yield made._replace(change="negation", text=f"{head}` does not {rest}")
    if made.kind in ("call", "base") and quoted[0] != quoted[1]:
        swapped = text.replace(f"`{quoted[0]}`", "`\0`").replace(f"`{quoted[1]}`", f"`{quoted[0]}`")
        yield made._replace(change="direction", text=swapped.replace("`\0`", f"`{quoted[1]}`"))
    elif made.kind == "docstring":
        words = text.split(" ")
        turned = [index for index, word in enumerate(words) if word.lower() in OPPOSITES]
        if turned:
            words[turned[0]] = OPPOSITES[words[turned[0]].lower()]
            yield made._replace(change="direction", text=" ".join(words))


def measure(package: Package, cache: Path, work: Path) -> dict[str, list[tuple[Made, str]]]:
    """Judge an equal number of true and perturbed statements about a package, drawn by the seed."""
    address = f"sqlite:///{work / package.name}.db"
    build_graph(unpack_package(package, cache, work), store=address, source=package.name, jobs=1)
    source = random.Random(SEED)
    with open_graph(address) as graph:
        nodes = [node for node in graph.store.nodes((Label.FUNCTION, Label.CLASS)) if "test" not in node.path]
        by_id = {node.id: node for node in nodes}
        edges = list(graph.store.edges((RelationType.CALLS, RelationType.INHERITS)))
        sure = [
            each for each in edges if each.confidence in (None, "certain") and {each.start, each.end} <= by_id.keys()
        ]
        calls = [(by_id[each.start], by_id[each.end]) for each in sure if each.type is RelationType.CALLS]
        pairs = {(each.start, each.end) for each in edges}
        calls = [(a, b) for a, b in calls if (b.id, a.id) not in pairs and a.name != b.name]
        bases = [(by_id[each.start], by_id[each.end]) for each in sure if each.type is RelationType.INHERITS]
        true = _draw(list(list_true(nodes, calls, bases)), source, lambda made: made.kind)
        names = sorted({node.qualname for node in nodes if node.label is Label.FUNCTION})
        wrong = _draw(
            [each for made in true for each in perturb(made, names, source)], source, lambda made: made.change
        )
        facts = LinkFacts(graph.store)
        return {
            kind: [
                (made, check_statements(f"{made.text} [1]", {1: made.evidence}, "", facts.check)[0].verdict)
                for made in drawn
            ]
            for kind, drawn in (("true", true), ("perturbed", wrong))
        }


def _draw(made: Sequence[Made], source: random.Random, kind: Callable[[Made], str]) -> list[Made]:
    """Draw a third of COUNT statements, as equally from each kind as there are some."""
    groups: dict[str, list[Made]] = defaultdict(list)
    for each in sorted(made, key=lambda each: (each.text, each.evidence.place)):
        groups[kind(each)].append(each)
    for group in groups.values():
        source.shuffle(group)
    drawn: list[Made] = []
    while len(drawn) < -(-COUNT // 3) and any(groups.values()):
        drawn += [group.pop() for group in groups.values() if group]
    return drawn[: -(-COUNT // 3)]


def describe(results: dict[str, list[tuple[Made, str]]]) -> Figures:
    """Return the share of supported statements, of all and by kind, and of all that are supported or partly."""
    true, wrong = results["true"], results["perturbed"]
    return {
        "statements": {"true": len(true), "perturbed": len(wrong)},
        "true_supported": compare(_share(true, "supported"), 0.85),
        "true_not_refuted": round(1 - _share(true, "unsupported"), 4),
        "perturbed_supported": compare(_share(wrong, "supported"), 0.05),
        "true_by_kind": _by(true, lambda made: made.kind),
        "perturbed_by_change": _by(wrong, lambda made: made.change),
    }


def _share(judged: Sequence[tuple[Made, str]], verdict: str) -> float:
    return round(sum(each == verdict for _, each in judged) / len(judged), 4)


def _by(judged: Sequence[tuple[Made, str]], kind: Callable[[Made], str]) -> dict[str, Figures]:
    groups: dict[str, list[tuple[Made, str]]] = defaultdict(list)
    for made, verdict in judged:
        groups[kind(made)].append((made, verdict))
    return {name: {"of": len(group), "supported": _share(group, "supported")} for name, group in sorted(groups.items())}


def main() -> None:
    """Measure both sets of packages, and write the result."""
    parser = make_parser(__doc__)
    parser.add_argument("--show", action="store_true", help="print each statement with a wrong verdict")
    options = read_options(parser)
    figures: Figures = {}
    with open_folder(options.cache) as (cache, work):
        for name, packages in (("tuned", TUNED), ("held_out", HELD_OUT)):
            results: dict[str, list[tuple[Made, str]]] = defaultdict(list)
            for package in packages:
                for kind, judged in measure(package, cache, work).items():
                    results[kind] += judged
            figures[name] = {"packages": [f"{each.name} {each.version}" for each in packages], **describe(results)}
            if options.show:
                for kind, judged in results.items():
                    for made, verdict in judged:
                        if (verdict == "supported") is (kind == "perturbed"):
                            print(name, kind, made.kind, made.change, verdict, made.text)
    write_result("citation_support", figures)


if __name__ == "__main__":
    main()
