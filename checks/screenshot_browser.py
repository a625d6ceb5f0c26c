"""Take the pictures of docs/browser.md: build a graph on a test server and display it in the Neo4j Browser.

Usage: python checks/screenshot_browser.py --output docs/images

Needs Chromium and the requirements of the server tests (neo4j_servers.py). The graph is of click, a dependency of PKG;
--package takes another folder, file or archive, which needs other parameters in VIEWS.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from chromium import PATIENCE, Page, find_chromium, start_page

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "support")]

from neo4j_servers import VERSIONS, LaunchedServer, start_server  # noqa: E402

from pkg.graph.neo4j.guide import START, STYLE, SavedQuery, link_query, read_queries  # noqa: E402
from pkg.graph.opening import open_store  # noqa: E402
from pkg.indexing.build import build  # noqa: E402

WIDTH, HEIGHT = 1440, 810
LARGEST = 300_000  # bytes of a picture
VIEWS = {
    START: "",
    "class-methods": ":param class => 'Group'",
    "function-blocks": ":param function => 'echo'",
}
"""The queries to show, each with the line that sets its parameter."""

FRAME = '[data-testid="frame"]'
EDITOR = "#monaco-main-editor textarea"
COUNT_DRAWN = f"document.querySelectorAll('{FRAME} g.node').length"
LIST_PLACES = f"[...document.querySelectorAll('{FRAME} g.node')].map((each) => each.getAttribute('transform')).join()"


@contextmanager
def serve_graph(package: str, version: str) -> Iterator[LaunchedServer]:
    """Start a server with the graph of a package; both are removed afterwards."""
    with TemporaryDirectory(prefix="neo4j-browser-", ignore_cleanup_errors=True) as folder:
        server = start_server(version, Path(folder))
        try:
            os.environ["PKG_NEO4J_USER"], os.environ["PKG_NEO4J_PASSWORD"] = server.user, server.password
            with closing(open_store(server.uri, create=True)) as store:
                build(package, store)
            yield server
        finally:
            server.kill()


def log_in(page: Page, server: LaunchedServer) -> None:
    """Open the first query by its link, log in, and drop the style sheet onto the page."""
    queries = {query.name: query for query in read_queries()}
    page.open(link_query(server.uri, queries[START], server.http))
    page.fill('[data-testid="username"]', server.user)
    page.fill('[data-testid="password"]', server.password)
    page.click('[data-testid="connect"]')
    page.await_true("document.body.innerText.includes('You are connected')")
    page.drop(STYLE)
    page.await_true("document.body.innerText.includes('node.FunctionName {')")


def show_view(page: Page, query: SavedQuery, parameter: str) -> None:
    """Run a query with its parameter and show its result full-screen; the editor already contains the first."""
    for text in filter(None, (parameter, query.text if query.name != START else "")):
        page.paste(EDITOR, text)
        if text is parameter:
            run_editor(page, "document.querySelector('[data-testid=\"rawParamData\"]')")
    run_editor(page, COUNT_DRAWN)
    page.click(f'{FRAME} [title="Fullscreen"]')
    await_rest(page)
    page.click(f'{FRAME} [aria-label="zoom-to-fit"]')
    await_rest(page)


def run_editor(page: Page, expected: str) -> None:
    """Run the editor's content with earlier results closed; wait until the expected text is shown."""
    close_frames(page)
    page.click('[data-testid="editor-Run"]')
    page.await_true(expected)


def close_frames(page: Page) -> None:
    """Close the displayed results."""
    while page.run(f"document.querySelectorAll('{FRAME}').length"):
        page.click(f'{FRAME} [title="Close"]')
        time.sleep(0.2)


def await_rest(page: Page) -> None:
    """Wait until the nodes stop moving."""
    deadline, last = time.monotonic() + PATIENCE, ""
    while (places := page.run(LIST_PLACES)) != last:
        if time.monotonic() > deadline:
            sys.exit(f"the nodes still move after {PATIENCE} seconds, expected them to rest")
        last = places
        time.sleep(1)


def save_picture(page: Page, path: Path) -> None:
    """Save a picture of the page; fail if it is too large."""
    page.save_picture(path)
    size = path.stat().st_size
    if size > LARGEST:
        sys.exit(f"{path} takes {size:,} bytes, expected at most {LARGEST:,}; show fewer nodes, or a smaller page")
    print(json.dumps({"picture": str(path), "bytes": size, "nodes": page.run(COUNT_DRAWN)}))


def main() -> None:
    """Take every picture."""
    parser = argparse.ArgumentParser(description="Take the pictures of docs/browser.md.")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images", help="folder of the pictures")
    parser.add_argument("--package", default=str(Path(click.__file__).parent), help="what to build the graph of")
    parser.add_argument("--version", default=VERSIONS[0], choices=VERSIONS, help="of the server")
    options = parser.parse_args()
    find_chromium()
    options.output.mkdir(parents=True, exist_ok=True)
    queries = {query.name: query for query in read_queries()}
    with serve_graph(options.package, options.version) as server, start_page(WIDTH, HEIGHT) as page:
        log_in(page, server)
        for name, parameter in VIEWS.items():
            show_view(page, queries[name], parameter)
            save_picture(page, options.output / f"browser-{name}.png")


if __name__ == "__main__":
    main()
