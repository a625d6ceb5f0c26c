"""The nested JSON of a model is parsed, repaired, and turned into facts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.documents.nested_json import list_written, parse_nested

_VALUES = st.recursive(
    st.text(max_size=5) | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"a": {"b": "c"}}', {"a": {"b": "c"}}),
        ('Here it is:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{'a': 'it', 'b': None}", {"a": "it", "b": None}),
        ('{"a": "x", "b": {"c": ["d", "e', {"a": "x", "b": {"c": ["d", "e"]}}),
        ('{"a": "x", "b"', {"a": "x"}),
        ('{"a": "x", "b":', {"a": "x"}),
        ('{"a": "line\nline"}', {"a": "line\nline"}),
        ("I cannot do that.", None),
        ("{}", None),
        ("[]", None),
        ('"text"', None),
        ("", None),
        ("{" * 100_000, None),
        ('{"a":' * 5_000, None),
        ('{"a":' * 301 + "1" + "}" * 301, None),
    ],
)
def test_answers_are_parsed_or_repaired(answer: str, value: object) -> None:
    assert parse_nested(answer) == value


@given(st.dictionaries(st.text(max_size=4), _VALUES, min_size=1, max_size=4), st.data())
def test_an_answer_that_breaks_off_anywhere_raises_nothing(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value)
    assert parse_nested(text) == value
    parse_nested(text[: data.draw(st.integers(0, len(text)))])


def test_pairs_become_facts_at_the_places_of_their_values() -> None:
    text = b"# Lists\n\nappend adds an item.\n\nslices copy.\n"
    answer = '{"Lists": {"append": "append adds an item.", "copy": ["slices copy.", "made up"], "append": 3, "no": ""}}'
    facts = list_written(text, [(0, len(text), parse_nested(answer))], ("manual",), "lists")
    assert [(fact.kind, fact.qualname, fact.parent) for fact in facts] == [
        ("section", "manual > Lists", None),
        ("value", "manual > Lists > append", 0),
        ("section", "manual > Lists > copy", 0),
        ("item", "manual > Lists > copy > [1]", 2),
        ("item", "manual > Lists > copy > [2]", 2),
        ("value", "manual > Lists > append (2)", 0),
    ]
    shown = [text[fact.span.start : fact.span.end].decode() if fact.value is None else fact.value for fact in facts]
    assert shown[1:2] + shown[3:] == ["append adds an item.", "slices copy.", "made up", "3"]
    assert facts[4].span[:2] == (0, len(text))


def test_two_hundred_levels_end_in_text() -> None:
    facts = list_written(b"x", [(0, 1, parse_nested('{"k": ' * 200 + '"x"' + "}" * 200))], (), "x")
    assert len(facts) < 60
    assert facts[-1].value is not None
