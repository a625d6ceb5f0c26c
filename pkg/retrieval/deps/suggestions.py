"""Propose names that are near to one that the graph does not know."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pkg.model import Label, NodeFilter

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

SUGGESTIONS = 3
SEARCHED = 50  # functions that share a word with the name


def suggest_names(store: GraphStore, name: str, source: str | None) -> list[str]:
    """Give up to three names near to one: of functions that share a word with it, else of all functions and classes."""
    from pkg.terms.term_weights import weigh_terms  # loads numpy, which a name that is known does not need

    last = name.rpartition(":")[2].rpartition(".")[2] or name
    shared = store.text_search(Label.FUNCTION, weigh_terms(last), SEARCHED, NodeFilter(source=source)).matches
    names = {node.name: node.qualname for node in store.get([match.id for match in shared])}
    return _choose(last, names) or _choose(last, {each: each for each in _scan(store, source)})


def _choose(name: str, names: dict[str, str]) -> list[str]:
    folded = {each.lower(): shown for each, shown in sorted(names.items())}
    return [folded[each] for each in get_close_matches(name.lower(), folded, SUGGESTIONS)]


def _scan(store: GraphStore, source: str | None) -> Iterator[str]:
    return (node.name for node in store.nodes((Label.FUNCTION_NAME, Label.CLASS), source))
