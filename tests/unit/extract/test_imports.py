"""Import records: one for each alias, in every syntax of the statement (Q-04, A-11)."""

from __future__ import annotations

import pytest
from pieces import cut, extract

Record = tuple[str, "str | None", "str | None", int]


def list_records(text: str) -> list[Record]:
    return [(record.module, record.name, record.alias, record.level) for record in extract(text).imports]


@pytest.mark.parametrize(
    ("statement", "records"),
    [
        ("import a", [("a", None, None, 0)]),
        ("import a.b.c", [("a.b.c", None, None, 0)]),
        ("import a as b", [("a", None, "b", 0)]),
        ("import a.b as c, d, e as f", [("a.b", None, "c", 0), ("d", None, None, 0), ("e", None, "f", 0)]),
        ("from a import b", [("a", "b", None, 0)]),
        ("from a.b import c as d, e", [("a.b", "c", "d", 0), ("a.b", "e", None, 0)]),
        ("from a import *", [("a", "*", None, 0)]),
        ("from . import a", [("", "a", None, 1)]),
        ("from .. import a as b", [("", "a", "b", 2)]),
        ("from .a import b", [("a", "b", None, 1)]),
        ("from ...a.b import *", [("a.b", "*", None, 3)]),
        ("from .... import a", [("", "a", None, 4)]),
        ("from __future__ import annotations", [("__future__", "annotations", None, 0)]),
        ("from __future__ import a as b, c", [("__future__", "a", "b", 0), ("__future__", "c", None, 0)]),
        ("from a import (b)", [("a", "b", None, 0)]),
        ("from a import (b, c as d,)", [("a", "b", None, 0), ("a", "c", "d", 0)]),
        (
            "from a import (  # why\n    b,  # first\n    # between\n    c,\n)",
            [("a", "b", None, 0), ("a", "c", None, 0)],
        ),
        ("from a import b, \\\n    c", [("a", "b", None, 0), ("a", "c", None, 0)]),
        ("import a . b", [("a.b", None, None, 0)]),
        ("from . a . b import c", [("a.b", "c", None, 1)]),
        ("from .\\\n    a import b", [("a", "b", None, 1)]),
        ("import größe", [("größe", None, None, 0)]),
    ],
)
def test_each_alias_of_a_statement_is_a_record(statement: str, records: list[Record]) -> None:
    assert list_records(statement + "\n") == records


def test_all_records_of_a_statement_span_the_whole_statement() -> None:
    code = extract("x = 1\nfrom a import (\n    b,\n    c,\n)\n")
    assert [cut(code, record) for record in code.imports] == ["from a import (\n    b,\n    c,\n)"] * 2
    assert {(record.span.start_line, record.span.end_line) for record in code.imports} == {(2, 5)}


def test_statements_on_one_line_have_spans_of_their_own() -> None:
    code = extract("import a; import b  # both\n")
    assert [cut(code, record) for record in code.imports] == ["import a", "import b"]


def test_imports_are_found_wherever_they_stand() -> None:
    text = (
        "if a:\n    import b\ntry:\n    import c\nexcept E:\n    pass\nclass D:\n    import e\ndef f():\n    import g\n"
    )
    assert [module for module, *_ in list_records(text)] == ["b", "c", "e", "g"]


@pytest.mark.parametrize("line", ["import", "from a import", "import a as"])
def test_a_broken_statement_is_no_record(line: str) -> None:
    assert list_records(f"{line}\n\n\ndef f(): pass\n") == []


def test_dynamic_imports_are_calls_and_no_records() -> None:
    code = extract("a = __import__('b')\nimportlib.import_module('c')\n")
    assert code.imports == ()
    assert [call.expression for call in code.calls] == ["__import__", "importlib.import_module"]
