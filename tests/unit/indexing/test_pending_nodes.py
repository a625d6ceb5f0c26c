"""The encoded text of classes, modules and constants: the declaration, not its contents."""

from __future__ import annotations

import pytest
from fakes import FakeEncoder
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.python import extract_unit
from pkg.indexing.generated_storage import rebuild_nodes
from pkg.indexing.inputs import LoadedUnit
from pkg.indexing.pending_nodes import MAX_VALUE_BYTES, extend_to_comments, list_own_ranges
from pkg.indexing.prepare import Preparer
from pkg.model import Label, Span
from pkg.units import StoredFragment, format_id, name_module

TEXT = b'''# licence
"""Settings."""
import os

# How often.
# Really.
RETRIES = 3  # at most

OTHER = 1
"""Said below."""


class Cart(Base):
    """Hold items."""

    limit = 10  # items

    def add(self, item):
        """Add one."""
        return item

    class Line:
        price = 0


if DEBUG:
    def trace(): pass
    start(trace)
'''


def encode(text: bytes = TEXT) -> dict[str, str]:
    """Return the encoded text of each declaration by its qualified name."""
    nodes = rebuild_nodes(StoredFragment("s", 1, "shop/conf.py", text, b""), {})
    encoded = nodes.list_encoded()
    rows = [row for row in nodes.embedded if row.label not in (Label.FUNCTION, Label.BLOCK, Label.IMPORT)]
    return {row.qualname: encoded[format_id(row.id)][0].decode() for row in rows}


def test_a_class_is_encoded_with_the_names_of_its_members() -> None:
    found = encode()
    assert found["Cart"] == 'class Cart(Base):\n    """Hold items."""\n\n    limit = 10  # items\nadd Line'
    assert found["Cart.Line"] == "class Line:\n        price = 0"


def test_a_module_is_encoded_without_its_definitions_and_imports() -> None:
    expected = '"""Settings."""\nRETRIES = 3  # at most\n\nOTHER = 1\n"""Said below."""\nif DEBUG:\nstart(trace)'
    assert encode()["conf"] == expected


def test_a_constant_is_encoded_with_its_comment() -> None:
    found = encode()
    assert found["RETRIES"] == "# How often.\n# Really.\nRETRIES = 3  # at most"
    assert found["OTHER"] == 'OTHER = 1\n"""Said below."""'
    assert found["Cart.limit"] == "limit = 10  # items"


def test_the_comment_of_another_statement_is_not_taken() -> None:
    found = encode(b"A = 1  # of A\nB = 2\n\n# apart\n\nC = 3\n")
    assert (found["A"], found["B"], found["C"]) == ("A = 1  # of A", "B = 2", "C = 3")


def test_a_long_value_is_cut() -> None:
    found = encode(b"TABLE = [" + b"1, " * 2000 + b"]\n")
    assert len(found["TABLE"]) == len("TABLE = ") + MAX_VALUE_BYTES


def test_a_build_encodes_the_same_text() -> None:
    units, _ = Preparer("s", FakeEncoder()).prepare([LoadedUnit("shop/conf.py", "1", Label.FILE, "2", TEXT)])
    fragment = units[0].parts[0].fragment
    assert fragment is not None
    nodes = rebuild_nodes(StoredFragment("s", fragment.key, "shop/conf.py", TEXT, b""), {})
    assert [row.id for row in nodes.embedded] == [
        row.id for row in fragment.nodes if format_id(row.id) in nodes.list_encoded()
    ]
    assert len(fragment.vectors) == len(nodes.embedded)


@pytest.mark.parametrize(
    ("path", "name"),
    [("shop/conf.py", "conf"), ("shop/__init__.py", "shop"), ("__init__.py", "__init__"), ("a.b.py", "a"), ("x", "x")],
)
def test_a_module_is_named_as_it_is_imported(path: str, name: str) -> None:
    assert name_module(path) == name


RANGES = st.lists(st.integers(0, 60), unique=True, max_size=8).map(
    lambda ends: [(a, b) for a, b in zip(sorted(ends)[::2], sorted(ends)[1::2], strict=False)]
)


@given(RANGES, RANGES)
def test_only_the_given_ranges_are_cut_out(ranges: list[tuple[int, int]], holes: list[tuple[int, int]]) -> None:
    own = list_own_ranges(ranges, [Span(a, b, 1, 1) for a, b in holes])
    expected = {place for a, b in ranges for place in range(a, b)} - {place for a, b in holes for place in range(a, b)}
    assert {place for a, b in own for place in range(a, b)} == expected
    assert own == sorted(own)


def test_comments_of_a_whole_text_are_searched_by_place() -> None:
    code = extract_unit(b"x = 1\n" * 3 + b"# said\nLAST = 2\n")
    start, end = extend_to_comments(code.text, code.constants[-1], code.comments)
    assert code.text[start:end] == b"# said\nLAST = 2"
