"""Say where the Neo4j Browser shows a graph, and give the saved queries and the style sheet that make it readable.

The files of the folder `browser` are for people: each query holds its title, its description and its parameters as
comments, draws at most NODE_LIMIT nodes, and leaves out sources that are being loaded and what only the store uses.
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
START = "start"  # the query that the address fills in; it needs no parameter
NODE_LIMIT = 300  # what the Browser draws at most with its own settings, and can still move about smoothly
ARCHIVE = "saved-queries.zip"  # the Browser takes many saved queries at once from an archive only
ARCHIVE_FOLDER = "PKG"  # what it then lists them under
HTTP_PORT, HTTPS_PORT, BOLT_PORT = 7474, 7473, 7687  # the server's own defaults
_WRITTEN = (1980, 1, 1, 0, 0, 0)  # the time of each file in the archive, so that equal queries give equal bytes


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """One query of the guide, with what its comments say."""

    name: str
    title: str
    description: str
    parameters: tuple[str, ...]  # lines that set one each, such as :param function => 'read'
    text: str  # all of the file


@dataclass(frozen=True, slots=True)
class Guide:
    """Where the Browser shows a graph, and what helps there."""

    address: str  # asks for the log-in to the graph's server
    start: str  # the same with the first query filled in
    style: Path
    queries: tuple[SavedQuery, ...]


def read_guide(store: str, http: str | None = None) -> Guide:
    """Read the guide to the graph at a server's address; `http` is a port or address that is not the server's default.

    No connection is made. Raises StoreError for a store that is not on a server, UsageError for an `http` that is
    neither a port nor an address.
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
    """Read the saved queries, the starting one first, then by title."""
    found = map(_read_query, FOLDER.glob("*.cypher"))
    return tuple(sorted(found, key=lambda query: (query.name != START, query.title)))


def _read_query(file: Path) -> SavedQuery:
    text = file.read_text(encoding="utf-8")
    comments = [line.removeprefix("//").strip() for line in text.splitlines() if line.startswith("//")]
    parameters = tuple(line for line in comments if line.startswith(":param "))
    title, *description = (line for line in comments if line not in parameters)
    return SavedQuery(file.stem, title, " ".join(description), parameters, text)


def link_page(store: str, http: str | None = None) -> str:
    """Give the Browser's address with the graph's server filled in."""
    address = parse_address(store)
    database = f"&db={quote(address.database, safe='')}" if address.database else ""
    return f"{_find_page(address, http)}?dbms={quote(_find_bolt(address), safe=':/')}{database}"


def link_query(store: str, query: SavedQuery, http: str | None = None) -> str:
    """Give the Browser's address with a query filled in too; it must hold no & and no #, which the Browser cuts at."""
    return f"{link_page(store, http)}&cmd=edit&arg={quote(query.text.strip(), safe='')}"


def _find_bolt(address: Address) -> str:
    """Give the server's address as the Browser takes it: with a port, and encryption whose certificate is checked."""
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
    """Give the guide as JSON-ready lines: the address, then one line a query."""
    yield {"type": "browser", "address": guide.address, "start": guide.start, "style": str(guide.style)}
    for query in guide.queries:
        yield {
            "type": "query", "name": query.name, "title": query.title, "description": query.description,
            "parameters": list(query.parameters), "file": str(FOLDER / f"{query.name}.cypher"),
        }  # fmt: skip


def render_text(guide: Guide) -> str:
    """Give the guide as text for a person."""
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
    """Write the queries, the style sheet and the page about them into a folder; give the files in their order.

    A PathError where it cannot be written.
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
    """Write the queries into an archive, in the folder that the Browser then lists them in."""
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for query in read_queries():
            archive.writestr(ZipInfo(f"{ARCHIVE_FOLDER}/{query.name}.cypher", _WRITTEN), query.text)


def open_page(address: str) -> None:
    """Open an address in the system's browser.

    A PkgError where the system has no browser to open.
    """
    import webbrowser

    if not webbrowser.open(address):
        raise PkgError(f"no browser was found on this machine, expected one; open yourself: {address}")
