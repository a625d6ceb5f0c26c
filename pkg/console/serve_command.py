"""Run `pkg serve`: check the options, print the addresses, and serve until Ctrl-C."""

from __future__ import annotations

import traceback
from contextlib import closing, suppress
from typing import Any

from pkg.console.page_opening import open_page
from pkg.console.progress import say
from pkg.errors import StoreMissingError
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.http.http_options import DEFAULT_LIMITS, HttpLimits, HttpOptions
from pkg.service.http.http_server import serve_graph
from pkg.service.page.page_routes import make_routes, prepare_page
from pkg.service.source_watcher import watch_sources
from pkg.service.web.web_server import is_loopback
from pkg.service.web.web_token import choose_token


def run_serve(store: str, given: dict[str, Any]) -> None:
    """Serve a graph over HTTP until Ctrl-C.

    Raises UsageError for an invalid address or token, PkgError if the port is in use, StoreMissingError without a
    graph.
    """
    token = choose_token(given["host"], given["has_token"])
    limits = HttpLimits(seconds=given["timeout"], at_once=given["at_once"] or DEFAULT_LIMITS.at_once)
    options = HttpOptions(given["host"], given["port"], None if token is None else token.text, limits)
    service = GraphService(ServiceOptions(store, given["source"], given["model"], given["allow_build"]))
    with closing(service):
        _say_state(service, given)
        if given["watch"]:
            watch_sources(service, lambda source, what: say(f"{source}: {what}"))
        prepare_page(service)
        teller = _Teller(token.text if token is not None and token.is_new else None, given["is_opened"])
        with suppress(KeyboardInterrupt):  # the normal way to stop
            serve_graph(service, options, teller.tell, _say_defect, make_routes())


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
