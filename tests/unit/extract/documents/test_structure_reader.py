"""Documents become facts by their structure; the text at the place of a fact is its value."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.documents.document_kinds import DocumentKind
from pkg.extract.documents.structure_reader import read_structure
from pkg.model import HEADINGS, DocumentUnit, Status

MARKDOWN = """---
title: x
---
Before.

# Guide

One paragraph.

## Lists

- **alpha**: first
- second
  - inner

  more of second

1. numbered

Term
: Its definition.

| a | b |
| --- | --- |
| x | 1 |
| y | 2 |

    indented = True

```python
def retry(times):
    return times
```

## Lists

Again.

###### Deep

## Empty
"""
RST = """=====
Guide
=====

Text::

    def first(x):
        return x

.. function:: retry(times, wait=1)

   Retry a call.

   :param times: how often

   .. code-block:: python

      class Retry:
          def run(self):
              while True:
                  pass

.. a comment

alpha
    The first letter.

+-----+------+
| key | more |
+=====+======+
| a   | one  |
|     | two  |
+-----+------+

===  ===
A    B
===  ===
x    1
     2
y    3
===  ===
"""


def check(unit: DocumentUnit) -> None:
    """Check that every fact has a text at its place, on its lines, inside of the fact above it."""
    for number, fact in enumerate(unit.facts):
        value = unit.text[fact.span.start : fact.span.end]
        assert value.strip()
        assert value == value.rstrip()
        assert unit.text.count(b"\n", 0, fact.span.start) + 1 == fact.span.start_line
        assert unit.text.count(b"\n", 0, fact.span.end) + 1 == fact.span.end_line
        if fact.parent is not None:
            above = unit.facts[fact.parent]
            assert fact.parent < number
            assert above.span.start <= fact.span.start
            assert fact.span.end <= above.span.end
            assert fact.qualname == f"{above.qualname}{HEADINGS}{fact.name}" or fact.qualname.startswith("...")
    assert len({fact.qualname for fact in unit.facts}) == len(unit.facts) or any(
        fact.qualname.startswith("...") for fact in unit.facts
    )


def read(text: str, kind: DocumentKind = "markdown", above: Sequence[str] = ()) -> DocumentUnit:
    unit = read_structure(text.encode(), kind, "docs/guide.md", above)
    check(unit)
    return unit


def show(unit: DocumentUnit) -> list[tuple[str, str, str]]:
    return [
        (fact.kind, fact.qualname, unit.text[fact.span.start : fact.span.end].decode().split("\n")[0])
        for fact in unit.facts
    ]


def test_headings_lists_tables_and_code_of_markdown_are_facts() -> None:
    assert show(read(MARKDOWN)) == [
        ("section", "guide", "---"),
        ("text", "guide > front matter", "---"),
        ("text", "guide > text", "Before."),
        ("section", "Guide", "# Guide"),
        ("text", "Guide > text", "One paragraph."),
        ("section", "Guide > Lists", "## Lists"),
        ("item", "Guide > Lists > alpha", "**alpha**: first"),
        ("item", "Guide > Lists > [1]", "second"),
        ("item", "Guide > Lists > [1] > [1]", "inner"),
        ("text", "Guide > Lists > [1] > text", "more of second"),
        ("item", "Guide > Lists > [2]", "numbered"),
        ("term", "Guide > Lists > Term", "Term"),
        ("table", "Guide > Lists > table", "| a | b |"),
        ("row", "Guide > Lists > table > x", "| x | 1 |"),
        ("row", "Guide > Lists > table > y", "| y | 2 |"),
        ("code", "Guide > Lists > code", "indented = True"),
        ("code", "Guide > Lists > code (2)", "def retry(times):"),
        ("section", "Guide > Lists (2)", "## Lists"),
        ("text", "Guide > Lists (2) > text", "Again."),
        ("section", "Guide > Lists (2) > Deep", "###### Deep"),
        ("section", "Guide > Empty", "## Empty"),
    ]


def test_directives_fields_and_tables_of_restructuredtext_are_facts() -> None:
    unit = read(RST, "rst")
    assert show(unit) == [
        ("section", "Guide", "====="),
        ("text", "Guide > text", "Text::"),
        ("code", "Guide > code", "def first(x):"),
        ("term", "Guide > retry(times, wait=1)", ".. function:: retry(times, wait=1)"),
        ("text", "Guide > retry(times, wait=1) > text", "Retry a call."),
        ("item", "Guide > retry(times, wait=1) > param times", "how often"),
        ("code", "Guide > retry(times, wait=1) > code", "class Retry:"),
        ("term", "Guide > alpha", "alpha"),
        ("table", "Guide > table", "+-----+------+"),
        ("row", "Guide > table > a", "| a   | one  |"),
        ("table", "Guide > table (2)", "===  ==="),
        ("row", "Guide > table (2) > x", "x    1"),
        ("row", "Guide > table (2) > y", "y    3"),
    ]
    assert unit.code is not None
    assert [each.qualname for each in unit.code.definitions] == ["first", "Retry", "Retry.run"]
    assert [unit.facts[owner].name for owner in unit.owners] == ["code", "code", "code"]
    assert [block.path for block in unit.code.blocks] == ["body", "body", "body/while[0]"]
    first, retry, _ = unit.code.definitions
    assert unit.text[first.span.start : first.span.end] == b"def first(x):\n        return x"
    assert unit.text[retry.span.start : retry.span.end].startswith(b"class Retry:\n          def run(self):")
    assert (first.span.start_line, first.span.end_line) == (7, 8)


def test_signatures_on_lines_of_their_own_are_terms() -> None:
    text = "# bisect\n\n`bisect.insort(a, *x)`\n\n    \nInsert x.\n\nIt is slow.\n\n`bisect.bisect(a)`\n\n    \nFind.\n"
    assert show(read(text))[1:] == [
        ("term", "bisect > bisect.insort(a, *x)", "`bisect.insort(a, *x)`"),
        ("text", "bisect > bisect.insort(a, *x) > text", "Insert x."),
        ("text", "bisect > bisect.insort(a, *x) > text (2)", "It is slow."),
        ("term", "bisect > bisect.bisect(a)", "`bisect.bisect(a)`"),
    ]


def test_the_keys_of_a_row_enclose_its_facts() -> None:
    unit = read("Some text.\n\n## Inner\n\nMore.\n", above=("sets", "Adding"))
    assert [fact.qualname for fact in unit.facts] == ["sets > Adding", "sets > Inner"]


def test_a_console_session_is_a_fact_without_functions() -> None:
    unit = read("# A\n\n```python\n>>> def f():\n...     return 1\n```\n")
    assert ([fact.kind for fact in unit.facts], unit.code) == (["section", "code"], None)


def test_deep_nesting_ends_in_text() -> None:
    deep = "".join(f"{'  ' * level}- level {level}\n" for level in range(200))
    unit = read(f"# Deep\n\n{deep}")
    assert b"level 199" in unit.text[unit.facts[-1].span.start : unit.facts[-1].span.end]
    assert 30 < len(unit.facts) < 120
    nested = read("".join(f"{'#' * min(level, 6)} h{level}\n\n" for level in range(1, 200)))
    assert len(nested.facts) == 199


@pytest.mark.parametrize(
    ("raw", "kind", "reason"),
    [
        (b"{", "notebook", "a notebook that is no JSON"),
        (b'{"cells": 3}', "notebook", "a notebook without cells"),
        (b"[" * 100_000, "notebook", "a notebook that is no JSON"),
        (b"", "html", "a document without text"),
        (b"<html><head><title>x</title></head></html>", "html", "a document without text"),
        (b"a\0b", "markdown", "binary"),
        (b"a\0b", "html", "binary"),
        (b"word " * 1_000_000, "markdown", "minified or generated"),
        (b" \n", "rst", "a document without text"),
    ],
)  # fmt: skip
def test_a_document_that_cannot_be_read_has_a_reason_and_no_facts(raw: bytes, kind: DocumentKind, reason: str) -> None:
    unit = read_structure(raw, kind, "x")
    assert (unit.status, unit.facts) == (Status.FAILED, ())
    assert str(unit.reason).startswith(reason)


def test_one_long_line_is_cut_into_texts() -> None:
    unit = read_structure(b"<p>" + b"word " * 200_000, "html", "x.html")
    check(unit)
    assert len(unit.facts) > 500
    assert max(fact.span.end - fact.span.start for fact in unit.facts[1:]) <= 1_500


def test_cells_of_a_notebook_are_read_without_outputs() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Text."]},
        {"cell_type": "code", "source": "def cell():\n    return '```'\n", "outputs": [{"text": "secret"}]},
        {"cell_type": "code", "source": None}, {"source": 3}, 7,
    ]  # fmt: skip
    unit = read_structure(json.dumps({"cells": cells, "nbformat": 4}).encode(), "notebook", "x.ipynb")
    check(unit)
    assert [fact.qualname for fact in unit.facts] == ["Title", "Title > text", "Title > code"]
    assert unit.code is not None
    assert [each.name for each in unit.code.definitions] == ["cell"]
    assert b"secret" not in unit.text


_PIECES = st.sampled_from(
    [
        "# A",
        "## B",
        "- item",
        "  - in",
        "1. n",
        "text",
        "text::",
        "",
        "    ",
        "    code",
        "```",
        "```python",
        "| a | b |",
        "|---|---|",
        "+---+",
        "+===+",
        "=== ===",
        "a  b",
        ".. note:: x",
        "..",
        ":f: v",
        "`sig(x)`",
        ": def",
        "====",
        "----",
        "def f(x):",
        "    return x",
        "\tx",
        "<!-- c",
        "-->",
        "**t**: x",
        ">>> f()",
        "é ü",
        "class C: pass",
        "   .. code::",
    ],
)


@given(st.lists(_PIECES, max_size=25), st.sampled_from(["markdown", "rst"]), st.sampled_from(["\n", "\r\n"]))
def test_any_text_has_sound_facts(lines: list[str], kind: DocumentKind, newline: str) -> None:
    unit = read_structure(newline.join(lines).encode(), kind, "x")
    check(unit)
    for definition in unit.code.definitions if unit.code else ():
        assert unit.text[definition.span.start : definition.span.end].startswith((b"def", b"class", b"async", b"@"))


@given(st.text(max_size=60), st.sampled_from(["markdown", "rst", "html", "notebook"]))
def test_arbitrary_characters_are_read(text: str, kind: DocumentKind) -> None:
    check(read_structure(text.encode("utf-8", "replace"), kind, "x"))
