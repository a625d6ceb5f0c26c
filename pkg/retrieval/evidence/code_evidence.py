"""Turn the code that a question finds into evidence, with the calls between its pieces (P-06)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pkg.retrieval.deps.answer import is_test
from pkg.retrieval.evidence.evidence import Evidence, PlacedLine
from pkg.retrieval.explore import Connection, Exploration, Piece, format_connection

MAX_PIECES = 8  # of code: later ones rarely answer the question
MIN_SHARE = 0.2  # of the best piece's score, for another piece
MAX_CONNECTIONS = 8  # calls, callers and uses listed


def list_code(found: Exploration, with_tests: bool) -> Iterator[Evidence]:
    """Yield the best pieces of an exploration, then the connections between them as one piece.

    with_tests: include tests; otherwise they are included only if there is nothing else.
    """
    pieces = [piece for piece in found.pieces if with_tests or not is_test(piece.place)] or list(found.pieces)
    best = max((piece.score or 0.0 for piece in pieces), default=0.0)
    shown = [each for each in pieces if each.role == "between" or (each.score or 0.0) >= best * MIN_SHARE]
    shown = shown[:MAX_PIECES]
    yield from map(_make_piece, shown)
    ids = {piece.place.id for piece in shown}
    links = [each for each in (*found.calls, *found.callers, *found.uses) if each.start.id in ids or each.end.id in ids]
    yield from _list_connections(
        [each for each in links if with_tests or not (is_test(each.start) or is_test(each.end))]
    )


def _make_piece(piece: Piece) -> Evidence:
    place = piece.place
    content = piece.content if piece.summary is None else f"{piece.content}\n    {piece.summary}"
    title = f"{place.label.lower()} {place.qualname}"
    return Evidence("code", place.source, place.path, place.line, piece.end_line, title, content, piece.score or 0.0)


def _list_connections(connections: Sequence[Connection]) -> Iterator[Evidence]:
    if not connections:
        return
    shown = connections[:MAX_CONNECTIONS]
    lines = tuple(
        PlacedLine(
            link.start.path,
            link.line,
            f"{link.start.qualname} -> {link.end.qualname}",
            link.start.qualname,
        )
        for link in shown
    )
    first = shown[0]
    content = "\n".join(map(format_connection, shown))
    yield Evidence(
        "links", first.start.source, first.start.path, first.line, first.line, "calls at this code", content, 0.0, lines
    )
