"""A walk over the type hints of the public API, for tests that all of them resolve."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, get_args, get_type_hints


class HintWalk:
    """Resolves the hints of everything public, and recursively of every class of pkg in them."""

    def __init__(self) -> None:
        self.classes: set[type[Any]] = set()
        self.faults: list[str] = []

    def walk(self, found: object) -> None:
        """Visit an exported object, or a hint."""
        if isinstance(found, type) and not get_args(found):
            self._walk_class(found)
        elif isinstance(found, FunctionType):
            self._resolve(inspect.unwrap(found))
        for part in found if isinstance(found, list) else get_args(found):  # a list: parameters of a Callable
            self.walk(part)

    def _walk_class(self, found: type[Any]) -> None:
        if found in self.classes or found.__module__.partition(".")[0] != "pkg":
            return
        self.classes.add(found)
        for base in found.__bases__:
            self.walk(base)
        self._resolve(found)
        for method in _list_methods(found):
            self._resolve(method)

    def _resolve(self, found: Any) -> None:
        try:
            hints = get_type_hints(found)
        except Exception as fault:
            self.faults.append(f"{found.__module__}.{found.__qualname__}: {fault!r}")
        else:
            for hint in hints.values():
                self.walk(hint)


def _list_methods(found: type[Any]) -> Iterator[Callable[..., Any]]:
    """Yield the public and the special methods that a class defines, including decorated ones."""
    for name, value in vars(found).items():
        if name.startswith("_") and not name.endswith("__"):
            continue
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        function = inspect.unwrap(function) if callable(function) else None
        if isinstance(function, FunctionType) and function.__module__.partition(".")[0] == "pkg":
            yield function
