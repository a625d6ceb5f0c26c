"""Take the pictures of docs/page.md: graphs of rich and of pkg/lab on the page of `pkg serve`, in Chromium.

    python checks/screenshot_page.py --output docs/images

Needs Chromium and the extra service. The graphs are built in a temporary folder.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import rich
from chromium import Page, find_chromium, start_page

from pkg.api import build_graph

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support")]

from serve_process import start_serve  # noqa: E402

SIZE = (1180, 640)
LARGEST = 60_000  # bytes of a picture
SYMBOL = "#/symbol?name=style.py::Style.parse&source=rich"
BUILT = {"rich": Path(rich.__file__).parent, "lab": ROOT / "pkg" / "lab"}


class View(NamedTuple):
    """One picture: its name, the address of the page, the colour scheme, and a script to run before it is taken."""

    name: str
    address: str
    scheme: str
    script: str = "0"


VIEWS = (
    View("page-code", SYMBOL, "light"),
    View("page-graph", f"{SYMBOL}&tab=graph", "dark"),
    View("page-search", "#/search?text=parse a color from a hex string&source=rich", "dark"),
    View("page-map", "#/map?source=lab&path=&open=judge", "light", "scrollTo(0, 60)"),
)


def take_pictures(output: Path) -> list[Path]:
    """Build the graphs, serve them, take each picture and return its path; fail if one is too large."""
    taken = []
    with TemporaryDirectory() as folder:
        store = f"sqlite:///{folder}/graph.db"
        for source, root in BUILT.items():
            build_graph(root, store=store, source=source)
        with start_serve(Path(folder), "--store", store, "--source", "all") as served, start_page(*SIZE) as page:
            for view in VIEWS:
                path = output / f"{view.name}.webp"
                take_picture(page, served.page, view, path)
                if path.stat().st_size > LARGEST:
                    sys.exit(f"{path} has {path.stat().st_size:,} bytes; expected at most {LARGEST:,}")
                taken.append(path)
    return taken


def take_picture(page: Page, address: str, view: View, path: Path) -> None:
    """Open a view in its colour scheme and save its picture."""
    page.open("about:blank")
    page.prefer_scheme(view.scheme)
    page.open(address + view.address)
    page.await_true("performance.getEntriesByType('mark').length")
    if fault := page.run("document.getElementById('fault').textContent"):
        sys.exit(f"{view.address} shows: {fault}")
    page.run(view.script)
    page.run("new Promise((done) => setTimeout(done, 500))")  # the drawing is painted after the mark
    page.save_picture(path)


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, type=Path, help="folder of the pictures")
    options = parser.parse_args()
    find_chromium()
    take_pictures(options.output)


if __name__ == "__main__":
    main()
