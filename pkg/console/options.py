"""Options of several commands, which receive one store address however it was given."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import click

from pkg.console.settings import (
    combine,
    decode_options,
    setting,
)
from pkg.default_stores import default_store
from pkg.errors import UsageError, conceal_address, refuse_file
from pkg.retrieval.query_options import (
    TEST_CHOICES,
    QueryOptions,
)

_STORE_HELP = """Address of the graph, such as sqlite:///graph.db or neo4j://host; also set by PKG_STORE.
Default: that of the current folder (see pkg setup --here), else the one in your data folder."""
_DATABASE_HELP = "Database of the Neo4j server of --store; also set by PKG_NEO4J_DATABASE. Default: the server's own."

QUERY = QueryOptions()


fresh_option = click.option("--fresh", is_flag=True, help="Update the graph first: build changed files again.")
"""Option to build before answering."""


where_options = combine(
    click.option(
        "--path",
        multiple=True,
        callback=decode_options,
        metavar="GLOB",
        help="Search only files whose path matches, such as 'shop/*'; '!shop/old*' excludes files. Repeatable: the last"
        " match decides.",
    ),
    setting(
        "--tests",
        type=click.Choice(TEST_CHOICES),
        default=QUERY.tests,
        help="Search tests only if TEXT asks for them, only tests, or no tests.",
    ),
)
"""Options that restrict a question to some files."""


explain_option = click.option("--explain", is_flag=True, help="Show every count of the answer, with reasons.")
"""Option to show the counts of an answer."""
_FORMS = ["tree", "json", "dot", "mermaid", "graphml"]


def make_format_option(*forms: str) -> Callable[..., Any]:
    """Build the option --format, which a command may extend by formats of its own."""
    return click.option(
        "--format",
        "form",
        type=click.Choice([*_FORMS, *forms]),
        help="Output format. Default: tree, or json with --json.",
    )


page_option = click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a self-contained HTML page.",
)


_store_setting = setting(
    "--store",
    default=default_store,
    metavar="ADDRESS",
    help=_STORE_HELP,
    not_with=("folder",),  # pkg browser --export
)


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --store and --database; the command receives `store`, the address with the database in it."""

    @_store_setting
    @click.option("--database", metavar="NAME", help=_DATABASE_HELP)
    @wraps(command)
    def run(*words: Any, store: str, database: str | None, **options: Any) -> Any:
        return command(*words, store=store if database is None else name_database(store, database), **options)

    return run


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json and --no-json; the default is text on a terminal, in a file and in a pipe alike."""
    return setting("--json/--no-json", "as_json", default=False, help="Write JSON lines instead of text.")(command)


def name_database(address: str, database: str) -> str:
    """Insert the name of a database into a server's address; raises UsageError if the address cannot hold one."""
    from pkg.graph.neo4j.address import is_server

    if not is_server(address):
        raise UsageError(
            f"--database {database} does not fit the store {conceal_address(address)};"
            " expected neo4j://host or its like"
        )
    named = find_database(address)
    if named not in ("", database):
        raise UsageError(
            f"the store address names the database '{named}' and --database names '{database}'; give one of the two"
        )
    return urlsplit(address)._replace(path=f"/{database}").geturl()


def find_database(address: str) -> str:
    """Return the database in a server's address, or ""; an invalid address is rejected before it is shown."""
    from pkg.graph.neo4j.address import parse_address

    parse_address(address)
    return urlsplit(address).path.strip("/")


def open_output(output: str | None, store: str, is_binary: bool = False) -> AbstractContextManager[IO[Any]]:
    """Open the file to export to, but not the store itself, which would be overwritten before it is read.

    Raises UsageError if the file is the store, PathError if it cannot be written.
    """
    scheme, _, place = store.partition(":///")
    if output and scheme == "sqlite" and _is_same_file(Path(output), Path(place)):
        raise UsageError(f"{output} is the store {store} itself; expected another file to export to")
    try:
        mode, encoding = ("wb", None) if is_binary else ("w", "utf-8")
        return click.open_file(output or "-", mode, encoding=encoding, atomic=output not in (None, "-"))
    except OSError as fault:
        raise refuse_file(output, fault) from fault


def _is_same_file(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
