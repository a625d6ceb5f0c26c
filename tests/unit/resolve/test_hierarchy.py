"""Classes are ordered as Python orders them; where Python refuses, each class once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from unit.resolve.reading import make_classes

from pkg.resolve.facts.scope_model import Binding, Scope
from pkg.resolve.hierarchy import ClassFacts, Hierarchy

NAMES = list("ABCDEFG")
graphs = st.tuples(
    *(st.lists(st.sampled_from(NAMES[:place]), max_size=3, unique=True) if place else st.just([]) for place in range(7))
)


def order_classes(bases: dict[str, list[str]]) -> tuple[Hierarchy, dict[str, Scope]]:
    scopes = dict(zip(bases, make_classes(list(bases)), strict=True))
    facts = [ClassFacts(scopes[name], tuple(scopes[base] for base in own)) for name, own in bases.items()]
    return Hierarchy(facts), scopes


def run_classes(bases: dict[str, list[str]]) -> dict[str, type]:
    """Make the classes in Python, as far as it accepts them and their bases."""
    made: dict[str, type] = {}
    for name, own in bases.items():
        try:
            made[name] = type(name, tuple(made[base] for base in own), {})
        except (TypeError, KeyError):
            continue
    return made


def name_order(hierarchy: Hierarchy, scope: Scope) -> list[str]:
    return [each.name for each in hierarchy.order(scope)]


@given(graphs)
def test_the_order_is_that_of_python(graph: tuple[list[str], ...]) -> None:
    bases = dict(zip(NAMES, graph, strict=True))
    hierarchy, scopes = order_classes(bases)
    for name, made in run_classes(bases).items():
        assert name_order(hierarchy, scopes[name]) == [each.__name__ for each in made.__mro__[:-1]]


@given(st.tuples(*(st.lists(st.sampled_from(NAMES), max_size=3, unique=True) for _ in NAMES)))
def test_bases_in_a_circle_are_ordered_each_once(graph: tuple[list[str], ...]) -> None:
    hierarchy, scopes = order_classes(dict(zip(NAMES, graph, strict=True)))
    for name, scope in scopes.items():
        found = name_order(hierarchy, scope)
        assert found[0] == name
        assert len(found) == len(set(found))


@given(graphs)
def test_a_class_is_derived_from_all_that_it_is_ordered_after(graph: tuple[list[str], ...]) -> None:
    hierarchy, scopes = order_classes(dict(zip(NAMES, graph, strict=True)))
    for scope in scopes.values():
        derived = {each for each in scopes.values() if scope in list(hierarchy.order(each))[1:]}
        assert set(hierarchy.list_derived(scope)) == derived


def test_an_attribute_is_found_at_the_first_class_of_the_order_that_has_it() -> None:
    hierarchy, scopes = order_classes({"A": [], "B": ["A"], "C": ["A"], "D": ["B", "C"]})
    for name in ("A", "C"):
        scopes[name].names["run"] = [Binding("definition")]
    assert hierarchy.find(scopes["D"], "run") is scopes["C"]
    assert hierarchy.find(scopes["D"], "run", after=scopes["C"]) is scopes["A"]
    assert hierarchy.find(scopes["D"], "walk") is None
    assert hierarchy.find_overrides(scopes["A"], "run") == [scopes["C"]]


def test_a_class_with_a_library_above_it_is_open() -> None:
    base, derived, other = make_classes(["Base", "Derived", "Other"])
    hierarchy = Hierarchy([ClassFacts(base, libraries=("enum.Enum",)), ClassFacts(derived, (base,)), ClassFacts(other)])
    assert [hierarchy.is_open(each) for each in (base, derived, other)] == [True, True, False]
    assert [hierarchy.is_enumeration(each) for each in (base, derived, other)] == [True, True, False]


def test_a_class_that_nothing_is_known_of_stands_alone() -> None:
    (scope,) = make_classes(["Lonely"])
    assert list(Hierarchy().order(scope)) == [scope]


def test_what_is_filled_in_replaces_what_was_known() -> None:
    base, derived = make_classes(["Base", "Derived"])
    hierarchy = Hierarchy()
    assert list(hierarchy.order(derived)) == [derived]
    hierarchy.fill([ClassFacts(base), ClassFacts(derived, (base,))])
    assert list(hierarchy.order(derived)) == [derived, base]
    assert hierarchy.list_derived(base) == [derived]
