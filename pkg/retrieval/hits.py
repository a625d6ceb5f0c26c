"""Turn matches into hits, one at a time: fetch the node and prune its text (P-17, P-18, A-05)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from pkg.encode.headings import Headings
from pkg.extract.syntax import find_indent
from pkg.model import Hit, Label, Nested, Node, Unfolded
from pkg.retrieval.class_heads import fold_definitions
from pkg.retrieval.context import Lines
from pkg.retrieval.heads import Head, find_text, read_heads, read_owners
from pkg.retrieval.pruning.prune import Pruned, prune
from pkg.retrieval.pruning.safe_cuts import Surroundings
from pkg.retrieval.query_options import QueryOptions, prune_choice
from pkg.retrieval.ranking import Ranked

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore

MIN_PART = 0.005  # of a score, to be reported
PRUNED_LABELS = (Label.FUNCTION, Label.BLOCK)  # a class or module consists of definitions: its head is shown
READ_BATCH = 10  # hits read together: most questions ask for fewer, and a budget may end before more


@dataclass(frozen=True, slots=True)
class ReadHit:
    """A ranked candidate, as read from the store."""

    rank: int
    match: Ranked
    unfolded: Unfolded
    owner: Node  # the function of a block; else the node itself
    head: Head


@dataclass(frozen=True, slots=True)
class OpenedHit:
    """A hit before its helpers are added, its data from the store, and how it was pruned, in words."""

    hit: Hit
    unfolded: Unfolded
    explain: tuple[str, ...]
    folds: tuple[Lines, ...] = ()  # of a class or module, which is shown by its head


def read_hits(store: GraphStore, ranked: Sequence[Ranked]) -> Iterator[ReadHit]:
    """Read candidates in batches, best first: one round trip to a server for each batch."""
    ranks = count(1)
    for start in range(0, len(ranked), READ_BATCH):
        some = ranked[start : start + READ_BATCH]
        unfolded = store.unfold([each.id for each in some])
        owners = read_owners(store, [each.node for each in unfolded])
        heads = read_heads(store, owners)
        for match, each, owner, head in zip(some, unfolded, owners, heads, strict=True):
            yield ReadHit(next(ranks), match, each, owner, head)


class HitOpener:
    """Builder of hits for a query, float32 [dimension]; opening one takes some encodings, listing almost nothing."""

    def __init__(self, store: GraphStore, encoder: Encoder, query: Vectors, options: QueryOptions) -> None:
        self._headings = Headings(store.sources())
        self._encoder, self._query, self._options = encoder, query, options

    def open(self, read: ReadHit) -> OpenedHit:
        """Build a hit with its code, pruned by the chosen rule."""
        rank, match, node = read.rank, read.match, read.unfolded.node
        if node.label not in PRUNED_LABELS:
            folded = fold_definitions(node, with_headers=node.label is Label.CLASS)
            hit = replace(_make_hit(read, None), pruned_content=folded.node.content)
            return OpenedHit(hit, read.unfolded, tuple(_explain(rank, match, node, None)), folded.folds)
        pruned = self._prune(read)
        return OpenedHit(_make_hit(read, pruned), read.unfolded, tuple(_explain(rank, match, node, pruned)))

    def _prune(self, read: ReadHit) -> Pruned | None:
        """Prune the text of a node by the chosen rule; None if there is none."""
        node, choice = read.unfolded.node, prune_choice(self._options)
        if choice == "none":
            return None
        content = node.content.encode("utf-8", "replace")
        indent, heading = find_indent(content, node.start_col), self._headings.of(node)
        cut = partial(prune, self._encoder, self._query, content, indent, heading=heading)
        if len(content) != node.end - node.start:  # with replaced bytes, offsets into such a text would be off
            return replace(cut(()), refused=("not pruned: the text holds bytes that are not UTF-8",))
        around = _find_surroundings(node, read.owner) if choice == "safe" else None
        return cut(_list_branches(read.unfolded), self._options.prune_steps, around=around)


def list_hit(read: ReadHit) -> Hit:
    """Build an unpruned hit, for which only place, signature and summary are shown."""
    return _make_hit(read, None)


def _find_surroundings(node: Node, function: Node) -> Surroundings:
    """Locate a node in its function; an empty text where the text of the function does not contain it."""
    start, text = node.start - function.start, function.content.encode("utf-8", "replace")
    content = node.content.encode("utf-8", "replace")
    if text[start : start + len(content)] != content:
        return Surroundings(b"", b"")
    return Surroundings(text, find_indent(text, function.start_col), start)


def _list_branches(unfolded: Unfolded) -> list[Nested]:
    """List the blocks inside a node by offsets into its text."""
    first = unfolded.node.start
    return [each._replace(start=each.start - first, end=each.end - first) for each in unfolded.blocks]


def _make_hit(read: ReadHit, pruned: Pruned | None) -> Hit:
    match, node, cuts = read.match, read.unfolded.node, pruned.cuts if pruned else ()
    return Hit(
        rank=read.rank,
        label=node.label.value,
        id=node.id,
        source=node.source,
        path=node.path,
        qualname=node.qualname,
        kind=node.kind,
        start_col=node.start_col,
        start_line=node.start_line,
        end_line=node.end_line,
        score=match.score,
        # the stored cosine is that of a rounded vector, so only the gain is added
        score_pruned=match.raise_score(pruned.gain) if pruned and cuts else match.score,
        cosine=match.cosine,
        content=node.content,
        pruned_content=pruned.shown.decode("utf-8", "replace") if pruned and cuts else node.content,
        pruned=cuts,
        same_content=match.same_content,
        same_function=match.same_function,
        twins=match.twins,
        docstring=find_text(node, "docstring"),
        docstring_source=find_text(node, "docstring_source"),
        **read.head._asdict(),
    )


def _explain(rank: int, match: Ranked, node: Node, pruned: Pruned | None) -> Iterator[str]:
    kind = f"{node.kind} block of" if node.label is Label.BLOCK else node.label.value.lower()
    place = f"{node.path}:{node.start_line}-{node.end_line}"
    yield f"hit {rank}: {kind} {node.qualname} at {place}, score {match.score:.4f}, cosine {match.cosine:.4f}"
    if match.parts:
        parts = sorted((part for part in match.parts if abs(part[1]) >= MIN_PART), key=lambda part: -abs(part[1]))
        yield f"hit {rank}: ranked by " + ", ".join(f"{name} {value:+.2f}" for name, value in parts)
    if match.same_content:
        yield f"hit {rank}: {match.same_content} more of equal content"
    if match.same_function:
        yield f"hit {rank}: {match.same_function} more blocks of its function"
    if match.twins:
        yield f"hit {rank}: variants {', '.join(match.twins)}"
    if pruned is None:
        return
    for cut in pruned.cuts:
        lines = f"{cut.start_line}-{cut.end_line}"
        yield f"hit {rank}: cut {cut.kind} at lines {lines}: cosine {cut.score_before:.4f} -> {cut.score_after:.4f}"
    if not pruned.cuts:
        yield f"hit {rank}: nothing cut, {pruned.tried} branches tried"
    for reason in pruned.refused:
        yield f"hit {rank}: {reason}"
