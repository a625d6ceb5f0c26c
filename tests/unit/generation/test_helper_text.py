from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from linked import make_linked_store

from pkg.generation.prompt_templates.helper_text import list_helpers, read_helpers
from pkg.graph.store import GraphStore
from pkg.model import Coverage, Helper, Hit, Label, Node, QueryResult
from pkg.rerank.undefined_names import find_undefined

CODE = '''\
import math
import json as reader
from shop import prices


class Till:
    def count(self, coins: list[float], limit=3):
        """Count the coins.

        All of them.
        """
        total, unused = 0.0, 1
        for coin in coins:
            if coin > limit:
                total += math.floor(coin) * prices.rate
        return total


def close(till):
    return reader.dumps(till)
'''
PYTHON_2 = "def old_count(x):\n    if x:\n        print x\n    print 1\n"
HELPER = Helper("", "b.py", "g", 1, 2, "def g():\n    return os", "called", ("import os",))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GraphStore]:
    with closing(make_linked_store(tmp_path / "graph.db", {"shop/till.py": CODE, "old.py": PYTHON_2})) as store:
        yield store


def make_result(store: GraphStore, *names: str, helpers: tuple[Helper, ...] = ()) -> QueryResult:
    nodes = {node.qualname: node for node in store.nodes((Label.FUNCTION,))}
    nodes |= {f"{node.qualname} {node.name}": node for node in store.nodes((Label.BLOCK,))}
    hits = tuple(make_hit(rank, nodes[name], helpers) for rank, name in enumerate(names, 1))
    return QueryResult("count", "block", hits, Coverage(1, 0, 0, len(hits)))


def make_hit(rank: int, node: Node, helpers: tuple[Helper, ...]) -> Hit:
    return Hit(
        rank, node.label.value, node.id, node.source, node.path, node.qualname, node.kind, node.start_line,
        node.end_line, 0.5, 0.5, node.content, node.content, (), helpers,
    )  # fmt: skip


def list_free(code: str) -> list[str]:
    return [name for name, _ in find_undefined(code, ast.parse(code))]


def test_a_block_brings_the_needed_parts_of_its_function_and_module(store: GraphStore) -> None:
    (shown,) = read_helpers(store, make_result(store, "Till.count body/for[0]"))

    assert shown.place == "shop/till.py:13-15 Till.count"
    assert shown.code.splitlines() == [
        "import math",
        "from shop import prices",
        "def count(self, coins: list[float], limit=3):",
        '    """Count the coins."""',
        "    total, unused = (0.0, 1)",
        "    for coin in coins:",
        "        if coin > limit:",
        "            total += math.floor(coin) * prices.rate",
        "    ...",
    ]
    assert list_free(shown.code) == []


def test_a_function_has_the_imports_that_it_uses(store: GraphStore) -> None:
    (shown,) = read_helpers(store, make_result(store, "close"))

    assert shown.code == "import json as reader\ndef close(till):\n    return reader.dumps(till)"


def test_a_block_of_python_2_is_unchanged(store: GraphStore) -> None:
    (shown,) = read_helpers(store, make_result(store, "old_count body/if[0]"))

    assert shown.code == "if x:\n    print x"


def test_each_hit_is_followed_by_its_helpers_once(store: GraphStore) -> None:
    result = make_result(store, "close", "Till.count", helpers=(HELPER,))

    assert [shown.place for shown in read_helpers(store, result)] == [
        "shop/till.py:19-20 close", "b.py:1-2 g", "shop/till.py:7-16 Till.count",
    ]  # fmt: skip
    assert read_helpers(store, result)[1].code == "import os\ndef g():\n    return os"


def test_each_function_has_one_signature_and_its_helpers_none(store: GraphStore) -> None:
    result = make_result(store, "Till.count body/for[0]", "close", "Till.count", "Till.count body", helpers=(HELPER,))

    assert read_helpers(store, result, "signature") == (
        (
            "shop/till.py:7-16 Till.count",
            'def count(self, coins: list[float], limit=3):\n    """Count the coins."""\n    ...',
        ),
        ("shop/till.py:19-20 close", "def close(till):\n    ..."),
    )


def test_nothing_is_shown_without_detail_or_hits(store: GraphStore) -> None:
    assert read_helpers(store, make_result(store, "close"), "none") == ()
    assert read_helpers(store, make_result(store)) == ()


def test_pruned_lines_are_not_shown(store: GraphStore) -> None:
    result = make_result(store, "Till.count body/for[0]")
    (hit,) = result.hits
    pruned = replace(hit, pruned_content="for coin in coins:\n    pass")
    (shown,) = read_helpers(store, QueryResult("", "block", (pruned,), result.coverage))

    assert shown.code.splitlines() == [
        "def count(self, coins: list[float], limit=3):",
        '    """Count the coins."""',
        "    ...",
        "    for coin in coins:",
        "        pass",
        "    ...",
    ]


def test_without_a_store_a_hit_is_shown_as_found(store: GraphStore) -> None:
    assert [shown.code for shown in list_helpers(make_result(store, "Till.count body/for[0]"))] == [
        "for coin in coins:\n    if coin > limit:\n        total += math.floor(coin) * prices.rate"
    ]


def test_a_block_is_left_out_where_its_function_is_shown(store: GraphStore) -> None:
    names = {node.name for node in store.nodes((Label.BLOCK,)) if node.qualname == "Till.count"}
    block = f"Till.count {min(names)}"
    (count,) = (node for node in store.nodes((Label.FUNCTION,)) if node.qualname == "Till.count")
    helper = replace(HELPER, id=count.id, path="shop/till.py", qualname="Till.count", start_line=7, end_line=16)

    assert len(read_helpers(store, make_result(store, block))) == 1
    for result, others in (
        (make_result(store, block, "Till.count"), []),
        (make_result(store, block, "close", helpers=(helper,)), ["shop/till.py:19-20 close"]),
    ):
        for shown in (read_helpers(store, result), list_helpers(result)):
            assert sorted(each.place for each in shown) == sorted(["shop/till.py:7-16 Till.count", *others])


def test_without_a_store_each_helper_is_shown_once(store: GraphStore) -> None:
    result = make_result(store, "close", "Till.count", "close", helpers=(HELPER,))

    assert [shown.place for shown in list_helpers(result)] == [
        "shop/till.py:19-20 close", "b.py:1-2 g", "shop/till.py:7-16 Till.count",
    ]  # fmt: skip
