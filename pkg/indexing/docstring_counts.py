"""Count the generated docstrings of a graph by model, and list the functions for which a model failed (A-13)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.enhance.docstring_cache import make_key
from pkg.enhance.writer import Failure

if TYPE_CHECKING:
    from pkg.enhance.docstring_cache import DocstringCache
    from pkg.enhance.writer import DocstringWriter
    from pkg.graph.store import GraphStore
    from pkg.indexing.undocumented import Target, Undocumented


@dataclass(frozen=True, slots=True)
class DocstringCount:
    """Number of functions of a source with a docstring of one model and prompt."""

    source: str
    docstring_source: str  # fim or template
    model: str
    prompt: str
    functions: int
    first: str  # dates of the first and the last of them
    last: str


def count_docstrings(store: GraphStore, source: str) -> list[DocstringCount]:
    """Count the generated docstrings of a source by model and prompt; raises what reading a store raises."""
    dates: dict[tuple[str, str, str], list[str]] = {}
    for _, each in store.docstrings(source):
        dates.setdefault((each.model, each.prompt, each.source), []).append(each.date)
    return [
        DocstringCount(source, kind, model, prompt, len(found), min(found), max(found))
        for (model, prompt, kind), found in sorted(dates.items())
    ]


def list_failures(
    missing: Undocumented, writer: DocstringWriter, cache: DocstringCache
) -> Iterator[tuple[Target, Failure]]:
    """Yield the functions without docstring for which the writer has failed before, and the reason."""
    for target in missing.list_called():
        found = cache.find(make_key(target.text, writer))
        if isinstance(found, Failure):
            yield target, found
