"""Options that several commands share; a command gets one store address, however it was put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

import click

from pkg.config import default_store
from pkg.errors import UsageError

_STORE_HELP = """Where the graph lives, such as sqlite:///graph.db or neo4j://host; PKG_STORE sets it too.
Default: your data folder."""
_DATABASE_HELP = "Database of the Neo4j server of --store; PKG_NEO4J_DATABASE sets it too. Default: the server's own."


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --store and --database; the command takes `store`, the address with the database in it."""

    @click.option("--store", envvar="PKG_STORE", default=default_store, metavar="ADDRESS", help=_STORE_HELP)
    @click.option("--database", metavar="NAME", help=_DATABASE_HELP)
    @wraps(command)
    def run(*words: Any, store: str, database: str | None, **options: Any) -> Any:
        return command(*words, store=store if database is None else name_database(store, database), **options)

    return run


def two_stores_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --store, to be given twice, and --database; the command takes `stores`, two addresses."""

    @click.option(
        "--store", "stores", multiple=True, metavar="ADDRESS", help="Where a graph lives; give it twice, once for each."
    )
    @click.option("--database", metavar="NAME", help="Database of the Neo4j servers among the two that name none.")
    @wraps(command)
    def run(*words: Any, stores: tuple[str, ...], database: str | None, **options: Any) -> Any:
        return command(*words, stores=_name_databases(stores, database), **options)

    return run


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Write JSON lines even to a terminal.")(command)


def name_database(address: str, database: str) -> str:
    """Put the name of a database into a server's address; a UsageError where there is no place for it."""
    from pkg.graph.neo4j.address import is_server

    if not is_server(address):
        raise UsageError(f"--database {database} does not fit the store {address}; expected neo4j://host or its like")
    parts = urlsplit(address)
    if parts.path.strip("/") not in ("", database):
        raise UsageError(
            f"the store address names the database '{parts.path.strip('/')}' and --database names '{database}';"
            " give one of the two"
        )
    return parts._replace(path=f"/{database}").geturl()


def _name_databases(stores: tuple[str, ...], database: str | None) -> tuple[str, ...]:
    from pkg.graph.neo4j.address import is_server

    if len(stores) != 2:
        raise UsageError(f"expected two stores to compare, seen {len(stores)}; write: --store ADDRESS --store ADDRESS")
    if database is None:
        return stores
    lacking = {each for each in stores if is_server(each) and not urlsplit(each).path.strip("/")}
    if not lacking:
        raise UsageError(f"--database {database} fits neither store; expected a neo4j://host that names no database")
    return tuple(name_database(each, database) if each in lacking else each for each in stores)
