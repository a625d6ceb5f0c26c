"""Large sets are bounded unless all values are callables; unknown values do not count."""

from __future__ import annotations

from unit.resolution.solving import list_calls

from pkg.resolution.reasons import Reason
from pkg.resolution.value_sets import (
    MANY,
    MOST_VALUES,
    PLAIN,
    Constant,
    Library,
    Module,
    Value,
    Values,
    bound,
    is_large,
    merge_alike,
    unknown,
)
from pkg.resolution.variables import NAME, Home, Schedule, Variable


def test_what_is_not_known_does_not_make_a_set_large() -> None:
    known: set[Value] = {Library(str(number)) for number in range(MOST_VALUES)}
    assert not is_large(known.union(*map(unknown, Reason)))
    assert is_large({*known, PLAIN["int"]})


def test_values_of_which_merely_nothing_is_known_are_one() -> None:
    merged = merge_alike(unknown(Reason.PARAMETER) | unknown(Reason.ITEM) | unknown(Reason.CHOSEN))
    assert merged == unknown(Reason.EXPRESSION) | unknown(Reason.CHOSEN)


def test_a_large_set_is_handed_on_where_it_holds_callables_alone() -> None:
    callables: frozenset[Value] = frozenset(Library(f"builtins.{number}") for number in range(99))
    assert bound(callables) == callables
    assert bound(frozenset(Constant("int", number) for number in range(99))) == {PLAIN["int"]}
    assert bound(frozenset(Module(str(number)) for number in range(99))) == MANY


def test_functions_of_a_registry_are_called_through_two_parameters() -> None:
    functions = "".join(f"def f{n}(): print()\n" for n in range(12))
    text = (
        f"{functions}class Registry:\n    def add(self, function): self.keep(function)\n"
        "    def keep(self, function): function()\n"
        f"registry = Registry()\n{''.join(f'registry.add(f{n})' + chr(10) for n in range(12))}"
    )
    assert {callee for caller, callee in list_calls(text) if caller == "Registry.keep"} == {f"f{n}" for n in range(12)}


def test_an_object_derived_from_a_list_holds_what_it_is_made_of() -> None:
    text = (
        "class Stack(list): pass\nclass Table(dict): pass\nclass A:\n    def go(self): print()\n"
        "def run():\n    Stack([A()])[-1].go()\ndef look():\n    Table(key=A())['key'].go()\n"
    )
    found = list_calls(text)
    assert found["run", "A.go"] == found["look", "A.go"] == "certain"


def test_a_dict_made_of_pairs_tells_the_first_ones_apart() -> None:
    count = 68  # more keys than are told apart, by few enough to be followed
    functions = "".join(f"def f{n}(): print()\n" for n in range(count))
    pairs = ", ".join(f"('k{n}', f{n})" for n in range(count))
    callers = "".join(f"def call{n}(): table['k{n}']()\n" for n in range(count))
    found = list_calls(f"{functions}table = dict([{pairs}])\n{callers}")
    first, others = range(count - 3), range(count - 3, count)
    for number in first:
        callees = {callee for caller, callee in found if caller == f"call{number}"}
        assert callees == {f"f{each}" for each in (number, *others)}


def test_a_set_is_merged_however_its_values_arrive() -> None:
    values: Values = unknown(Reason.PARAMETER) | {Constant("int", number) for number in range(MOST_VALUES)}

    def write(*parts: Values) -> Values:
        schedule, home = Schedule(), Home("a.py")
        variable = Variable(home, home, NAME, "x")
        schedule.enter(home)
        for each in parts:
            schedule.write(variable, each)
        return variable.values

    assert write(values) == write(*(frozenset((each,)) for each in values)) == merge_alike(values)
