"""Examine what PKG stands on: the interpreter, its packages, the store, and the optional tools of later stages."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pkg.errors import PkgError, StoreMissingError

WAIT_SECONDS = 10.0  # for a tool that is asked for its version

_PACKAGES = (  # module, what it is for, how to get it
    ("pyarrow", "Parquet corpora", "pip install 'programming-knowledge-graph[parquet]'"),
    ("neo4j_rust_ext", "faster loading into Neo4j", "pip install 'programming-knowledge-graph[neo4j]'"),
    ("sentence_transformers", "neural encoders", "pip install sentence-transformers"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: ok, missing (an option that is not there) or broken (PKG needs it)."""

    name: str
    state: str
    detail: str
    advice: str = ""


def examine(store: str) -> list[Finding]:
    """Look at everything; nothing is changed and nothing is sent anywhere."""
    return [
        _examine_python(),
        _examine_sqlite(),
        *_examine_store(store),
        _examine_encoder(),
        *_examine_tools(),
        *_examine_packages(),
    ]


def _examine_python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if (3, 10) <= sys.version_info < (3, 14):
        return Finding("python", "ok", version)
    return Finding("python", "broken", version, "use Python 3.10 to 3.13")


def _examine_sqlite() -> Finding:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
        except sqlite3.OperationalError:
            return Finding(
                "sqlite", "broken", f"{sqlite3.sqlite_version} without FTS5", "use a Python built with SQLite FTS5"
            )
    return Finding("sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5")


def _examine_store(address: str) -> Iterator[Finding]:
    """Open the store and run its integrity check."""
    from pkg.graph.stores import open_store

    try:
        with closing(open_store(address)) as store:
            faults = store.check()
            generation = store.generation()
    except StoreMissingError:
        yield Finding("store", "missing", f"no graph at {address}", "run: pkg build PATH")
        return
    except PkgError as fault:
        yield Finding("store", "broken", str(fault))
        return
    for damage in faults:
        yield Finding("store", "broken", damage, "move the store away and run pkg build again")
    if not faults:
        yield Finding("store", "ok", f"{address}, generation {generation}, integrity check clean")


def _examine_encoder() -> Finding:
    from pkg.encode.registry import load_encoder

    encoder = load_encoder("hashing")
    if encoder.encode([b"parse a date"]).any():
        return Finding("encoder", "ok", f"{encoder.name}, {encoder.dimension} dimensions, no download needed")
    return Finding("encoder", "broken", "hashing encodes words to zero", "install the package again")


def _examine_tools() -> Iterator[Finding]:
    """Look for the programs that optional stages use."""
    yield _examine_program(
        "git", ["git", "--version"], "git revisions (PATH@REV)", "install git from your system's packages"
    )
    yield _examine_program(
        "bubblewrap", ["bwrap", "--version"], "the default sandbox of pkg rerank", "apt install bubblewrap"
    )
    yield _examine_namespaces()
    yield _examine_docker()
    yield _examine_program(
        "java", ["java", "-version"], "a Neo4j server of your own", "apt install openjdk-17-jre-headless"
    )
    address = os.environ.get("PKG_NEO4J_URI")
    if address:
        yield Finding("neo4j server", "ok", f"PKG_NEO4J_URI is {address}")
    else:
        yield Finding("neo4j server", "missing", "PKG_NEO4J_URI is not set", "only needed for a shared server store")


def _examine_program(name: str, command: list[str], purpose: str, advice: str) -> Finding:
    if shutil.which(command[0]) is None:
        return Finding(name, "missing", f"not found; used for {purpose}", advice)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as fault:
        return Finding(name, "missing", f"does not start: {fault}", advice)
    lines = (done.stdout or done.stderr).strip().splitlines()
    return Finding(name, "ok", lines[0] if lines else "found")


def _examine_namespaces() -> Finding:
    """Tell whether an unprivileged process may make the namespaces that isolate a candidate."""
    switch = Path("/proc/sys/user/max_user_namespaces")
    if sys.platform != "linux" or not switch.exists():
        return Finding("namespaces", "missing", f"not on {sys.platform}", "use docker as the sandbox")
    allowed = int(switch.read_text())
    if allowed:
        return Finding("namespaces", "ok", f"up to {allowed} user namespaces")
    return Finding("namespaces", "missing", "user namespaces are switched off", "sysctl user.max_user_namespaces=10000")


def _examine_docker() -> Finding:
    found = _examine_program(
        "docker", ["docker", "--version"], "the docker sandbox", "install docker from your system's packages"
    )
    sockets = (Path("/var/run/docker.sock"), Path.home() / ".docker/run/docker.sock")
    if found.state == "ok" and "DOCKER_HOST" not in os.environ and not any(map(_exists, sockets)):
        return Finding("docker", "missing", f"{found.detail}; no daemon answers", "start the docker service")
    return found


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _examine_packages() -> Iterator[Finding]:
    """Look for the packages of optional features."""
    for module, purpose, advice in _PACKAGES:
        if find_spec(module) is not None:
            yield Finding(module, "ok", f"installed; for {purpose}")
        else:
            yield Finding(module, "missing", f"not installed; for {purpose}", advice)
