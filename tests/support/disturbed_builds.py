"""Builds on a server that a test disturbs: what is built, from where, and what is left of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from neo4j import Driver
from trees import export_lines, open_graph_at, write_tree

from pkg.graph.neo4j.neo4j_store import Neo4jStore
from pkg.indexing.build import build
from pkg.indexing.report import BuildReport

FILES = 16
PATIENCE = 60  # seconds for what takes a few


def make_text(number: int, version: int = 1) -> str:
    """Write a file of four functions; the version shows in their blocks."""
    return "".join(
        f"import os\n\n\ndef area_{number}_{each}(width):\n    for edge in width:\n        if edge > {version}:\n"
        f"            return os.path.join(edge, '{number}')\n    return {each}\n\n\n"
        for each in range(4)
    )


def write_shop(folder: Path) -> Path:
    """Write a repository of some files."""
    return write_tree(folder / "shop", {f"part_{number:02}.py": make_text(number) for number in range(FILES)})


def edit(tree: Path) -> None:
    """Edit half of the files, remove one and add one."""
    write_tree(tree, {f"part_{number:02}.py": make_text(number, 2) for number in range(0, FILES, 2)})
    (tree / "part_01.py").unlink()
    write_tree(tree, {"new.py": make_text(FILES)})


def build_into(uri: str, tree: Path) -> BuildReport:
    with closing(Neo4jStore(uri, create=True)) as store:
        return build(str(tree), store)


def build_embedded(tree: Path) -> list[str]:
    """Give the export of an undisturbed build into an embedded store."""
    with closing(open_graph_at(tree.parent / f"{len(list(tree.parent.iterdir()))}.db")) as store:
        build(str(tree), store)
        return export_lines(store)


def look(uri: str) -> tuple[int, list[str]]:
    """Give generation and export, after a check."""
    with closing(Neo4jStore(uri, create=True)) as store:
        assert store.check() == []
        return store.generation(), export_lines(store)


def ask(driver: Driver, statement: str, **parameters: Any) -> list[Any]:
    with driver.session(notifications_min_severity="OFF") as session:
        return list(session.run(statement, parameters))


def count_files(driver: Driver) -> int:
    return int(ask(driver, "MATCH (n:File) RETURN count(n) AS files")[0]["files"])


def wait_until(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.002)


def start_build(uri: str, tree: Path, *options: str) -> subprocess.Popen[str]:
    """Start a build of small batches in a process of its own."""
    code = "from pkg.graph.neo4j import connection, writing; writing.BATCH_BYTES = 1; connection.RETRY_SECONDS = 0.5;"
    command = [sys.executable, "-c", f"{code} from pkg.cli import run; run()", *options, "build", str(tree)]
    return subprocess.Popen(
        [*command, "--store", uri], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )


@contextmanager
def in_background(work: Callable[[], object]) -> Iterator[list[BaseException]]:
    """Run work in a thread; what it raises is listed when the block has ended."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as fault:
            raised.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    yield raised
    thread.join(PATIENCE)
    assert not thread.is_alive()
