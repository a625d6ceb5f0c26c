"""Keep the graph of a service up to date: one thread a source waits for changes on disk and builds what changed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pkg.api import open_graph, watch_graph
from pkg.errors import PkgError
from pkg.extract.input_options import STDIN
from pkg.indexing.refresh import read_settings
from pkg.indexing.watch import check_notices
from pkg.service.graph_service import GraphService

Tell = Callable[[str, str], None]
"""Hears the name of a source, and what happened to it."""


def watch_sources(service: GraphService, tell: Tell, poll: bool = False) -> list[threading.Thread]:
    """Watch each source of the service that is a folder or file of this machine now, until the process ends.

    poll: look every second, where the system tells of no changes. Readers go on meanwhile, on the graph as it was.
    Raises MissingExtraError without the package of the system's notices, and what opening the graph raises.
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
        threading.Thread(target=_watch, args=(service.store, settings, poll, tell), daemon=True) for settings in found
    ]
    for each in threads:
        each.start()
    return threads


def _watch(store: str, settings: dict[str, object], poll: bool, tell: Tell) -> None:
    name = str(settings["source"])
    try:
        rounds = watch_graph(store=store, poll=poll, on_fault=lambda fault: tell(name, str(fault)), **settings)  # type: ignore[arg-type]
        for report in rounds:
            if report.changed:
                tell(name, f"built again: {report.written} written, {report.removed} removed")
    except PkgError as fault:  # a folder that is gone, or notices that cannot be had: readers keep what there is
        tell(name, f"not watched any more: {fault}")
    except Exception as fault:  # nobody waits for the thread, so what it does not tell is never known
        tell(name, f"not watched any more, by a fault of this program: {type(fault).__name__}: {fault}")
