"""Type tests narrow the callees: each case is run with objects of all classes and compared.

All calls of the run are found, and no others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import pytest
from unit.resolution.resolving import resolve_tree

from pkg.model import RelationType

CLASSES = """
class Root:
    def run(self): return None
class Leaf(Root):
    def run(self): return None
class Twig(Leaf):
    def run(self): return None
class Other:
    def run(self): return None
class Text(str):
    def run(self): return None
class Hold:
    def __init__(self, x): self.x = x
    def change(self): self.x = Other()
def plain(): return None
class Called:
    def __call__(self): return None
    def run(self): return None
BOTH = (Leaf, Other)
NESTED = (BOTH, Text)
ALIAS = Leaf
"""
GIVEN = ("Root", "Leaf", "Twig", "Other", "Text", "Called")
CASES = {
    "if": "if isinstance(x, Leaf): x.run()",
    "else": "if isinstance(x, Leaf): pass\nelse: x.run()",
    "elif": "if isinstance(x, Leaf): pass\nelif isinstance(x, Other): x.run()",
    "elif of a base": "if isinstance(x, Twig): pass\nelif isinstance(x, Root): x.run()",
    "else of several": "if isinstance(x, Leaf): pass\nelif isinstance(x, Other): pass\nelse: x.run()",
    "not": "if not isinstance(x, Leaf): x.run()",
    "assert": "assert isinstance(x, Leaf)\nx.run()",
    "assert with a message": "assert isinstance(x, Leaf), 'no leaf'\nx.run()",
    "early raise": "if not isinstance(x, Leaf):\n    raise TypeError(x)\nx.run()",
    "early return": "if isinstance(x, Leaf): return\nx.run()",
    "early continue": "for _ in (1, 2):\n    if isinstance(x, Leaf): continue\n    x.run()",
    "early break": "for _ in (1, 2):\n    if not isinstance(x, Leaf): break\n    x.run()",
    "early exit": "import sys\nif not isinstance(x, Leaf): sys.exit(1)\nx.run()",
    "all branches leave": "if isinstance(x, Leaf):\n    if x: return\n    else: raise KeyError\nx.run()",
    "one branch stays": "if isinstance(x, Leaf):\n    if id(x) % 2 > 2: return\nx.run()",
    "else leaves": "if isinstance(x, Leaf): pass\nelse: return\nx.run()",
    "elif leaves": "if isinstance(x, Leaf): return\nelif isinstance(x, Other): return\nx.run()",
    "elif leaves, if stays": "if isinstance(x, Leaf): pass\nelif isinstance(x, Other): return\nx.run()",
    "only two stay": "if isinstance(x, Leaf): pass\nelif isinstance(x, Other): pass\nelse: return\nx.run()",
    "bound again": "if not isinstance(x, Leaf): x = Other()\nx.run()",
    "bound again in the region": "if isinstance(x, Leaf):\n    x = Other()\n    x.run()",
    "bound again on both sides": "if isinstance(x, Leaf): x = Other()\nelse: x = Root()\nx.run()",
    "bound after": "if isinstance(x, Leaf):\n    x.run()\n    x = Other()",
    "and": "isinstance(x, Leaf) and x.run()",
    "or": "isinstance(x, Leaf) or x.run()",
    "and in a condition": "if isinstance(x, Root) and not isinstance(x, Leaf): x.run()",
    "or in a condition": "if isinstance(x, Twig) or isinstance(x, Other): x.run()",
    "neither": "if isinstance(x, Root) or isinstance(x, Other): return\nx.run()",
    "neither, by not": "if not (isinstance(x, Root) or isinstance(x, Other)): x.run()",
    "not both": "if not (isinstance(x, Root) and isinstance(x, Leaf)): x.run()",
    "one of two names": "y = x\nif isinstance(x, Leaf) or isinstance(y, Other): x.run()",
    "conditional expression": "x.run() if isinstance(x, Leaf) else None",
    "other side of a conditional expression": "None if isinstance(x, Leaf) else x.run()",
    "chosen by a conditional expression": "y = x if isinstance(x, Leaf) else Other()\ny.run()",
    "comprehension": "[each.run() for each in [x] if isinstance(each, Leaf)]",
    "set comprehension": "{each.run() for each in [x] if not isinstance(each, Leaf)}",
    "dict comprehension": "{1: each.run() for each in [x] if isinstance(each, Leaf)}",
    "later clause": "[1 for each in [x] if isinstance(each, Leaf) if each.run()]",
    "generator": "list(each.run() for each in [x] if isinstance(each, (Leaf, Other)))",
    "outer name in a comprehension": "[x.run() for _ in (1, 2) if isinstance(x, Leaf)]",
    "while": "while isinstance(x, Leaf):\n    x.run()\n    x = Other()",
    "after while": "while isinstance(x, Leaf):\n    x = Other()\nx.run()",
    "after while with break": "while not isinstance(x, Leaf):\n    break\nx.run()",
    "else of while": "while isinstance(x, Leaf):\n    break\nelse: x.run()",
    "in a loop": "for _ in (1, 2):\n    if isinstance(x, Leaf):\n        x.run()\n        x = Other()",
    "in an inner loop": "if isinstance(x, Leaf):\n    for _ in (1, 2):\n        x.run()\n        x = Other()",
    "tuple": "if isinstance(x, (Leaf, Other)): x.run()",
    "not of a tuple": "if not isinstance(x, (Leaf, Other)): x.run()",
    "named tuple": "if isinstance(x, BOTH): x.run()",
    "not of a named tuple": "if not isinstance(x, BOTH): x.run()",
    "nested tuple": "if isinstance(x, NESTED): x.run()",
    "local tuple": "kinds = (Leaf, Other)\nif isinstance(x, kinds): x.run()",
    "alias": "if isinstance(x, ALIAS): x.run()",
    "union": "if isinstance(x, Leaf | Other): x.run()",
    "None among others": "if isinstance(x, (Leaf, type(None))): x.run()",
    "type is": "if type(x) is Leaf: x.run()",
    "type is not": "if type(x) is not Leaf: x.run()",
    "type equals": "if type(x) == Leaf: x.run()",
    "type, the other way round": "if Leaf is type(x): x.run()",
    "type in": "if type(x) in (Leaf, Other): x.run()",
    "type not in": "if type(x) not in (Leaf, Other): return\nx.run()",
    "class is": "if x.__class__ is Leaf and type(x): x.run()",
    "builtin": "if isinstance(x, str): x.run()",
    "not a builtin": "if not isinstance(x, str): x.run()",
    "object": "if isinstance(x, object): x.run()",
    "walrus": "if isinstance(y := x, Leaf): y.run()",
    "walrus after the test": "if isinstance(x, Leaf) and (x := Other()): x.run()",
    "walrus after the test of a loop": "while isinstance(x, Leaf) and (x := Other()): x.run()",
    "walrus before and": "if (y := x) and isinstance(y, Leaf): y.run()",
    "with": "import contextlib\nwith contextlib.nullcontext():\n    if not isinstance(x, Leaf): return\n    x.run()",
    "try": "try:\n    assert isinstance(x, Leaf)\n    x.run()\nfinally: pass",
    "caught": "try:\n    assert isinstance(x, Leaf)\nexcept AssertionError:\n    x.run()",
    "after a caught test": "try:\n    assert isinstance(x, Leaf)\nexcept AssertionError: pass\nx.run()",
    "after a suppressed test": (
        "import contextlib\n"
        "with contextlib.suppress(AssertionError):\n    assert isinstance(x, Leaf)\nx.run()"
    ),
    "finally": "try:\n    if not isinstance(x, Leaf): return\nfinally: x.run()",
    "lambda": "if isinstance(x, Leaf): (lambda: x.run())()",
    "lambda called when bound again": (
        "call = (lambda: x.run()) if isinstance(x, Leaf) else plain\n"
        "x = Other()\ncall()"
    ),
    "test in a lambda": "(lambda y: isinstance(y, Leaf) and y.run())(x)",
    "inner function": "def inner(): x.run()\nif isinstance(x, Leaf): inner()",
    "test in an inner function": "def inner():\n    if isinstance(x, Leaf): x.run()\ninner()",
    "bound by an inner function": (
        "def change():\n    nonlocal x\n    x = Other()\n"
        "if isinstance(x, Leaf):\n    change()\n    x.run()"
    ),
    "callable": "if callable(x): x.run()",
    "not callable": "if callable(x): return\nx.run()",
    "match": "match x:\n    case Leaf(): x.run()",
    "match of several": "match x:\n    case Leaf() | Other(): x.run()",
    "later case": "match x:\n    case Leaf(): pass\n    case Root(): x.run()",
    "last case": "match x:\n    case Leaf(): pass\n    case Other(): pass\n    case _: x.run()",
    "case with a guard": "match x:\n    case Leaf() if id(x) < 0: pass\n    case Root(): x.run()",
    "test in a guard": "match x:\n    case _ if isinstance(x, Leaf): x.run()",
    "case with a name": "match x:\n    case Leaf() as y: x.run()",
    "case that leaves": "match x:\n    case Leaf(): return\nx.run()",
    "case that binds again": "match x:\n    case Leaf(): x = Other()\n    case _: return\nx.run()",
    "None": "if x is None: return\nx.run()",
    "not None and": "if x is not None and isinstance(x, Leaf): x.run()",
    "None or": "if x is None or not isinstance(x, Leaf): return\nx.run()",
    "base that becomes derived": "y = x\nassert isinstance(y, Root)\nassert isinstance(y, Twig)\ny.run()",
    "class of self": "x.go(Leaf())",
    "subclass": "if issubclass(type(x), Leaf): type(x)().run()",
    "attribute": "h = Hold(x)\nif isinstance(h.x, Leaf): h.x.run()",
    "attribute, early": "h = Hold(x)\nif not isinstance(h.x, Leaf): return\nh.x.run()",
    "attribute, after a harmless call": "h = Hold(x)\nif isinstance(h.x, Leaf):\n    plain()\n    h.x.run()",
    "attribute, stored again": "h = Hold(x)\nif isinstance(h.x, Leaf):\n    h.x = Other()\n    h.x.run()",
    "attribute, stored after": "h = Hold(x)\nif isinstance(h.x, Leaf):\n    h.x.run()\n    h.x = Other()",
    "attribute, object bound again": "h = Hold(x)\nif isinstance(h.x, Leaf):\n    h = Hold(Other())\n    h.x.run()",
    "attribute, changed by a method": "h = Hold(x)\nif isinstance(h.x, Leaf):\n    h.change()\n    h.x.run()",
    "attribute, None until it is made": "h = Hold(None)\nif h.x is None: h.change()\nh.x.run()",
    "attribute, None or": "h = Hold(x)\nif h.x is None or not isinstance(h.x, Leaf): return\nh.x.run()",
    "item, None or": "d = {'k': x}\nif d['k'] is None or not isinstance(d['k'], Leaf): return\nd['k'].run()",
    "item": "d = [x]\nif isinstance(d[0], Leaf): d[0].run()",
    "item under a text": "d = {'k': x}\nif not isinstance(d[\"k\"], Leaf): return\nd['k'].run()",
    "class that is an argument": "(lambda kind: isinstance(x, kind) and x.run())(Leaf)",
    "class that may be None": "kind = None if id(x) < 0 else Leaf\nif isinstance(x, kind): x.run()",
    "deleted": "if isinstance(x, Leaf):\n    x.run()\n    del x",
}  # fmt: skip
WIDER = (
    "one of two names", "caught", "lambda called when bound again", "inner function", "bound by an inner function",
    "subclass", "attribute, changed by a method", "attribute, object bound again", "class that is an argument",
    "class that may be None", "attribute", "attribute, early", "attribute, None or", "attribute, after a harmless call",
    "attribute, None until it is made", "walrus after the test", "walrus after the test of a loop",
    "elif of a base", "and in a condition", "later case",
)  # fmt: skip
"""Cases with more calls than the run: the test is of another name or of no name, or runs later,
or an override of a subclass is likely as well."""


def write(case: str) -> str:
    body = "".join(f"    {line}\n" for line in CASES[case].splitlines())
    calls = "".join(f"    go({name}())\n" for name in GIVEN)
    return f"{CLASSES}\ndef go(x):\n{body}\ndef main():\n{calls}"


INSIDE = ("<lambda>", "inner", "<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")


def trace(text: str) -> set[str]:
    """Return the methods that a function calls when run with an object of each class."""
    scope: dict[str, object] = {"__name__": "main"}
    exec(compile(text, "main.py", "exec"), scope)
    methods = {
        id(vars(kind)["run"].__code__): f"{kind.__name__}.run"
        for kind in scope.values() if isinstance(kind, type) and "run" in vars(kind)
    }  # fmt: skip
    seen: set[str] = set()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        caller = frame.f_back
        while caller is not None and caller.f_code.co_name in INSIDE:
            caller = caller.f_back
        if event == "call" and caller is not None and caller.f_code.co_name == "go" and id(frame.f_code) in methods:
            seen.add(methods[id(frame.f_code)])

    for name in GIVEN:
        run_one(scope["go"], scope[name], profile)
    return seen


def run_one(go: object, kind: object, profile: Callable[[FrameType, str, object], None]) -> None:
    """Call a function with an object of a class, ignoring exceptions."""
    assert callable(go)
    assert callable(kind)
    thing = kind()
    sys.setprofile(profile)
    try:
        with suppress(TypeError, AssertionError, KeyError, SystemExit, AttributeError):
            go(thing)
    finally:
        sys.setprofile(None)


def find(text: str) -> dict[str, str]:
    """Return the confidence of the methods that a function calls by the resolver."""
    calls = resolve_tree({"main.py": text}).pairs(RelationType.CALLS)
    return {
        callee.removeprefix("main."): edge.confidence or ""
        for (caller, callee), edge in calls.items()
        if caller in ("main.go", "main.go.inner") and callee.endswith(".run")
    }


@pytest.mark.parametrize("case", CASES)
def test_what_is_called_is_what_a_run_shows(case: str) -> None:
    text = write(case)
    found, shown = find(text), trace(text)
    assert shown - found.keys() == set()
    if case not in WIDER:
        assert {method for method, confidence in found.items() if confidence != "possible"} - shown == set()


def test_what_nothing_is_known_of_becomes_what_a_test_promises() -> None:
    text = f"{CLASSES}\ndef go(x):\n    if isinstance(x, (Leaf, Other)): x.run()\n    elif type(x) is Root: x.run()\n"
    calls = resolve_tree({"main.py": text}).pairs(RelationType.CALLS)
    told = {callee: (edge.rule, edge.confidence) for (_, callee), edge in calls.items() if callee.endswith(".run")}
    assert told["main.Leaf.run"] == told["main.Other.run"] == ("narrowed type", "likely")
    assert told["main.Twig.run"] == ("override", "likely")
    assert told["main.Root.run"][0] == "constructed object"


def test_a_builtin_that_a_test_promises_is_no_unbound_call() -> None:
    tree = resolve_tree({"main.py": "def go(x, y):\n    if isinstance(x, str): x.upper()\n    y.upper()\n"})
    assert [call.expression for call in tree.unbound()] == ["y.upper"]


def test_objects_of_other_classes_pass_for_a_protocol() -> None:
    protocol = "from typing import Protocol\nclass Runs(Protocol):\n    def run(self): ..."
    body = "\ndef go():\n    x = Other()\n    if isinstance(x, Runs): x.run()\n"
    calls = resolve_tree({"main.py": f"{protocol}{CLASSES}{body}"})
    assert ("main.go", "main.Other.run") in calls.pairs(RelationType.CALLS)


@pytest.mark.parametrize(
    "body",
    [
        "x = Leaf()\n    if isinstance(x, Other): x.run()",
        "x = None\n    x()",
        "plain()()",
        "x = Leaf()\n    del x\n    x()",
    ],
)
def test_a_call_of_nothing_says_so(body: str) -> None:
    unbound = resolve_tree({"main.py": f"{CLASSES}\ndef go():\n    {body}\n"}).unbound()
    assert [call.reason for call in unbound] == ["None alone, or nothing that passes the tests before it"]
