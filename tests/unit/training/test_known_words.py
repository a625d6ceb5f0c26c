"""The form that a stem is written in most often: what a language model is asked about."""

from __future__ import annotations

from known_words import find_forms
from mining import Mined


def mine(code: str, *paragraphs: str) -> Mined:
    return Mined("shop/cart.py", "Cart.add", list(paragraphs), [], code, [], code)


def test_a_stem_is_asked_about_in_its_commonest_form() -> None:
    files = [iter([mine("parse parsed", "Parse a line.")]), iter([mine("parser", "Be parsed by a parser, and parse.")])]
    forms = find_forms(files)
    assert forms["pars"] == "parse"
    assert forms["line"] == "line"


def test_forms_that_are_as_common_are_chosen_by_the_alphabet() -> None:
    assert find_forms([iter([mine("loading loaded")])])["load"] == "loaded"


def test_names_code_and_prose_are_all_read() -> None:
    assert {"cart", "add", "widget", "total"} <= find_forms([iter([mine("widget", "The total grows.")])]).keys()
