"""Load a graph of the paper's size into a Neo4j server, stage by stage, and query it (P-10, P-15).

    python benchmarks/neo4j_load.py --data FOLDER [--cache FOLDER] [--version 2026.08.1]

The graph is of real packages in one source: at least 425,058 nodes and 434,518 relationships, not counting text
fragments and the relationships to them. Elements are nodes and relationships. The client extracts, encodes and resolves
first, which does not count as loading. Then the graph goes into an empty server three times: as files for `neo4j-admin
database import`, which builds no index; with vectors cut to one number and no vector index; and in full. Resolved
relationships (calls, imports, bases) follow the last of these as a separate stage, so that questions find helpers; no
other figure includes them. A small corpus is the second source, built while the vector indexes exist; after the
questions, django is the third, and two of its files change. Rates should reach their target, times and counts should
not exceed it. Client and server alternate, so the one with more CPU seconds is the bound of a stage; `others` is the
number of cores kept busy by other work. The driver is measured with its extension, which `make bench` and PKG's extra
`neo4j` install; `rust_extension` in the result records its presence.
"""

from __future__ import annotations

import gc
import os
import re
import resource
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from measure import MEGABYTE, ROOT, Figures, make_parser, open_folder, read_options, write_result
from neo4j_questions import ask_all
from packages import DJANGO, NETWORKX, PANDAS, SCIKIT_LEARN, SYMPY, unpack_package
from server_clock import Clock
from shared_data import CORPORA, find_files, read_questions

if TYPE_CHECKING:
    from neo4j_process import Sizing

    from pkg.encode.encoder import Encoder
    from pkg.graph.neo4j.bulk_import import BulkWriter
    from pkg.graph.neo4j.neo4j_store import Neo4jStore
    from pkg.graph.neo4j.neo4j_writing import Neo4jWriter
    from pkg.indexing.inputs import Input
    from pkg.units import UnitGraph

PACKAGES = (DJANGO, SYMPY, PANDAS, SCIKIT_LEARN, NETWORKX)
NODES, RELATIONS = 425_058, 434_518  # of the paper's graph (P-10)
SECOND = "corpus/thealgorithms_functions.jsonl.gz"
SOURCE, ENCODER, VERSION = "packages", "static", "2026.08.1"
RATE, PLAIN_RATE, PAPER_RATE = 3000, 8000, 434  # elements per second: all, without vectors, the paper's
IMPORT_RATE = 20_000  # elements per second of the import, without index time
TWO_FILES = ("django/db/models/query.py", "django/http/request.py")
ADDED = "\n\ndef added_by_benchmark(values):\n    for value in values:\n        yield value\n"
UPDATE = 1.0  # CPU seconds of the client for two changed files
NAMES_AT_ONCE = 4096
HEAP, PAGES = "4g", "2g"


class EnoughError(Exception):
    """Ends a measured write whose result is not needed."""


# The graph: prepared once, stored in a file, and read again for each load.


@dataclass(frozen=True, slots=True)
class Graph:
    """The packages to load, and the recorded output of their build."""

    tree: Path
    recorded: Path
    found: Input
    encoder: Encoder
    figures: Figures  # the client's cost, and its contents

    @property
    def elements(self) -> int:
        """Return the number of nodes and relationships from the texts."""
        return int(self.figures["nodes"] + self.figures["relations"])

    @property
    def links(self) -> int:
        """Return the number of nodes and relationships added by resolution."""
        return int(self.figures["nodes_of_links"] + self.figures["links"])


def prepare_graph(cache: Path, work: Path) -> Graph:
    """Extract, encode and resolve all files of the packages; return the cost and the future contents of the graph."""
    from recorded import record_build

    from pkg.encode.registry import load_encoder
    from pkg.indexing.inputs import find_input

    tree = work / "tree"
    for package in PACKAGES:
        unpack_package(package, cache, tree)
    figures = run_apart(record_build, tree, SOURCE, work)
    if figures["nodes"] < NODES or figures["relations"] < RELATIONS:
        sys.exit(f"{figures['nodes']} nodes and {figures['relations']} relationships; add a package to PACKAGES")
    return Graph(tree, work, find_input(str(tree), SOURCE, None, None), load_encoder(ENCODER), figures)


def run_apart(work: Callable[..., Figures], *arguments: object) -> Figures:
    """Run work in a separate process, because memory retained from one stage would slow the next."""
    with ProcessPoolExecutor(1, get_context("spawn")) as apart:
        return apart.submit(work, *arguments).result()


# The server and the loads.


def make_sizing() -> Sizing:
    """Return the sizing of a server: much memory and full speed."""
    from neo4j_process import Sizing

    return Sizing(HEAP, PAGES, quick=False)


@contextmanager
def open_server(version: str, folder: Path, graph: Graph) -> Iterator[tuple[Neo4jStore, Clock]]:
    """Start an empty server and yield a store on it with its schema; both are closed afterwards."""
    from neo4j_process import start_server

    from pkg.graph.neo4j.neo4j_store import Neo4jStore

    server = start_server(version, folder, make_sizing())
    os.environ.update(PKG_NEO4J_USER=server.user, PKG_NEO4J_PASSWORD=server.password)
    try:
        with closing(Neo4jStore(server.uri, create=True)) as store:
            store.ensure_schema(graph.encoder.name, graph.encoder.dimension)
            yield store, Clock(server.pid or 0)
    finally:
        server.kill()


def put_all(
    writer: Neo4jWriter | BulkWriter, units: Iterable[UnitGraph], graph: Graph, width: int | None = None
) -> None:
    """Put the units, then the function names with vectors of a width, as a build does: without the cycle collector."""
    from pkg.vectors.quantised import round_vectors

    gc.disable()
    writer.put_source(graph.found.source)
    for unit in units:
        writer.replace_file(unit)
    names = [""]
    while names := writer.missing_names(SOURCE, names[-1], NAMES_AT_ONCE):
        vectors = round_vectors(graph.encoder.encode([name.encode("utf-8", "replace") for name in names]))
        writer.put_names(SOURCE, dict(zip(names, vectors[:, :width], strict=True)))
    writer.put_source(graph.found.source, graph.found.fingerprint)
    gc.enable()


def load_plain(version: str, folder: Path, graph: Graph) -> Figures:
    """Load nodes and relationships without vectors; the loaded data stays hidden."""
    from recorded import read_units, strip_vectors

    with open_server(version, folder, graph) as (store, clock), suppress(EnoughError), store.write() as writer:
        put_all(writer, map(strip_vectors, read_units(graph.recorded)), graph, 1)
        writer.finish()
        cost = clock.lap()
        raise EnoughError
    return cost.describe() | {"elements_a_second": _reach(graph.elements / cost.wall, PLAIN_RATE)}


def load_whole(store: Neo4jStore, clock: Clock, graph: Graph) -> Figures:
    """Load nodes, relationships and vectors, then links, and wait until the vector indexes are ONLINE."""
    from recorded import read_links, read_units

    clock.lap()
    with store.write() as writer:
        put_all(writer, read_units(graph.recorded), graph)
        writer.finish()
        loading = clock.lap()
        writer.put_links(SOURCE, read_links(graph.recorded))
        linking = clock.lap()
    finishing = clock.lap()
    stats = store.stats()
    vectors = sum(stats.nodes[name] for name in ("Block", "Function", "FunctionName", "Import"))
    return {
        "nodes_by_label": dict(stats.nodes),
        "relations_by_type": dict(stats.relations),
        "loading": loading.describe() | {"elements_a_second": round(graph.elements / loading.wall)},
        "links": linking.describe() | {"elements_a_second": round(graph.links / linking.wall)},
        "vector_indexes": finishing.describe() | {"vectors_a_second": round(vectors / finishing.wall)},
        "elements_a_second": _reach(graph.elements / (loading.wall + finishing.wall), RATE) | {"paper": PAPER_RATE},
    }


def import_files(version: str, folder: Path, graph: Graph) -> Figures:
    """Write the files of the graph and import them into a stopped server; the start of Java counts."""
    from neo4j_process import LaunchedServer
    from recorded import read_units

    from pkg.graph.neo4j.bulk_import import BulkWriter, CsvFiles, list_arguments
    from pkg.graph.neo4j.neo4j_store import SCHEMA_VERSION

    clock, place = Clock(0), folder / "import"
    place.mkdir(parents=True)
    with closing(CsvFiles(place)) as files, closing(BulkWriter(files)) as writer:
        put_all(writer, read_units(graph.recorded), graph)
        writer.finish(graph.encoder.name, graph.encoder.dimension, SCHEMA_VERSION)
    written = clock.lap()
    server = LaunchedServer(version, folder / "server", make_sizing())
    clock.lap()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = server.admin("database", "import", "full", "neo4j", *list_arguments(files, place))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - children.ru_utime - children.ru_stime
    cost = clock.lap()
    return {
        "megabytes_of_files": round(sum(file.stat().st_size for file in place.iterdir()) / MEGABYTE),
        "writing_the_files": {"wall_seconds": round(written.wall, 2), "client_cpu_seconds": round(written.client, 2)},
        "wall_seconds": round(cost.wall, 2),
        "import_cpu_seconds": round(cpu, 2),
        "import_says": re.findall("IMPORT DONE in (.*?)[.] *$", output, re.MULTILINE),
        "elements_a_second": _reach(graph.elements / cost.wall, IMPORT_RATE),
    }


def load_second(store: Neo4jStore, clock: Clock, corpus: Path) -> Figures:
    """Build a small corpus as a second source, as `pkg build` does, into existing indexes."""
    from pkg.indexing.build import build

    before = store.stats()
    clock.lap()
    report = build(str(corpus), store)
    cost, after = clock.lap(), store.stats()
    elements = sum(after.nodes.values()) + sum(after.relations.values())
    elements -= sum(before.nodes.values()) + sum(before.relations.values())
    figures = {"source": report.source, "elements": elements, "elements_a_second": round(elements / cost.wall)}
    return figures | cost.describe()


def update_source(address: str, pid: int, tree: Path) -> Figures:
    """Build django as another source, then again without changes, and with two of its files changed."""
    from pkg.graph.neo4j.neo4j_store import Neo4jStore
    from pkg.indexing.build import build

    figures: Figures = {}
    with closing(Neo4jStore(address)) as store:
        clock = Clock(pid)
        for stage, changed in (("first_build", ()), ("unchanged", ()), ("two_files", TWO_FILES)):
            for name in changed:
                with (tree / name).open("a", encoding="utf-8") as file:
                    file.write(ADDED)
            clock.lap()
            report = build(str(tree), store, source=DJANGO.name)
            cost = clock.lap()
            figures[stage] = {"written": report.written} | cost.describe()
    figures["two_files"]["client_cpu_seconds"] = {"value": round(cost.client, 2), "target": UPDATE}
    return figures


def _reach(rate: float, target: float) -> Figures:
    return {"value": round(rate), "target": target}


Stage = Callable[[str, Path, Graph], Figures]


def measure(version: str, data: Path, cache: Path, work: Path) -> Figures:
    """Prepare the graph, then run the stages, each on its own server."""
    graph = prepare_graph(cache, work)
    stages: dict[str, Stage] = {
        "bulk_import": import_files,
        "without_vectors": load_plain,
        "with_vectors": partial(measure_whole, data=data),
    }
    figures: Figures = {"extraction_encoding_resolution": graph.figures}
    for name, stage in stages.items():
        figures[name] = stage(version, work / name, graph)
    return figures


def measure_whole(version: str, folder: Path, graph: Graph, data: Path) -> Figures:
    """Load everything, then a second source; update the first, and query both."""
    with open_server(version, folder, graph) as (store, clock):
        loaded = load_whole(store, clock, graph)
        second = load_second(store, clock, find_files(data, {SECOND: CORPORA[SECOND]})[0])
        names = graph.encoder.name, second["source"]
        asked = run_apart(ask_all, store.address, clock.pid, *names, read_questions(data))
        updated = run_apart(update_source, store.address, clock.pid, graph.tree / DJANGO.name)
    return loaded | {"second_source": second, **asked, "django_as_third_source": updated}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--version", default=VERSION, help=f"version of the server; default: {VERSION}")
    options = read_options(parser)
    sys.path.insert(0, str(ROOT / "tests" / "support"))  # for the module that starts servers
    with open_folder(options.cache) as (cache, work):
        figures = measure(options.version, options.data, cache, work)
    import neo4j

    settings = {
        "server": options.version,
        "heap": HEAP,
        "page_cache": PAGES,
        "driver": neo4j.__version__,
        "rust_extension": find_spec("neo4j._rust") is not None,
        "packages": [f"{package.name} {package.version}" for package in PACKAGES],
    }
    name = "neo4j_load" if options.version == VERSION else f"neo4j_load-{options.version}"
    write_result(name, settings | figures)


if __name__ == "__main__":
    main()
