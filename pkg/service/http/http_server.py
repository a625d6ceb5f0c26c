"""Serve a graph over HTTP until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from pkg.service.graph_service import GraphService
from pkg.service.http.http_access import HttpAccess
from pkg.service.http.http_options import HttpOptions
from pkg.service.http.problems import ReportDefect
from pkg.service.http.service_app import make_app
from pkg.service.web.web_access import BrowserAccess, WebHosts
from pkg.service.web.web_server import list_hosts, make_server, open_socket

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

Announce = Callable[[str, str], None]
"""Receives the address for programs and the one for a browser, which is single-use if there is a token."""


def serve_graph(
    service: GraphService,
    options: HttpOptions,
    announce: Announce,
    report_defect: ReportDefect,
    routes: Sequence[BaseRoute] = (),
) -> None:
    """Serve a graph; a single-use address that was used is replaced by a new one.

    Raises KeyboardInterrupt on Ctrl-C, UsageError for an invalid address, PkgError for a port that is in use and
    MissingExtraError without the extra service.
    """
    with closing(open_socket(options.host, options.port)) as opened:
        hosts = WebHosts(list_hosts(options.host, opened.getsockname()[1]), has_programs=True)
        browsers = BrowserAccess[str](hosts, "serve")
        address = f"http://{hosts.first}"

        def announce_address() -> None:
            announce(address, f"{address}/" if options.token is None else browsers.make_address("browser"))

        access = HttpAccess(browsers, options.token, announce_address)
        server = make_server(make_app(service, access, options.limits, routes, report_defect), "pkg serve")
        announce_address()
        server.run(sockets=[opened])
