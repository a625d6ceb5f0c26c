"""Build the site of the documentation into build/site: pages of docs/, reference pages from the code, a notebook.

Links of pages to files of the repository lead to copies in the site, so that it is complete without a network. A
warning of the builder is an error, and so is a page that loads anything from another machine. Run by `make site`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
NOTEBOOK = "tutorials/graph_in_a_notebook.md"
WORKER = "assets/iframe-worker.js"
REMOTE_WORKER = "https://unpkg.com/iframe-worker/shim"  # which the builder's plugin for offline use names
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
REMOTE = re.compile(r"url\(['\"]?((?:https?:)?//[^)]+)\)")  # an address of a style sheet on another machine
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements that make a browser load a file, with the attribute of its address."""


def find_place(file: Path) -> str | None:
    """Return the path of a repository's file in the site; None for a folder, which has no page."""
    if file.is_dir():
        return None
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    place = file.relative_to(ROOT).as_posix()
    return f"repository/{place}" if file.suffix == ".md" else f"repository/{place}.txt"


def stage_page(file: Path, text: str, waiting: list[Path]) -> None:
    """Write a page with links that hold in the site; append the linked files outside of docs/ to `waiting`."""
    place = find_place(file)
    assert place is not None

    def move_link(found: re.Match[str]) -> str:
        mark, words, target, anchor = found[1], found[2], found[3], found[4] or ""
        linked = Path(os.path.normpath(file.parent / unquote(target)))
        goal = find_place(linked)
        if not linked.exists():
            return found[0]  # code, or a broken link, which the builder reports
        if goal is None:
            return words
        if not linked.is_relative_to(DOCS):
            waiting.append(linked)
        return f"{mark}[{words}]({os.path.relpath(goal, Path(place).parent)}{anchor})"

    target = PAGES / place
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(LINK.sub(move_link, text), encoding="utf-8")


def stage_pages() -> None:
    """Write all pages and the files to which they link into the folder of pages."""
    from reference_pages import render_pages
    from run_notebook import render_notebook

    waiting: list[Path] = [ROOT / "README.md", ROOT / "CHANGELOG.md"]
    for file in sorted(path for path in DOCS.rglob("*") if path.is_file()):
        if file == DOCS / NOTEBOOK:
            stage_page(file, render_notebook(file, (PAGES / NOTEBOOK).with_suffix("")), waiting)
        elif file.suffix == ".md":
            stage_page(file, file.read_text(encoding="utf-8"), waiting)
        else:
            copy_file(file)
    done: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file in done:
            continue
        done.add(file)
        if file.suffix == ".md":
            stage_page(file, file.read_text(encoding="utf-8"), waiting)
        else:
            copy_file(file)
    for path, text in render_pages().items():
        (PAGES / path).parent.mkdir(parents=True, exist_ok=True)
        (PAGES / path).write_text(text, encoding="utf-8")


def copy_file(file: Path) -> None:
    """Copy a file that is no page to its place."""
    target = PAGES / str(find_place(file))
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def take_in_worker(site: Path) -> None:
    """Make pages load the script that lets search work from disk out of the site, not from another machine."""
    for file in site.rglob("*.html"):
        own = os.path.relpath(site / WORKER, file.parent)
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(REMOTE_WORKER, own), encoding="utf-8")


class _Page(HTMLParser):
    """The addresses that a page loads, those to which it links, and the anchors that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the addresses and the anchor of one element."""
        values = dict(attrs)
        is_loaded = tag != "link" or values.get("rel") not in ("canonical", "next", "prev")
        if tag in LOADED and is_loaded and (address := values.get(LOADED[tag])):
            self.loaded.append(address)
        if tag == "a" and (address := values.get("href")):
            self.links.append(address)
        self.anchors.update(filter(None, (values.get("id"), values.get("name") if tag == "a" else None)))


def list_faults(site: Path) -> Iterator[str]:
    """Yield each request to another machine and each broken link or anchor of the built pages."""
    pages = {file: _Page() for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        page.feed(file.read_text(encoding="utf-8"))
    for file in site.rglob("*.css"):
        yield from (
            f"{file.name}: loads {each}" for each in re.findall(r"url\(['\"]?((?:https?:)?//[^)]+)\)", file.read_text())
        )
    for file, page in pages.items():
        name = file.relative_to(site)
        yield from (f"{name}: loads {each}" for each in page.loaded if urlsplit(each).netloc)
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or name.name == "404.html":
                continue
            target = file if not parts.path else Path(os.path.normpath(file.parent / unquote(parts.path)))
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{name}: no file {link}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: no anchor {link}"


def main() -> int:
    """Build and check the site; return 1 after a warning or a fault."""
    for folder in (PAGES, SITE):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    stage_pages()
    program = str(Path(sys.executable).with_name("zensical"))
    done = subprocess.run([program, "build", "--clean", "--strict"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        print(re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr.partition("Traceback")[0]))
        return 1
    take_in_worker(SITE)
    faults = sorted(set(list_faults(SITE)))
    print(*faults or [f"{len(list(SITE.rglob('*.html')))} pages: {SITE / 'index.html'}"], sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
