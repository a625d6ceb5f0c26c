"""Contexts of contextlib: what they enter, leave and close (A-12)."""

from __future__ import annotations

from collections.abc import Iterator

from pkg.model import LIKELY
from pkg.resolve.abstract_values import OBJECTS, Values
from pkg.resolve.arguments import Arguments
from pkg.resolve.library.plugins import Library, Run, gives, runs

_METHODS = {
    "enter_context": ("__enter__", "__exit__"),
    "enter_async_context": ("__aenter__", "__aexit__"),
    "closing": ("close",),
    "aclosing": ("aclose",),
}


@gives("contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext")
def hold(library: Library, name: str, arguments: Arguments) -> Values:
    """Give a context that gives the argument when it is entered."""
    return library.containers.collect((*arguments.place, ""), arguments.derive(0))


@gives("contextlib.ExitStack().enter_context", "contextlib.AsyncExitStack().enter_async_context")
def enter(library: Library, name: str, arguments: Arguments) -> Values:
    """Give what entering the argument gives."""
    return library.items.enter(arguments.derive(0), is_async=name.endswith("async_context"))


@runs("contextlib.ExitStack().enter_context", "contextlib.AsyncExitStack().enter_async_context",
      "contextlib.closing", "contextlib.aclosing")  # fmt: skip
def call_context(library: Library, name: str, arguments: Arguments) -> Iterator[Run]:
    """Call what enters and leaves the argument, or closes it."""
    for value in arguments.derive(0):
        for method in _METHODS[name.rpartition(".")[2]] if value[0] in OBJECTS else ():
            yield from (Run(each, None, "context", LIKELY) for each in library.methods.find_special(value, method))
