"""Search the built site in Chromium without a network: a word typed into the search leads to a page of the site.

The site is served on the loopback interface; requests to other hosts fail, and none may be attempted. Run by
`make test-site`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from chromium import Page, start_page

SITE = Path(__file__).resolve().parents[1] / "build" / "site"
WORD, PAGE = "unlimiformer", "long_prompts.html"  # a word of few pages, and one that must be among its hits
PARTS = """(() => {
  const found = [], open = [document];
  while (open.length) for (const each of open.pop().querySelectorAll('*')) {
    found.push(each);
    if (each.shadowRoot) open.push(each.shadowRoot);
  }
  return found;
})()"""
"""All elements of the page, also those of components."""
BOX = f"{PARTS}.find((each) => each.matches('input[aria-label=Search]') && each.checkVisibility())"
HITS = f"{PARTS}.filter((each) => each.matches('a[href]')).map((each) => each.href)"
LOADED = "performance.getEntriesByType('resource').map((each) => each.name)"


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on a free port of the loopback interface; yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def search(page: Page, address: str) -> None:
    """Search for the word from the first page, and open the hit; raises TimeoutError if there is none."""
    page.open(f"{address}index.html")
    page.await_true("document.readyState === 'complete'")
    page.press("/")
    page.await_true(f"Boolean({BOX})")
    page.run(f"{BOX}.focus()")
    page.type(WORD)
    page.await_true(f"{HITS}.some((each) => each.includes('{PAGE}') && each.includes('{WORD}'))")


def main() -> None:
    """Search the site; exit with a message if a hit is missing or another machine is asked."""
    if not (SITE / "index.html").is_file():
        sys.exit(f"no site in {SITE}; run: make site")
    with serve(SITE) as address, start_page(1280, 900) as page:
        search(page, address)
        outside = [each for each in page.run(LOADED) if not each.startswith((address, "data:", "blob:"))]
    if outside:
        sys.exit(f"the site asks other machines: {', '.join(outside)}")
    print(f"the search for '{WORD}' finds {PAGE}")


if __name__ == "__main__":
    main()
