"""Take the pictures of docs/page.md: display a graph on the page of `pkg serve` in Chromium.

Usage: python checks/screenshot_page.py --store sqlite:///flask.db --output docs/images

Needs Chromium, the extra service, and a graph of flask, whose names the addresses contain.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from chromium import find_chromium, start_page

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support")]

from serve_process import start_serve  # noqa: E402

SIZE = (1180, 640)
LARGEST = 60_000  # bytes of a picture
SYMBOL = "#/symbol?name=flask/app.py::Flask.full_dispatch_request&source=flask"


class View(NamedTuple):
    """One picture: its name, the address of the page, and the colour scheme."""

    name: str
    address: str
    scheme: str


VIEWS = (
    View("page-code", SYMBOL, "light"),
    View("page-graph", f"{SYMBOL}&tab=graph", "dark"),
    View("page-map", "#/map", "light"),
)


def take_pictures(store: str, output: Path) -> None:
    """Serve a graph and take each picture; fail if one is too large."""
    with TemporaryDirectory() as folder, start_serve(Path(folder), "--store", store) as served:
        address = served.page
        for view in VIEWS:
            with start_page(*SIZE) as page:
                page.prefer_scheme(view.scheme)
                page.open(address + view.address)
                page.await_true("performance.getEntriesByType('mark').length")
                page.run("new Promise((done) => setTimeout(done, 500))")
                path = output / f"{view.name}.webp"
                page.save_picture(path)
            if path.stat().st_size > LARGEST:
                sys.exit(f"{path} has {path.stat().st_size:,} bytes; expected at most {LARGEST:,}")


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True, help="address of a graph of flask")
    parser.add_argument("--output", required=True, type=Path, help="folder of the pictures")
    options = parser.parse_args()
    find_chromium()
    take_pictures(options.store, options.output)


if __name__ == "__main__":
    main()
