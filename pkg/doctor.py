"""Examine the environment: interpreter, packages, store, encoders, text models, optional tools."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.errors import FILE_SCHEME, PkgError, StoreMissingError, conceal_address, name_install
from pkg.model import Finding

if TYPE_CHECKING:
    from pkg.encode.registry import EncoderKind
    from pkg.graph.neo4j.address import Address


def examine_encoders() -> Iterator[Finding]:
    """Yield a finding for each kind of encoder, without loading a model or sending anything."""
    from pkg.encode.registry import KINDS

    yield _examine_default()
    for word, kind in KINDS.items():
        if kind.detail:
            yield _examine_kind(word, kind)


def _examine_default() -> Finding:
    from pkg.encode.registry import DEFAULT_ENCODER, load_encoder

    try:
        encoder = load_encoder(DEFAULT_ENCODER)
        knows_words = encoder.encode([b"parse a date"]).any()
    except PkgError as fault:
        return Finding("encoder", "broken", str(fault), "install the package again")
    if knows_words:
        return Finding("encoder", "ok", f"{encoder.name}, {encoder.dimension} dimensions, no download needed")
    return Finding("encoder", "broken", f"{DEFAULT_ENCODER} encodes words to zero", "install the package again")


def _examine_kind(word: str, kind: EncoderKind) -> Finding:
    """Check the packages of a kind, then its files or key."""
    name = f"encoder {kind.syntax}"
    missing = kind.list_missing()
    if missing:
        advice = name_install(kind.extra)
        return Finding(name, "missing", f"not installed: {', '.join(missing)}", advice)
    return _examine_service(name, word) if kind.detail == "address" else _examine_files(name, word)


def _examine_service(name: str, word: str) -> Finding:
    from pkg.encode.registry import find_service
    from pkg.encode.service import SERVICES

    service = SERVICES[word]
    if find_service(f"{word}:any") is None:
        return Finding(name, "ok", f"{service.choose_url(None)}, on this machine")
    if os.environ.get(service.key_variable, "").strip():
        return Finding(name, "ok", f"sends code to {service.choose_url(None)}, or to the address that you name")
    return Finding(name, "missing", f"no key for {service.choose_url(None)}", f"set {service.key_variable}")


def _examine_files(name: str, word: str) -> Finding:
    """Check the files of MiniLM; models of sentence-transformers are named by the user."""
    if word != "minilm":
        return Finding(name, "ok", "installed; its models are read from this machine only")
    from pkg.encode.minilm import find_files

    try:
        model, _ = find_files(None)
    except PkgError as fault:
        return Finding(name, "missing", str(fault), "name the folder of the model, as in minilm:FOLDER")
    return Finding(name, "ok", f"model of the package {model.parent.name}, 384 dimensions")


def examine_models() -> Iterator[Finding]:
    """Yield a finding for each kind of text model, without loading a model or sending anything."""
    from pkg.models.registry import KINDS

    for kind in KINDS.values():
        name, missing = f"model {kind.syntax}", kind.list_missing()
        if missing:
            advice = name_install(kind.extra)
            yield Finding(name, "missing", f"not installed: {', '.join(missing)}", advice)
        else:
            yield Finding(name, "ok", "installed; docs/models.md lists the requirements of each")


VERSION_TIMEOUT = 10.0  # seconds for a tool to print its version

_PACKAGES = (  # module, purpose, extra
    ("pyarrow", "Parquet corpora", "parquet"),
    ("watchfiles", "file system events for pkg build --watch", "watch"),
    ("usearch", "an index of millions of vectors", "usearch"),
    ("neo4j_rust_ext", "faster loading into Neo4j", "neo4j"),
    ("ray", "pkg build --ray", "cluster"),
)


AskPassword = Callable[[str], str]


def examine(store: str, ask: AskPassword | None = None) -> list[Finding]:
    """Return all findings; rewrites damaged copies beside a graph, and connects to its server only."""
    ask = cache(ask) if ask else None  # for two log-ins to the server
    return [
        Finding("python", "ok", ".".join(map(str, sys.version_info[:3]))),  # pip requires 3.10
        _examine_sqlite(),
        *_examine_place(store, ask),
        *examine_encoders(),
        *examine_models(),
        *_examine_tools(),
        *_examine_packages(),
    ]


def _examine_sqlite() -> Finding:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("SELECT value FROM json_each('[1]')")
        except sqlite3.OperationalError:
            detail = f"{sqlite3.sqlite_version} without JSON"
            return Finding("sqlite", "broken", detail, "use a Python built with SQLite 3.38 or newer")
    return Finding("sqlite", "ok", sqlite3.sqlite_version)


def _examine_place(address: str, ask: AskPassword | None) -> Iterator[Finding]:
    """Examine the server, and the store if the server is reachable."""
    server = list(_examine_server(address, ask))
    yield from server
    if all(finding.state != "broken" for finding in server[:1]):
        yield from _examine_store(address, ask)
    yield from _examine_unfinished(address)


def _examine_server(address: str, ask: AskPassword | None) -> Iterator[Finding]:
    """Examine the version and indexes of a server, and the encryption of the connection."""
    from pkg.graph.neo4j.address import is_server

    if not is_server(address):
        yield Finding("neo4j server", "missing", "the store is a file", "only needed for a shared store")
        return
    from pkg.graph.neo4j import cypher
    from pkg.graph.neo4j.address import parse_address
    from pkg.graph.neo4j.session import Reader, check_version, open_driver

    try:
        place = parse_address(address)
        with open_driver(place, ask) as driver:
            reader = Reader(driver, place)
            version = reader.run(cypher.GET_VERSION)[0]["version"]
            check_version(place, version)
            waiting = {row["name"]: row["state"] for row in reader.run(cypher.SHOW_VECTOR_INDEXES)}
    except PkgError as fault:
        yield Finding("neo4j server", "broken", str(fault))
        return
    yield Finding("neo4j server", "ok", f"Neo4j {version} at {place}")
    yield _examine_encryption(place)
    yield _examine_indexes(waiting)


def _examine_encryption(place: Address) -> Finding:
    from pkg.graph.neo4j.address import is_exposed

    scheme = place.uri.partition("://")[0]
    if is_exposed(place):
        advice = f"use {scheme}+s:// once the server has a certificate"
        return Finding("encryption", "missing", "password and code are sent unencrypted to another machine", advice)
    return Finding("encryption", "ok", scheme if "+" in scheme else "not needed, the server is this machine")


def _examine_indexes(states: dict[str, str]) -> Finding:
    """Check that the vector indexes exist and are populated; the first build creates them."""
    if not states:
        return Finding("indexes", "missing", "no vector index", "run: pkg build PATH")
    waiting = [f"{name} is {state.lower()}" for name, state in sorted(states.items()) if state != "ONLINE"]
    if waiting:
        return Finding("indexes", "broken", "; ".join(waiting), "wait for it to be online, or run pkg build again")
    return Finding("indexes", "ok", f"{len(states)} vector indexes online")


def _examine_store(address: str, ask: AskPassword | None) -> Iterator[Finding]:
    """Run the integrity check of the store, repair its copies, and check its permissions."""
    from pkg.graph.neo4j.address import is_server
    from pkg.graph.opening import open_store

    try:
        with closing(open_store(address, ask=ask)) as store:
            faults = store.check()
            generation = store.generation()
            repaired = [] if faults else store.repair_copies()
            exposed = store.exposed_files()
    except StoreMissingError:
        yield Finding("store", "missing", f"no graph at {conceal_address(address)}", "run: pkg build PATH")
        return
    except PkgError as fault:
        yield Finding("store", "broken", str(fault))
        return
    mend = "remove the sources with pkg build --remove" if is_server(address) else "move the store away"
    for line in repaired:
        yield Finding("store copies", "ok", line)
    if exposed:
        names = " ".join(shlex.quote(str(path)) for path in exposed)
        detail = f"other users of this machine may read {', '.join(path.name for path in exposed)}"
        yield Finding("store files", "missing", detail, f"if they should not: chmod 600 {names}")
    for damage in faults:
        yield Finding("store", "broken", damage, f"{mend} and run pkg build again")
    if not faults:
        yield Finding("store", "ok", f"{conceal_address(address)}, generation {generation}, integrity check clean")


def _examine_unfinished(address: str) -> Iterator[Finding]:
    """Yield a finding for each interrupted build beside the file of a store."""
    from pkg.graph.embedded.pending_files import list_unfinished
    from pkg.graph.neo4j.address import is_server

    if is_server(address):
        return
    for each in list_unfinished(Path(address.removeprefix(FILE_SCHEME)).expanduser()):
        size = f"{each.path.stat().st_size / 1e6:,.1f} MB"
        detail = f"{each.units:,} files or rows of '{each.source}' are prepared in {each.path.name} ({size})"
        again = f"pkg build {shlex.quote(each.root)} --source {shlex.quote(each.source)}"
        advice = f"to continue: {again}; else: rm {shlex.quote(str(each.path))}*"
        yield Finding("unfinished build", "missing", detail, advice)


def _examine_tools() -> Iterator[Finding]:
    """Check the programs of optional features."""
    yield _examine_program(
        "git", ["git", "--version"], "git revisions (PATH@REV)", "install git from your system's packages"
    )
    yield _examine_program(
        "bubblewrap", ["bwrap", "--version"], "the default sandbox of pkg rerank", "apt install bubblewrap"
    )
    yield _examine_namespaces()
    yield _examine_docker()
    yield _examine_program("java", ["java", "-version"], "a local Neo4j server", "apt install openjdk-17-jre-headless")


def _examine_program(name: str, command: list[str], purpose: str, advice: str) -> Finding:
    if shutil.which(command[0]) is None:
        return Finding(name, "missing", f"not found; used for {purpose}", advice)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=VERSION_TIMEOUT, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        return Finding(name, "missing", f"does not start: {fault}", advice)
    lines = (done.stdout or done.stderr).strip().splitlines()
    return Finding(name, "ok", lines[0] if lines else "found")


def _examine_namespaces() -> Finding:
    """Check that unprivileged processes may create the namespaces of the sandbox."""
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
    """Check the packages of optional features."""
    for module, purpose, extra in _PACKAGES:
        if find_spec(module) is not None:
            yield Finding(module, "ok", f"installed; for {purpose}")
        else:
            yield Finding(module, "missing", f"not installed; for {purpose}", name_install(extra))
