"""Classes are ordered as Python orders them; where Python refuses, each class once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from unit.resolution.solving import order_classes, read_classes

from pkg.resolution.classes import ClassInfo

NAMES = list("ABCDEFG")
graphs = st.tuples(
    *(st.lists(st.sampled_from(NAMES[:place]), max_size=3, unique=True) if place else st.just([]) for place in range(7))
)
DIAMOND = (
    "class A:\n    def run(self): pass\nclass B(A): pass\nclass C(A):\n    def run(self): pass\nclass D(B, C): pass\n"
)


def run_classes(bases: dict[str, list[str]]) -> dict[str, type]:
    """Create the classes in Python, as far as it accepts them and their bases."""
    made: dict[str, type] = {}
    for name, own in bases.items():
        try:
            made[name] = type(name, tuple(made[base] for base in own), {})
        except (TypeError, KeyError):
            continue
    return made


def name_order(info: ClassInfo) -> list[str]:
    return [each.name for each in info.order]


@given(graphs)
def test_the_order_is_that_of_python(graph: tuple[list[str], ...]) -> None:
    bases = dict(zip(NAMES, graph, strict=True))
    _, classes = order_classes(bases)
    for name, made in run_classes(bases).items():
        assert name_order(classes[name]) == [each.__name__ for each in made.__mro__[:-1]]


@given(st.tuples(*(st.lists(st.sampled_from(NAMES), max_size=3, unique=True) for _ in NAMES)))
def test_bases_in_a_cycle_are_ordered_each_once(graph: tuple[list[str], ...]) -> None:
    _, classes = order_classes(dict(zip(NAMES, graph, strict=True)))
    for name, info in classes.items():
        found = name_order(info)
        assert found[0] == name
        assert len(found) == len(set(found))


@given(graphs)
def test_a_class_is_derived_from_all_that_it_is_ordered_after(graph: tuple[list[str], ...]) -> None:
    hierarchy, classes = order_classes(dict(zip(NAMES, graph, strict=True)))
    for info in classes.values():
        derived = {each for each in classes.values() if info in each.order[1:]}
        assert set(hierarchy.list_derived(info)) == derived


def test_an_attribute_is_found_at_the_first_class_of_the_order_that_has_it() -> None:
    hierarchy, classes = read_classes(DIAMOND)
    assert hierarchy.find(classes["D"], "run") is classes["C"]
    assert hierarchy.find(classes["D"], "run", after=classes["C"]) is classes["A"]
    assert hierarchy.find(classes["D"], "walk") is None
    assert hierarchy.look_up(classes["A"], "run", True).overrides == [classes["C"]]


def test_a_class_with_a_library_above_it_is_open() -> None:
    text = "import enum\nclass Base(enum.Enum): pass\nclass Derived(Base): pass\nclass Other: pass\n"
    _, classes = read_classes(text)
    infos = [classes[name] for name in ("Base", "Derived", "Other")]
    assert [each.is_open for each in infos] == [True, True, False]
    assert [each.is_enumeration for each in infos] == [True, True, False]


def test_a_class_that_lacks_a_method_has_that_of_a_class_it_is_mixed_with() -> None:
    text = (
        "class Mixin: pass\nclass Store:\n    def save(self): pass\nclass Thing(Mixin, Store): pass\n"
        "class Other:\n    def save(self): pass\n"
    )
    hierarchy, classes = read_classes(text)
    assert hierarchy.look_up(classes["Mixin"], "save", True).overrides == [classes["Store"]]
    assert hierarchy.look_up(classes["Mixin"], "save", False).overrides == []


def test_a_base_is_found_that_a_class_has_from_a_base_of_its_own() -> None:
    text = (
        "class Derived(Outer.Inner): pass\nclass Outer(Root): pass\nclass Other:\n    class Inner: pass\n"
        "class Root(Other):\n    class Inner: pass\n"
    )
    _, classes = read_classes(text)
    assert [each.code.qualname for each in classes["Derived"].order] == ["Derived", "Root.Inner"]
