"""Take the pictures of docs/rate.md: write, rate and choose on the page of `pkg rate` in Chromium.

Usage: python checks/screenshot_rate.py --output docs/images

Needs Chromium and the extra service. The rows are of PKG's own code.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from chromium import Page, find_chromium, start_page

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support")]

from rate_process import start_rate  # noqa: E402

SIZE = (1120, 620)
LARGEST = 50_000  # bytes of a picture, so that three take less than 150 kB

CODE = (ROOT / "pkg" / "lab" / "rating" / "rater_assignment.py").read_text(encoding="utf-8")
DRAW = CODE[CODE.index("def draw_order") :]
PAIR = {
    "question": "What does draw_order in rater_assignment.py do, and why does it take a seed?",
    "answer": "It gives some names in a drawn order, such as the systems whose answers a rater sees side by side."
    "\n\nThe seed and the occasion (the item, the rater) decide the draw, so that the same call draws the same"
    " order again after a reload or another start.",
    "type": "syntax",
    "path": "pkg/lab/rating/rater_assignment.py",
}
ANSWERS = {
    "question": "How often is each item rated when three raters share a file with an overlap of 2?",
    "reference": "Twice, by two different raters.",
    "answers": {
        "graph": "Each item goes to two of the three raters: to those who have the fewest items so far [1].\n\n"
        "[1] pkg/lab/rating/rater_assignment.py:24",
        "chunks": "All three raters see every item, and the overlap is the number of items that are rated twice.",
    },
}


class View(NamedTuple):
    """One picture: the rows, the rating mode, and the actions before it is taken."""

    name: str
    row: Mapping[str, object]
    options: tuple[str, ...]
    scheme: str
    act: Callable[[Page], None]


def rate_pair(page: Page) -> None:
    """Set both sliders and begin a comment."""
    for key in ("8", "Tab", "9"):
        page.press(key)
    page.point("#comment")
    page.type("Right, and says why.")


def choose_answer(page: Page) -> None:
    """Choose one side."""
    page.press("1")


def write_pair(page: Page) -> None:
    """Write a question and begin its answer."""
    page.type("How are two answers put in an order that is the same each time?")
    page.press("Tab")
    page.type("By random.Random with a text of the seed and the occasion, which draws a sample of all names.")


def list_views() -> Iterator[View]:
    """List the pictures."""
    yield View("rate-pair", PAIR, (), "light", rate_pair)
    yield View("rate-choice", ANSWERS, (), "dark", choose_answer)
    code = {"content": DRAW, "path": PAIR["path"]}
    yield View("rate-create", code, ("--create",), "light", write_pair)


def take_picture(view: View, output: Path) -> None:
    """Serve one row, act as a rater, and take the picture; fail if it is too large."""
    with TemporaryDirectory(prefix="rate-") as folder:
        (Path(folder) / "rows.jsonl").write_text(json.dumps(dict(view.row)) + "\n", encoding="utf-8")
        with start_rate(Path(folder), "rows.jsonl", "--rater", "ana", *view.options) as rate, start_page(*SIZE) as page:
            page.prefer_scheme(view.scheme)
            page.open(rate.wait_for_addresses(1)[0])
            page.await_true("!document.getElementById('item').hidden")
            view.act(page)
            path = output / f"{view.name}.webp"
            page.save_picture(path)
    if path.stat().st_size > LARGEST:
        sys.exit(f"{path} has {path.stat().st_size:,} bytes, expected at most {LARGEST:,}")


def main() -> None:
    """Take every picture."""
    parser = argparse.ArgumentParser(description="Take the pictures of docs/rate.md.")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images", help="folder of the pictures")
    options = parser.parse_args()
    find_chromium()
    options.output.mkdir(parents=True, exist_ok=True)
    for view in list_views():
        take_picture(view, options.output)


if __name__ == "__main__":
    main()
