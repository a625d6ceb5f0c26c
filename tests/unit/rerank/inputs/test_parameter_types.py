from __future__ import annotations

import pytest

from pkg.rerank.inputs.parameter_types import guess_type, list_alternatives
from pkg.rerank.parsed_question import Parameter


@pytest.mark.parametrize(
    ("name", "kind"),
    [("n", "int"), ("test_list", "list[int]"), ("s1", "str"), ("test_tup1", "tuple[int, ...]"), ("words", "list[str]")],
)
def test_the_name_of_a_parameter_suggests_its_kind(name: str, kind: str) -> None:
    assert guess_type(Parameter(name)) == kind


def test_an_annotation_says_more_than_the_name() -> None:
    assert guess_type(Parameter("words", "int")) == "int"
    assert guess_type(Parameter("words", "Any")) == "list[str]"


def test_where_neither_tells_a_number_is_tried_first() -> None:
    assert guess_type(Parameter("quux")) == "int"


def test_other_guesses_change_one_argument_or_all_of_a_kind() -> None:
    others = list(list_alternatives(("int", "int", "str"), ""))
    assert ("str", "str", "str") in others
    assert ("int", "list[int]", "str") in others
    assert ("int", "int", "list[str]") in others
    assert ("int", "int", "str") not in others
    assert len({*others}) == len(others)


def test_kinds_that_the_query_speaks_of_come_first() -> None:
    assert next(list_alternatives(("list[int]", "list[int]"), "Total the lengths of two lists of strings")) == (
        "list[str]",
        "list[str]",
    )
    assert next(list_alternatives(("list[int]",), "Sort the dictionary")) == ("dict[str, int]",)
