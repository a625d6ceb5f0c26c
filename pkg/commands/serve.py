"""`pkg serve`: check the options, print the addresses, and serve until Ctrl-C."""

from __future__ import annotations

import traceback
from contextlib import closing, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.console.options import store_options
from pkg.console.page_opening import open_page
from pkg.console.progress import say
from pkg.console.settings import decode_option, model_setting, source_setting
from pkg.errors import StoreMissingError, UsageError
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.http.http_access import choose_token
from pkg.service.http.http_options import DEFAULT_LIMITS, HttpLimits, HttpOptions
from pkg.service.http.service_app import serve_graph
from pkg.service.mcp.served_source import choose_served
from pkg.service.page.page_routes import make_routes, prepare_page
from pkg.service.source_watcher import watch_sources
from pkg.service.web.web_server import is_loopback

if TYPE_CHECKING:
    from starlette.routing import BaseRoute


@click.command(epilog="Example:  pkg serve --open   or   PKG_SERVE_TOKEN=... pkg serve --host 192.168.1.20 --watch")
@store_options
@source_setting(
    help="Serve only this source. Default: that of the current folder; all, or outside of any: all sources."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on; any address but 127.0.0.1 needs a token.",
)
@click.option("--port", type=click.IntRange(0, 65_535), default=8720, show_default=True, help="Port; 0 for a free one.")
@click.option(
    "--token",
    "has_token",
    is_flag=True,
    help="Require a token on this machine too: that of PKG_SERVE_TOKEN, or a new one, which is printed.",
)
@model_setting(help="Text model of ask: gguf:FILE, openai:NAME@URL or hf:FOLDER. Default: none.")
@click.option("--allow-build", is_flag=True, help="Allow callers to update the graph (POST /v1/build).")
@click.option("--watch", is_flag=True, help="Build in the background whenever files change.")
@click.option(
    "--runs",
    callback=decode_option,
    metavar="FOLDER",
    help="Show the reports of the runs in this folder, which pkg eval has written, at /evaluation.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the address in the system's browser.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3_600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of a request; a streamed answer has 600.",
)
@click.option(
    "--at-once",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Maximum number of parallel requests; others wait. Default: two per processor.",
)
def serve(store: str, **given: Any) -> None:
    """Serve the graph over HTTP; --open shows it in a web browser.

    The server runs until Ctrl-C. It listens only on this machine, unless --host names another address, which needs a
    token. Callers cannot change the graph without --allow-build. The operations are described in /openapi.json
    (OpenAPI), the state of the server in /health and /metrics.
    """
    token = choose_token(given["host"], given["has_token"])
    limits = HttpLimits(seconds=given["timeout"], at_once=given["at_once"] or DEFAULT_LIMITS.at_once)
    options = HttpOptions(given["host"], given["port"], None if token is None else token.text, limits)
    routes = _list_routes(given["runs"])
    source = choose_served(store, given["source"], Path.cwd())
    service = GraphService(ServiceOptions(store, source, given["model"], given["allow_build"]))
    with closing(service):
        _say_state(service, given)
        if given["watch"]:
            watch_sources(service, lambda source, what: say(f"{source}: {what}"))
        prepare_page(service)
        teller = _Teller(token.text if token is not None and token.is_new else None, given["is_opened"])
        with suppress(KeyboardInterrupt):  # the normal way to stop
            serve_graph(service, options, teller.tell, _say_defect, routes)


def _list_routes(runs: str | None) -> list[BaseRoute]:
    """Return the routes of the page and, if a folder of runs is given, of their reports.

    Raises UsageError without the laboratory, which is above this package and may be absent, PathError without a run.
    """
    if runs is None:
        return make_routes()
    if find_spec("pkg.lab") is None:
        raise UsageError("--runs shows reports of pkg eval, which this installation does not have; leave it out")
    pages = import_module("pkg.lab.evaluation.report.run_pages")
    return [*pages.make_run_routes(Path(runs)), *make_routes(has_runs=True)]


def _say_state(service: GraphService, given: dict[str, Any]) -> None:
    """Report what is served, with warnings."""
    status = service.run("status", {})
    line = status.lines[0]
    if not line["ready"]:
        raise StoreMissingError(str(line.get("reason") or f"no source in {service.store}; run: pkg build PATH"))
    say(f"serving {status.text}")
    if note := status.freshness.describe():
        say(note)
    if not is_loopback(given["host"]):
        say(
            "warning: served to other machines without encryption; the token, questions and code can be read on the way"
        )


class _Teller:
    """Prints the addresses, and opens the first one if requested."""

    def __init__(self, token: str | None, is_opened: bool) -> None:
        self._token, self._is_opened, self._is_first = token, is_opened, True

    def tell(self, address: str, page: str) -> None:
        """Print an address for browsers and, the first time, the one for programs."""
        if self._is_first:
            say(f"listening at {address}, described in {address}/openapi.json; Ctrl-C ends")
            if self._token is not None:
                say(f"programs send: Authorization: Bearer {self._token}")
        say(f"open {page}")
        if self._is_first and self._is_opened:
            open_page(page)
        self._is_first = False


def _say_defect(operation: str, fault: Exception) -> None:
    said = "".join(traceback.format_exception(fault)).rstrip()
    say(f"a fault of this program in {operation}, which is worth a report:\n{said}")
