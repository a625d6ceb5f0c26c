"""The one form of what is known of a library: a rule with the dotted names that it is for (A-12).

A rule that gives says what a call gives back; a rule that runs, what a call calls of what it is given. A name that
begins with a dot stands for all that end so, from wherever they are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from pkg.resolve.abstract_values import Values, library
from pkg.resolve.arguments import Arguments
from pkg.resolve.outcomes import Run

if TYPE_CHECKING:
    from pkg.resolve.resolution_context import Context

Gives = Callable[["Context", str, Arguments], Values]
Runs = Callable[["Context", str, Arguments], Iterator[Run]]
Plugin = TypeVar("Plugin", Gives, Runs)

MAX_NAMES = 10_000  # whose rules are remembered: all that a large repository calls of libraries
_GIVES: dict[str, Gives] = {}
_RUNS: dict[str, Runs] = {}
_CALLING: set[str] = set()


def gives(*names: str, calls: bool = False) -> Callable[[Gives], Gives]:
    """Let a function tell what calls of some names give back; they call no function that they are given, or do."""
    _CALLING.update(names if calls else ())
    return _note(_GIVES, names)


def runs(*names: str) -> Callable[[Runs], Runs]:
    """Let a function tell what calls of some names call themselves."""
    return _note(_RUNS, names)


@lru_cache(MAX_NAMES)
def find_giving(name: str) -> Gives | None:
    """Give the rule that tells what a call gives back, if there is one."""
    return _find(_GIVES, name)


@lru_cache(MAX_NAMES)
def may_call(name: str) -> bool:
    """Tell whether a call of a library may call a function that it is given, as far as a rule tells."""
    return find_giving(name) is None or name in _CALLING or "." + name.rpartition(".")[2] in _CALLING


@lru_cache(MAX_NAMES)
def find_running(name: str) -> Runs | None:
    """Give the rule that tells what a call calls itself, if there is one."""
    return _find(_RUNS, name)


def make_object(name: str) -> Values:
    """Give an object of a class of a library, or the result of a function of it."""
    return frozenset({library(f"{name}()")})


def _note(rules: dict[str, Plugin], names: tuple[str, ...]) -> Callable[[Plugin], Plugin]:
    def note(rule: Plugin) -> Plugin:
        rules.update(dict.fromkeys(names, rule))
        return rule

    return note


def _find(rules: dict[str, Plugin], name: str) -> Plugin | None:
    return rules.get(name) or rules.get("." + name.rpartition(".")[2])
