"""Write generated docstrings of functions, with the vectors and terms that depend on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pkg.errors import StoreError
from pkg.graph.graph_records import check_undocumented, describe_docstring, find_docstring
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.batches import list_vectors, name_fragment
from pkg.model import Docstring, Label
from pkg.units import DocstringChange

if TYPE_CHECKING:
    import numpy.typing as npt

    from pkg.graph.neo4j.session import Runner

FUNCTIONS_AT_ONCE = 1_000  # about 3 MB of vectors per message as lists of floats

Row = tuple[str, "Docstring | None", "npt.NDArray[np.float16]"]  # id of the function, docstring, vector [dimension]


def cut_changes(changes: Iterable[DocstringChange]) -> Iterator[list[DocstringChange]]:
    """Yield changes in batches by number of functions."""
    batch: list[DocstringChange] = []
    count = 0
    for each in changes:
        batch.append(each)
        count += len(each.docstrings)
        if count >= FUNCTIONS_AT_ONCE:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def put_docstrings(run: Runner, source: str, changes: Sequence[DocstringChange], packed: bool) -> bool:
    """Put a batch; return whether the docstring of any function changed.

    Raise StoreError for an unknown fragment or function, and for a function with a docstring in its code.
    """
    fragments = {name_fragment(source, each.key): each for each in changes}
    known = {record["id"] for record in run.run(cypher.FIND_FRAGMENTS, ids=list(fragments))}
    if missing := fragments.keys() - known:
        raise StoreError(f"no fragment {min(missing)} in source '{source}'; run the command again")
    rows = _list_changed(run, fragments.keys() & known, changes)
    if not rows:
        return False
    properties = [[identity, _describe(docstring)] for identity, docstring, _ in rows]
    run.run(cypher.PUT_DOCSTRINGS, rows=properties).consume()
    vectors = list_vectors(np.stack([vector for _, _, vector in rows]), packed)
    statement = cypher.PUT_PACKED_VECTORS if packed else cypher.PUT_VECTORS
    parameters = [[identity, vector] for (identity, _, _), vector in zip(rows, vectors, strict=True)]
    run.run(statement.format(label=Label.FUNCTION.value), rows=parameters).consume()
    run.run(cypher.PUT_TERMS, terms=[[key, each.terms] for key, each in fragments.items()]).consume()
    return True


def _list_changed(run: Runner, fragments: Iterable[str], changes: Sequence[DocstringChange]) -> list[Row]:
    """Return the functions whose docstring changes."""
    ids = [identity for each in changes for identity in each.docstrings]
    found = {
        record["id"]: record["written"]
        for record in run.run(cypher.FIND_DOCUMENTED, ids=ids, fragments=sorted(fragments))
    }
    rows: list[Row] = []
    for each in changes:
        for (identity, docstring), vector in zip(each.docstrings.items(), each.vectors, strict=True):
            if identity not in found:
                raise StoreError(f"no function '{identity}' in fragment {each.key:016x}; run the command again")
            before = {name: value for name, value in found[identity].items() if value is not None}
            if find_docstring(before) != docstring:
                check_undocumented(identity, has_own=before["docstring_source"] == "human")
                rows.append((identity, docstring, vector))
    return rows


def _describe(docstring: Docstring | None) -> dict[str, Any]:
    """Return the properties to set; null removes one."""
    return describe_docstring(docstring) | ({} if docstring else {"docstring_source": "none"})
