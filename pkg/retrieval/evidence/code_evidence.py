"""Turn the code that a question finds into evidence, with the calls between its pieces (P-06)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pkg.retrieval.deps.answer import is_test
from pkg.retrieval.evidence.evidence import Evidence, PlacedLine
from pkg.retrieval.explore import Exploration, Piece, Tie, write_tie

MOST_PIECES = 8  # of code: later ones rarely answer the question
LEAST_SHARE = 0.2  # of the best piece's score, for another piece
MOST_TIES = 8  # calls, callers and uses listed


def list_code(found: Exploration, with_tests: bool) -> Iterator[Evidence]:
    """Yield the best pieces of an exploration, then the connections between them as one piece.

    with_tests: include tests; otherwise they are included only if there is nothing else.
    """
    pieces = [piece for piece in found.pieces if with_tests or not is_test(piece.place)] or list(found.pieces)
    best = max((piece.score or 0.0 for piece in pieces), default=0.0)
    shown = [each for each in pieces if each.role == "between" or (each.score or 0.0) >= best * LEAST_SHARE]
    shown = shown[:MOST_PIECES]
    yield from map(_make_piece, shown)
    ids = {piece.place.id for piece in shown}
    ties = [tie for tie in (*found.calls, *found.callers, *found.uses) if tie.start.id in ids or tie.end.id in ids]
    yield from _list_ties([tie for tie in ties if with_tests or not (is_test(tie.start) or is_test(tie.end))])


def _make_piece(piece: Piece) -> Evidence:
    place = piece.place
    content = piece.content if piece.summary is None else f"{piece.content}\n    {piece.summary}"
    title = f"{place.label.lower()} {place.qualname}"
    return Evidence("code", place.source, place.path, place.line, piece.end_line, title, content, piece.score or 0.0)


def _list_ties(ties: Sequence[Tie]) -> Iterator[Evidence]:
    if not ties:
        return
    shown = ties[:MOST_TIES]
    lines = tuple(
        PlacedLine(tie.start.path, tie.line, f"{tie.start.qualname} -> {tie.end.qualname}", tie.start.qualname)
        for tie in shown
    )
    first = shown[0]
    content = "\n".join(map(write_tie, shown))
    yield Evidence(
        "links", first.start.source, first.start.path, first.line, first.line, "calls at this code", content, 0.0, lines
    )
