"""Contexts of contextlib: what they enter, leave and close (A-12)."""

from __future__ import annotations

from collections.abc import Iterator

from pkg.model import LIKELY
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import OBJECTS, Values
from pkg.resolve.arguments import Arguments
from pkg.resolve.outcomes import Run
from pkg.resolve.plugins import gives, runs
from pkg.resolve.resolution_context import Context

_METHODS = {
    "enter_context": ("__enter__", "__exit__"),
    "enter_async_context": ("__aenter__", "__aexit__"),
    "closing": ("close",),
    "aclosing": ("aclose",),
}


@gives("contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext")
def hold(context: Context, name: str, arguments: Arguments) -> Values:
    """Give a context that gives the argument when it is entered."""
    return context.containers.collect((*arguments.place, ""), arguments.derive(0))


@gives("contextlib.ExitStack().enter_context", "contextlib.AsyncExitStack().enter_async_context")
def enter(context: Context, name: str, arguments: Arguments) -> Values:
    """Give what entering the argument gives."""
    return context.ask(q.ENTERED, arguments.derive(0), name.endswith("async_context"))


@runs("contextlib.ExitStack().enter_context", "contextlib.AsyncExitStack().enter_async_context",
      "contextlib.closing", "contextlib.aclosing")  # fmt: skip
def call_context(context: Context, name: str, arguments: Arguments) -> Iterator[Run]:
    """Call what enters and leaves the argument, or closes it."""
    for value in arguments.derive(0):
        for method in _METHODS[name.rpartition(".")[2]] if value[0] in OBJECTS else ():
            yield from (Run(each, None, "context", LIKELY) for each in context.ask(q.SPECIAL_METHODS, value, method))
