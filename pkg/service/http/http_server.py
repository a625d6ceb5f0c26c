"""Serve a graph over HTTP until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from pkg.service.graph_service import GraphService
from pkg.service.http.http_access import HttpAccess
from pkg.service.http.http_options import HttpOptions
from pkg.service.http.problems import SayDefect
from pkg.service.http.service_app import make_app
from pkg.service.web.web_access import BrowserAccess, WebHosts
from pkg.service.web.web_server import list_hosts, make_server, open_socket

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

Tell = Callable[[str, str], None]
"""Hears the address for programs, and that for a browser: the same, or one that lets one browser in."""


def serve_graph(
    service: GraphService,
    options: HttpOptions,
    tell: Tell,
    say_defect: SayDefect,
    routes: Sequence[BaseRoute] = (),
) -> None:
    """Serve a graph.

    An address that let a browser in is followed by another one. Ctrl-C raises KeyboardInterrupt. Raises UsageError for
    an address that is none, PkgError for a port that is in use, MissingExtraError without the extra service.
    """
    with closing(open_socket(options.host, options.port)) as opened:
        hosts = WebHosts(list_hosts(options.host, opened.getsockname()[1]), has_programs=True)
        browsers = BrowserAccess[str](hosts, "serve")
        address = f"http://{hosts.first}"

        def give_address() -> None:
            tell(address, f"{address}/" if options.token is None else browsers.make_address("browser"))

        access = HttpAccess(browsers, options.token, give_address)
        server = make_server(make_app(service, access, options.limits, routes, say_defect), "pkg serve")
        give_address()
        server.run(sockets=[opened])
