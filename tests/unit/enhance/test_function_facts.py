"""Facts of a function are read from its source, with any indentation."""

from __future__ import annotations

import pytest

from pkg.enhance.function_facts import FunctionFacts, FunctionText, find_facts, parse_function


def read(code: str, is_method: bool = False) -> FunctionFacts:
    function = parse_function(code)
    assert function is not None, code
    return find_facts(function, code, is_method)


@pytest.mark.parametrize(
    "code",
    [
        "def f(a):\n    return a",
        "def f(a):\n            return a",
        "@one\n    def f(a):\n        return a",
        "@one(\n            2)\n        async def f(a):\n            return a",
        "@one\n\t@two\n\tdef f(a):\n\t\treturn a",
    ],
)
def test_a_function_is_parsed_with_any_indentation(code: str) -> None:
    function = parse_function(code)
    assert function is not None
    assert function.name == "f"


@pytest.mark.parametrize("code", ["", "x = 1", "def f(:", "def f(a):\n    print a", "class A:\n    def f(self): ..."])
def test_anything_but_a_function_is_none(code: str) -> None:
    assert parse_function(code) is None


def test_parameters_have_their_star_annotation_and_default() -> None:
    facts = read("def f(a, /, b: int = 2, *c: str, d='x', **e): pass")
    assert [(each.star, each.name, each.annotation, each.default) for each in facts.parameters] == [
        ("", "a", None, None),
        ("", "b", "int", "2"),
        ("*", "c", "str", None),
        ("", "d", None, "'x'"),
        ("**", "e", None, None),
    ]


def test_the_first_parameter_of_a_method_is_its_owner() -> None:
    assert (read("def f(self, a): pass", True).owner, len(read("def f(self, a): pass", True).parameters)) == ("self", 1)
    static = read("@staticmethod\ndef f(a): pass", True)
    assert (static.owner, len(static.parameters)) == (None, 1)
    assert read("def f(*args): pass", True).owner is None


def test_return_values_exclude_those_of_nested_functions() -> None:
    facts = read("def f(a):\n    def g():\n        yield 1\n        return 2\n    h = lambda: (yield)\n    return g")
    assert facts.returned == ("g",)
    assert not facts.yields
    assert read("def f(a):\n    return\n").returned == read("def f(a):\n    return None\n").returned == ()
    assert read("def f(a):\n    x = yield a\n").yields


@pytest.mark.parametrize(
    ("body", "raised"),
    [
        ("raise ValueError('no')", {"ValueError": "no"}),
        ("raise errors.NotFound", {"NotFound": None}),
        ("assert a", {"AssertionError": None}),
        ("try:\n        g()\n    except (KeyError, a.Lost):\n        raise", {"KeyError": None, "Lost": None}),
        ("try:\n        g()\n    except KeyError as fault:\n        raise fault", {"KeyError": None}),
        ("try:\n        g()\n    except KeyError:\n        raise Lost(1)", {"Lost": None}),
        ("try:\n        g()\n    except KeyError:\n        pass", {}),
        ("fault = make()\n    raise fault", {}),
        ("def g():\n        raise ValueError\n    return g", {}),
    ],
)
def test_raised_exceptions_are_named(body: str, raised: dict[str, str | None]) -> None:
    assert read(f"def f(a):\n    {body}").raises == raised


@pytest.mark.parametrize(
    ("body", "is_stub"),
    [
        ("...", True),
        ("pass", True),
        ("raise NotImplementedError", True),
        ("raise NotImplementedError('later')", True),
        ("return 1", False),
        ("raise ValueError", False),
    ],
)
def test_an_empty_body_is_a_stub(body: str, is_stub: bool) -> None:
    assert read(f"def f(a):\n    {body}").is_stub == is_stub


def test_a_stub_may_return_a_value_unless_annotated_otherwise() -> None:
    assert read("def f() -> int: ...").may_return
    assert read("def f(): ...").may_return
    assert not read("def f() -> None: ...").may_return
    assert not read("def f():\n    g()").may_return


@pytest.mark.parametrize(
    ("body", "comment"),
    [
        ("# Look at each of them.\n    return a", "Look at each of them."),
        ("x = 1  # beside code\n    # noqa: all\n    # On its own line.\n    return a", "On its own line."),
        ("x = '''\n    # not a comment at all\n    '''\n    return a", None),
        ("# x\n    # ---------\n    return a", None),
    ],
)
def test_the_first_prose_comment_is_found(body: str, comment: str | None) -> None:
    assert read(f"def f(a):\n    {body}").comment == comment


def test_the_name_is_the_last_part_of_the_qualified_name() -> None:
    assert FunctionText("", "A.B.run").name == "run"
