"""The confidence of a link depends on its rule and on the other targets of the site."""

from __future__ import annotations

import pytest
from unit.resolution.solving import list_calls, solve_tree

from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolution.reasons import Reason
from pkg.resolution.site_outcomes import GRADES, Target, Unbound, settle

METHODS = [
    each
    for each in solve_tree(
        {"main.py": "".join(f"class C{n}:\n    def go(self): pass\n" for n in range(40))}
    ).program.list_codes()
    if each.name == "go"
]


def settle_rule(rule: str, count: int, *, is_beside_unknown: bool) -> set[str]:
    """Return the confidences at a site that calls methods of one name by one rule."""
    outcomes = [Target(code, rule, CERTAIN) for code in METHODS[:count]]
    unbound = [Unbound(Reason.PARAMETER)] if is_beside_unknown else []
    return {each.confidence for each in settle([*outcomes, *unbound], False)[0]}


@pytest.mark.parametrize("rule", [*GRADES, "import of any kind"])
def test_one_target_of_which_all_is_known_is_as_sure_as_its_value(rule: str) -> None:
    assert settle_rule(rule, 1, is_beside_unknown=False) == {CERTAIN}


def test_an_argument_is_likely_however_many_functions_are_given() -> None:
    assert settle_rule("argument", 40, is_beside_unknown=True) == {LIKELY}


def test_one_of_several_special_methods_is_possible_beside_something_unknown() -> None:
    assert settle_rule("special method", 1, is_beside_unknown=True) == {LIKELY}
    assert settle_rule("special method", 2, is_beside_unknown=False) == {LIKELY}
    assert settle_rule("special method", 2, is_beside_unknown=True) == {POSSIBLE}


def test_special_methods_of_two_names_do_not_make_each_other_less_sure() -> None:
    text = (
        "class A:\n    def __enter__(self): pass\n    def __exit__(self, *rest): pass\n"
        "def run(known):\n    thing = A() if known else known\n    with thing: pass\n"
    )
    found = list_calls(text)
    assert found["run", "A.__enter__"] == found["run", "A.__exit__"] == LIKELY


TEMPLATE = "class Base:\n    def run(self): self.step()\n    def step(self): print()\n"


def test_a_method_that_overrides_what_self_calls_is_likely() -> None:
    classes = "".join(f"class C{n}(Base):\n    def step(self): print()\n" for n in range(9))
    found = list_calls(f"{TEMPLATE}{classes}")
    assert {found["Base.run", f"C{n}.step"] for n in range(9)} == {LIKELY}


def test_a_class_that_overrides_the_caller_as_well_does_not_run_it() -> None:
    body = "class C(Base):\n    def run(self): {}\n    def step(self): print()\n"
    assert list_calls(TEMPLATE + body.format("pass"))["Base.run", "C.step"] == POSSIBLE
    assert list_calls(TEMPLATE + body.format("super().run()"))["Base.run", "C.step"] == LIKELY


def test_a_class_below_may_inherit_the_caller_again() -> None:
    below = "class C(Base):\n    def step(self): print()\nclass D(C):\n    def run(self): pass\n"
    assert list_calls(TEMPLATE + below)["Base.run", "C.step"] == LIKELY


def test_self_in_a_function_inside_of_a_method_is_that_of_the_method() -> None:
    text = (
        "class Base:\n    def run(self):\n        def inner(): self.step()\n        inner()\n"
        "    def step(self): print()\n"
        "class C(Base):\n    def run(self): pass\n    def step(self): print()\n"
    )
    assert list_calls(text)["Base.run.inner", "C.step"] == POSSIBLE


def test_the_methods_that_a_name_put_together_may_mean_are_likely() -> None:
    methods = "".join(f"    def visit_{n}(self): print()\n" for n in range(12))
    text = (
        "class Visitor:\n    def visit(self, node): self.find(node)()\n"
        "    def find(self, node): return getattr(self, 'visit_' + node.name)\n"
        f"class Own(Visitor):\n{methods}"
    )
    found = list_calls(text)
    assert {found["Visitor.visit", f"Own.visit_{n}"] for n in range(12)} == {LIKELY}
