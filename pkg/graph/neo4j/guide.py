"""The guide to a graph in Neo4j Browser: its address, saved queries and a style sheet.

Each query of the folder `browser` has its title, description and parameters as comments, draws at most NODE_LIMIT
nodes, and excludes sources that are being loaded and internal nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from pkg.errors import PathError, PkgError, StoreError, UsageError, conceal_address
from pkg.graph.neo4j.address import Address, is_server, parse_address

FOLDER = Path(__file__).parent / "browser"
STYLE = FOLDER / "style.grass"
START = "start"  # the query without parameters that the address fills in
NODE_LIMIT = 300  # the Browser's default limit, which it still moves smoothly
ARCHIVE = "saved-queries.zip"  # the Browser imports several saved queries from an archive only
ARCHIVE_FOLDER = "PKG"  # the folder of the queries in the Browser
HTTP_PORT, HTTPS_PORT, BOLT_PORT = 7474, 7473, 7687  # the server's defaults
_WRITTEN = (1980, 1, 1, 0, 0, 0)  # modification time in the archive, so that equal queries give equal bytes


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query of the guide, with the contents of its comments."""

    name: str
    title: str
    description: str
    parameters: tuple[str, ...]  # lines such as :param function => 'read'
    text: str  # the whole file


@dataclass(frozen=True, slots=True)
class Guide:
    """The Browser's address of a graph, saved queries and a style sheet."""

    address: str  # with the log-in form of the graph's server
    start: str  # the address with the first query filled in
    style: Path
    queries: tuple[SavedQuery, ...]


def read_guide(store: str, http: str | None = None) -> Guide:
    """Build the guide to the graph at a server's address, without connecting; `http` replaces its default HTTP port.

    Raise StoreError for a store that is not on a server, UsageError for an `http` that is no port or address.
    """
    if not is_server(store):
        raise StoreError(
            f"{conceal_address(store)} is a file, which the Neo4j Browser cannot show; expected neo4j://host; run:"
            " pkg build PATH --store neo4j://host, then pkg browser --store neo4j://host"
        )
    queries = read_queries()
    first = next(query for query in queries if query.name == START)
    return Guide(link_page(store, http), link_query(store, first, http), STYLE, queries)


def read_queries() -> tuple[SavedQuery, ...]:
    """Return the saved queries, the start query first, then by title."""
    found = map(_read_query, FOLDER.glob("*.cypher"))
    return tuple(sorted(found, key=lambda query: (query.name != START, query.title)))


def _read_query(file: Path) -> SavedQuery:
    text = file.read_text(encoding="utf-8")
    comments = [line.removeprefix("//").strip() for line in text.splitlines() if line.startswith("//")]
    parameters = tuple(line for line in comments if line.startswith(":param "))
    title, *description = (line for line in comments if line not in parameters)
    return SavedQuery(file.stem, title, " ".join(description), parameters, text)


def link_page(store: str, http: str | None = None) -> str:
    """Return the Browser's address with the graph's server filled in."""
    address = parse_address(store)
    database = f"&db={quote(address.database, safe='')}" if address.database else ""
    return f"{_find_page(address, http)}?dbms={quote(_find_bolt(address), safe=':/')}{database}"


def link_query(store: str, query: SavedQuery, http: str | None = None) -> str:
    """Return the Browser's address with a query without & and # filled in, at which the Browser truncates."""
    return f"{link_page(store, http)}&cmd=edit&arg={quote(query.text.strip(), safe='')}"


def _find_bolt(address: Address) -> str:
    """Return the server's address for the Browser: with a port, and with a checked certificate if encrypted."""
    parts = urlsplit(address.uri.replace("+ssc://", "+s://"))
    return parts.geturl() if parts.port else f"{parts.geturl()}:{BOLT_PORT}"


def _find_page(address: Address, http: str | None) -> str:
    parts = urlsplit(address.uri)
    host, is_encrypted = parts.netloc.removesuffix(f":{parts.port}"), "+" in parts.scheme
    scheme, port = ("https", HTTPS_PORT) if is_encrypted else ("http", HTTP_PORT)
    if http is None or http.isdecimal():
        return f"{scheme}://{host}:{http or port}/browser/"
    if not re.match(r"https?://[^/?#@]+[^?#@]*$", http):
        raise UsageError(
            f"--http is '{conceal_address(http)}'; expected a port, or an address such as http://host:{HTTP_PORT}"
        )
    return f"{http.rstrip('/').removesuffix('/browser')}/browser/"


def render_lines(guide: Guide) -> Iterator[dict[str, object]]:
    """Yield the guide as JSON-ready lines: the address, then one line per query."""
    yield {"type": "browser", "address": guide.address, "start": guide.start, "style": str(guide.style)}
    for query in guide.queries:
        yield {
            "type": "query", "name": query.name, "title": query.title, "description": query.description,
            "parameters": list(query.parameters), "file": str(FOLDER / f"{query.name}.cypher"),
        }  # fmt: skip


def render_text(guide: Guide) -> str:
    """Return the guide as text."""
    width = max(len(query.name) for query in guide.queries)
    queries = [
        "\n".join((f"  {query.name:{width}}  {query.title}", *(f"  {'':{width}}  {line}" for line in query.parameters)))
        for query in guide.queries
    ]
    return "\n".join(
        (
            guide.address,
            "",
            "Log in with a user of the server. Then:",
            f"  colours and captions  drag {guide.style} onto the page",
            f"  saved queries         run pkg browser --export DIR and drag DIR/{ARCHIVE} onto the page",
            "  first view            pkg browser --open fills in the query that shows what the sources contain",
            "",
            *queries,
        )
    )


def export_guide(folder: Path) -> list[Path]:
    """Write the queries, the style sheet and their README into a folder; return the sorted files.

    Raise PathError where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in _list_files():
            (folder / file.name).write_bytes(file.read_bytes())
        _write_archive(folder / ARCHIVE)
    except OSError as fault:
        raise PathError(f"cannot write {folder}: {fault.strerror}; expected a folder that can be written") from fault
    return sorted([*(folder / file.name for file in _list_files()), folder / ARCHIVE])


def _list_files() -> list[Path]:
    return sorted(file for file in FOLDER.iterdir() if file.suffix in (".cypher", ".grass", ".md"))


def _write_archive(path: Path) -> None:
    """Write the queries into an archive, in the folder that the Browser lists."""
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for query in read_queries():
            archive.writestr(ZipInfo(f"{ARCHIVE_FOLDER}/{query.name}.cypher", _WRITTEN), query.text)


def open_page(address: str) -> None:
    """Open an address in the system's browser; raise PkgError if there is none."""
    import webbrowser

    if not webbrowser.open(address):
        raise PkgError(f"no browser was found on this machine, expected one; open yourself: {address}")
