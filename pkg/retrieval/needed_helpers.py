"""Choose among the callees of a hit (P-06): code where the question needs it, else its head, no trivial accessors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pkg.extract.syntax import find_indent, is_string_statement, parse_statements
from pkg.model import Label, Node
from pkg.retrieval.context import Excerpt
from pkg.retrieval.folds import format_fold
from pkg.retrieval.heads import find_header, locate_header, summarise
from pkg.retrieval.token_count import count_tokens

if TYPE_CHECKING:
    from pkg.encode.encoder import Vectors
    from pkg.graph.store import GraphStore

SHORT = 100  # tokens of a helper that is always shown whole: its head takes half as many
NEAR = 0.7
"""Share of the best hit's cosine with the question that a helper needs to be shown whole. Of 250 long helpers of rich,
flask and networkx, most above it did the work that the question is about, and most below did something else."""
MIN_COSINE = 0.3  # lower bound of the best hit's cosine: below it, the question is near to nothing
LONG_DOCSTRING = 4  # lines of a helper's docstring above which only its first sentence is shown
MAX_WHOLE = 1500  # tokens of the whole helpers of one hit, after the first one
MAX_HELPERS = 10  # of one hit; the longest functions call fifty


MAX_TRIVIAL = 8  # lines without docstring of a function that may be trivial: longer ones are not parsed
MAX_WRAPPING = 30  # lines of a hit that may be one call
_DOCSTRING = re.compile(
    r"[ \t]*(?:#[^\n]*)?\n\s*(?:#[^\n]*\n\s*)*"
    r"(?P<literal>[rRuU]?(?P<quotes>\"{3}|'{3})(?:[^\\]|\\.)*?(?P=quotes))[ \t]*(?=\n)",
    re.DOTALL,
)


class Candidate(NamedTuple):
    """A callee or caller of a hit, and why it was found."""

    node: Node
    reason: str
    role: str


class Chosen(NamedTuple):
    """A helper as it is to be shown; a folded one by its head."""

    node: Node
    reason: str
    role: str
    is_folded: bool = False  # whether some of its lines are folded
    is_head: bool = False  # whether its body is


class HelperChooser:
    """Choice of helpers for one question, float32 [dimension]."""

    def __init__(self, store: GraphStore, query: Vectors) -> None:
        self._store, self._query = store, query
        self._cosines: dict[str, float] = {}
        self._near = NEAR * MIN_COSINE

    def read(self, hits: Sequence[Node], helpers: Sequence[Node]) -> None:
        """Read the cosines of nodes with the question, for many hits at once."""
        nodes = (*hits, *helpers)
        ids = sorted({node.id for node in nodes if node.label in (Label.FUNCTION, Label.BLOCK)} - self._cosines.keys())
        outlines = self._store.outlines(ids, self._query) if ids else {}
        self._cosines |= {node_id: outline.cosine for node_id, outline in outlines.items()}
        self._near = max(self._near, *(NEAR * self._cosines.get(node.id, 0.0) for node in hits))

    def choose(self, hit: Excerpt, found: Sequence[Candidate]) -> tuple[list[Chosen], list[str]]:
        """Choose among the candidates of a hit, a wrapped function first; return the reasons of exclusions as well."""
        wrapped = find_wrapped(hit, found)
        trivial = [each for each in found if each is not wrapped and is_trivial(each.node)]
        kept = sorted((each for each in found if each not in trivial), key=lambda each: self._rank(hit, each, wrapped))
        chosen = list(self._fold(hit, kept[:MAX_HELPERS], wrapped))
        notes = [_format_excluded("which only return a value or do one thing", trivial)] if trivial else []
        notes += [_format_excluded(f"above {MAX_HELPERS}", kept[MAX_HELPERS:])] if kept[MAX_HELPERS:] else []
        return chosen, notes

    def _rank(self, hit: Excerpt, each: Candidate, wrapped: Candidate | None) -> tuple[int, float]:
        """Rank the wrapped function first, then by nearness to the question, then in text order."""
        if each is wrapped:
            return 0, 0.0
        return (1, -self._cosines.get(each.node.id, 0.0)) if self._is_needed(hit, each) else (2, 0.0)

    def _is_needed(self, hit: Excerpt, each: Candidate) -> bool:
        """Return whether a helper is about the question, or a private part of a hit that is."""
        is_own = _is_private_to(hit.node, each.node) and self._cosines.get(hit.node.id, 0.0) >= self._near
        return is_own or self._cosines.get(each.node.id, 0.0) >= self._near

    def _fold(self, hit: Excerpt, kept: Sequence[Candidate], wrapped: Candidate | None) -> Iterator[Chosen]:
        used = 0
        for each in kept:
            size = count_tokens(each.node.content)
            is_first = each is wrapped or not used
            is_whole = size <= SHORT or each.node.label is not Label.FUNCTION
            if not is_whole and (each is wrapped or self._is_needed(hit, each)):
                is_whole = is_first or used + size <= MAX_WHOLE
                used += size if is_whole else 0
            role = "wrapped" if each is wrapped else each.role
            folded = (fold_docstring if is_whole else fold_body)(each.node)
            is_folded = folded is not None
            yield Chosen(folded or each.node, each.reason, role, is_folded, is_folded and not is_whole)


def _format_excluded(why: str, left_out: Sequence[Candidate]) -> str:
    names = ", ".join(each.node.qualname for each in left_out)
    return f"helpers excluded, {why}: {len(left_out)} ({names})"


def _is_private_to(node: Node, helper: Node) -> bool:
    """Return whether a helper is private to the file of a node."""
    is_private = helper.name.startswith("_") and not helper.name.startswith("__")
    is_inside = "." in helper.qualname and helper.kind != "method"  # a function of a function
    return (node.source, node.path) == (helper.source, helper.path) and (is_private or is_inside)


def fold_body(node: Node) -> Node | None:
    """Reduce a function to its header and the first sentence of its docstring; None where that saves nothing."""
    header, place = find_header(node.content, node.start_col), locate_header(node.content)
    if header is None or place is None:
        return None
    margin, inner = " " * node.start_col, " " * (node.start_col + 4)
    docstring = node.properties.get("docstring")
    summary = summarise(docstring) if isinstance(docstring, str) else ""
    begin, *rest = header.split("\n")
    shown = [begin, *(margin + line for line in rest), *([inner + _quote(summary)] if summary else [])]
    if len(shown) >= node.content.count("\n"):
        return None
    fold = format_fold(node.start_line + place.last + 1, node.end_line)
    return replace(node, content="\n".join([*shown, f"{inner}pass  {fold}"]))


def fold_docstring(node: Node) -> Node | None:
    """Reduce the docstring of a function to its first sentence; None where it is short."""
    docstring, place = node.properties.get("docstring"), locate_header(node.content)
    if not isinstance(docstring, str) or docstring.count("\n") < LONG_DOCSTRING or place is None:
        return None
    found = _DOCSTRING.match(node.content, place.end)
    if found is None:  # a generated docstring, or an unusual literal
        return None
    content = node.content
    first, last = (node.start_line + content.count("\n", 0, offset) for offset in found.span("literal"))
    shown = f"{_quote(summarise(docstring))}  {format_fold(first, last)}"
    return replace(node, content=content[: found.start("literal")] + shown + content[found.end("literal") :])


def _quote(summary: str) -> str:
    return '"""' + summary.replace("\\", "\\\\").replace('"', "'") + '"""'


def find_wrapped(hit: Excerpt, found: Sequence[Candidate]) -> Candidate | None:
    """Return the function that a function or body wraps: its one statement only calls that."""
    node = hit.node
    if (
        hit.cuts
        or not found
        or node.content.count("\n") > MAX_WRAPPING
        or (node.label is not Label.FUNCTION and node.kind != "body")
    ):
        return None
    name = _find_called(_parse_body(node))
    named = [each for each in found if each.role == "callee" and each.node.name == name]
    return named[0] if len(named) == 1 and named[0].node.label is Label.FUNCTION else None


def _find_called(body: Sequence[ast.stmt]) -> str | None:
    """Return the name of the function that the only statement of a body calls last."""
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr):
        return None
    value = body[0].value
    while isinstance(value, ast.Await | ast.YieldFrom):
        value = value.value
    if not isinstance(value, ast.Call):
        return None
    called = value.func
    return called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else None


def is_trivial(node: Node) -> bool:
    """Return whether a method does one thing that its name says: a property, a special method, an accessor.

    Constructors and ``__call__`` are not trivial: they do the work that their caller is about.
    """
    if node.kind != "method" or node.name in ("__init__", "__new__", "__call__"):
        return False
    docstring = str(node.properties.get("docstring") or "")
    if node.content.count("\n") - docstring.count("\n") > MAX_TRIVIAL:
        return False
    body = _parse_body(node)
    if len(body) != 1 or hasattr(body[0], "body"):
        return False
    is_special = node.name.startswith("__") and node.name.endswith("__")
    return is_special or "property" in _list_decorators(node) or _is_accessor(body[0])


def _is_accessor(statement: ast.stmt) -> bool:
    """Return whether a statement returns a name or an attribute, without a call."""
    value = statement.value if isinstance(statement, ast.Return) else None
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name)


def _list_decorators(node: Node) -> set[str]:
    """Return the last parts of the names of a function's decorators."""
    lines = (line.strip() for line in node.content.split("\n"))
    return {line[1:].partition("(")[0].rpartition(".")[2] for line in lines if line.startswith("@")}


def _parse_body(node: Node) -> list[ast.stmt]:
    """Return the statements of a function or block without its docstring; none where Python cannot parse it."""
    content = node.content.encode("utf-8", "replace")
    body = parse_statements(content, find_indent(content, node.start_col))
    if node.label is Label.FUNCTION and body and isinstance(body[0], ast.FunctionDef | ast.AsyncFunctionDef):
        body = body[0].body
    return body[1:] if body and is_string_statement(body[0]) else body
