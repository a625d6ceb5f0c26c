"""Constants of modules and classes with their values, and the code of a module outside of definitions."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pkg.extract.python import extract_unit
from pkg.model import CodeUnit, Constant


def extract(text: str) -> CodeUnit:
    return extract_unit(dedent(text).encode())


def names(code: CodeUnit) -> list[str]:
    return [each.qualname for each in code.constants]


def cut(code: CodeUnit, place: tuple[int, int] | None) -> str | None:
    return None if place is None else code.text[place[0] : place[1]].decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X = 1", ["X"]),
        ("X: int", ["X"]),
        ("a = b = c = 1", ["a", "b", "c"]),
        ("a, (b, *c) = [d, e] = f()", ["a", "b", "c", "d", "e"]),
        ("type Pair[T] = tuple[T, T]", ["Pair"]),
        ("if x:\n    A = 1\nelif y:\n    B = 1\nelse:\n    C = 1", ["A", "B", "C"]),
        ("try:\n    A = 1\nexcept E:\n    B = 1\nfinally:\n    with c: D = 1", ["A", "B", "D"]),
        ("for x in y:\n    A = 1\nwhile x:\n    B = 1", []),
        ("x.y = 1\nx[0] = 1\nx += 1\nf(z := 1)", []),
        ("__all__ = []\n_ = f()\n_kept = 1", ["_kept"]),
        ("def f():\n    A = 1", []),
        ("def f():\n    class C:\n        A = 1", ["f.C.A"]),
        ("X = 1; Y = 2", ["X", "Y"]),
        ("X = (1\nY = 2\n", []),
        ("", []),
    ],
)
def test_names_that_module_and_class_code_binds_are_constants(text: str, expected: list[str]) -> None:
    assert names(extract(text)) == expected


def test_a_constant_has_its_value_its_annotation_and_the_string_below() -> None:
    code = extract('LIMIT: Final[int] = 3  # at most\n"""Said."""\nHOST = PORT = f(\n    1)\nx: int\n')
    limit, host, port, bare = code.constants
    assert (cut(code, limit.value), cut(code, limit.annotation), cut(code, limit.docstring)) == (
        "3", "Final[int]", '"""Said."""',
    )  # fmt: skip
    assert cut(code, limit.span[:2]) == "LIMIT: Final[int] = 3"
    assert host.span == port.span
    assert (cut(code, host.value), host.docstring, host.span.end_line) == ("f(\n    1)", None, 4)
    assert (bare.value, cut(code, bare.annotation)) == (None, "int")


def kind_of(constant: Constant) -> tuple[str, str]:
    return constant.qualname, constant.kind


def test_the_bases_of_a_class_tell_members_from_fields() -> None:
    code = extract("""\
        A = 1
        class Color(enum.IntEnum):
            RED = 1
            note: str = "x"
            _ignore_ = []
        class More(Color):
            BLUE = 2
        class Suit(models.TextChoices):
            HEARTS = "H"
        class Plain(Base):
            x = 1
    """)
    assert [kind_of(each) for each in code.constants] == [
        ("A", "constant"),
        ("Color.RED", "member"),
        ("Color.note", "field"),
        ("Color._ignore_", "field"),
        ("More.BLUE", "member"),
        ("Suit.HEARTS", "member"),
        ("Plain.x", "field"),
    ]
    assert [each.parent for each in code.constants] == [None, 0, 0, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a\ndef f(): pass\nclass C: pass\n", None),
        ("# only a comment\n", None),
        ("if TYPE_CHECKING:\n    import a\ntry:\n    import b\nexcept E:\n    pass\n", None),
        ("try:\n    import b\nexcept E:\n    b = None\n", "try:\n    import b\nexcept E:\n    b = None"),
        ("# licence\n'''Doc.'''\nimport a\nX = 1\ndef f(): pass\n", "'''Doc.'''\nimport a\nX = 1"),
        ("def f(): pass\nrun(\nX = 1\n", None),
    ],
)
def test_the_code_of_a_module_begins_and_ends_with_statements_of_its_own(text: str, expected: str | None) -> None:
    code = extract(text)
    assert (None if code.module is None else cut(code, code.module.span[:2])) == expected


def test_runs_of_statements_are_parted_by_definitions_and_imports() -> None:
    code = extract("'Doc.'\nimport a\nX = 1\n# said\nY = 2\ndef f(): pass\nrun()\n")
    assert code.module is not None
    assert [cut(code, each) for each in code.module.statements] == ["'Doc.'", "X = 1\n# said\nY = 2", "run()"]
    assert code.module.docstring is not None
