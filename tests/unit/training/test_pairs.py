"""Pairs of questions and their answers: which functions and constants are kept, and the questions about them."""

from __future__ import annotations

from asked_questions import AskedQuestion
from exclusions import Exclusions
from matrices import Pairs
from mining import Mined
from pairs import make_pairs

NONE = Exclusions(frozenset(), frozenset())


def mine(qualname: str, code: str, *paragraphs: str, is_constant: bool = False) -> Mined:
    return Mined("shop/cart.py", qualname, list(paragraphs), [], code, [], code, is_constant)


def make(*mined: Mined, asked: tuple[AskedQuestion, ...] = (), excluded: Exclusions = NONE) -> Pairs:
    return make_pairs([iter(mined)], ["shop"], excluded, asked)


def ask(qualname: str, text: str) -> AskedQuestion:
    return AskedQuestion("shop", "shop/cart.py", qualname, False, text)


def list_words(pairs: Pairs, row: int) -> set[str]:
    return {pairs.words[number] for number in pairs.asked.words[row].indices.tolist()}


def test_asked_questions_belong_to_their_functions() -> None:
    functions = mine("empty", "def empty self items"), mine("add", "def add self item")
    pairs = make(*functions, asked=(ask("add", "put goods in"), ask("gone", "where is it"), ask("add", "buy more")))
    assert pairs.asked.functions.tolist() == [1, 1]
    assert [list_words(pairs, row) for row in range(2)] == [{"put", "good", "in"}, {"buy", "more"}]
    assert pairs.counts["questions: asked"] == 2


def test_a_constant_is_kept_only_with_a_question_about_it() -> None:
    constants = [mine(f"LIMIT_{name}", f"LIMIT {name} first second third", is_constant=True) for name in ("a", "b")]
    documented = mine("WAIT", "WAIT until every thread ends", "How long to wait.", is_constant=True)
    pairs = make(*constants, documented, asked=(ask("LIMIT_b", "how many at most"),))
    assert pairs.functions.code.shape[0] == 2
    assert pairs.counts["bare constants"] == 1


def test_texts_of_evaluation_sets_are_not_asked() -> None:
    excluded = Exclusions(frozenset(), frozenset({"put good in"}))
    pairs = make(mine("add", "def add self item"), asked=(ask("add", "put goods in"),), excluded=excluded)
    assert pairs.asked.words.shape[0] == 0
