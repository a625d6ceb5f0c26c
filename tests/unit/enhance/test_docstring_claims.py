"""The claims of a docstring are checked against the function: false ones are dropped, true ones kept."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pkg.enhance.docstring_claims import drop_false_claims, states_inputs, states_output, states_purpose
from pkg.enhance.function_facts import FunctionFacts, find_facts, parse_function

FIND = """def find(self, key, limit: int = 5, *rest, **options) -> str:
    if limit < 0:
        raise ValueError("below zero")
    return self.rows[key]
"""
PUT = "def put(self, key):\n    self.rows.append(key)\n"
EACH = "def each(rows):\n    for row in rows:\n        yield row\n"


def read(code: str, is_method: bool = True) -> FunctionFacts:
    function = parse_function(code)
    assert function is not None
    return find_facts(function, code, is_method)


def drop(text: str, code: str = FIND, is_method: bool = True) -> str:
    return drop_false_claims(dedent(text).strip("\n"), read(code, is_method))


TRUE = [
    """
    Find a row by its key.

    Args:
        key: What is looked for,
            and where.
        limit (int): How many; defaults to 5.
        *rest: More.
        **options: Others.

    Returns:
        str: The row.

    Raises:
        ValueError: If the limit is below zero.
    """,
    """
    Find a row by its key.

    Parameters
    ----------
    key : object
        What is looked for.
    limit : int
        How many.

    Returns
    -------
    str
        The row.

    Raises
    ------
    ValueError
        If the limit is below zero.
    """,
    """
    Find a row by its key.

    :param key: What is looked for.
    :param int limit: How many.
    :type key: object
    :returns: The row.
    :rtype: str
    :raises ValueError: If the limit is below zero.
    """,
    "Find a row by its key, and return it.",
    "Find a row.\n\nNote: it may be old.\nIt is not changed.",
]


@pytest.mark.parametrize("text", TRUE)
def test_true_claims_are_kept_in_every_style(text: str) -> None:
    assert drop(text) == dedent(text).strip()


FALSE = [
    ("Find it.\n\nArgs:\n    name: Its name.\n    key: Its key.", "Find it.\n\nArgs:\n    key: Its key."),
    ("Find it.\n\nArgs:\n    name: Its name,\n        in full.\n\nReturns:\n    It.", "Find it.\n\nReturns:\n    It."),
    ("Find it.\n\nArgs:\n    self: The store.\n    key: Its key.", "Find it.\n\nArgs:\n    key: Its key."),
    ("Find it.\n\nArgs:\n    limit (str): How many.", "Find it.\n\nArgs:\n    limit (int): How many."),
    ("Find it.\n\nArgs:\n    limit: How many. Defaults to 7.", "Find it.\n\nArgs:\n    limit: How many."),
    ("Find it.\n\nArgs:\n    key: Its key. Defaults to None.", "Find it.\n\nArgs:\n    key: Its key."),
    ("Find it.\n\nRaises:\n    KeyError: If it is not there.", "Find it."),
    ("Find it.\n\nRaises:\n    KeyError: No.\n    ValueError: Yes.", "Find it.\n\nRaises:\n    ValueError: Yes."),
    ("Find it. Raises a KeyError if it is missing.", "Find it."),
    ("Find it.\n\nReturns:\n    None", "Find it."),
    ("Find it.\n\n:param name: Its name.\n:param key: Its key.", "Find it.\n\n:param key: Its key."),
    ("Find it.\n\n:raises KeyError: If not there.", "Find it."),
    ("Find it.\n\nParameters\n----------\nname : str\n    Its name.\nkey : str\n    Its key.",
     "Find it.\n\nParameters\n----------\nkey : str\n    Its key."),
    ("Find it.\n\nExample:\n    >>> find(1)\n    2", "Find it."),
    ("Find it.\n\n>>> find(1)\n2", "Find it."),
    ("Find it.\n\nYields:\n    Rows.", "Find it.\n\nReturns:\n    Rows."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kept"), FALSE)
def test_false_claims_are_dropped_or_corrected(text: str, kept: str) -> None:
    assert drop(text) == kept


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Put a key.\n\nReturns:\n    bool: True.", "Put a key."),
        ("Put a key.\n\nReturns:\n    None", "Put a key.\n\nReturns:\n    None"),
        ("Put a key.\n\nReturns:\n    None if it is there, else the key.", "Put a key."),
        ("Put a key. Returns the key.", "Put a key."),
        ("Put a key, and return the rows.", "Put a key."),
        ("Put a key. Returns nothing.", "Put a key. Returns nothing."),
        ("Returns the key.", ""),
        ("Put a key.\n\n:return: The key.\n:rtype: str", "Put a key."),
    ],
)
def test_claims_of_a_missing_return_value_are_dropped(text: str, kept: str) -> None:
    assert drop(text, PUT) == kept


def test_the_return_value_of_a_generator_is_titled_yields() -> None:
    text = "Give each row.\n\nReturns\n-------\nobject\n    A row."
    assert drop(text, EACH, False) == "Give each row.\n\nYields\n------\nobject\n    A row."


@pytest.mark.parametrize(
    "line",
    [
        "default: The default value to return if the default is not there.",
        "default: Defaults to the current user.",
        "default: It defaults to 'x'.",
        "default (str): What to give (default: x).",
        "default: What to give; defaults to x",
        "default: Where the default is 5, that is taken.",
    ],
)
def test_true_or_vague_defaults_are_kept(line: str) -> None:
    code = "def get(key, default='x'):\n    return default"
    text = f"Get it.\n\nArgs:\n    key: Its key.\n    {line}\n\nReturns:\n    It."
    assert drop(text, code, False) == text


def test_a_false_default_is_dropped() -> None:
    code = "def get(key, limit=5):\n    return limit"
    for said, kept in (
        ("How many (default: 7).", "How many."),
        ("How many, defaults to 7.", "How many."),
        ("How many; defaults to None, or so", "How many, or so"),
        ("How many. It defaults to '7'.", "How many."),
    ):
        text = "Get it.\n\nArgs:\n    limit: {}"
        assert drop(text.format(said), code, False) == text.format(kept)


def test_a_stub_may_return_a_value_by_its_annotation() -> None:
    text = "Give it.\n\nReturns:\n    int: It."
    assert drop(text, "def give() -> int: ...", False) == text
    assert drop(text, "def give() -> None: ...", False) == "Give it."


def test_entries_without_indentation_are_indented() -> None:
    text = "Find it.\n\nArgs:\nkey (str): Its key.\nname (str): Its name.\n*rest: More.\nReturns:\nstr: It."
    assert drop(text) == "Find it.\n\nArgs:\n    key (str): Its key.\n    *rest: More.\n\nReturns:\n    str: It."


def test_text_after_a_title_is_an_entry() -> None:
    assert drop("Find it.\n\nArgs: None\nReturns: the row") == "Find it.\n\nReturns:\n    the row"


def test_an_entry_may_have_the_name_of_a_section() -> None:
    code = "def run(input, output):\n    return input"
    text = "Run it.\n\nArgs:\n    input: What comes in.\n    output: What goes out.\n\nReturns:\n    It."
    assert drop(text, code, False) == text


def test_the_parts_of_a_docstring_are_recognized() -> None:
    facts = read(FIND)
    assert states_inputs("Take key, limit, rest and options.", facts)
    assert not states_inputs("Take the keys.", facts)
    assert states_output("Find it and return it.", facts)
    assert not states_output("Find it.", facts)
    assert states_output("Put it.", read(PUT))
    assert states_purpose("Find a row.\n\nArgs: key")
    assert not states_purpose("find\n\nArgs: key, limit")
