"""The table of commands, which are imported when they are used: help and completion list them without an import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Section(NamedTuple):
    """Commands under one heading of the help, in its order."""

    package: str  # of their modules, each named after its command
    summaries: Mapping[str, str]  # the first sentence of the help of each


SECTIONS = {
    "Start": Section(
        "pkg.commands",
        {
            "setup": "Build PATH, and add it to the coding agents of this machine.",
            "build": "Build or update the graph of PATH; --remove forgets it.",
        },
    ),
    "Find and read code": Section(
        "pkg.commands",
        {
            "query": "Find the code for TEXT; --generate lets a model use it.",
            "explore": "Show how something works: relevant code and its connections.",
            "ask": "Answer a question about the code in words, with citations.",
            "show": "Show the source of NAME with its callers and callees.",
            "outline": "Outline the files, classes and functions of a source.",
        },
    ),
    "Follow links and check changes": Section(
        "pkg.commands",
        {
            "deps": "Show callers, callees, subclasses, call paths, unused code.",
            "impact": "Show what a change may break, and the tests that reach it.",
            "diff": "Compare the code of two revisions, folders or graphs.",
            "map": "Map the imports between folders, and their cycles.",
        },
    ),
    "Let a model write": Section(
        "pkg.commands",
        {
            "enhance": "Write missing docstrings into the graph, never into files.",
            "rerank": "Choose the best of several generated answers by running them.",
            "models": "List the text models on this machine, or try one.",
        },
    ),
    "Serve": Section(
        "pkg.commands",
        {
            "mcp": "Serve the graph to coding agents (Model Context Protocol).",
            "serve": "Serve the graph over HTTP; --open shows it in a web browser.",
            "browser": "Print the address of the Neo4j Browser for a graph in Neo4j.",
        },
    ),
    "Manage the graph": Section(
        "pkg.commands",
        {
            "stats": "List sources, skipped files and costs; count nodes and calls.",
            "export": "Write the whole graph as sorted JSON lines.",
            "verify": "Compare two stores, or the calls of a run with the graph.",
            "corpus": "Write a corpus for pkg build from rows and packages.",
            "doctor": "Check the environment, the store and the optional tools.",
            "trust": "Trust the settings file of FOLDER.",
            "completion": "Write a script for shell completion.",
        },
    ),
    "Measure and train": Section(
        "pkg.lab.commands",
        {
            "bench": "Measure search, time, size and encoders on your own graph.",
            "eval": "Measure models on benchmarks or on your own questions.",
            "audit": "Mark functions that contain solutions of a benchmark.",
            "judge": "Judge the answers of systems to questions.",
            "rate": "Serve a page where people rate or write answers.",
            "data": "Write a data set of questions and answers about a repository.",
            "tune": "Tune a text model on questions and answers, or on preferences.",
        },
    ),
}
"""All commands, each in one section; the last package is above this one, and may be absent."""


def _is_there(section: Section) -> bool:
    """Return whether the package of a section can be found, without an import of its parent package."""
    return find_spec(section.package.rpartition(".")[0]) is not None


class CommandTable(Mapping[str, click.Command]):
    """The commands by name; the module of a command is imported on first access."""

    def __init__(self) -> None:
        self.sections = {heading: section for heading, section in SECTIONS.items() if _is_there(section)}
        self._packages = {name: each.package for each in self.sections.values() for name in each.summaries}
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        """Return a command; raises KeyError if it is unknown."""
        if name not in self._loaded:
            module = import_module(f"{self._packages[name]}.{name}")
            commands = [each for each in vars(module).values() if isinstance(each, click.Command)]
            self._loaded[name] = next(each for each in commands if each.name == name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all commands."""
        return iter(self._packages)

    def __len__(self) -> int:
        return len(self._packages)


class CommandGroup(click.Group):
    """A group of the table's commands, whose help lists them under their headings."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.table = CommandTable()
        self.commands = self.table  # type: ignore[assignment]  # which is not written to

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each heading with its commands and one line of help for each."""
        width = max(map(len, self.table))
        for heading, section in self.table.sections.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name.ljust(width), shorten_summary(summary, formatter.width - 6 - width))
                        for name, summary in section.summaries.items()
                    ]
                )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin with a word."""
        from click.shell_completion import CompletionItem

        items = [
            CompletionItem(name, help=shorten_summary(summary))
            for section in self.table.sections.values()
            for name, summary in section.summaries.items()
            if name.startswith(incomplete)
        ]
        return items + click.Command.shell_complete(self, ctx, incomplete)


def shorten_summary(summary: str, limit: int = 45) -> str:
    """Return a summary of at most `limit` characters, as click does for the help of a command."""
    return click.Command(None, help=summary).get_short_help_str(limit)
