"""Code on the page of a graph in a real Chromium: it is that of the files, and copied without line numbers."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import rich
from chromium import Page, start_page
from serve_process import start_serve

from pkg.api import build_graph, open_graph
from pkg.model import Label, Node

pytestmark = pytest.mark.browser

ROOT = Path(rich.__file__).parent
FUNCTIONS, SEED = 200, 0
SHOWN = """import('/page/page.js').then(({ ask, indentFirst, showCode, showArguments }) => Promise.all(NAMES.map(
  async (name) => (await ask('show', showArguments(name, 'rich'))).filter((each) => each.type === 'definition').map(
    (each) => [each.start_line, showCode(indentFirst(each), each.start_line)[0].innerHTML.includes('gutter')
      && [...showCode(indentFirst(each), each.start_line)[0].querySelectorAll('li')].map(
        (line) => line.querySelector('.text').textContent)]))))"""
"""The first line and the displayed lines of each definition of some names."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    address = f"sqlite:///{tmp_path_factory.mktemp('graph')}/graph.db"
    build_graph(ROOT, store=address, source="rich")
    return address


@pytest.fixture(scope="module")
def page(store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with start_serve(tmp_path_factory.mktemp("serve"), "--store", store) as served, start_page(1280, 900) as opened:
        opened.open(served.page)
        opened.await_true("document.querySelector('.canvas canvas')")
        yield opened


@pytest.fixture(scope="module")
def functions(store: str) -> list[Node]:
    with open_graph(store) as graph:
        found = sorted(graph.store.nodes([Label.FUNCTION], "rich"), key=lambda node: node.id)
    return random.Random(SEED).sample(found, FUNCTIONS)


def _read_lines(path: str, first: int, last: int) -> list[str]:
    return (ROOT / path).read_text(encoding="utf-8").split("\n")[first - 1 : last]


def test_each_line_is_shown_as_in_its_file(page: Page, functions: list[Node]) -> None:
    names = [f"{node.path}::{node.qualname}" for node in functions]
    shown = page.run(SHOWN.replace("NAMES", json.dumps(names)))
    for node, definitions in zip(functions, shown, strict=True):
        assert node.start_line in [first for first, _ in definitions]
        for first, lines in definitions:
            assert lines == _read_lines(node.path, first, first + len(lines) - 1), node.qualname


def test_copied_code_has_no_line_numbers(page: Page, functions: list[Node]) -> None:
    node = max(functions, key=lambda each: each.end_line - each.start_line)
    address = f"#/symbol?name={node.path}::{node.qualname}&source=rich"
    page.run(f"location.hash = {json.dumps(address)}; 0")
    page.await_true("document.querySelector('.source li')")
    page.run("getSelection().selectAllChildren(document.querySelector('.source ol.code')); 0")
    copied = page.run("getSelection().toString()")
    expected = _read_lines(node.path, node.start_line, node.end_line)
    assert [line.rstrip() for line in copied.strip("\n").split("\n")] == [line.rstrip() for line in expected]
