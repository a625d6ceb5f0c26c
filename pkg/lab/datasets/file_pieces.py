"""Texts of the files of a repository, cut into snippets that people write questions about (Q-02), or chunks (Q-07)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pkg.errors import UsageError
from pkg.extract.files import SUFFIXES
from pkg.extract.python import extract_unit
from pkg.extract.text_files.windows import Window, cut_windows
from pkg.graph.store import GraphStore
from pkg.lab.datasets.dataset_rows import Origin, Place, Row, StepCounts, make_row
from pkg.model import Class, Function, Source

SNIPPETS, CHUNKS = "snippets", "chunks"
SNIPPET_SIZE = 2_000  # characters
CHUNK_SIZE = 1_500  # characters


@dataclass(frozen=True, slots=True)
class RepositoryText:
    """Text of a file."""

    source: str
    revision: str | None
    path: str
    text: str

    def place(self, start_line: int, end_line: int, content: str) -> Place:
        """Return some lines of the file as a place."""
        return Place(self.source, self.revision, self.path, start_line, end_line, content)


def list_repositories(store: GraphStore, source: str | None) -> list[Source]:
    """Return the repositories of a graph, or the one of that name; raises UsageError if there is none."""
    known = [each for each in store.sources() if each.kind == "repository"]
    found = [each for each in known if source in (None, each.name)]
    if not found:
        what = "no repository" if source is None else f"no repository '{source}'"
        names = ", ".join(each.name for each in known) or "none; run: pkg build PATH"
        raise UsageError(f"{what} in {store.address}; expected one of: {names}")
    return found


def read_texts(
    store: GraphStore, source: str | None = None, is_wanted: Callable[[str], bool] = lambda path: True
) -> Iterator[RepositoryText]:
    """Yield the files whose path `is_wanted` accepts, sorted by source and path, as the graph was built from them."""
    for each in list_repositories(store, source):
        paths = sorted(path for path in list_paths(store, each.name) if is_wanted(path))
        texts = dict(store.texts(each.name, paths))
        for path in paths:
            if path in texts:
                yield RepositoryText(each.name, each.revision, path, texts[path].decode("utf-8", "replace"))


def list_paths(store: GraphStore, source: str) -> list[str]:
    """Return the paths of the files of a source."""
    return [path for path, _, _ in store.fingerprints(source)]


def is_python(path: str) -> bool:
    """Return whether a file is Python."""
    return path.endswith(SUFFIXES)


def write_snippets(texts: Iterable[RepositoryText], size: int, counts: StepCounts) -> Iterator[Row]:
    """Cut Python files into snippets, and drop those of a single line (Q-02).

    The paper searches the file for the lines of a snippet and drops it if they are not found; here they are known.
    """
    for text in texts:
        for window in _cut(text, size, 0):
            counts.taken += 1
            if window.start_line == window.end_line:
                counts.drop("a single line")
                continue
            place = text.place(window.start_line, window.end_line, window.content)
            yield make_row(place, Origin(SNIPPETS), {"type": "snippet", "content": window.content})


def write_chunks(texts: Iterable[RepositoryText], size: int, overlap: int, counts: StepCounts) -> Iterator[Row]:
    """Cut files into overlapping chunks, with metadata about their definitions and the imports of the file (Q-07)."""
    for text in texts:
        contents = _Contents(text)
        for window in _cut(text, size, overlap):
            counts.taken += 1
            place = text.place(window.start_line, window.end_line, window.content)
            fields = {"type": "chunk", "content": window.content}
            yield make_row(place, Origin(CHUNKS), fields, contents.describe(window))


def _cut(text: RepositoryText, size: int, overlap: int) -> list[Window]:
    name = text.path[text.path.rfind("/") + 1 :]
    dot = name.rfind(".")
    return cut_windows(text.text, name[dot:] if dot > 0 else "", size, overlap)


class _Contents:
    """Start lines of the classes and functions of a file, and its import statements."""

    def __init__(self, text: RepositoryText) -> None:
        self._classes: list[int] = []
        self._functions: list[int] = []
        self._imports: list[str] = []
        if not is_python(text.path):
            return
        code = text.text.encode("utf-8", "replace")
        unit = extract_unit(code)
        self._classes = sorted(each.span.start_line for each in unit.definitions if isinstance(each, Class))
        self._functions = sorted(each.span.start_line for each in unit.definitions if isinstance(each, Function))
        spans = sorted({each.span for each in unit.imports})
        self._imports = [" ".join(code[each.start : each.end].decode("utf-8", "replace").split()) for each in spans]

    def describe(self, window: Window) -> dict[str, Any]:
        """Return the metadata of a window."""
        return {
            "contains_class": _holds(self._classes, window),
            "contains_function": _holds(self._functions, window),
            "file_imports": self._imports,
        }


def _holds(lines: list[int], window: Window) -> bool:
    at = bisect_left(lines, window.start_line)
    return at < len(lines) and lines[at] <= window.end_line
