"""Tell a person which files of an answer have changed since the build, and bring a graph up to date before that."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.console.progress import say
from pkg.console.streams import choose_ask
from pkg.model import Skip, Stale

if TYPE_CHECKING:
    from pkg.api import Graph

SHOWN_FILES = 5  # of one source; the JSON form lists all
_STATES = {"changed": "changed", "gone": "is gone", "unreadable": "cannot be read"}


ALL = "all"
"""What --source says for all sources, also in the folder of one; a source that bears this name is meant by it."""


@contextmanager
def open_answering(store: str, fresh: bool, source: str | None) -> Iterator[tuple[Graph, str | None]]:
    """Open a graph to answer from, with the source that is asked about, None for all.

    With fresh what has changed is built first, of all sources or of the one that is asked about.
    """
    from pkg.api import open_graph

    with open_graph(store, ask=choose_ask()) as graph:
        chosen = choose_asked(graph, source)
        if fresh:
            refresh_graph(graph, chosen)
        yield graph, chosen


def choose_asked(graph: Graph, source: str | None) -> str | None:
    """Choose which source is asked about: the one that was named, else that of the current folder; None for all.

    Where the folder decides between several sources, standard error says so.
    """
    known = graph.store.sources()
    if source is not None:
        return None if source == ALL and ALL not in {each.name for each in known} else source
    from pkg.service.mcp.served_source import choose_source

    found = None
    if len(known) > 1:
        with suppress(OSError):  # the folder was deleted
            found = choose_source(known, Path.cwd())
    if found is not None:
        say(f"about {found}, in whose folder you are; --source {ALL} asks about all {len(known):,} sources")
    return found


def refresh_graph(graph: Graph, source: str | None) -> None:
    """Build what has changed, of all sources or of one; tell what was done, and what cannot be read."""
    from pkg.console.build_command import listen_to_build

    with listen_to_build(False) as (listener, close_bar):
        reports = graph.refresh(source, listener=listener)
        close_bar()
    for report in reports:
        if isinstance(report, Skip):
            say(f"not brought up to date: {report}")
        elif report.changed:
            say(f"{report.source}: {report.written:,} read, {report.removed:,} removed, {report.unchanged:,} unchanged")


def say_stale(stale: Sequence[Stale]) -> None:
    """Tell on standard error what of an answer is not what the graph was built from any more; nothing where all is."""
    for line in describe_stale(stale):
        say(line)


def describe_stale(stale: Sequence[Stale]) -> Iterator[str]:
    """Give one line a source: what has changed, and the command that brings it up to date."""
    by_source: dict[str, list[Stale]] = defaultdict(list)
    for each in stale:
        by_source[each.source].append(each)
    for source, found in by_source.items():
        root = shlex.quote(found[0].root)
        if found[0].path:
            advice = f"give --fresh, or run: pkg build {root} --source {shlex.quote(source)}"
            yield f"stale: since {source} was built, {_list_files(found)}; {advice}"
        elif found[0].state == "changed":
            yield f"stale: {root} was written since {source} was built; give --fresh, or run: pkg build {root}"
        else:
            yield (
                f"stale: {root}, from which {source} was built, {_STATES[found[0].state]}, so nothing of it can be"
                f" checked; where it has moved, run: pkg build --remove {shlex.quote(source)}, and build it anew"
            )


def _list_files(found: Sequence[Stale]) -> str:
    named = [f"{each.path} {_STATES[each.state]}" for each in found[:SHOWN_FILES]]
    if len(found) > SHOWN_FILES:
        named.append(f"{len(found) - SHOWN_FILES:,} more files of this answer")
    return ", ".join(named)
