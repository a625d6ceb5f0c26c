"""Tell which docstrings a graph holds that nobody wrote by hand, and which functions a model failed at (A-13)."""

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
    """How many functions of a source have a docstring of one model and prompt."""

    source: str
    docstring_source: str  # fim or template
    model: str
    prompt: str
    functions: int
    first: str  # the days of the first and of the last of them
    last: str


def count_docstrings(store: GraphStore, source: str) -> list[DocstringCount]:
    """Count the written docstrings of a source by model and prompt; raises what reading a store raises."""
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
    """Give the functions without docstring that the writer has failed at before, and why."""
    for target in missing.list_called():
        found = cache.find(make_key(target.text, writer))
        if isinstance(found, Failure):
            yield target, found
