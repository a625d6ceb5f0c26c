"""Keep the graph of a service up to date: one thread per source waits for changes on disk and updates the graph."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pkg.api import open_graph, watch_graph
from pkg.errors import PkgError
from pkg.extract.input_options import STDIN
from pkg.indexing.build import read_settings
from pkg.indexing.watch import check_notices
from pkg.service.graph_service import GraphService

Report = Callable[[str, str], None]
"""Receives the name of a source and a message about it."""


def watch_sources(service: GraphService, report: Report, poll: bool = False) -> list[threading.Thread]:
    """Watch each local source that the served graph holds now, until the process ends.

    poll: check every second, on systems without change notifications. Readers use the previous graph meanwhile.
    Raises MissingExtraError without the package for change notifications, and the errors of opening the graph.
    """
    if not poll:
        check_notices()
    wanted = service.options.source
    with open_graph(service.store) as graph:
        found = [
            read_settings(graph.store, each)
            for each in graph.store.sources()
            if each.root != STDIN and each.revision is None and wanted in (None, each.name)
        ]
    threads = [
        threading.Thread(target=_watch, args=(service.store, settings, poll, report), daemon=True) for settings in found
    ]
    for each in threads:
        each.start()
    return threads


def _watch(store: str, settings: dict[str, object], poll: bool, report: Report) -> None:
    name = str(settings["source"])
    try:
        builds = watch_graph(store=store, poll=poll, on_fault=lambda fault: report(name, str(fault)), **settings)  # type: ignore[arg-type]
        for build in builds:
            if build.changed:
                report(name, f"rebuilt: {build.written} written, {build.removed} removed")
    except PkgError as fault:  # such as a removed folder: readers keep the last graph
        report(name, f"no longer watched: {fault}")
    except Exception as fault:  # the thread is never joined, so an error that it does not report would be lost
        report(name, f"no longer watched, because of an internal error: {type(fault).__name__}: {fault}")
