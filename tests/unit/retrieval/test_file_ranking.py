"""Mode file: files by their best functions, with the places of these and no code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store
from long_questions import FILES, ISSUE
from rich.console import Console

from pkg.commands.query import view_query
from pkg.errors import UsageError
from pkg.generation.prompt_templates.paper_templates import render_prompt
from pkg.model import QueryResult
from pkg.retrieval.file_ranking import BEST_FUNCTIONS, SHOWN_FUNCTIONS
from pkg.retrieval.query import run_query
from pkg.retrieval.query_options import RANKINGS, QueryOptions
from pkg.service.operations.answer_lines import query_lines


@pytest.fixture(name="store")
def shop() -> FakeStore:
    return make_store(FILES)


def ask(store: FakeStore, text: str, **options: Any) -> QueryResult:
    return run_query(store, FakeEncoder(), text, QueryOptions(mode="file", **options))


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("text", ["add an item to the cart", ISSUE])
def test_files_are_sorted_by_the_scores_of_their_functions(store: FakeStore, text: str, ranking: str) -> None:
    hits = ask(store, text, top_k=3, ranking=ranking).hits
    assert len({hit.path for hit in hits}) == len(hits) == 3
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.label == "File"
        assert not hit.content
        places = {node.qualname: node.path for node in store.get([each.id for each in hit.functions])}
        assert set(places.values()) == {hit.path}
        assert [each.score for each in hit.functions] == sorted((each.score for each in hit.functions), reverse=True)


def test_a_file_scores_as_its_best_functions_do(store: FakeStore) -> None:
    many = make_store(
        {"a.py": "".join(f"def add_{n}(item):\n    return {n}\n\n\n" for n in range(3 * SHOWN_FUNCTIONS))}
    )
    (hit,) = ask(many, "add an item").hits
    assert len(hit.functions) == SHOWN_FUNCTIONS
    assert hit.score == pytest.approx(sum(each.score for each in hit.functions[:BEST_FUNCTIONS]))


def test_k_files_are_listed_however_many_functions_the_first_ones_have() -> None:
    large = "".join(f"def add_item_{n}(item):\n    return {n}\n\n\n" for n in range(120))
    store = make_store({"large.py": large, "small.py": "def translate(text):\n    return text\n"})
    assert [hit.path for hit in ask(store, "add an item", top_k=2).hits] == ["large.py", "small.py"]


def test_a_question_that_is_a_file_name_leads_to_the_file(store: FakeStore) -> None:
    assert ask(store, "shop/prices.py", top_k=1).hits[0].path == "shop/prices.py"


def test_json_and_table_show_places(store: FakeStore) -> None:
    result = ask(store, ISSUE, top_k=1)
    line, coverage = map(json.dumps, query_lines(result))
    shown = json.loads(line)
    assert {"id", "qualname", "start_line", "end_line", "score", "signature", "summary"} == set(shown["functions"][0])
    assert json.loads(coverage)["shown"] == 1
    console = Console(width=200)
    with console.capture() as captured:
        for each in view_query(result, False):
            console.print(each)
    assert shown["functions"][0]["qualname"] in captured.get()


def test_a_prompt_of_files_is_refused(store: FakeStore) -> None:
    with pytest.raises(UsageError, match="mode is 'file', which lists places"):
        render_prompt(ask(store, ISSUE))


def test_truncation_of_a_huge_question_is_reported(store: FakeStore) -> None:
    notes = ask(store, ISSUE * 1000).coverage.notes
    assert any("of which the first 50,000 were read" in note for note in notes)
    assert run_query(store, FakeEncoder(), ISSUE * 1000, QueryOptions()).coverage.notes[0] == notes[0]
