"""List the tests that reach changed code, as arguments of pytest."""

from __future__ import annotations

from pkg.retrieval.deps.answer import RUNS, Impact, Place, is_test
from pkg.retrieval.deps.set_up_rules import is_collected


def list_tests(answer: Impact) -> list[str]:
    """List path::Class::test of each test function, and only the path if a change breaks the whole file at its import.

    A class without a test stands for the tests that it inherits. Changed tests are included.
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
    """Return the ids of the files whose module code has changed, and of their importers."""
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
