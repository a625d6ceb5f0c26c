"""The table of commands: the headings of the help, and the modules of commands above the console."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import click

HEADINGS = {
    "Everyday": ("build", "query", "explore", "show", "deps", "impact", "outline", "ask", "diff"),
    "Generate and choose": ("enhance", "rerank"),
    "Serve": ("serve", "mcp"),
    "Graph and store": (
        *("map", "stats", "export", "verify", "corpus"),
        *("browser", "doctor", "trust", "completion"),
    ),
    "Measure and train": ("bench", "eval", "audit", "judge", "rate", "data"),
}
"""The commands in the order of help, each under one heading."""


class Place(NamedTuple):
    """Location of a command imported by name, because its package imports this one and may be absent."""

    package: str
    module: str
    attribute: str
    summary: str  # the first sentence of its help, so that listing it imports nothing

    def is_there(self) -> bool:
        """Return whether the package can be found."""
        return find_spec(self.package) is not None


def _place(attribute: str, summary: str) -> Place:
    return Place("pkg.lab", "pkg.lab.commands", attribute, summary)


PLACES = {
    "audit": _place("audit", "Mark the functions of the graph that give solutions of a benchmark away."),
    "bench": _place(
        "bench", "Measure your own graph: what it finds, how fast, how large, and which encoder serves your code."
    ),
    "data": _place("data", "Make sets of questions and answers about a repository, each row with where it comes from."),
    "eval": _place("evaluate", "Measure how good answers are, on benchmarks or on questions of your own."),
    "judge": _place("judge", "Judge answers of systems to questions, and measure the judge."),
    "rate": _place("rate", "Open a page of this machine on which people rate or write questions and answers."),
}
"""Commands of the lab."""


class CommandTable(MutableMapping[str, click.Command]):
    """The commands by name; a command of PLACES is imported on first access."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        """Return a command; raises KeyError if it is unknown."""
        if name not in self._loaded:
            place = PLACES[name]
            if not place.is_there():
                raise KeyError(name)
            self._loaded[name] = getattr(import_module(place.module), place.attribute)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all commands, without importing one."""
        yield from list(self._loaded)
        yield from (name for name, place in PLACES.items() if name not in self._loaded and place.is_there())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def summarise(self, name: str, limit: int) -> str:
        """Return one line of help of at most `limit` characters, without importing a command of PLACES."""
        command = click.Command(name, help=PLACES[name].summary) if name in PLACES else self._loaded[name]
        return command.get_short_help_str(limit)


class CommandGroup(click.Group):
    """A group of the table's commands, whose help lists them under their headings."""

    def __init__(self, **options: Any) -> None:
        self._table = CommandTable()
        super().__init__(commands=self._table, **options)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each heading with its commands and one line of help for each."""
        known = set(self._table)
        width = max(map(len, known))
        limit = formatter.width - 6 - width
        for heading, names in HEADINGS.items():
            rows = [(name.ljust(width), self._table.summarise(name, limit)) for name in names if name in known]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
