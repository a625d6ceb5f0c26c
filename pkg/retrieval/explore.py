"""Answer how something works: the few functions that matter, the calls between them, their callers and uses.

A question about links, such as 'who calls X', is answered from the graph instead (`link_questions`).
The hits of a question come first, followed by functions on a path between two of them (P-06). A token budget decides
how each is shown: by its code, its deciding lines, its header with the first sentence of its docstring, or its name
(A-10).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import dedent
from typing import TYPE_CHECKING, Literal

from pkg.errors import shorten
from pkg.graph.path_filter import is_test
from pkg.model import DECLARATION_LABELS, Edge, Label, Node, RelationType, Stale, is_bound
from pkg.quoting.hidden_characters import spell_line
from pkg.retrieval.class_heads import fold_definitions
from pkg.retrieval.deciding_lines import abridge
from pkg.retrieval.deps.answer import Place, make_place
from pkg.retrieval.freshness import find_stale
from pkg.retrieval.heads import make_head
from pkg.retrieval.link_questions.link_answers import LinkAnswers, answer_link_question, write_link_answers
from pkg.retrieval.needed_helpers import fold_docstring
from pkg.retrieval.query import run_query
from pkg.retrieval.query_options import DEFAULT_EXPLORE, ExploreOptions, QueryOptions, check_minimum
from pkg.retrieval.question import parse_question
from pkg.retrieval.token_count import count_tokens

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore

FOUND = 20  # hits considered
BETWEEN = 3  # functions on a path between two hits
MIN_SHARE = 0.1  # of the best hit's score, for a hit to be shown with its code
FIRST_SHARE = 0.35  # of the budget, for the code of the first piece
REST_SHARE = 0.3
"""Share of the remaining budget for the code of each later piece. For 36 questions about kombu and gunicorn, .3 shows a
fifth of the places that answer, .2 an eighth."""
HEADS = 4  # pieces shown at least by their header; for later ones the name is enough, and leaves room for code
PLACE_TOKENS = 25  # of the line above a piece
LINES_SHARE = 0.2  # of the budget, for calls, callers and uses
LONGEST_HEAD = 100  # characters: a signature of fifteen parameters is not read
MAX_LEFT_OUT = 5  # definitions over the budget that are named
NAMED = 3  # callers, and uses, named for each piece
_CONSTANT = re.compile(r"\b[A-Z][A-Z\d]*_[A-Z\d_]+\b|\b[A-Z]{4,}\b")

Role = Literal["hit", "between"]
Form = Literal["code", "lines", "head", "name"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One definition as shown."""

    place: Place
    end_line: int
    role: Role
    form: Form
    content: str
    summary: str | None = None  # first sentence of its docstring, where the content lacks it
    score: float | None = None  # of a hit


@dataclass(frozen=True, slots=True)
class Connection:
    """A call or use from one place to another, with its first line in the file of the start."""

    start: Place
    end: Place
    line: int
    confidence: str = "certain"


@dataclass(frozen=True, slots=True)
class Exploration:
    """Result of an exploration: pieces in reading order, and the connections between them."""

    text: str
    pieces: tuple[Piece, ...]
    calls: tuple[Connection, ...]  # between pieces
    callers: tuple[Connection, ...]  # from elsewhere to a piece
    uses: tuple[Connection, ...]  # from a piece to a class, constant or another function
    left_out: tuple[Place, ...]  # found, but over the budget
    fits: bool | None  # whether anything fits the question; None where that cannot be judged
    notes: tuple[str, ...] = ()
    tokens: int = 0  # of the pieces and lines
    stale: tuple[Stale, ...] = ()  # files of the pieces that have changed since the build
    links: LinkAnswers | None = None  # of a question about links, from the graph
    links_budget: int = 0  # tokens for these; 0 for no limit


def explore(store: GraphStore, encoder: Encoder, text: str, options: ExploreOptions = DEFAULT_EXPLORE) -> Exploration:
    """Answer a question about links, or find the code that a question is about and its connections.

    Globs and a choice of tests restrict a search, so no question about links is answered with them. Raises QueryError
    for an invalid question.
    """
    check_minimum("budget", options.budget, 0)
    with store.snapshot():
        links = answer_link_question(store, text, options.source, options.path, options.tests)
        if links is None:
            return explore_code(store, encoder, text, options)
        share = options.budget if links.is_whole else options.budget // 2
        size = count_tokens(write_link_answers(links, share))
        if links.is_whole:
            found = Exploration(text, (), (), (), (), (), fits=True)
        else:
            rest = replace(options, budget=max(options.budget - size, 1) if options.budget else 0)
            found = explore_code(store, encoder, text, rest)
    stale = tuple(dict.fromkeys((*links.stale, *found.stale)))
    return replace(found, fits=True, tokens=found.tokens + size, stale=stale, links=links, links_budget=share)


def explore_code(
    store: GraphStore, encoder: Encoder, text: str, options: ExploreOptions = DEFAULT_EXPLORE
) -> Exploration:
    """Find the code that a question is about and its connections; raises QueryError for an invalid question."""
    check_minimum("budget", options.budget, 0)
    asked = QueryOptions(
        mode="function", top_k=FOUND, prune="none", helpers="none", budget=0,
        source=options.source, path=options.path, tests=options.tests,
    )  # fmt: skip
    with store.snapshot():
        result = run_query(store, encoder, text, asked)
        scores = {hit.id: hit.score for hit in result.hits}
        found = store.get(list(scores))
        edges = _read_calls(store, found)
        pack = _Pack(options.budget, parse_question(text).weights)
        pack.add(found, _find_between(store, found, edges), scores)
        connections = _Connections(store, edges, {node.id for node in pack.nodes})
        used = [*connections.list_uses(), *_find_constants(store, pack.nodes)]
        stale = find_stale(store, ((node.source, node.path) for node in pack.nodes))
    calls, callers, uses = map(pack.keep, (connections.list_inside(), connections.list_callers(), used))
    coverage = result.coverage
    return Exploration(
        text=text,
        pieces=tuple(pack.pieces),
        calls=calls,
        callers=callers,
        uses=uses,
        left_out=tuple(pack.left_out),
        fits=coverage.fits,
        notes=coverage.notes,
        tokens=pack.used,
        stale=stale,
    )


def _read_calls(store: GraphStore, found: Sequence[Node]) -> list[Edge]:
    """Read the bound calls from and to the hits, each pair once."""
    ids = [node.id for node in found if node.label in (Label.FUNCTION, Label.CLASS)]
    edges = store.neighbours(ids, (RelationType.CALLS,), "both", 1) if ids else []
    pairs: dict[tuple[str, str], Edge] = {}
    for edge in sorted(edges, key=lambda each: (each.line or 0, each.start, each.end)):
        if is_bound(edge.confidence) and edge.start != edge.end:
            pairs.setdefault((edge.start, edge.end), edge)
    return list(pairs.values())


def _find_between(store: GraphStore, found: Sequence[Node], edges: Iterable[Edge]) -> list[Node]:
    """Find functions that one hit calls and that call another hit: steps that a reader would miss."""
    ranks = {node.id: rank for rank, node in enumerate(found)}
    called: dict[str, list[int]] = {}
    calling: dict[str, list[int]] = {}
    for edge in edges:
        if edge.start in ranks and edge.end not in ranks:
            called.setdefault(edge.end, []).append(ranks[edge.start])
        if edge.end in ranks and edge.start not in ranks:
            calling.setdefault(edge.start, []).append(ranks[edge.end])
    best = {
        each: min(before + after for before in called[each] for after in calling[each] if before != after)
        for each in called.keys() & calling.keys()
        if len({*called[each], *calling[each]}) > 1
    }
    return store.get(sorted(best, key=lambda each: (best[each], each))[:BETWEEN])


@dataclass(slots=True)
class _Pack:
    """The pieces shown so far within a token budget; 0 for no limit."""

    budget: int
    terms: Mapping[str, float] = field(default_factory=dict)  # of the question, with their weights
    used: int = 0
    pieces: list[Piece] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)  # of the pieces
    left_out: list[Place] = field(default_factory=list)

    def add(self, found: Sequence[Node], between: Sequence[Node], scores: Mapping[str, float]) -> None:
        """Add hits in their order where they fit, then the functions between them."""
        best = max(scores.values(), default=0.0)
        for node in (*found, *between):
            score = scores.get(node.id)
            with_code = score is None or score >= best * MIN_SHARE
            piece = self._make(node, score, with_code)
            if piece is None:
                self.left_out.append(make_place(node))
                continue
            self.pieces.append(piece)
            self.nodes.append(node)
            self.used += measure_piece(piece)

    def _make(self, node: Node, score: float | None, with_code: bool) -> Piece | None:
        """Return the code of a node if it fits, else its deciding lines, its head or its name; None if none fits."""
        room = int(self.budget * (1 - LINES_SHARE)) - self.used
        share = int(self.budget * FIRST_SHARE) if not self.pieces else int(room * REST_SHARE)
        role: Role = "between" if score is None else "hit"
        for form, content, summary in self._list_forms(node, share, with_code):
            piece = Piece(make_place(node), node.end_line, role, form, content, summary, score)
            size = measure_piece(piece)
            if not self.budget or size <= (share if form in ("code", "lines") else room):
                return piece
        return None

    def _list_forms(self, node: Node, share: int, with_code: bool) -> Iterator[tuple[Form, str, str | None]]:
        """Yield the ways to show a node, the fullest first, with its docstring's summary where the text lacks it."""
        if with_code:
            yield "code", _write_code(node), None
            if node.label is Label.FUNCTION and (lines := abridge(node, self.terms, share - PLACE_TOKENS)):
                yield "lines", lines, None
        if len(self.pieces) < HEADS or not self.budget:
            head = make_head(node)
            line = " ".join((head.signature or node.content.split("\n", 1)[0]).split())
            yield "head", shorten(line.replace("( ", "(").replace(", )", ")"), LONGEST_HEAD), head.summary
        yield "name", "", None

    def keep(self, connections: Iterable[Connection]) -> tuple[Connection, ...]:
        """Return the connections whose lines fit."""
        kept = []
        for link in connections:
            size = count_tokens(format_connection(link))
            if not self.budget or self.used + size <= self.budget:
                self.used += size
                kept.append(link)
        return tuple(kept)


def _write_code(node: Node) -> str:
    """Return the code of a function with a short docstring, or of a class or module with the headers inside it."""
    shown = node
    if node.label is Label.FUNCTION:
        shown = fold_docstring(node) or node
    elif node.label in (Label.CLASS, Label.MODULE):
        shown = fold_definitions(node, with_headers=node.label is Label.CLASS).node
    return dedent(" " * node.start_col + shown.content)


def measure_piece(piece: Piece) -> int:
    """Count the tokens of a piece with the line of its place."""
    return count_tokens(write_piece(piece))


def write_piece(piece: Piece, with_source: bool = False) -> str:
    """Format a piece as text: its place, then its content."""
    place = piece.place
    marks = [*([place.source] if with_source else []), *(["a step between"] if piece.role == "between" else [])]
    mark = f"  ({', '.join(marks)})" if marks else ""
    head = spell_line(f"{place.path}:{place.line}-{piece.end_line}  {place.qualname}{mark}")
    lines = [head, piece.content] if piece.content else [head]
    return "\n".join(lines if piece.summary is None else [*lines, f"    {piece.summary}"])


def format_connection(link: Connection) -> str:
    """Format a call or use as a line of text."""
    unsure = "" if link.confidence == "certain" else f"  ({link.confidence})"
    start, end = f"{link.start.path}:{link.line}", f"{link.end.path}:{link.end.line}"
    return spell_line(f"{link.start.qualname} ({start}) -> {link.end.qualname} ({end}){unsure}")


class _Connections:
    """Connections of the shown pieces, by their ids: between them, from elsewhere, and to elsewhere."""

    def __init__(self, store: GraphStore, edges: Sequence[Edge], shown: Collection[str]) -> None:
        self._edges, self._shown = edges, shown
        ids = sorted({each for edge in edges for each in (edge.start, edge.end)})
        self._nodes = {node.id: node for node in store.get(ids)}

    def list_inside(self) -> list[Connection]:
        """List the calls between pieces."""
        return [self._name(edge) for edge in self._edges if edge.start in self._shown and edge.end in self._shown]

    def list_callers(self) -> list[Connection]:
        """List a few callers of each piece from elsewhere, tests last."""
        edges = [edge for edge in self._edges if edge.end in self._shown and edge.start not in self._shown]
        edges.sort(key=lambda edge: is_test(self._nodes[edge.start].path))
        return [self._name(edge) for edge in _take_some(edges, lambda edge: edge.end)]

    def list_uses(self) -> list[Connection]:
        """List a few classes and functions elsewhere that each piece calls, classes first."""
        edges = [edge for edge in self._edges if edge.start in self._shown and edge.end not in self._shown]
        edges.sort(key=lambda edge: self._nodes[edge.end].label is not Label.CLASS)
        return [self._name(edge) for edge in _take_some(edges, lambda edge: edge.start)]

    def _name(self, edge: Edge) -> Connection:
        start, end = make_place(self._nodes[edge.start]), make_place(self._nodes[edge.end])
        return Connection(start, end, edge.line or start.line, edge.confidence or "certain")


def _take_some(edges: Iterable[Edge], name: Callable[[Edge], str]) -> Iterator[Edge]:
    """Yield the first edges of each name."""
    counts: Counter[str] = Counter()
    for edge in edges:
        counts[name(edge)] += 1
        if counts[name(edge)] <= NAMED:
            yield edge


def _find_constants(store: GraphStore, nodes: Sequence[Node]) -> Iterator[Connection]:
    """Yield uses of constants of the same source in the pieces, where the name is unambiguous."""
    borne = {
        node.id: list(dict.fromkeys(_CONSTANT.findall(node.content)))[:NAMED]
        for node in nodes
        if node.label not in DECLARATION_LABELS
    }
    defined: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for source in sorted({node.source for node in nodes}):
        names = {name for node in nodes if node.source == source for name in borne.get(node.id, ())}
        for each in store.find_names(sorted(names), source) if names else ():
            if each.label is Label.CONSTANT:
                defined[source, each.name].append(each)
    for node in nodes:
        for name in borne.get(node.id, ()):
            known = defined[node.source, name]
            own = [each for each in known if each.path == node.path] or known
            if len(own) == 1:
                line = node.start_line + node.content[: node.content.index(name)].count("\n")
                yield Connection(make_place(node), make_place(own[0]), line, "likely")


def write_exploration(found: Exploration) -> str:
    """Format an exploration as one text."""
    several = len({piece.place.source for piece in found.pieces}) > 1
    parts = [] if found.links is None else [write_link_answers(found.links, found.links_budget)]
    parts += [write_piece(piece, several) for piece in found.pieces]
    for title, links in (("Calls between them:", found.calls), ("Called by:", found.callers), ("Uses:", found.uses)):
        if links:
            parts.append("\n".join([title, *(f"  {format_connection(link)}" for link in links)]))
    if found.left_out:
        names = [spell_line(f"{place.qualname} ({place.path}:{place.line})") for place in found.left_out[:MAX_LEFT_OUT]]
        more = len(found.left_out) - len(names)
        parts.append(f"Over the budget: {', '.join(names)}" + (f" and {more} more" if more else "") + "; see --budget")
    return "\n\n".join(parts)
