"""A definition over the budget is outlined or cut, its callers keep their share, and the rest is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from trees import write_tree

from pkg.api import Graph, build_graph, open_graph
from pkg.retrieval.show import Definition
from pkg.retrieval.token_count import count_tokens
from pkg.service.operations.answer_texts import list_inside, write_explored, write_nearest, write_ranking, write_shown

LONG = "".join(f"    total = total + {number} * amount\n" for number in range(200))
CODE = (
    f'class Till:\n    """A till."""\n\n    def open(self):\n        """Open it."""\n        return count(1)\n\n'
    f"    def close(self):\n        return count(2)\n\n\ndef count(amount):\n    total = 0\n{LONG}    return total\n"
)


@pytest.fixture(name="graph", scope="module")
def _graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = Path(tmp_path_factory.mktemp("till"))
    store = f"sqlite:///{folder}/graph.db"
    build_graph(write_tree(folder / "repo", {"till.py": CODE}), store=store)
    with open_graph(store) as graph:
        yield graph


def show(graph: Graph, name: str, budget: int) -> tuple[str, tuple[str, ...]]:
    def outline(each: Definition) -> list[str]:
        return list_inside(graph.outline(each.path, budget=0), each)

    return write_shown(graph.show(name), budget, outline)


def test_a_function_over_the_budget_shows_its_first_lines_and_callers(graph: Graph) -> None:
    text, left_out = show(graph, "count", 300)
    assert count_tokens(text) <= 300
    assert text.startswith("till.py:12-214  count\ndef count(amount):\n    total = 0")
    assert "callers:\n  till.py:6 Till.open\n  till.py:9 Till.close" in text
    first = int(left_out[0].split("-")[0].removeprefix("lines "))
    assert f"total + {first - 15} * amount" in text
    assert f"total + {first - 14} * amount" not in text
    budget = int(left_out[0].rpartition(" ")[2])
    assert show(graph, "count", budget)[1] == ()


def test_a_class_and_a_file_over_the_budget_are_outlined(graph: Graph) -> None:
    text, left_out = show(graph, "Till", 60)
    assert "  1: class Till:  A till." in text
    assert "    4: def open(self) -> None:" in text or "    4: def open(self):  Open it." in text
    assert "return count(1)" not in text
    assert "show one of its definitions" in left_out[0]
    text, left_out = show(graph, "till.py", 100)
    assert "  12: def count(amount):" in text
    assert "the code of till.py" in left_out[0]


def test_a_definition_within_the_budget_is_whole(graph: Graph) -> None:
    text, left_out = show(graph, "Till.open", 100)
    assert text == (
        'till.py:4-6  Till.open\nin class Till:\ndef open(self):\n        """Open it."""\n        return count(1)\n'
        "callees:\n  till.py:12 count\nno callers found: the source has no call expression of open"
    )
    assert left_out == ()


def test_an_exploration_names_calls_by_their_line(graph: Graph) -> None:
    text = write_explored(graph.explore("open the till and count"))
    assert "calls:\n  till.py:6 Till.open -> count" in text
    assert "till.py:4-6  Till.open\n" in text


def test_a_question_that_nothing_fits_lists_places_only(graph: Graph) -> None:
    found = replace(graph.explore("open the till and count"), fits=False, notes=("nothing fits: why",))
    first, second, *places = write_nearest(found)
    assert (first, second) == ("nothing fits: why", "nearest places; show one, or ask in words of the code:")
    assert "  till.py:4 Till.open" in places
    assert list(write_nearest(replace(found, pieces=(), notes=()))) == ["nothing found"]


def test_a_ranking_gives_the_reason_of_each_candidate() -> None:
    candidate = {"rank": 1, "same_as": None, "dropped": None, "reason": "", "why": "2 of 2 hold"}
    line = {
        "chosen": 1,
        "fallback": False,
        "notes": ["no sandbox"],
        "candidates": [
            candidate | {"id": 0, "rank": 2, "dropped": "syntax", "reason": "line 1"},
            candidate | {"id": 1},
            candidate | {"id": 2, "rank": 3, "same_as": 1},
        ],
    }
    assert list(write_ranking(line)) == [
        "chosen: candidate 1",
        "candidate 1: 2 of 2 hold",
        "candidate 0: dropped at syntax: line 1",
        "candidate 2: 2 of 2 hold (same code as 1)",
        "no sandbox",
    ]
