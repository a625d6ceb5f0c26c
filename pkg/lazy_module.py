"""A module that is imported when it is first used, for names that only annotations need."""

from __future__ import annotations

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
