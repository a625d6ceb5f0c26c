"""Large numbers of callers, classes and stored values add targets, and remove none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from unit.resolution.resolving import resolve_tree

from pkg.model import RelationType
from pkg.resolution.reasons import Reason

COUNTS = (1, 2, 3, 5, 7, 9, 13, 40, 200)
Files = dict[str, str]


def callbacks(count: int) -> Files:
    text = "def apply(function, value):\n    return function(value)\n"
    for i in range(count):
        text += f"\n\ndef double_{i}(value):\n    return value\n\n\ndef use_{i}():\n    return apply(double_{i}, 1)\n"
    return {"main.py": text}


def overrides(count: int) -> Files:
    text = "class Node:\n    def value(self):\n        raise NotImplementedError\n"
    text += "\n\ndef show(node: Node):\n    return node.value()\n"
    for i in range(count):
        text += f"\n\nclass N{i}(Node):\n    def value(self):\n        return {i}\n"
    return {"main.py": text}


def decorated(count: int) -> Files:
    text = "def guard(function):\n    def wrapper(value):\n        return function(value)\n    return wrapper\n"
    for i in range(count):
        text += f"\n\n@guard\ndef page_{i}(value):\n    return value\n\n\ndef use_{i}():\n    return page_{i}(1)\n"
    return {"main.py": text}


def registered(count: int) -> Files:
    text = "KEPT = []\n\n\ndef keep(function):\n    KEPT.append(function)\n    return function\n"
    text += "\n\ndef run():\n    for function in KEPT:\n        function()\n"
    for i in range(count):
        text += f"\n\n@keep\ndef page_{i}():\n    pass\n\n\ndef use_{i}():\n    return page_{i}()\n"
    return {"main.py": text}


def assigned(count: int) -> Files:
    files = {"main.py": "class Box:\n    handler = None\n\n\ndef run(box: Box):\n    box.handler()\n"}
    for i in range(count):
        files[f"user{i}.py"] = (
            f"from main import Box\n\n\ndef work_{i}():\n    pass\n\n\ndef use_{i}():\n    Box().handler = work_{i}\n"
        )
    return files


def objects(count: int) -> Files:
    """Pass an object, alone and in a list, to functions with many callers."""
    return {
        "main.py": "def go(thing):\n    thing.run()\n\n\n"
        "def go_through(things):\n    for thing in things:\n        thing.walk()\n",
        **{
            f"kind{i}.py": f"from main import go, go_through\n\n\nclass Kind{i}:\n    def run(self):\n        pass\n\n"
            f"    def walk(self):\n        pass\n\n\ngo(Kind{i}())\ngo_through([Kind{i}()])\n"
            for i in range(count)
        },
    }  # fmt: skip


def made(count: int) -> Files:
    text = "def build(kind):\n    made = kind()\n    return made.run()\n"
    for i in range(count):
        text += f"\n\nclass Kind{i}:\n    def run(self):\n        return self\n\n\ndef use_{i}():\n    build(Kind{i})\n"
    return {"main.py": text}


KINDS: tuple[Callable[[int], Files], ...] = (callbacks, overrides, decorated, registered, assigned, made, objects)
"""Targets that have to be found for every number."""
WANTED: dict[str, tuple[str, str]] = {
    "callbacks": ("main.apply", "main.double_{}"),
    "overrides": ("main.show", "main.N{}.value"),
    "decorated": ("main.use_{}", "main.page_{}"),
    "registered": ("main.run", "main.page_{}"),
    "assigned": ("main.run", "user{0}.work_{0}"),
    "made": ("main.build", "main.Kind{}.run"),
    "objects": ("main.go", "kind{0}.Kind{0}.run"),
}


def call(files: Files) -> set[tuple[str, str]]:
    return set(resolve_tree(files).pairs(RelationType.CALLS))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_more_adds_answers_and_takes_none(kind: Callable[[int], Files]) -> None:
    before: set[tuple[str, str]] = set()
    caller, callee = WANTED[kind.__name__]
    for count in COUNTS:
        found = call(kind(count))
        assert before <= found, f"with {count}: {sorted(before - found)}"
        assert {(caller.format(i), callee.format(i)) for i in range(count)} <= found
        before = found


@pytest.mark.parametrize("count", [3, 9, 40])
@pytest.mark.parametrize("kind", [decorated, registered], ids=lambda kind: kind.__name__)
def test_who_uses_one_decorated_function_uses_no_other(kind: Callable[[int], Files], count: int) -> None:
    found = call(kind(count))
    assert not {(f"main.use_{i}", f"main.page_{j}") for i in range(count) for j in range(count) if i != j} & found


@pytest.mark.parametrize(("kind", "name"), [(callbacks, "apply"), (objects, "go"), (objects, "go_through")])
def test_a_name_that_is_used_elsewhere_changes_no_edge(kind: Callable[[int], Files], name: str) -> None:
    files = kind(3)
    others = f"class Other:\n    def {name}(self, value):\n        return value\n\n\ndef use(other: Other):\n"
    others += f"    other.{name}(1)\n" * 40
    found = call(files)
    assert {edge for edge in call(files | {"other.py": others}) if not edge[0].startswith("other.")} == found


def test_items_of_containers_that_many_hand_over_are_followed() -> None:
    assert {("main.go_through", f"kind{i}.Kind{i}.walk") for i in range(40)} <= call(objects(40))


def split(count: int) -> Files:
    """Pass functions, classes and objects of many files to those of one, which pass them on."""
    files = {
        "hub.py": "def apply(function, value):\n    return function(value)\n\n\ndef pass_on(given):\n"
        "    return again(given)\n\n\ndef again(given):\n    kept = given\n    pass_on(kept)\n"
        "    return kept.run(kept)\n"
    }
    for i in range(count):
        files[f"user{i}.py"] = (
            f"from hub import again, apply, pass_on\n\n\nclass Kind{i}:\n    def run(self, other):\n"
            f"        return other.run(self)\n\n\ndef work_{i}(value):\n    return Kind{i}()\n\n\ndef use_{i}():\n"
            f"    apply(work_{i}, {i}).run(pass_on(Kind{i}))\n    return again(Kind{i}())\n"
        )
    return files


def written_out(count: int) -> Files:
    """Pass many objects, as one literal argument, to a function that calls each."""
    kinds = "".join(f"class Kind{i}:\n    def run(self, other):\n        return other\n\n\n" for i in range(count))
    either = " or ".join(f"Kind{i}()" for i in range(count))
    return {
        "hub.py": "def go(given):\n    return given.run(1)\n",
        "kinds.py": kinds,
        "user.py": f"from hub import go\nfrom kinds import *\n\n\ndef use():\n    return go({either})\n",
    }


def test_what_is_handed_on_of_too_many_values_is_unknown_and_said() -> None:
    few, many = (resolve_tree(written_out(count)) for count in (8, 9))
    assert {("hub.go", f"kinds.Kind{i}.run") for i in range(8)} <= few.pairs(RelationType.CALLS).keys()
    assert ("given.run", f"{Reason.MANY.value}: parameter given of go") in {
        (call.expression, call.reason) for call in many.unbound()
    }


def test_the_order_of_files_does_not_matter() -> None:
    files = split(20)
    assert call(files) == call(dict(sorted(files.items(), reverse=True)))


def test_a_call_that_is_not_bound_says_what_has_too_many_values() -> None:
    kinds = "".join(f"class K{i}:\n    def run(self):\n        return self\n\n\na(K{i}())\n\n\n" for i in range(12))
    text = f"def a(x):\n    return b(x)\n\n\ndef b(y):\n    return y.run()\n\n\n{kinds}"
    reasons = {call.expression: call.reason for call in resolve_tree({"main.py": text}).unbound()}
    assert reasons["y.run"] == f"{Reason.MANY.value}: parameter x of a"
