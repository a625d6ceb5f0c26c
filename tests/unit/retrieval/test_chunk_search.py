"""Questions on text files: found by words and by cosine, and returned as hits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from trees import SHOP, write_tree

from pkg.api import Graph
from pkg.cli import main
from pkg.encode.registry import load_encoder
from pkg.errors import QueryError, UnknownWordsError, UsageError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.retrieval.chunk_search import find_chunks
from pkg.terms.term_weights import weigh_terms

README = """# Shop

A shop for small towns, written for people who sell bread and books, and who would like to see in the evening what was
sold, what has to be ordered, and what a neighbour still owes them from the week before.

## Installation

Install the package with pip, or with conda where the system has no compiler. Nothing else is needed for a first
try, and all that is optional says so when it is missing, with the command that brings it.

## Payment

The till takes cards and cash. A payment that fails is tried again three times, with a pause that doubles each
time, and then given up; the customer is told by mail, and the goods go back on the shelf.
"""
LICENCE = "# Licence\n\nPermission is granted to use, copy and sell the shop, as long as this notice stays with it.\n"
TEXTS = {"README.md": README, "LICENSE.md": LICENCE, "docs/legal.md": LICENCE, "docs/pay.rst": "Pay\n===\n\nBy card.\n"}


@pytest.fixture
def told(tmp_path: Path, store: EmbeddedStore) -> Graph:
    build(str(write_tree(tmp_path / "repo", SHOP | TEXTS)), store, source="shop")
    return Graph(store)


@pytest.mark.parametrize("ranking", ["linear", "rrf", "dense"])
@pytest.mark.parametrize(
    ("question", "headings"),
    [
        ("how do I install it with conda?", "Shop > Installation"),
        ("what happens when a payment fails?", "Shop > Payment"),
        ("is permission granted to use and copy it?", "Licence"),
    ],
)
def test_the_section_that_answers_comes_first(told: Graph, question: str, headings: str, ranking: str) -> None:
    result = told.query(question, mode="text", ranking=ranking, top_k=9)  # type: ignore[arg-type]
    assert result.hits[0].qualname == headings
    assert {hit.label for hit in result.hits} == {"Chunk"}
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)


def test_a_hit_has_its_place_and_exactly_the_text_there(told: Graph) -> None:
    (hit,) = told.query("payment that fails", mode="text", top_k=1).hits
    lines = README.split("\n")[hit.start_line - 1 : hit.end_line]
    assert (hit.path, hit.content, hit.pruned, hit.helpers) == ("README.md", "\n".join(lines), (), ())
    assert lines[0] == "## Payment"


def test_equal_sections_are_one_hit(told: Graph) -> None:
    hits = told.query("permission to sell", mode="text", top_k=9).hits
    assert [(hit.qualname, hit.same_content) for hit in hits if hit.qualname == "Licence"] == [("Licence", 1)]
    assert len({hit.content for hit in hits}) == len(hits)


def test_source_and_path_narrow_the_search(told: Graph) -> None:
    hits = told.query("how to pay by card", mode="text", path="docs/*", top_k=9).hits
    assert {hit.path for hit in hits} == {"docs/pay.rst", "docs/legal.md"}
    with pytest.raises(QueryError, match=r"nearest: '\*/pay\.rst'"):
        told.query("how to pay by card", mode="text", path="pay.rst")


def test_k_asked_is_k_found_whenever_k_exist(told: Graph) -> None:
    query = load_encoder("static").encode_query("shop")
    found = [len(find_chunks(told.store, query, weigh_terms("shop"), k).ranked) for k in (0, 1, 3, 9)]
    assert found == [0, 1, 3, 5]
    assert len(find_chunks(told.store, query, {}, 9).ranked) == 5


def test_invalid_questions_are_refused(told: Graph) -> None:
    with pytest.raises(UnknownWordsError, match="occurs in the texts"):
        told.query("zxqwv blorpt", mode="text")
    with pytest.raises(UsageError, match="mode is 'text'"):
        told.query("pay", mode="text", kind="for")
    with pytest.raises(QueryError, match="question is empty"):
        told.query("  ", mode="text")


def test_a_graph_without_texts_suggests_a_build(tmp_path: Path, store: EmbeddedStore) -> None:
    build(str(write_tree(tmp_path / "repo", SHOP)), store)
    with pytest.raises(QueryError, match=r"holds no text files; .*pkg build PATH"):
        Graph(store).query("installation", mode="text")


def test_the_command_shows_text_as_it_is(told: Graph) -> None:
    command = ["query", "payment fails", "--mode", "text", "--top-k", "1", "--store", told.store.address]
    line = json.loads(CliRunner().invoke(main, command).output.splitlines()[0])
    assert (line["label"], line["qualname"], line["path"]) == ("Chunk", "Shop > Payment", "README.md")
    shown = CliRunner().invoke(main, [*command, "--no-json"]).output
    assert f"README.md:{line['start_line']}" in shown
    assert "The till takes cards and cash." in shown
    assert CliRunner().invoke(main, [*command, "--prompt"]).exit_code == 2
