"""Query results become code and signatures for the prompt, and pieces for the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pkg
from pkg.api import Graph, open_graph
from pkg.generation.sample_writer import Context

FILES = {
    "dates.py": "import re\n\nSIGN = '-'\n\ndef split(text):\n    return re.split('-', text)\n\n\n"
    'def total(text, start=0):\n    """Sum the numbers of a date.\n\n    More words.\n    """\n'
    "    return start + sum(map(int, split(text)))\n\n\n"
    "class Clock:\n    def ring(self):\n        return 'bell and hammer'\n",
}


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    for name, text in FILES.items():
        (tmp_path / "code" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "code" / name).write_text(text)
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(tmp_path / "code", store=address)
    return open_graph(address)


def find(graph: Graph, text: str, **options: object) -> Context:
    with graph:
        return graph._find_context(text, pkg.QueryOptions(**options))[1]  # type: ignore[arg-type]


def test_signatures_have_the_first_line_of_the_docstring(graph: Graph) -> None:
    shown = find(graph, "sum the numbers of a date").signatures
    assert 'def total(text, start=0):\n    """Sum the numbers of a date."""\n    ...' in [each.code for each in shown]


def test_pieces_are_whole_definitions_with_imports_and_callees(graph: Graph) -> None:
    pieces = {each.name: each for each in find(graph, "sum the numbers of a date").pieces}
    assert pieces["total"].code.startswith("def total(text, start=0):")
    assert pieces["split"].imports == ("import re",)
    assert pieces["split"].place == "dates.py:5"


def test_a_block_brings_its_function(graph: Graph) -> None:
    context = find(graph, "start + sum(map(int, split(text)))", mode="block")
    assert "total" in {each.name for each in context.pieces}


def test_a_method_is_shown_but_is_no_piece(graph: Graph) -> None:
    context = find(graph, "bell and hammer", mode="function")
    assert any("def ring(self)" in each.code for each in context.code)
    assert all("." not in each.name for each in context.pieces)


def test_rows_that_cannot_run_are_not_used(tmp_path: Path) -> None:
    rows = ["def add(a, b):\n    return a + b + OFFSET\n", "def show(a, b):\n    print 'add', a + b\n"]
    rows.append("def add_all(a, b):\n    return a + b\n")
    corpus = tmp_path / "rows.jsonl"
    corpus.write_text("\n".join(json.dumps({"code": each}) for each in rows))
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(corpus, store=address)
    context = find(open_graph(address), "add a and b", mode="function", top_k=3, floor=False)
    assert {each.name for each in context.pieces} == {"add_all"}
    assert len(context.code) == 1
    told = " ".join(context.notes)
    assert "undefined: OFFSET" in told
    assert "it has a syntax error in Python 3" in told


def test_a_row_gets_the_import_that_most_rows_have_for_its_name(tmp_path: Path) -> None:
    rows = ["def total(values):\n    return arr.sum(values)\n"]
    rows += [f"import {module} as arr\n\ndef {name}():\n    return arr\n" for module, name in
             (("array", "first"), ("numpy", "second"), ("numpy", "third"), ("uninstalled", "fourth"),
              ("uninstalled", "fifth"), ("uninstalled", "sixth"))]  # fmt: skip
    corpus = tmp_path / "rows.jsonl"
    corpus.write_text("\n".join(json.dumps({"code": each}) for each in rows))
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(corpus, store=address)
    context = find(open_graph(address), "total of values", mode="function", top_k=1, floor=False)
    assert {each.imports for each in context.pieces if each.name == "total"} == {("import numpy as arr",)}
