"""The figures of docs/facts.md are those of the result files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pages import ROOT

PAGE = " ".join((ROOT / "docs" / "facts.md").read_text(encoding="utf-8").split())
CORPORA = {"docs_python_3.9": "Python documentation, 5.1 MB", "python_cheatsheet": "cheat sheet, 0.5 MB"}
SEARCHES = {
    "facts": "facts", "sections": "PKG's search among sections of text files",
    "bm25_sections": "BM25 among the same sections", "bm25_documents": "BM25 among whole documents, by document",
}  # fmt: skip


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))
    del found["machine"]
    return found


def make_row(title: str, documents: int, found: dict[str, Any]) -> str:
    counts = " | ".join(f"{found[key]:,}" for key in ("facts", "relations", "functions"))
    return f"| {title} | {documents} | {counts} | {found['cpu_seconds']:.1f} |"


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_page_quotes_the_graphs_of_texts(corpus: str) -> None:
    found = read("tutorials")["graphs"][corpus]
    assert make_row(CORPORA[corpus], found["rows"], found) in PAGE


def test_the_page_quotes_every_tree_and_none_has_a_wrong_place() -> None:
    for name, found in read("tutorials_trees").items():
        assert make_row(f"of {name.rpartition('-')[0]}", found["documents"], found) in PAGE.replace(
            "documentation ", ""
        )
        assert (found["wrong_places"], found["internal_errors"]) == ([], 0)


def test_the_page_quotes_the_answered_questions() -> None:
    result = read("tutorials")
    asked = result["questions"]
    for key, title in SEARCHES.items():
        first, among = (round(result["found"][key][name] * asked) for name in ("first", "among_5"))
        assert f"| {title} | {first} of {asked} | {among} of {asked} |" in PAGE


def test_the_page_quotes_the_reading_by_a_model() -> None:
    found = read("tutorials_model")
    assert found["valid_at_once"] == 1
    facts, seconds = found["facts"], found["cpu_seconds"]
    quoted = f"all {found['pieces']} first answers were valid JSON, with {facts} facts, in {seconds:.0f} CPU-seconds"
    assert quoted in PAGE
