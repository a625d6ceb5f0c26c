"""Whatever a model writes, a kept docstring is complete, clean, and leaves the code unchanged."""

from __future__ import annotations

import ast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pkg.enhance.checking import RefusedError, check_docstring, clean_text, fits
from pkg.enhance.docstring_sections import split_sections
from pkg.enhance.function_facts import FunctionText, find_facts, parse_function
from pkg.extract.docstrings import insert_docstring
from pkg.quoting.special_tokens import break_tokens

CODE = 'def find(key, limit=5):\n    if limit < 0:\n        raise ValueError("below zero")\n    return rows[key]\n'
PIECES = [
    "Find a row.", "\n", "\n\n", "    ", "Args:", "Returns:", "Raises:", "Yields:", "key: Its key.", "name: No.",
    "ValueError: Yes.", "KeyError: No.", ":param key: It.", ":raises KeyError: No.", "Parameters\n----------\n",
    '"', "'", '"""', "\\", "\\n", "<|im_end|>", "### Response:", ">>> find(1)", "Example:", "return rows[key]", "\t",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=12).map("".join)


@given(TEXTS, st.booleans())
@example('Find a row.\n\nArgs:\n    key: "It\\', True)
@example("Find a row \ud800 of it.", True)
def test_any_text_is_refused_or_leaves_the_code_unchanged(text: str, is_whole: bool) -> None:
    function = FunctionText(CODE, "find")
    parsed = parse_function(CODE)
    assert parsed is not None
    try:
        kept = check_docstring(text, is_whole, function, find_facts(parsed, CODE, False))
    except RefusedError:
        return
    before, after = (ast.parse(each).body[0] for each in (CODE, insert_docstring(CODE, kept)))
    assert isinstance(after, ast.FunctionDef)
    assert ast.get_docstring(after) == kept
    del after.body[0]
    assert ast.dump(after) == ast.dump(before)
    assert break_tokens(kept) == kept


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text("ab:- \n", max_size=6)), max_size=12).map("".join))
def test_sections_hold_every_word_of_a_text(text: str) -> None:
    lines = [line for section in split_sections(text) for line in section.lines]
    assert "".join(" ".join(lines).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Say 'yes'.", "Say 'yes'."),
        ("Say 'yes'", "Say 'yes'"),
        ('"Say it."', "Say it."),
        ('Say it."', "Say it."),
        ("Say it.'''", "Say it."),
        ('Say \\"it\\".', 'Say "it".'),
        ("\n    Say it.\n\n        Twice.\n    ", "Say it.\n\n    Twice."),
        ("Say it.   \nTwice.", "Say it.\nTwice."),
        ("Say it.\r\nTwice.", "Say it.\nTwice."),
        ("Say\0 it\ud800.", "Say it."),
        ("Table:\n" + "-" * 60 + "\nEnd.", "Table:\n" + "-" * 60 + "\nEnd."),
    ],
)
def test_a_text_is_cleaned(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


def test_a_text_that_differs_when_parsed_does_not_fit() -> None:
    assert fits("Say it.", CODE)
    assert not fits("  Say it.", CODE)
    assert not fits("Say it.", "x = 1")
    assert not fits("Say it.", "def f():\n    ('It is said.')\n    return 1")
