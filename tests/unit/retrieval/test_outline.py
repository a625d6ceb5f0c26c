from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from click.testing import CliRunner
from trees import write_tree

import pkg
from pkg.cli import main
from pkg.errors import QueryError, UsageError
from pkg.model import Node
from pkg.retrieval.outline import ImportGraph
from pkg.retrieval.outline_answer import CodeOutline, format_definition, format_file, format_folder
from pkg.retrieval.token_count import count_tokens

CORE = '''"""What all of the shop needs. And more."""


class Money:
    """An amount."""

    def add(self, other):
        """Give the sum of two amounts."""
        def inner():
            return other
        return inner()

    def _check(self):
        return self


def parse(
    text,
    strict=True,
):
    return Money().add(text)


def rarely():
    return parse("")
'''
FILES = {
    "shop/core/money.py": CORE,
    "shop/core/__init__.py": "",
    "shop/web/views.py": "from shop.core.money import parse\n\n\ndef view(request):\n    return parse(request)\n",
    "shop/web/urls.py": "from shop.web.views import view\nfrom shop.core import money\n\nroutes = [money.parse('1')]\n",
    "shop/jobs/nightly.py": "from shop.core.money import Money, parse\n\n\ndef run():\n    return Money().add(parse)\n",
    "tests/test_money.py": "from shop.core.money import parse\n\n\ndef test_it():\n    assert parse('3')\n",
}


@pytest.fixture(name="folder")
def repository(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "code", FILES)


@pytest.fixture(name="store")
def built(folder: Path, tmp_path: Path) -> str:
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(folder, store=address)
    return address


@pytest.fixture(name="graph")
def opened(store: str) -> Iterator[pkg.Graph]:
    with pkg.open_graph(store) as graph:
        yield graph


def list_names(outline: CodeOutline) -> list[str]:
    return [each.qualname for file in outline.files for each in file.definitions]


def test_the_most_imported_file_comes_first(graph: pkg.Graph) -> None:
    outline = graph.outline()
    assert outline.files[0].path == "shop/core/money.py"
    assert (outline.files[0].importers, outline.files[0].total) == (4, 5)
    assert outline.files[0].summary == "What all of the shop needs."
    assert len(outline.files) == outline.total_files == len(FILES)
    assert sum(each.centrality for each in outline.files) == pytest.approx(1, abs=1e-6)


def test_folders_list_their_imports(graph: pkg.Graph) -> None:
    folders = {each.path: each.imports for each in graph.outline("shop").folders}
    assert folders == {"shop/core": (), "shop/web": ("shop/core",), "shop/jobs": ("shop/core",)}
    assert {each.path for each in graph.outline().folders} == {"shop", "tests"}
    assert graph.outline("shop/web").folders == ()  # there is only one


def test_definitions_are_in_text_order_without_local_ones(graph: pkg.Graph) -> None:
    outline = graph.outline("shop/core/money.py")
    assert list_names(outline) == ["Money", "Money.add", "Money._check", "parse", "rarely"]
    add, parse = outline.files[0].definitions[1], outline.files[0].definitions[3]
    assert (add.start_line, add.signature, add.summary) == (7, "def add(self, other):", "Give the sum of two amounts.")
    assert (parse.signature, parse.callers) == ("def parse(text, strict=True):", 4)


@pytest.mark.parametrize("budget", [20, 60, 90, 120])
def test_the_text_stays_within_the_budget_and_omissions_are_counted(graph: pkg.Graph, budget: int) -> None:
    outline = graph.outline(budget=budget)
    lines = [format_folder(each) for each in outline.folders] + [format_file(each) for each in outline.files]
    lines += [format_definition(each) for file in outline.files for each in file.definitions]
    assert sum(map(count_tokens, lines)) == outline.tokens <= budget
    assert len(outline.files) + outline.left_out_files == outline.total_files
    assert len(list_names(outline)) + outline.left_out_definitions == outline.total_definitions == 8
    assert outline.left_out_definitions


class Place(int):
    """A place in a text that counts how often places are compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Place.compared += 1
        return int(self) < int(other)

    def __le__(self, other: int) -> bool:
        Place.compared += 1
        return int(self) <= int(other)


def count_comparisons(graph: pkg.Graph, source: str, monkeypatch: pytest.MonkeyPatch) -> int:
    read = graph.store.nodes

    def read_counted(*asked: Any) -> Iterator[Node]:
        for node in read(*asked):
            yield replace(node, start=Place(node.start), end=Place(node.end))

    Place.compared = 0
    with monkeypatch.context() as patch:
        patch.setattr(graph.store, "nodes", read_counted)
        (file,) = graph.outline("one.py", source=source, budget=0).files
    assert len(file.definitions) == file.total
    return Place.compared


def test_an_outline_costs_as_much_for_each_definition_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = "    def get_{}(self):\n        return {}\n"
    store = f"sqlite:///{tmp_path}/graph.db"
    for count in (100, 400):
        methods = "".join(method.format(number, number) for number in range(count))
        code = f"class Wide:\n{methods}\n\n{dedent(methods)}"
        pkg.build_graph(write_tree(tmp_path / f"in_{count}", {"one.py": code}), store=store)
    with pkg.open_graph(store) as graph:
        few, many = (count_comparisons(graph, name, monkeypatch) for name in ("in_100", "in_400"))
    assert 0 < many < 6 * few


def test_definitions_in_nested_classes_bring_all_classes_around_them(tmp_path: Path) -> None:
    code = (
        "class Outer:\n    class Inner:\n        def deep(self):\n            return 1\n\n"
        "    def shallow(self):\n        return 2\n\n\ndef alone():\n    return Outer.Inner().deep()\n"
    )
    store = f"sqlite:///{tmp_path}/graph.db"
    pkg.build_graph(write_tree(tmp_path / "nested", {"nested.py": code}), store=store)
    whole = ["Outer", "Outer.Inner", "Outer.Inner.deep", "Outer.shallow", "alone"]
    with pkg.open_graph(store) as graph:
        assert list_names(graph.outline("nested.py", budget=0)) == whole
        for budget in range(1, 60):
            names = list_names(graph.outline("nested.py", budget=budget))
            assert all(name.rpartition(".")[0] in ("", *names) for name in names)


def test_definitions_with_most_callers_are_omitted_last(graph: pkg.Graph) -> None:
    names = [set(list_names(graph.outline("money.py", budget=budget))) for budget in (30, 40, 0)]
    assert names[0] == {"parse"}
    assert names[0] < names[1] < names[2]
    assert names[1] == {"parse", "Money"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("shop/web", ["shop/web/urls.py", "shop/web/views.py"]),
        ("web/", ["shop/web/urls.py", "shop/web/views.py"]),
        ("shop.web", ["shop/web/urls.py", "shop/web/views.py"]),
        ("nightly.py", ["shop/jobs/nightly.py"]),
        ("shop.jobs.nightly", ["shop/jobs/nightly.py"]),
        ("{folder}/tests", ["tests/test_money.py"]),
        ("{folder}/shop/jobs/nightly.py", ["shop/jobs/nightly.py"]),
        ("{folder}", sorted(FILES)),
    ],
)
def test_a_path_means_a_file_or_folder_of_a_source(
    graph: pkg.Graph, folder: Path, path: str, expected: list[str]
) -> None:
    assert sorted(each.path for each in graph.outline(path.format(folder=folder)).files) == expected


def test_a_dot_means_the_folder_on_disk(graph: pkg.Graph, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "shop" / "jobs")
    assert [each.path for each in graph.outline(".").files] == ["shop/jobs/nightly.py"]
    assert graph.outline("..").total_files == 5


def test_bad_paths_are_refused(graph: pkg.Graph, folder: Path) -> None:
    with pytest.raises(QueryError, match=r"no file or folder 'basket'.*expected one such as: shop, tests"):
        graph.outline("basket")
    write_tree(folder, {"shop/jobs/views.py": "x = 1\n"})
    with pytest.raises(QueryError, match=r"'views.py' may be any of 2.*\n  shop/jobs/views.py  \(in code\)"):
        graph.outline("views.py", fresh=True)
    with pytest.raises(UsageError, match="budget is -1"):
        graph.outline(budget=-1)
    with pytest.raises(QueryError, match="no source 'other'"):
        graph.outline(source="other")


def test_several_sources_are_ambiguous(graph: pkg.Graph, store: str, tmp_path: Path) -> None:
    write_tree(tmp_path / "second", {"tool.py": "def use():\n    return 1\n"})
    pkg.build_graph(tmp_path / "second", store=store)
    with pytest.raises(QueryError, match=r"the graph has 2 sources.*--source"):
        graph.outline()
    assert list_names(graph.outline(source="second")) == ["use"]
    assert list_names(graph.outline("tool.py")) == ["use"]


def test_rows_have_no_outline(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"code": "def price(item):\\n    return item\\n"}\n')
    address = f"sqlite:///{tmp_path / 'rows.db'}"
    pkg.build_graph(tmp_path / "rows.jsonl", store=address)
    with pkg.open_graph(address) as graph, pytest.raises(QueryError, match="corpora of rows"):
        graph.outline()


def test_the_command_writes_lines_with_a_coverage(store: str, folder: Path) -> None:
    (folder / "shop" / "core" / "money.py").write_text(CORE + "# changed\n")
    result = CliRunner().invoke(main, ["outline", "--store", store, "--budget", "60"])
    *lines, coverage = map(json.loads, result.stdout.splitlines())
    assert {line["type"] for line in lines} == {"folder", "file"}
    assert coverage["type"] == "coverage"
    assert coverage["left_out"]["definitions"] == coverage["total_definitions"] - sum(
        len(line.get("definitions", ())) for line in lines
    )
    assert [line["path"] for line in lines if line.get("is_stale")] == ["shop/core/money.py"]
    assert "shop/core/money.py changed" in result.stderr


def test_centrality_flows_along_imports() -> None:
    graph = ImportGraph(["a", "b", "c", "d"], [("a", "b"), ("b", "c"), ("d", "c"), ("c", "c"), ("a", "elsewhere")])
    assert sum(graph.centrality.values()) == pytest.approx(1)
    assert sorted(graph.centrality, key=graph.centrality.__getitem__) == ["a", "d", "b", "c"]
    assert graph.centrality["a"] == pytest.approx(graph.centrality["d"])  # no file imports either
    assert ImportGraph([], []).centrality == {}


def test_centrality_is_that_of_networkx() -> None:
    networkx = pytest.importorskip("networkx")
    pytest.importorskip("scipy")
    names = [f"file_{number}" for number in range(30)]
    pairs = {(names[(number * 7) % 30], names[(number * number) % 30]) for number in range(90)}
    pairs = {pair for pair in pairs if pair[0] != pair[1]}
    directed = networkx.DiGraph()
    directed.add_nodes_from(names)
    directed.add_edges_from(pairs)
    expected = networkx.pagerank(directed, alpha=0.85, tol=1e-9)
    assert ImportGraph(names, pairs).centrality == pytest.approx(expected, abs=2e-3)
