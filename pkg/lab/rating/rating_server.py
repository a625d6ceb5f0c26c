"""Server of the rating page, which runs until all items are rated, or until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from pkg.lab.rating.rating_app import Visitor, make_app
from pkg.lab.rating.rating_task import RatingTask
from pkg.service.web.web_access import BrowserAccess, WebHosts
from pkg.service.web.web_server import LOOPBACK, list_hosts, make_server, open_socket

PORT = 8719  # fixed, so that a browser finds its unsaved ratings when the command runs again


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Address of the page, and whether it stays open when all items are rated."""

    host: str = LOOPBACK
    port: int = PORT
    stay: bool = False


def serve_ratings(task: RatingTask, options: ServeOptions, tell: Callable[[str | None, str], None]) -> None:
    """Serve the page; `tell` is called with each rater and address.

    After an address is used, a new one is made for another browser. Ctrl-C raises KeyboardInterrupt. Raises UsageError
    for an invalid host, PkgError for a port that is in use, and MissingExtraError without uvicorn.
    """
    with closing(open_socket(options.host, options.port)) as opened:
        hosts = WebHosts(list_hosts(options.host, opened.getsockname()[1]))
        access = BrowserAccess[Visitor](hosts, "rate")

        def give_address(rater: str | None) -> None:
            tell(rater, access.make_address(Visitor(rater)))

        def end() -> bool:
            server.should_exit = not options.stay
            return server.should_exit

        server = make_server(make_app(task, access, give_address, end), "the page for raters")
        for rater in task.options.raters or (None,):
            give_address(rater)
        server.run(sockets=[opened])
