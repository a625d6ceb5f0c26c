"""List the tests that reach what has changed, as pytest takes them."""

from __future__ import annotations

from pathlib import PurePosixPath

from pkg.retrieval.deps.answer import Impact, Place, is_test


def list_tests(answer: Impact) -> list[str]:
    """List path::Class::test of each test function, and path alone where a change stops the whole file at its import.

    Tests that are themselves what has changed are among them.
    """
    found = [*answer.targets, *(each.place for each in answer.affected)]
    tests = [place for place in found if is_test(place) and _is_collected(place)]
    stopped = _list_stopped(answer)
    files = {place.path for place in tests if place.id in stopped}
    inside = {
        "::".join([place.path, *place.qualname.split(".")])
        for place in tests
        if place.label == "Function" and place.path not in files
    }
    return sorted(files | inside)


def _list_stopped(answer: Impact) -> set[str]:
    """List the ids of the files whose module code has changed, and of those that import one of them."""
    stopped = {place.id for place in answer.targets if place.label == "File"}
    for each in sorted(answer.affected, key=lambda each: each.distance):
        if each.place.label == "File" and each.link.end.id in stopped:
            stopped.add(each.place.id)
    return stopped


def _is_collected(place: Place) -> bool:
    """Tell whether pytest collects a place: a test function, or a file of tests."""
    stem = PurePosixPath(place.path).stem
    if not (stem.startswith("test_") or stem.endswith("_test")):
        return False
    if place.label == "File":
        return True
    name, *around = reversed(place.qualname.split("."))
    return place.label == "Function" and name.startswith("test") and all(each[:1].isupper() for each in around)
