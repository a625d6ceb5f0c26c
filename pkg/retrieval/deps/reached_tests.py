"""List the tests that reach what has changed, as pytest takes them."""

from __future__ import annotations

from pkg.retrieval.deps.answer import RUNS, Impact, Place, is_test
from pkg.retrieval.deps.set_up_rules import is_collected


def list_tests(answer: Impact) -> list[str]:
    """List path::Class::test of each test function, and path alone where a change stops the whole file at its import.

    A class alone stands for the tests that it inherits. Tests that are themselves what has changed are among them.
    """
    inheriting = {each.place.id for each in answer.affected if each.link.type == RUNS and each.place.label == "Class"}
    found = [*answer.targets, *(each.place for each in answer.affected)]
    tests = [place for place in found if is_test(place) and _is_collected(place, inheriting)]
    stopped = _list_stopped(answer)
    files = {place.path for place in tests if place.id in stopped}
    inside = {
        "::".join([place.path, *place.qualname.split(".")])
        for place in tests
        if place.label != "File" and place.path not in files
    }
    return sorted(files | inside)


def _list_stopped(answer: Impact) -> set[str]:
    """List the ids of the files whose module code has changed, and of those that import one of them."""
    stopped = {place.id for place in answer.targets if place.label == "File"}
    for each in sorted(answer.affected, key=lambda each: each.distance):
        if each.place.label == "File" and each.link.end.id in stopped:
            stopped.add(each.place.id)
    return stopped


def _is_collected(place: Place, inheriting: set[str]) -> bool:
    """Return whether pytest collects a place: a file of tests, a test function, a class that inherits tests."""
    if not is_collected(place.path):
        return False
    if place.label != "Function":
        return place.label == "File" or place.id in inheriting
    name, *around = reversed(place.qualname.split("."))
    return name.startswith("test") and all(each[:1].isupper() for each in around)
