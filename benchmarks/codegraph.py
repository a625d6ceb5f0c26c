"""Compare codegraph, a code graph of another project, with PKG on the plain questions.

    npm install --prefix FOLDER @colbymchenry/codegraph@1.6.1
    python benchmarks/codegraph.py --data FOLDER --command FOLDER/node_modules/.bin/codegraph [--cache FOLDER]

For `query`, the functions among the listed symbols count, in their order; for `explore`, whose answer is one text, it
counts whether it contains the first line of a right function. For `pkg query -k 5` the functions of its hits count, for
`pkg explore` whether one of its pieces is right. Characters are those of the printed answer, and for `pkg query` those
of its prompt, which holds the code of all five.
"""

from __future__ import annotations

import ast
import json
import os
import re
import statistics
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from measure import Figures, make_parser, open_folder, read_options, run_pkg, write_result
from packages import unpack_package
from plain_questions import read_package_questions
from question_sets import Question, QuestionSet

from pkg.lab.evaluation.retrieval.rank_scores import Answered, find_rank, summarise_ranks

LIMIT = 20  # requested symbols: classes and constants among them are skipped
_FILE, _LINE = re.compile(r"\*\*`([^`]+\.pyi?)`\*\*"), re.compile(r"(\d+)\t")


def ask_query(command: str, tree: Path, question: str) -> tuple[list[str], int]:
    """Return the functions that `query` finds, best first, and the characters of its answer."""
    found = json.loads(_run([command, "query", question, "--limit", str(LIMIT), "--json"], tree) or "[]")
    nodes = [each["node"] for each in found if each["node"]["kind"] in ("function", "method")]
    places = [f"{node['filePath']}::{node['qualifiedName'].replace('::', '.')}" for node in nodes]
    return places, len(_run([command, "query", question, "--limit", str(LIMIT)], tree))


def ask_explore(command: str, tree: Path, question: str) -> tuple[set[tuple[str, int]], int]:
    """Return the lines that `explore` shows, as path and number, and the characters of its answer."""
    answer = _run([command, "explore", question], tree)
    return set(_list_lines(answer)), len(answer)


def _list_lines(answer: str) -> Iterator[tuple[str, int]]:
    path = ""
    for line in answer.splitlines():
        if found := _FILE.match(line):
            path = found[1]
        elif path and (found := _LINE.match(line)):
            yield path, int(found[1])


def _run(command: list[str], tree: Path) -> str:
    kept = os.environ | {"CODEGRAPH_TELEMETRY": "0", "DO_NOT_TRACK": "1", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=tree, env=kept, check=True, capture_output=True, text=True).stdout


def list_first_lines(tree: Path) -> dict[str, set[int]]:
    """Return for each function, as path::qualname, the first lines of its definitions."""
    lines: dict[str, set[int]] = {}
    for path in sorted(tree.rglob("*.py")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                module = ast.parse(path.read_bytes())
            except SyntaxError:
                continue
        for qualname, line in _list_definitions(module, ""):
            lines.setdefault(f"{path.relative_to(tree).as_posix()}::{qualname}", set()).add(line)
    return lines


def _list_definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{prefix}{child.name}", child.lineno
            yield from _list_definitions(child, f"{prefix}{child.name}.")
        else:
            yield from _list_definitions(child, prefix)


def ask_pkg(store: str, folder: Path, question: str) -> tuple[list[str], int]:
    """Return the functions of the first five hits, and the characters of the prompt built from them."""
    asked = ["query", question, "--store", store, "-k", "5"]
    hits = map(json.loads, run_pkg([*asked, "--json"], folder).output.splitlines())
    places = [f"{hit['path']}::{hit['qualname']}" for hit in hits if hit["type"] == "hit"]
    return places, len(run_pkg([*asked, "--prompt"], folder).output)


def explore_pkg(store: str, folder: Path, question: str) -> tuple[set[str], int]:
    """Return the places of the pieces that `pkg explore` shows, and the characters of its text."""
    asked = ["explore", question, "--store", store]
    lines = map(json.loads, run_pkg([*asked, "--json"], folder).output.splitlines())
    places = {f"{line['place']['path']}::{line['place']['qualname']}" for line in lines if line["type"] == "piece"}
    return places, len(run_pkg([*asked, "--no-json"], folder).output)


def describe_set(command: str, chosen: QuestionSet, tree: Path) -> Figures:
    """Index one package with both tools and ask its questions."""
    store = f"sqlite:///{tree.parent / chosen.name}.db"
    _run([command, "init", "."], tree)
    run_pkg(["build", str(chosen.code), "--store", store], tree.parent)
    lines = list_first_lines(tree)
    sizes: dict[str, list[int]] = {"query": [], "explore": [], "pkg": [], "pkg explore": []}
    answered: list[Answered] = []
    own: list[Answered] = []
    shown: list[bool] = []
    shown_by_pkg: list[bool] = []
    for question in chosen.questions:
        for name, found, (places, size) in (
            ("query", answered, ask_query(command, tree, question.text)),
            ("pkg", own, ask_pkg(store, tree.parent, question.text)),
        ):
            found.append(find_rank(list(dict.fromkeys(places)), question.gold, len(places), 0))
            sizes[name].append(size)
        seen, whole = ask_explore(command, tree, question.text)
        shown.append(_is_shown(question, lines, seen))
        sizes["explore"].append(whole)
        pieces, whole = explore_pkg(store, tree.parent, question.text)
        shown_by_pkg.append(not pieces.isdisjoint(question.gold))
        sizes["pkg explore"].append(whole)
    characters = {name: round(statistics.mean(each)) for name, each in sizes.items()}
    return {
        "query": _summarise(answered, characters["query"]),
        "explore": {"shown": round(statistics.mean(shown), 4), "characters": characters["explore"]},
        "pkg": _summarise(own, characters["pkg"]),
        "pkg explore": {"shown": round(statistics.mean(shown_by_pkg), 4), "characters": characters["pkg explore"]},
    }


def _summarise(answered: Sequence[Answered], characters: int) -> Figures:
    figures = summarise_ranks(answered)
    return {name: figures[name] for name in ("hit@1", "hit@5")} | {"characters": characters}


def _is_shown(question: Question, lines: dict[str, set[int]], seen: set[tuple[str, int]]) -> bool:
    return any((place.partition("::")[0], line) in seen for place in question.gold for line in lines.get(place, ()))


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--command", default="codegraph", help="the command of codegraph; default: codegraph")
    parser.add_argument("--packages", default="rich,flask,httpx,librosa", help="packages, with commas between them")
    options = read_options(parser)
    figures: Figures = {}
    with open_folder(options.cache) as (cache, work):
        for package, chosen in read_package_questions(options.data, cache):
            if not package.is_source and package.name in options.packages.split(","):
                tree = unpack_package(package, cache, work / "trees")
                figures[chosen.name] = describe_set(options.command, chosen, tree)
    write_result("codegraph", {"version": _run([options.command, "--version"], Path()).strip(), "sets": figures})


if __name__ == "__main__":
    main()
