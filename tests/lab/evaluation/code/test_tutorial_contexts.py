"""The columns of tutorials show the fact, or the plain passage, that is nearest to a task."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from trees import write_tree

import pkg
from pkg.api import Graph
from pkg.errors import InputError
from pkg.lab.evaluation.code.benchmarks import Item
from pkg.lab.evaluation.code.tutorial_contexts import TutorialFinder

PAGES = {
    "lists.md": "# Lists\n\n## Sorting\n\nSort a list in place with `sort`.\n\n"
    "## Copies\n\nCopy a list by slicing it.\n",
    "dates.md": "# Dates\n\nParse a date from text with `strptime`.\n\n"
    "```python\ndef parse(text):\n    return text\n```\n",
}
TASK = Item("1", "copy a list by slicing", "", "f", "", "")


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    store = f"sqlite:///{tmp_path}/graph.db"
    pkg.build_graph(write_tree(tmp_path / "pages", PAGES), store=store, reader="structure")
    with pkg.open_graph(store) as opened:
        yield opened


def test_a_fact_is_shown_as_a_comment(graph: Graph) -> None:
    shown = TutorialFinder(graph.store, graph.load_encoder()).find_facts(TASK)
    (fact,) = shown.helpers
    assert "Copy a list by slicing it." in fact.code
    assert all(line.startswith("#") for line in fact.code.splitlines())
    assert "Sort" not in fact.code
    assert shown.score is not None


def test_a_passage_is_cut_from_the_text_and_not_from_each_fact(graph: Graph) -> None:
    shown = TutorialFinder(graph.store, graph.load_encoder()).find_passage(TASK)
    (passage,) = shown.helpers
    assert passage.place.startswith("lists.md")
    assert "Copy a list by slicing it." in passage.code


def test_a_question_of_unknown_words_shows_no_fact(graph: Graph) -> None:
    shown = TutorialFinder(graph.store, graph.load_encoder()).find_facts(Item("1", "qzx", "", "f", "", ""))
    assert (shown.helpers, len(shown.notes)) == ((), 1)


def test_a_graph_without_documents_is_refused(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    pkg.build_graph(write_tree(tmp_path / "code", {"a.py": "def f():\n    return 1\n"}), store=store)
    with pkg.open_graph(store) as opened:
        finder = TutorialFinder(opened.store, opened.load_encoder())
        with pytest.raises(InputError, match="no documents; make facts of some: pkg build PATH --reader structure"):
            finder.find_passage(TASK)
