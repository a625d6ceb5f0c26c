"""Modules that are imported when they are first used: those of annotations, and those of the names of a package."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


class LazyModule(ModuleType):
    """Stands for the module of its name, and imports it when an attribute is first read.

    ``typing.get_type_hints`` evaluates annotations in the globals of a function, where an import under TYPE_CHECKING
    leaves no name. A global of this class resolves them without an import at the start of every command.
    """

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the module; raises what importing it raises."""
        return getattr(import_module(self.__name__), name)


def make_lookup(package: str, names: Collection[str], modules: Sequence[str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names are imported from its modules when they are first used.

    A name is that of the first module that has it. The lookup raises AttributeError for any other name.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = next(getattr(module, name) for module in map(import_module, modules) if hasattr(module, name))
        setattr(sys.modules[package], name, value)
        return value

    return find
