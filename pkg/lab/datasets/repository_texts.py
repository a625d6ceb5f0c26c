"""Texts of the files of a repository, as stored by its graph, with their source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.errors import UsageError
from pkg.lab.datasets.dataset_rows import Place

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.model import Source


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
