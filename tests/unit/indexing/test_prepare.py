"""Batches of units become unit graphs: nodes, terms, vectors and calls of each, independent of its batch."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import FakeEncoder

from pkg.encode.registry import load_encoder
from pkg.indexing import prepare as preparing
from pkg.indexing.inputs import LoadedUnit, hash_text
from pkg.indexing.prepare import Preparer
from pkg.model import EMBEDDED_LABELS, Label, Status
from pkg.terms.packed_terms import unpack_terms
from pkg.terms.words import hash_term
from pkg.units import Fragment, UnitGraph
from pkg.vectors.quantised import round_vectors

TEXT = (
    b"import a.b as c, d\n\n@p(q())\nclass A(B):\n    'doc'\n    async def m(self):\n        'Do.'\n        if x: y()\n"
)


def make_unit(path: str, text: bytes, label: Label = Label.FILE) -> LoadedUnit:
    return LoadedUnit(path, "1", label, hash_text(text), text)


def prepare(*units: LoadedUnit) -> list[UnitGraph]:
    graphs, _ = Preparer("lib", FakeEncoder()).prepare(units)
    return graphs


def only_fragment(unit: UnitGraph) -> Fragment:
    (part,) = unit.parts
    assert part.fragment is not None
    return part.fragment


def test_a_file_is_one_fragment_with_its_nodes_parents_first() -> None:
    (unit,) = prepare(make_unit("a.py", TEXT))
    nodes = only_fragment(unit).nodes
    assert [(node.label.value, node.name, node.parent) for node in nodes] == [
        ("Class", "A", -1),
        ("Function", "m", 0),
        ("Block", "body", 1),
        ("Block", "body/if[0]", 2),
        ("Import", "a.b", -1),
        ("Import", "d", -1),
    ]
    assert (unit.label, unit.path, unit.status, only_fragment(unit).text) == (Label.FILE, "a.py", Status.OK, TEXT)


def test_properties_exist_only_on_the_nodes_that_have_them() -> None:
    nodes = only_fragment(prepare(make_unit("a.py", TEXT))[0]).nodes
    cls, method, first, second = nodes[0], nodes[1], nodes[4], nodes[5]
    assert cls.properties == {"bases": ["B"], "decorators": ["p(q())"], "docstring": [24, 29]}
    assert method.properties == {"docstring": [27, 32], "is_async": True}
    assert (first.properties, second.properties) == ({"module": "a.b", "alias": "c"}, {"module": "d"})


def test_each_embedded_node_has_the_vector_of_its_own_text_and_place() -> None:
    fragment = only_fragment(prepare(make_unit("a.py", TEXT))[0])
    embedded = [node for node in fragment.nodes if node.label in EMBEDDED_LABELS]
    texts = [TEXT[: TEXT.index(b"    async")].split(b"\n\n")[1] + b"m", *(TEXT[e.start : e.end] for e in embedded[1:4])]
    headings = ["a A", *["a A.m"] * 3]
    assert len(fragment.vectors) == len(embedded)
    assert np.array_equal(fragment.vectors[:4], round_vectors(FakeEncoder().encode(texts, headings)))
    assert np.array_equal(fragment.vectors[4:], round_vectors(FakeEncoder().encode([b"import a.b as c", b"import d"])))


def test_a_piece_of_a_row_is_encoded_without_the_name_of_the_row() -> None:
    row = LoadedUnit("row-1", "seen", Label.ROW, "0", b"def read_rows(path): pass\n")
    fragment = only_fragment(prepare(row)[0])
    texts = [b"def read_rows(path): pass", b"pass"]
    assert np.array_equal(fragment.vectors, round_vectors(FakeEncoder().encode(texts, ["read_rows"] * 2)))


def test_an_import_is_encoded_as_the_statement_of_its_one_alias() -> None:
    fragment = only_fragment(prepare(make_unit("a.py", b"from ..a import (b as c,\n  d)\nfrom . import *\n"))[0])
    words = [b"from ..a import b as c", b"from ..a import d", b"from . import *"]
    assert np.array_equal(fragment.vectors, round_vectors(FakeEncoder().encode(words)))
    assert [node.start_line for node in fragment.nodes] == [1, 1, 3]


def test_calls_have_their_node_and_line() -> None:
    fragment = only_fragment(prepare(make_unit("a.py", TEXT))[0])
    assert [tuple(call) for call in fragment.calls] == [("p", 3, -1), ("q", 3, -1), ("y", 8, 1)]


def name_terms(fragment: Fragment, label: Label) -> list[tuple[int, dict[int, int]]]:
    """Return the id of each node of a label, and its terms with their weights."""
    _, keys, _, rows = unpack_terms([fragment.terms], (label,))
    ends = np.cumsum(rows.counts).tolist()
    cuts = list(zip([0, *ends], ends, strict=False))
    terms = [dict(zip(rows.hashes[a:b].tolist(), rows.weights[a:b].tolist(), strict=True)) for a, b in cuts]
    return list(zip(keys.ids.tolist(), terms, strict=True))


def test_terms_are_of_names_places_and_text_of_functions_and_imports() -> None:
    text = b"import os.path\nclass Cart:\n    def addItems(self):\n        # never empty\n        return total\n"
    fragment = only_fragment(prepare(make_unit("web/get_user.py", text))[0])
    (function,) = name_terms(fragment, Label.FUNCTION)
    words = ["add", "item", "cart", "web", "get", "user", "def", "self", "never", "empti", "return", "total"]
    assert function == (fragment.nodes[1].id, {hash_term(word): function[1][hash_term(word)] for word in words})
    weights = [function[1][hash_term(word)] for word in ("add", "cart", "never")]
    assert weights == sorted(weights, reverse=True)
    (imported,) = name_terms(fragment, Label.IMPORT)
    assert imported[0] == fragment.nodes[-1].id
    assert imported[1].keys() == {hash_term(word) for word in ("import", "os", "path")}


def test_a_docstring_and_an_inner_function_belong_to_the_enclosing_definition() -> None:
    text = b"def outer():\n    'Explain.'\n    def inner(value): return value\n    return inner\n"
    outer, inner = name_terms(only_fragment(prepare(make_unit("a.py", text))[0]), Label.FUNCTION)
    assert {hash_term(word) for word in ("explain", "inner", "valu")} <= outer[1].keys()
    assert hash_term("explain") not in inner[1]
    assert hash_term("outer") in inner[1]


def test_a_unit_does_not_depend_on_its_batch() -> None:
    units = [make_unit("a.py", TEXT), make_unit("b.py", b""), make_unit("c.py", b"def f(): pass\n")]
    for alone, together in zip(map(prepare, units), prepare(*units), strict=True):
        assert repr(alone[0]) == repr(together)
        for one, other in zip(alone[0].parts, together.parts, strict=True):
            assert one.fragment is not None
            assert other.fragment is not None
            assert np.array_equal(one.fragment.vectors, other.fragment.vectors)
            assert one.fragment.terms == other.fragment.terms


def test_a_row_has_a_fragment_for_each_definition_and_import_at_its_top() -> None:
    code = b"import os\nclass A:\n    import re\n    def f(self): pass\n\nx = A()\ndef g():\n    import sys\n"
    text = b"Try this:\n```python\n" + code + b"```\n"
    (unit,) = prepare(make_unit("row-1", text, Label.ROW))
    fragments = [part.fragment.text for part in unit.parts if part.fragment is not None]
    assert fragments == [
        b"import os",
        b"class A:\n    import re\n    def f(self): pass",
        b"def g():\n    import sys",
    ]
    assert [part.first_line for part in unit.parts] == [3, 4, 9]
    assert all(node.start_line == 1 for part in unit.parts if part.fragment for node in part.fragment.nodes[:1])


def test_an_equal_piece_of_a_later_row_is_sent_as_its_key() -> None:
    first, second = prepare(
        make_unit("row-1", b"def f(): pass", Label.ROW), make_unit("row-2", b"x = 1\ndef f(): pass\n", Label.ROW)
    )
    assert first.parts[0].fragment is not None
    assert second.parts == (first.parts[0]._replace(first_line=2, fragment=None),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"\0\1", "binary content (NUL bytes)"),
        (b"x = = 1\n", "syntax error at line 1"),
        (b"x=[" + b"1," * 40_000 + b"]", "minified or generated"),
    ],
)
def test_an_unparsable_file_has_no_parts(text: bytes, reason: str) -> None:
    (unit,) = prepare(make_unit("a.py", text))
    assert (unit.status, unit.parts) == (Status.FAILED, ())
    assert unit.reason is not None
    assert unit.reason.startswith(reason)


def test_an_empty_batch_is_prepared() -> None:
    assert prepare() == []


def test_vectors_are_the_same_however_many_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut inside words too: long values are encoded only in part."""
    text = TEXT + b"LONG = [%b]\nA = 1\n" % b", ".join(b"name_%d" % number for number in range(200))
    units = [make_unit(f"{number}.py", text + b"def f%d(): return g(1)\n" % number) for number in range(5)]

    def list_vectors() -> list[bytes]:
        graphs, _ = Preparer("lib", load_encoder("static")).prepare(units)
        return [only_fragment(graph).vectors.tobytes() for graph in graphs]

    together = list_vectors()
    for count in (1, 3, 7):
        monkeypatch.setattr(preparing, "SPANS_AT_ONCE", count)
        assert list_vectors() == together
