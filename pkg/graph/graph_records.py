"""What every store makes of its nodes and relationships: docstrings, calls, orders, matches, lines of an export."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, replace
from typing import Any, Literal

from pkg.errors import StoreError
from pkg.extract.syntax import read_literal, silence_warnings
from pkg.model import LEAK_KINDS, Audit, Docstring, Edge, Import, Label, Leak, Matches, Nested, Node, Span
from pkg.units import format_id, hash_bytes

DOCSTRING_PROPERTIES = (
    "docstring", "docstring_source", "docstring_model", "docstring_prompt", "docstring_date", "docstring_comments",
)  # fmt: skip
"""The properties of a function that a docstring was written for, in the order of the fields of model.Docstring."""

_EXPORTED_DOCSTRING = "docstring_source", "docstring", *DOCSTRING_PROPERTIES[2:]
"""Their order in an export, whatever the order in which a store gives them."""

_NOWHERE = Span(0, 0, 0, 0)


def parse_docstring(literal: bytes) -> str:
    """Evaluate a docstring literal and clean its indentation; a literal that Python refuses stays as written."""
    try:
        with silence_warnings():
            return inspect.cleandoc(str(read_literal(literal.decode("utf-8", "replace"))))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return literal.decode("utf-8", "replace")


MAX_VALUE_LENGTH = 200  # characters of a value that a node tells; its content has all of it


def cut_value(text: bytes, start: int, place: Any) -> str:
    """Give the source of the value or annotation of a constant on one line, a long one cut.

    place: byte offsets [start, end) from the start of the constant in the text, which is at `start`.
    """
    first, last = place
    found = " ".join(text[start + first : start + last][: 8 * MAX_VALUE_LENGTH].decode("utf-8", "replace").split())
    return found if len(found) <= MAX_VALUE_LENGTH else f"{found[:MAX_VALUE_LENGTH]}..."


def describe_docstring(docstring: Docstring | None) -> dict[str, Any]:
    """Give the properties of a function that a docstring was written for (A-13); without one each has no value."""
    values: list[Any] = [None] * len(DOCSTRING_PROPERTIES)
    if docstring is not None:
        *values, comments = astuple(docstring)
        values.append(list(comments) or None)
    return dict(zip(DOCSTRING_PROPERTIES, values, strict=True))


def check_undocumented(node_id: str, has_own: bool) -> None:
    """Refuse to write over what a person wrote: a StoreError for a function that has a docstring of its own (A-13)."""
    if has_own:
        raise StoreError(f"function '{node_id}' has a docstring of its own, which stays; expected one without")


def find_docstring(properties: Mapping[str, Any]) -> Docstring | None:
    """Read from the properties of a function the docstring that was written for it; None where there is none."""
    if properties.get("docstring_model") is None:
        return None
    text, source, model, prompt, date, comments = (properties.get(name) for name in DOCSTRING_PROPERTIES)
    origin: Literal["fim", "template"] = "template" if source == "template" else "fim"
    return Docstring(str(text), origin, str(model), str(prompt), str(date), tuple(comments or ()))


LEAKS = "leaks"
"""The property of what gives a solution away, and of what lies in it and around it: a text for each task (A-16)."""


def write_leaks(leaks: Iterable[Leak]) -> list[str]:
    """Write leaks as the sorted texts that a node carries, such as `mbpp same_code 1.00 MBPP/135`."""
    return sorted(f"{each.benchmark} {each.kind} {each.similarity:.2f} {each.task}" for each in leaks)


def read_leaks(properties: Mapping[str, Any]) -> tuple[Leak, ...]:
    """Read the leaks that a node carries."""
    return tuple(_read_leak(text) for text in properties.get(LEAKS) or ())


def _read_leak(text: str) -> Leak:
    benchmark, told, similarity, task = text.split(" ", 3)
    return Leak(benchmark, task, next(kind for kind in LEAK_KINDS if kind == told), float(similarity))


def replace_leaks(properties: Mapping[str, Any], benchmark: str, leaks: Iterable[Leak]) -> list[str]:
    """Give the texts of a node whose leaks of one benchmark are others now; those of other benchmarks stay."""
    kept = (each for each in read_leaks(properties) if each.benchmark != benchmark)
    return write_leaks([*kept, *leaks])


def write_audits(audits: Iterable[Audit], latest: Audit) -> str:
    """Write audits as JSON, one of each benchmark, the latest in the place of the one before."""
    by_name = {each.benchmark: each for each in audits} | {latest.benchmark: latest}
    return json.dumps([asdict(by_name[name]) for name in sorted(by_name)], sort_keys=True)


def read_audits(text: str | None) -> tuple[Audit, ...]:
    """Read the audits that a store keeps."""
    return tuple(Audit(**each) for each in json.loads(text or "[]"))


def parse_import(properties: Mapping[str, Any]) -> Import:
    """Read an import from the properties of its node; where it stands they do not tell."""
    module, name, alias, level = (properties.get(key) for key in ("module", "imported", "alias", "level"))
    return Import(_NOWHERE, module or "", name, alias, level or 0)


def make_call(node_id: str, source: str, path: str, expression: str, line: int, reason: str) -> Node:
    """Make the node of a call site that could not be bound; of the code it knows the line alone."""
    content_hash = format_id(hash_bytes(expression.encode("utf-8", "replace")))
    return Node(
        node_id, Label.CALL, source, path, expression, expression, None, 0, 0, line, line, 0, expression, content_hash,
        {"reason": reason},
    )  # fmt: skip


def order_edge(edge: Edge) -> tuple[str, str, str, int, str, str]:
    """Give the place of a relationship in a list or an export: a total order, what is missing first."""
    line = -1 if edge.line is None else edge.line
    return edge.type.value, edge.start, edge.end, line, edge.rule or "", edge.confidence or ""


def list_nested(inside: Iterable[Node]) -> tuple[Nested, ...]:
    """List the blocks of what lies inside a function or block, but for bodies, in that order."""
    return tuple(
        Nested(each.id, each.kind or "", each.start, each.end, each.start_line, each.end_line)
        for each in inside
        if each.label is Label.BLOCK and each.kind != "body"
    )


def export_header(encoder: str, dimension: int) -> dict[str, Any]:
    """Make the first line of an export."""
    return {"type": "graph", "version": 1, "encoder": encoder, "dimension": dimension}


def export_node(node: Node, vector: list[float] | None = None) -> dict[str, Any]:
    """Make the line of a node (docs/schema.md)."""
    line: dict[str, Any] = {"type": "node", "label": node.label.value, "id": node.id, "source": node.source}
    for name in ("path", "name", "qualname", "kind", "content_hash"):
        if getattr(node, name):
            line[name] = getattr(node, name)
    if node.start_line:
        line |= {
            name: getattr(node, name) for name in ("start", "end", "start_line", "end_line", "start_col", "content")
        }
    line |= {name: value for name, value in node.properties.items() if name not in (*DOCSTRING_PROPERTIES, LEAKS)}
    line |= {name: node.properties[name] for name in (*_EXPORTED_DOCSTRING, LEAKS) if name in node.properties}
    if vector is not None:
        line["vector"] = vector
    return line


def export_edge(edge: Edge) -> dict[str, Any]:
    """Make the line of a relationship (docs/schema.md)."""
    line = {"type": "relation", "name": edge.type.value, "start": edge.start, "end": edge.end}
    facts = {"line": edge.line, "rule": edge.rule, "confidence": edge.confidence}
    return line | {name: value for name, value in facts.items() if value is not None}


def drop_below(found: Matches, floor: float) -> Matches:
    """Leave out the matches whose score is below a floor, and what was folded into them."""
    kept = tuple(match for match in found.matches if match.score >= floor)
    return replace(found, matches=kept, folded=sum(match.same_content for match in kept))
