"""Describe a source in five lines after its first build, with three commands that are about its own code."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.errors import count_things
from pkg.graph.path_filter import is_product, is_test
from pkg.model import CERTAIN, Edge, Label, Node, RelationType
from pkg.quoting.hidden_characters import spell_line
from pkg.retrieval.deps.entries import find_entries
from pkg.retrieval.heads import find_text, summarise

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

SHOWN = 3  # names and entries in a line
LONGEST_QUESTION = 12  # words of a docstring that are a question
_DEFINITIONS = (Label.CLASS, Label.FUNCTION)
_REQUEST = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|WEBSOCKET|URL|command|task|signal|event|hook|python)\b")
"""Entries by which users and other programs start work; others, such as setters, are of no interest at first."""


@dataclass(frozen=True, slots=True)
class FirstLook:
    """The contents of a source in a few lines, and commands to try on it."""

    source: str
    lines: tuple[str, ...]
    commands: tuple[str, ...]  # each as typed in a shell; none for a source without functions


def look_at_source(store: GraphStore, source: str, skipped: int) -> FirstLook:
    """Describe the contents of a source: sizes, calls, entries, central definitions, and inputs that were left out.

    skipped: inputs that its build has left out. Costs one pass over the definitions and calls of the source, and over
    the texts that name a definition.
    """
    with store.snapshot():
        found = _Contents.read(store, source)
        entries = find_entries(store, source, [node for node in found.definitions if not is_test(node.path)])
        names = [each.name for each in store.sources()]
    by = [entry.by for node in found.definitions for entry in entries.get(node.id, ()) if _REQUEST.match(entry.by)]
    central = found.list_central()
    lines = (
        found.describe_size(),
        found.describe_calls(),
        f"entered from outside at {_list_first(by)}" if by else "no entries from frameworks",
        f"most called: {', '.join(f'{node.qualname} ({node.path}:{node.start_line})' for node in central[:SHOWN])}"
        if central
        else "no calls between its own functions",
        f"left out: {count_things(skipped, 'input')}; pkg stats lists them" if skipped else "nothing was left out",
    )
    end = f" --source {shlex.quote(source)}" if len(names) > 1 else ""
    return FirstLook(source, tuple(map(spell_line, lines)), tuple(each + end for each in _list_commands(central)))


@dataclass(frozen=True, slots=True)
class _Contents:
    """Definitions and calls of a source."""

    files: int
    definitions: tuple[Node, ...]  # sorted by place
    calls: tuple[Edge, ...]
    unresolved: int

    @classmethod
    def read(cls, store: GraphStore, source: str) -> _Contents:
        nodes = list(store.nodes((Label.FILE, Label.ROW, *_DEFINITIONS), source))
        edges = list(store.edges((RelationType.CALLS, RelationType.UNRESOLVED), source))
        definitions = [node for node in nodes if node.label in _DEFINITIONS]
        calls = [edge for edge in edges if edge.type is RelationType.CALLS]
        return cls(
            len(nodes) - len(definitions),
            tuple(sorted(definitions, key=lambda node: (node.path, node.start, node.id))),
            tuple(calls),
            len(edges) - len(calls),
        )

    def describe_size(self) -> str:
        """Return the numbers of files, functions and classes, and how many functions are in tests."""
        functions = [node for node in self.definitions if node.label is Label.FUNCTION]
        classes = len(self.definitions) - len(functions)
        tests = sum(is_test(node.path) for node in functions)
        counts = ((self.files, "file"), (len(functions), "function"))
        sizes = ", ".join(count_things(number, thing) for number, thing in counts)
        in_tests = f", {tests:,} of the functions in tests" if tests else ""
        return f"{sizes}, {classes:,} {'class' if classes == 1 else 'classes'}{in_tests}"

    def describe_calls(self) -> str:
        """Return the numbers of links between own functions by their confidence."""
        certain = sum(edge.confidence == CERTAIN for edge in self.calls)
        return (
            f"{count_things(len(self.calls), 'call')} between them, {certain:,} certain; {self.unresolved:,} unresolved"
        )

    def list_central(self) -> list[Node]:
        """List the definitions outside of tests and examples by the number of files with certain calls of them."""
        paths = {node.id: node.path for node in self.definitions}
        callers = {(paths.get(edge.start), edge.end) for edge in self.calls if edge.confidence == CERTAIN}
        files = Counter(end for path, end in callers if path not in (None, paths.get(end)))
        shown = [node for node in self.definitions if files[node.id] and _is_product(node)]
        return sorted(shown, key=lambda node: (-files[node.id], node.path, node.start))


def _is_product(node: Node) -> bool:
    is_private = any(name.startswith("_") for name in node.qualname.split("."))
    return is_product(node.path) and not is_private


def _list_first(words: Sequence[str]) -> str:
    """List the most frequent kinds of entries, each by its first one, as in: 12 entries: GET /x and 9 more."""
    kinds = Counter(each.split(" ", 1)[0] for each in words)
    examples = {each.split(" ", 1)[0]: each for each in reversed(words)}
    named = [f"{examples[kind]}" + (f" and {count - 1:,} more" if count > 1 else "") for kind, count in
             kinds.most_common(SHOWN)]  # fmt: skip
    return f"{count_things(len(words), 'place')}: {', '.join(named)}"


def _list_commands(central: Sequence[Node]) -> Iterator[str]:
    """Yield a search by the docstring of a function, a question about callers, and one how a class works."""
    functions = [node for node in central if node.label is Label.FUNCTION]
    for node in [node for node in functions if _ask(node)][:1]:
        yield f"pkg query {shlex.quote(_ask(node))}"
    for node in functions[:1]:
        yield f"pkg deps {shlex.quote(node.qualname)} --direction in"
    classes = Counter(node.qualname.rpartition(".")[0] for node in functions)
    for name, _ in [each for each in classes.most_common() if each[0]][:1] or [(node.name, 0) for node in central[:1]]:
        yield f"pkg explore {shlex.quote(f'how does {name} work')}"


def _ask(node: Node) -> str:
    """Return the first words of a docstring as a question; "" without one of at least three words."""
    words = summarise(find_text(node, "docstring") or "").rstrip(".").split()[:LONGEST_QUESTION]
    return " ".join(words).lower() if len(words) > 2 else ""
