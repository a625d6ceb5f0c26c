"""Summarise a hit: the headers of its function and class, and the first sentence of the docstring."""

from __future__ import annotations

import re
from collections.abc import Sequence
from inspect import cleandoc
from typing import TYPE_CHECKING, NamedTuple

from pkg.model import Hit, Label, Node, RelationType
from pkg.units import find_owner

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

LONGEST_SUMMARY = 200  # characters: a longer first sentence is an enumeration, or lacks its full stop
_SENTENCE_END = re.compile(r"[.!?](?=\s)")
_SHORT_FORM = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|aka|approx|resp|[A-Za-z])\.$", re.IGNORECASE)
_SHOWN_DECORATORS = re.compile(r"@(?:property|(?:abstract)?(?:class|static)method|abstractmethod)\b")
"""Decorators that affect how a function is called."""


_MARK = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r"|#[^\n]*|[][(){}:]|\b(?:def|class)\b",
    re.DOTALL,
)
"""Tokens that determine the end of a header: strings and comments, which hide others, brackets, colons, keywords."""
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class Head(NamedTuple):
    """Summary of a hit: header of its function, header of the class around it, first sentence of the docstring."""

    signature: str | None = None
    class_header: str | None = None
    summary: str | None = None


def read_owners(store: GraphStore, nodes: Sequence[Node]) -> list[Node]:
    """Return the function of each block; any other node itself."""
    known = {node.id: node for node in nodes}
    owners = [find_owner(node.id, node.label, node.name) for node in nodes]
    missing = sorted(set(owners) - known.keys())
    known |= {node.id: node for node in store.get(missing)} if missing else {}
    return [known[owner] for owner in owners]


def read_heads(store: GraphStore, nodes: Sequence[Node]) -> list[Head]:
    """Read the heads of functions and blocks, in three store queries."""
    owners = read_owners(store, nodes)
    classes = _read_classes(store, list({owner.id: owner for owner in owners}.values()))
    return [make_head(owner, classes.get(owner.id)) for owner in owners]


def _read_classes(store: GraphStore, functions: Sequence[Node]) -> dict[str, Node]:
    """Read the class of each method, by the id of the method."""
    methods = [node.id for node in functions if node.kind == "method"]
    edges = store.neighbours(methods, (RelationType.CONTAINS,), "in") if methods else []
    outer = {node.id: node for node in store.get(sorted({edge.start for edge in edges}))}
    return {edge.end: outer[edge.start] for edge in edges if outer[edge.start].label is Label.CLASS}


def make_head(definition: Node, around: Node | None = None) -> Head:
    """Build the head of a function or class; other nodes have no signature."""
    docstring = find_text(definition, "docstring")
    summary = summarise(docstring) if docstring is not None else ""
    header = find_header(around.content, around.start_col) if around is not None else None
    is_definition = definition.label in (Label.FUNCTION, Label.CLASS)
    signature = find_header(definition.content, definition.start_col) if is_definition else None
    return Head(signature, header, summary or None)


def find_text(node: Node, name: str) -> str | None:
    """Return a property of a node if it is a text, else None."""
    found = node.properties.get(name)
    return found if isinstance(found, str) else None


def list_unshown(hit: Hit) -> list[str]:
    """List headers and summary of a hit that its shown code does not include."""
    is_said = hit.has_code and hit.label != Label.BLOCK.value  # the signature, and a docstring in the code
    is_written = hit.docstring_source not in (None, "human", "none")
    texts = hit.class_header, None if is_said else hit.signature, None if is_said and not is_written else hit.summary
    return [text for text in texts if text]


def find_header(content: str, column: int = 0) -> str | None:
    """Return the header of a function or class, up to its colon, as written; None where there is none.

    column: that of its first line, removed from the lines below as well. Of its decorators only those are kept that
    affect how it is called. Works for Python 2 too.
    """
    found = locate_header(content)
    if found is None:
        return None
    lines = content[: found.end].split("\n")
    decorators = [line.strip() for line in lines[: found.first] if _SHOWN_DECORATORS.match(line.strip())]
    begin, *rest = lines[found.first :]
    return "\n".join([*decorators, begin.strip(), *(_cut_margin(line, column).rstrip() for line in rest)])


def _cut_margin(line: str, column: int) -> str:
    return line.lstrip() if line[:column].strip() else line[column:]


class HeaderSpan(NamedTuple):
    """HeaderSpan of a header: its first and last line, from 0, and the offset after its colon."""

    first: int
    last: int
    end: int


def locate_header(content: str) -> HeaderSpan | None:
    """Find the header of a function or class without a full parse; None where there is none."""
    begin, depth = -1, 0
    for found in _MARK.finditer(content):
        text = found[0]
        if begin < 0:
            begin = found.start() if text in ("def", "class") and not depth else -1
        elif text == ":" and not depth:
            return HeaderSpan(content.count("\n", 0, begin), content.count("\n", 0, found.end()), found.end())
        depth += (text in _OPENING) - (text in _CLOSING)
    return None


def summarise(docstring: str) -> str:
    """Return the first sentence of a docstring on one line, truncated where it is very long."""
    paragraph = cleandoc(docstring).split("\n\n", 1)[0]
    text = " ".join(paragraph.split())
    for found in _SENTENCE_END.finditer(text):
        if not _SHORT_FORM.search(text[: found.start() + 1]):
            text = text[: found.start() + 1]
            break
    return text if len(text) <= LONGEST_SUMMARY else f"{text[:LONGEST_SUMMARY].rstrip()} ..."
