from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import networkx
import pytest
from click.testing import CliRunner, Result
from linked import make_linked_store, make_shop
from rich.console import Console
from rich.text import Text

from pkg.cli import main
from pkg.console.drawings import draw_deps
from pkg.console.trees import Branch, draw_branches, view_deps
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.retrieval.deps.answer import Answer, DepsOptions
from pkg.retrieval.deps.questions import run_deps
from pkg.service.operations.deps_lines import deps_lines

QUESTIONS: list[tuple[str | None, dict[str, Any]]] = [
    ("Cart.add", {}),
    ("shop/cart.py", {"depth": 2}),
    ("main", {"question": "path", "to": "load"}),
    ("load", {"question": "path", "to": "main"}),
    ("load", {"question": "impact"}),
    ("BigCart.check", {"question": "impact"}),
    (None, {"question": "cycles"}),
    (None, {"question": "unused"}),
    (None, {"question": "imports"}),
]
HOSTILE = 'path "quoted" <b>[bold]\\.py'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(make_shop(tmp_path / "graph.db")) as store:
        yield store


@pytest.fixture
def address(store: EmbeddedStore) -> str:
    return store.address


def ask(store: EmbeddedStore, name: str | None, options: dict[str, Any]) -> Answer:
    return run_deps(store, name, DepsOptions(**options))


def show(answer: Answer, explain: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, soft_wrap=True, highlight=False, width=40)
    for part in view_deps(answer, explain):
        console.print(part)
    return file.getvalue()


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["deps", *words])


@pytest.mark.parametrize(("name", "options"), QUESTIONS)
def test_every_count_is_in_the_json_the_drawings_and_the_explained_answer_alone(
    store: EmbeddedStore, name: str | None, options: dict[str, Any]
) -> None:
    answer = ask(store, name, options)
    lines = [json.loads(json.dumps(line)) for line in deps_lines(answer)]
    assert lines[-1]["type"] == "coverage"
    assert {"bound", "possible", "unbound"} <= lines[-1].keys()
    counts = f"{answer.coverage.bound} bound, {answer.coverage.possible} possible"
    assert (counts in show(answer, explain=True), counts in show(answer)) == (True, False)
    for form in ("dot", "mermaid", "graphml"):
        assert counts in draw_deps(answer, form)


def test_a_line_names_place_rule_and_confidence(store: EmbeddedStore) -> None:
    shown = show(ask(store, "Cart.add", {})).splitlines()
    assert "│   ├── shop/main.py:4  main  at 6 (Cart.add)  constructor  likely" in shown
    assert "    └── shop/cart.py:15  BigCart.check  called at 7  self  possible" in shown


def test_a_caller_that_is_not_known_is_not_said_to_be_missing(store: EmbeddedStore) -> None:
    answer = ask(store, "run_me", {})
    assert show(answer).splitlines()[-1].startswith("no callers found")
    assert show(answer).endswith("; see --explain\n")
    assert "the name run_me in all of the source: 1\n  1 queue is not defined\n" in show(answer, explain=True)


def test_json_lines_tell_where_a_link_stands(store: EmbeddedStore) -> None:
    lines = list(deps_lines(ask(store, "find_price", {"direction": "in"})))
    (caller,) = [line for line in lines if line.get("relation") == "callers"]
    assert (caller["qualname"], caller["at"], caller["lines"]) == ("Cart.add", "shop/cart.py", [8])
    assert (caller["rule"], caller["confidence"], caller["of"]) == ("import", "certain", lines[0]["id"])


@pytest.mark.parametrize("path", ["m.py", f"{HOSTILE}", "a\x1b[31m.py", "zeile\nzwei.py", "\udcff.py", "\ufffe.py"])
def test_a_hostile_path_breaks_no_form(tmp_path: Path, path: str) -> None:
    files = {path: "def f():\n    g()\n\n\ndef g():\n    pass\n"}
    plain = path.encode("utf-8", "replace").decode()
    calls = [("CALLS", f"{plain}::f", f"{plain}::g", 2, 'rule "x"\n', "certain")]
    with closing(make_linked_store(tmp_path / "m.db", {plain: files[path]}, calls)) as store:
        answer = ask(store, "f", {})
    graph = networkx.parse_graphml(draw_deps(answer, "graphml"))
    assert sorted(name for _, name in graph.nodes(data="name")) == ["f", "g"]
    assert "\x1b" not in show(answer) + draw_deps(answer, "dot") + draw_deps(answer, "mermaid")
    assert len(draw_deps(answer, "dot").splitlines()) == 8
    assert len(draw_deps(answer, "mermaid").splitlines()) == 5


def test_graphml_is_read_back_with_every_link(store: EmbeddedStore) -> None:
    graph = networkx.parse_graphml(draw_deps(ask(store, "Cart.add", {}), "graphml"))
    kinds = sorted((data["type"], data["confidence"], data["lines"]) for _, _, data in graph.edges(data=True))
    assert kinds == [
        ("CALLS", "certain", "7"), ("CALLS", "certain", "8"), ("CALLS", "likely", "5"), ("CALLS", "likely", "6"),
        ("CALLS", "possible", "7"),
    ]  # fmt: skip


def test_dot_and_mermaid_draw_how_sure_a_link_is(store: EmbeddedStore) -> None:
    answer = ask(store, "Cart.add", {})
    assert [draw_deps(answer, "dot").count(f"style={style}") for style in ("solid", "dashed", "dotted")] == [2, 2, 1]
    assert draw_deps(answer, "mermaid").count("-.->") == 3


def test_a_deep_tree_is_drawn_whole() -> None:
    root = branch = Branch(Text("0"))
    for number in range(1, 3000):
        branch = branch.add(Text(str(number)))
    lines = [line.plain for line in draw_branches(root)]
    assert len(lines) == 3000
    assert lines[2] == "    └── 2"


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["Cart"], '"relation": "subclasses"'),
        (["Cart", "--format", "tree"], "subclasses (1)"),
        (["--path", "main", "load", "--format", "tree"], "load  called at 5"),
        (["load", "--impact", "--format", "tree"], "1 of them in tests"),
        (["--cycles"], '"import_cycles": 0'),
        (["--unused", "--limit", "1", "--format", "tree"], "and 2 more; see --limit"),
        (["--imports"], '"category": "library_import_direct"'),
        (["Cart", "--format", "dot"], "digraph dependencies {"),
        (["Cart", "--format", "mermaid"], "graph LR"),
        (["Cart", "--format", "graphml"], "<graphml"),
    ],
)
def test_the_command_answers_each_question(address: str, words: list[str], seen: str) -> None:
    result = run(*words, "--store", address)
    assert result.exit_code == 0, result.output
    assert seen in result.stdout


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 2, "no name was given"),
        (["Cart", "--impact", "--cycles"], 2, "ask one at a time"),
        (["Cart", "--path", "main", "load"], 2, "third name"),
        (["Cart", "--depth", "-1"], 2, "--depth"),
        (["Cart", "--format", "svg"], 2, "--format"),
        (["Cart", "--format", "dot", "--json"], 2, "different forms"),
        (["check"], 1, "shop/cart.py:10  Cart.check"),
        (["nowhere"], 1, "no function, class, constant or file 'nowhere'"),
        (["--path", "main", "nowhere"], 1, "no function, class, constant or file 'nowhere'"),
        (["Cart", "--source", "other"], 1, "no source 'other'"),
    ],
)
def test_what_cannot_be_answered_is_told_with_its_exit_code(
    address: str, words: list[str], code: int, told: str
) -> None:
    result = run(*words, "--store", address)
    assert (result.exit_code, told in result.stderr) == (code, True), result.output
