"""Build what changes on disk in the background, while readers go on with the graph as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pkg.api import open_graph, watch_graph
from pkg.errors import PkgError, UsageError
from pkg.extract.files import restore_path
from pkg.indexing.refresh import read_input_options
from pkg.indexing.watch import check_notices
from pkg.model import Source

Say = Callable[[str], None]


def start_builds(store: str, source: str | None, say: Say) -> list[threading.Thread]:
    """Watch the sources of a graph, or the one named, each in a thread that ends with the process; say what is built.

    A build that the end of the process cuts off leaves the graph as it was. Raises UsageError for a source that is not
    there, MissingExtraError without the extra watch, StoreError where there is no graph.
    """
    check_notices()
    with open_graph(store) as graph:
        sources = [each for each in graph.store.sources() if source in (None, each.name)]
        read = {each.name: read_input_options(graph.store, each.name) for each in sources}
    if not sources:
        raise UsageError(f"no source '{source}' to watch" if source else "the graph is empty; run: pkg build PATH")

    def watch(each: Source) -> None:
        options = read[each.name]
        try:
            for report in watch_graph(
                restore_path(each.root),
                store=store,
                source=each.name,
                field=options.field,
                max_file_size=options.max_file_size,
                follow_links=options.follow_links,
                text=not options.code_only,
                on_fault=lambda fault: say(f"{each.name}: {fault}"),
            ):
                if report.changed:
                    say(f"{each.name}: {report.written:,} read, {report.removed:,} removed; answers are of it from now")
        except PkgError as fault:
            say(f"{each.name} is not watched: {fault}")

    threads = [threading.Thread(target=watch, args=(each,), name=f"watch {each.name}", daemon=True) for each in sources]
    for thread in threads:
        thread.start()
    return threads
