"""Prune a fact: remove the branches below it that do not help with a question (P-12, P-18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.encode.headings import make_heading
from pkg.model import Cut, Nested, Node
from pkg.retrieval.pruning.prune import prune

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors

MAX_SHOWN_BYTES = (
    3_000  # two chunks: a longer section is shown without the branches that are farthest from the question
)


@dataclass(frozen=True, slots=True)
class PrunedFact:
    """The text of a fact without the branches that were cut, and the gain of its similarity to the question."""

    text: str
    cuts: tuple[Cut, ...] = ()
    gain: float = 0.0


def prune_fact(
    encoder: Encoder, query: Vectors, node: Node, value: str, branches: Sequence[Node], steps: int = 1
) -> PrunedFact:
    """Cut the farthest branches of a long fact until it is short, then those whose removal brings it nearer.

    query: float32 [dimension]; branches: the facts directly below, in the order of the text. Ties go to later branches.
    """
    text = value.encode("utf-8", "replace")
    nested = [_nest(node, each) for each in branches]
    cuts: list[Cut] = []
    if nested and len(text) > MAX_SHOWN_BYTES:
        text, nested, cuts = _shorten(encoder, query, node, text, nested)
    if not nested:
        return PrunedFact(text.decode("utf-8", "replace"), tuple(cuts))
    head = f"{make_heading(node.path, node.qualname)}\n".encode()
    moved = [each._replace(start=each.start + len(head), end=each.end + len(head)) for each in nested]
    pruned = prune(encoder, query, head + text, b"", moved, steps, is_code=False)
    left = pruned.content[len(head) :].decode("utf-8", "replace")
    return PrunedFact(left, (*cuts, *pruned.cuts), pruned.gain)


def _nest(node: Node, each: Node) -> Nested:
    start = each.start - node.start
    return Nested(each.id, str(each.kind), start, each.end - node.start, each.start_line, each.end_line)


def _shorten(
    encoder: Encoder, query: Vectors, node: Node, text: bytes, nested: Sequence[Nested]
) -> tuple[bytes, list[Nested], list[Cut]]:
    """Cut the branches with the lowest cosine until the text is short; return it, and the others in it."""
    values = [text[each.start : each.end][:MAX_SHOWN_BYTES] for each in nested]
    whole, *scores = (encoder.encode([text[:MAX_SHOWN_BYTES], *values], [""] * (len(values) + 1)) @ query).tolist()
    order = sorted(range(len(nested)), key=lambda place: (scores[place], -place))
    size, gone = len(text), set[int]()
    for place in order:
        if size <= MAX_SHOWN_BYTES or len(gone) == len(nested) - 1:
            break
        gone.add(place)
        size -= nested[place].end - nested[place].start
    kept, parts, last, shift = list[Nested](), list[bytes](), 0, 0
    for place, each in enumerate(nested):
        if place in gone:
            parts.append(text[last : each.start].rstrip() + b"\n\n")
            stop = each.end + len(text[each.end :]) - len(text[each.end :].lstrip(b"\r\n"))
            shift += stop - last - len(parts[-1])
            last = stop
        else:
            kept.append(each._replace(start=each.start - shift, end=each.end - shift))
    left = (b"".join(parts) + text[last:]).rstrip()
    cuts = [
        Cut(each.id, each.kind, each.start_line, each.end_line, whole, whole)
        for place, each in enumerate(nested)
        if place in gone
    ]
    return left, kept, cuts
