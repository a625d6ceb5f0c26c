"""Docstrings of the template are deterministic and contain only facts of the source."""

from __future__ import annotations

from datetime import date
from textwrap import dedent

import pytest

from pkg.enhance.docstring_claims import drop_false_claims
from pkg.enhance.function_facts import FunctionText, find_facts, parse_function
from pkg.enhance.template import render_template, split_name
from pkg.enhance.writer import TemplateWriter
from pkg.model import Docstring

SAVE = FunctionText(
    dedent("""
    def saveUser(self, user_id: int, name="x", *rest, **options) -> bool:
        # The row may be there already.
        if not name:
            raise ValueError("a user has a name")
        self.rows[user_id] = name
        return user_id in self.rows
    """).strip(),
    "Store.saveUser",
    "store.py",
    True,
    "Store",
)


def render(content: str, qualname: str = "f", class_name: str | None = None) -> str:
    function = FunctionText(content, qualname, "", class_name is not None, class_name)
    parsed = parse_function(content)
    assert parsed is not None
    return render_template(function, find_facts(parsed, content, function.is_method))


def test_a_docstring_has_purpose_inputs_outputs_and_errors() -> None:
    assert TemplateWriter(lambda: date(2026, 1, 31)).write(SAVE) == Docstring(
        dedent("""
        Save user of Store.

        The row may be there already.

        Args:
            user_id (int): user id
            name: 'x' by default
            *rest: any further arguments
            **options: any further keyword arguments

        Returns:
            bool: user_id in self.rows

        Raises:
            ValueError: a user has a name
        """).strip(),
        "template",
        "template",
        "template/2",
        "2026-01-31",
    )


def test_a_docstring_has_no_false_claim() -> None:
    parsed = parse_function(SAVE.content)
    assert parsed is not None
    facts = find_facts(parsed, SAVE.content, True)
    text = render_template(SAVE, facts)
    assert drop_false_claims(text, facts) == text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("parse_html_text", ["parse", "html", "text"]),
        ("parseHTMLText", ["parse", "HTML", "text"]),
        ("_to_base64", ["to", "base"]),
        ("MAX_SIZE", ["max", "size"]),
        ("straße_ändern", ["straße", "ändern"]),
        ("__", []),
    ],
)
def test_a_name_is_split_into_its_words(name: str, words: list[str]) -> None:
    assert split_name(name) == words


@pytest.mark.parametrize(
    ("content", "qualname", "class_name", "first"),
    [
        ("def is_open(self): return 1", "Door.is_open", "Door", "Return whether Door is open."),
        ("def has_key(key): return 1", "has_key", None, "Return whether it has key."),
        ("def are_equal(a, b): return a == b", "are_equal", None, "Return whether they are equal."),
        ("def __init__(self): self.a = 1", "Door.__init__", "Door", "Initialise a new Door."),
        ("def __len__(self): return 1", "Door.__len__", "Door", "Length of Door."),
        ("def _(text): return text", "_", None, "_."),
    ],
)
def test_the_first_line_is_made_of_the_name(content: str, qualname: str, class_name: str | None, first: str) -> None:
    assert render(content, qualname, class_name).split("\n")[0] == first


def test_a_generator_yields() -> None:
    assert "Yields:\n    Iterator[int]" in render("def f(a) -> Iterator[int]:\n    yield a")


def test_a_long_expression_is_truncated() -> None:
    assert len(render(f"def f(a):\n    return a + {'1 + ' * 200} 1")) < 200
