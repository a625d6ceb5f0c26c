"""What `pkg build` does: build once, or go on building whenever files change, and show the report of each build."""

from __future__ import annotations

import sys
from contextlib import closing
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

from pkg.api import Graph, open_graph
from pkg.console import tables
from pkg.console.progress import ProgressBar, choose_build_options
from pkg.console.streams import choose_ask, decode_word, emit, show_controls
from pkg.graph.opening import open_store
from pkg.indexing.build import build, build_export, remove_source

if TYPE_CHECKING:
    from pkg.errors import PkgError
    from pkg.graph.store import GraphStore
    from pkg.indexing.build import BuildReport, Progress


def run_build(path: str, store: str, from_export: bool, remove: bool, as_json: bool, options: dict[str, Any]) -> None:
    """Build or remove once, and show what was done."""
    with closing(ProgressBar()) as bar:
        progress, watch = (bar.read, bar.watch) if sys.stderr.isatty() else (None, None)
        with Graph(open_store(store, create=not remove, ask=choose_ask(), watch=watch)) as graph:
            if remove:
                reports = [remove_source(graph.store, decode_word(path))]
            else:
                reports = _build(path, graph.store, from_export, progress, options)
            bar.close()
            for report in reports:
                emit(as_json, [tables.build_line(report)], lambda: tables.view_build(report, graph.stats()))  # noqa: B023


def _build(
    path: str, store: GraphStore, from_export: bool, progress: Progress | None, options: dict[str, Any]
) -> list[BuildReport]:
    chosen = choose_build_options(options, progress)
    return build_export(path, store, chosen) if from_export else [build(path, store, chosen, **options)]


def run_watch(path: str, store: str, poll: bool, as_json: bool, options: dict[str, Any]) -> None:
    """Build now and after each change; each round that changes anything is shown."""
    from pkg.indexing.watch import watch

    ask = (choose := choose_ask()) and cache(choose)  # each round opens the store anew; a password is asked for once
    with closing(ProgressBar()) as bar:

        def say(fault: PkgError) -> None:
            bar.close()
            click.echo(f"pkg: {show_controls(str(fault))} (still watching)", err=True)

        progress, follow = (bar.read, bar.watch) if sys.stderr.isatty() else (None, None)
        chosen = choose_build_options(options, progress)
        open_target = partial(open_store, create=True, ask=ask, watch=follow)
        for report in watch(path, store, chosen, **options, poll=poll, say=say, open_target=open_target):
            bar.close()
            with open_graph(store, ask=ask) as graph:
                emit(as_json, [tables.build_line(report)], lambda: tables.view_build(report, graph.stats()))  # noqa: B023
