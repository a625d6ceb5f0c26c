from __future__ import annotations

import numpy as np
import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store

from pkg.model import Label, NodeFilter
from pkg.retrieval.candidate_pool import MAX_FILES, MAX_TESTS, POOL_SIZE, Pool, collect_pool
from pkg.retrieval.question import Question, parse_question

PICTURES = '''
class Album:
    """Keeps photographs on the disk."""

    def resize_image(self, width):
        return self.scale(width)

    def sell(self, price):
        return price
'''


def collect(store: FakeStore, question: Question) -> Pool:
    query = FakeEncoder().encode_query(question.text)
    return collect_pool(store, question, query, Label.FUNCTION, 3, NodeFilter())


def find_meant(pool: Pool, name: str, term: str) -> float:
    row = [each.name for each in pool.outlines].index(name)
    return float(pool.covered[row, list(pool.question.weights).index(term)])


def test_a_term_that_is_held_is_meant_in_full_and_a_related_one_by_its_likeness() -> None:
    pool = collect(make_store({"a.py": PICTURES}), parse_question("resize a picture"))
    assert find_meant(pool, "resize_image", "resiz") == 1.0
    assert 0 < find_meant(pool, "resize_image", "pictur") < 1
    assert find_meant(pool, "sell", "pictur") == 0.0


def test_a_long_question_is_taken_at_its_word() -> None:
    words = " ".join(first + second for first in "bcdfghkl" for second in ("aro", "eti", "ilu", "omb", "une"))
    assert parse_question("a picture").related["pictur"]
    assert not parse_question(f"a picture {words}").related


def test_methods_are_covered_by_the_words_of_their_class() -> None:
    pool = collect(
        make_store({"a.py": PICTURES, "b.py": "def sell_it(price):\n    return price\n"}),
        parse_question("sell photographs"),
    )
    around = dict(zip([each.qualname for each in pool.outlines], pool.covered_around.max(axis=1).tolist(), strict=True))
    assert around["Album.sell"] == 1.0
    assert around["sell_it"] == 0.0
    assert {each.qualname for each, cosine in zip(pool.outlines, pool.class_dense, strict=True) if cosine} == {
        "Album.sell", "Album.resize_image",
    }  # fmt: skip


def make_tested_store() -> FakeStore:
    tests = "".join(f"def test_add_item_{number}():\n    add_item({number})\n\n" for number in range(2 * POOL_SIZE))
    code = "".join(f"def add_item_{number}(item):\n    return items + {number}\n\n" for number in range(POOL_SIZE))
    return make_store({"tests/test_cart.py": tests, "cart.py": code})


@pytest.mark.parametrize(("text", "is_many"), [("add item", False), ("tests of add item", True)])
def test_tests_do_not_crowd_out_other_candidates(text: str, is_many: bool) -> None:
    pool = collect(make_tested_store(), parse_question(text))
    tests = sum(each.path.startswith("tests/") for each in pool.outlines)
    assert (tests > 2 * POOL_SIZE * MAX_TESTS) == is_many
    assert len(pool.outlines) >= POOL_SIZE


def test_the_rarities_are_of_functions() -> None:
    pool = collect(make_store({"a.py": PICTURES}), parse_question("sell"))
    assert pool.rarities.shape == (1,)
    assert np.all(pool.rarities > 0)


LINED = "def pay(price):\n    if price < 0:\n        return None\n    return price\n"


@pytest.mark.parametrize("label", [Label.FUNCTION, Label.BLOCK])
@pytest.mark.parametrize(("line", "found"), [("3", {"pay", "body/if[0]"}), ("99", set())])
def test_a_line_of_a_file_leads_to_what_holds_it(line: str, label: Label, found: set[str]) -> None:
    store = make_store({"shop/cart.py": LINED, "shop/stock.py": LINED})
    question = parse_question(f"what does cart.py:{line} do")
    pool = collect_pool(store, question, FakeEncoder().encode_query(question.text), label, 3, NodeFilter())
    assert {node.name for node in store.get(sorted(pool.on_line))} == found
    assert len(pool.on_line & {each.id for each in pool.outlines}) == bool(found)


def test_a_line_of_a_file_that_many_files_may_be_means_none() -> None:
    store = make_store({f"shop{number}/cart.py": LINED for number in range(MAX_FILES + 1)})
    assert not collect(store, parse_question("cart.py:3")).on_line
