"""What functions ask pytest for: the fixtures that it finds by the names of parameters, told from the text (A-12)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.resolve.facts.scope_model import Scope, name_decorator

CONFTEST = "conftest.py"
_FIXTURE, _PARAMETRIZE, _USE = "fixture", "parametrize", "usefixtures"
_NAMED = re.compile(r"\bname\s*=\s*['\"](\w+)['\"]")
_FIRST_ARGUMENT = re.compile(r"\(\s*(?:argnames\s*=\s*)?(\[[^\]]*\]|\([^)]*\)|['\"][^'\"]*['\"])")
MARKS = "pytestmark"  # the name that a file or class gives the marks of all its tests
_MARK_OF_ALL = re.compile(r"\.usefixtures\(([^)]*)\)")
_WORD = re.compile(r"\w+")


def is_fixture(scope: Scope) -> bool:
    """Tell whether pytest hands out what a function gives back."""
    return _FIXTURE in scope.decorator_names


def name_fixture(scope: Scope) -> str | None:
    """Give the name that a fixture is given beside that of its function."""
    for text in scope.decorators:
        found = _NAMED.search(text) if name_decorator(text) == _FIXTURE else None
        if found:
            return found[1]
    return None


def list_requests(scope: Scope) -> list[str]:
    """Give the names of the fixtures that a function asks for: as a fixture itself, or as a test in a file of tests."""
    if scope.kind != "function" or not (is_fixture(scope) or _is_test(scope)):
        return []
    return list(dict.fromkeys((*_list_asked(scope), *_list_used(scope))))


def is_asked(scope: Scope, name: str) -> bool:
    """Tell whether pytest gives a function a parameter."""
    return (is_fixture(scope) or _is_test(scope)) and name in _list_asked(scope)


def is_test_file(path: str) -> bool:
    """Tell whether pytest looks for tests or fixtures in a file of this name."""
    file = path.rpartition("/")[2]
    return file.startswith("test_") or file.endswith("_test.py") or file == CONFTEST


def _is_test(scope: Scope) -> bool:
    parent = scope.parent
    if not scope.name.startswith("test") or parent is None or not is_test_file(scope.module.path):
        return False
    return parent.kind == "module" or (parent.kind == "class" and parent.name.startswith("Test"))


def _list_asked(scope: Scope) -> list[str]:
    """Give the parameters that have no default and are given no values by a mark."""
    given = set(_list_given(scope))
    return [
        each.name for each in scope.parameters
        if not each.kind and each.default is None and each.name != scope.receiver and each.name not in given
    ]  # fmt: skip


def _list_given(scope: Scope) -> Iterator[str]:
    """Give the parameters that a mark gives values; one that says `indirect` gives them to the fixtures."""
    for text in _list_marks(scope, _PARAMETRIZE):
        found = _FIRST_ARGUMENT.search(text)
        if found and "indirect" not in text:
            yield from _WORD.findall(found[1])


def _list_used(scope: Scope) -> Iterator[str]:
    """Give the fixtures that marks name: before a test or its class, or in `pytestmark` of its class or file."""
    for text in _list_marks(scope, _USE):
        yield from _WORD.findall(text.partition("(")[2])
    for each in (scope.parent, scope.module.root) if not is_fixture(scope) else ():
        for binding in each.names.get(MARKS, ()) if each is not None else ():
            text = scope.module.text[binding.start : binding.end].decode("utf-8", "replace")
            for found in _MARK_OF_ALL.findall(text):
                yield from _WORD.findall(found)


def _list_marks(scope: Scope, name: str) -> Iterator[str]:
    """Give the marks of a name that stand before a test, or before the class that it is in; fixtures have none."""
    for each in (scope, scope.parent) if not is_fixture(scope) else ():
        for text in each.decorators if each is not None else ():
            if name_decorator(text) == name:
                yield text
