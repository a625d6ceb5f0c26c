"""An abridged function keeps its header and the lines with words of the question, in their order."""

from __future__ import annotations

from pathlib import Path

from trees import write_tree

import pkg
from pkg.api import open_graph
from pkg.model import Node
from pkg.retrieval.deciding_lines import abridge
from pkg.retrieval.token_count import count_tokens

CODE = '''class Cart:
    def total(self, items,
              rate=0.2):
        """Add up the prices.

        Each has its tax.
        """
        # the sum
        amount = 0
        names = []
        seen = set()
        for item in items:
            names.append(item.name)
            amount += item.price
            seen.add(item)
        log(names)
        log(seen)
        discount = self.find_discount(amount)
        return amount - discount
'''


def read_function(folder: Path) -> Node:
    store = f"sqlite:///{folder / 'graph.db'}"
    pkg.build_graph(write_tree(folder / "repo", {"cart.py": CODE}), store=store)
    with open_graph(store) as graph:
        (node,) = graph.find_name("total")
    return node


def test_lines_with_words_of_the_question_come_first(tmp_path: Path) -> None:
    text = abridge(read_function(tmp_path), {"dis": 1.0, "count": 1.0}, 45)
    assert text == (
        "def total(self, items,\n          rate=0.2):\n    amount = 0\n    names = []\n    ...\n"
        "    for item in items:\n"
        "    ...\n    discount = self.find_discount(amount)\n    return amount - discount"
    )


def test_gaps_are_marked_and_the_budget_is_kept(tmp_path: Path) -> None:
    node = read_function(tmp_path)
    for budget in range(40, 200, 20):
        text = abridge(node, {"name": 1.0}, budget)
        if text is not None:
            assert count_tokens(text.replace("...", "")) <= budget
            assert text.startswith("def total(self, items,")
            assert '"""' not in text
            assert "# the sum" not in text


def test_too_few_lines_are_none(tmp_path: Path) -> None:
    assert abridge(read_function(tmp_path), {}, 20) is None
