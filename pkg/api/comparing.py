"""Compare two graphs: their content node by node, or the definitions and links of their code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

from pkg.api.building import NO_LISTENER, Ask, Listener, build_graph
from pkg.api.lazy_types import api_types
from pkg.argument_types import check_sequence
from pkg.graph.opening import find_address, open_store


def verify_stores(a: str, b: str, *, vectors: bool = False, ask: Ask | None = None) -> api_types.Verification:
    """Compare the graphs at two addresses node by node and relationship by relationship, optionally with vectors."""
    from pkg.graph.verify import compare_stores

    first_address, second_address = find_address(a), find_address(b)
    with closing(open_store(first_address, ask=ask)) as first, closing(open_store(second_address, ask=ask)) as second:
        return compare_stores(first, second, vectors)


def diff_graphs(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    *,
    source: tuple[str | None, str | None] = (None, None),
    listener: Listener = NO_LISTENER,
) -> api_types.CodeDiff:
    """Compare the definitions and links of two graphs or two states of code.

    a, b: store addresses, or paths for build_graph, such as FOLDER@REVISION, of which temporary graphs are built.
    source: the names of the sources in a and b, required where a store has several. Raises QueryError for a missing or
    unknown source, and the errors of build_graph and open_graph.
    """
    from tempfile import TemporaryDirectory  # with a dozen modules, which other functions do not need

    from pkg.graph.code_diff import compare_code_graphs

    check_sequence("source", source, 'two names, such as ("shop", None)')
    a, b = os.fspath(a), os.fspath(b)
    with TemporaryDirectory(prefix="pkg-diff-") as folder, ExitStack() as opened:
        first = opened.enter_context(_open_side(a, f"{folder}/a.db", listener))
        second = opened.enter_context(_open_side(b, f"{folder}/b.db", listener))
        found = compare_code_graphs(first, second, *source)
    return replace(found, a=found.a if "://" in a else a, b=found.b if "://" in b else b)


@contextmanager
def _open_side(side: str, place: str, listener: Listener) -> Iterator[api_types.GraphStore]:
    """Open a store by its address; for a path, build and open a graph at `place`."""
    address = side if "://" in side else f"sqlite:///{place}"
    if "://" not in side:
        build_graph(side, store=address, listener=listener)
    with closing(open_store(address, ask=listener.ask)) as store:
        yield store
