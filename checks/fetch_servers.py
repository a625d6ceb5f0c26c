"""Fetch missing Neo4j test servers into the user's cache folder."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from neo4j_install import fetch_jars
from neo4j_servers import VERSIONS

if __name__ == "__main__":
    with ThreadPoolExecutor() as pool:
        list(pool.map(fetch_jars, VERSIONS))
