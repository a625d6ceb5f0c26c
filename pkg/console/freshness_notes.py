"""Report files of an answer that have changed since the build, and update a graph before a query."""

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

SHOWN_FILES = 5  # of one source; JSON output lists all
_STATES = {"changed": "changed", "gone": "is gone", "unreadable": "cannot be read"}


@contextmanager
def open_answering(store: str, fresh: bool, source: str | None) -> Iterator[tuple[Graph, str | None]]:
    """Open a graph for queries, with the name of the selected source, or None for all.

    With `fresh`, first rebuild what has changed in the selected source, or in all.
    """
    from pkg.api import open_graph

    with open_graph(store, ask=choose_ask()) as graph:
        chosen = choose_asked(graph, source)
        if fresh:
            refresh_graph(graph, chosen)
        yield graph, chosen


def choose_asked(graph: Graph, source: str | None) -> str | None:
    """Return the named source, otherwise the source of the current folder; None for all.

    If the folder selects one of several sources, a note goes to standard error.
    """
    from pkg.service.mcp.served_source import ALL, choose_named, choose_source

    known = graph.store.sources()
    if source is not None:
        return choose_named(known, source)

    found = None
    if len(known) > 1:
        with suppress(OSError):  # the folder was deleted
            found = choose_source(known, Path.cwd())
    if found is not None:
        say(f"about {found}, in whose folder you are; --source {ALL} asks about all {len(known):,} sources")
    return found


def refresh_graph(graph: Graph, source: str | None) -> None:
    """Rebuild changes of all sources or of one; report what was done and what cannot be read."""
    from pkg.console.progress import listen_to_build

    with listen_to_build(False) as (listener, close_bar):
        reports = graph.refresh(source, listener=listener)
        close_bar()
    for report in reports:
        if isinstance(report, Skip):
            say(f"not brought up to date: {report}")
        elif report.changed:
            say(report.describe())


def say_stale(stale: Sequence[Stale]) -> None:
    """Report on standard error the parts of an answer that have changed since the build, if any."""
    for line in describe_stale(stale):
        say(line)


def describe_stale(stale: Sequence[Stale]) -> Iterator[str]:
    """Yield one line for each source: what has changed, and the command that updates it."""
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
                f" checked; if it has moved, run: pkg build --remove {shlex.quote(source)}, and build it again"
            )


def _list_files(found: Sequence[Stale]) -> str:
    named = [f"{each.path} {_STATES[each.state]}" for each in found[:SHOWN_FILES]]
    if len(found) > SHOWN_FILES:
        named.append(f"{len(found) - SHOWN_FILES:,} more files of this answer")
    return ", ".join(named)
