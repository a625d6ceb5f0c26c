"""Fetch missing Neo4j test servers into the user's cache folder, and archive the classes that each one loads.

A server that finds the archive of its classes beside its jars takes half the CPU to start.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from neo4j_install import CACHE, fetch_jars
from neo4j_process import LaunchedServer
from neo4j_servers import VERSIONS

PATIENCE = 180  # seconds to write an archive; ten suffice on an idle machine


def archive_classes(version: str) -> None:
    """Start a version, and write the classes that it has loaded; do nothing if there is an archive."""
    with TemporaryDirectory(dir=CACHE, prefix=".archive-", ignore_cleanup_errors=True) as folder:
        server = LaunchedServer(version, Path(folder))
        if server.archive.is_file():
            return
        server.archived = Path(folder, server.archive.name)
        server.start()
        server.stop(PATIENCE)
        if server.archived.is_file():
            server.archived.replace(server.archive)


if __name__ == "__main__":
    with ThreadPoolExecutor() as pool:
        list(pool.map(fetch_jars, VERSIONS))
    for each in VERSIONS:
        archive_classes(each)
