"""Nodes, relationships and omissions as all stores represent them: properties, sort order, lines of an export."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, replace
from typing import Any, Literal, TypeAlias

from pkg.errors import StoreError
from pkg.extract.syntax import read_literal, silence_warnings
from pkg.model import (
    LEAK_KINDS,
    Audit,
    Docstring,
    Edge,
    Generated,
    Import,
    Label,
    Leak,
    LocalError,
    Matches,
    Nested,
    Node,
    Questions,
    Skip,
    Span,
)
from pkg.units import format_id, hash_bytes

DOCSTRING_PROPERTIES = (
    "docstring", "docstring_source", "docstring_model", "docstring_prompt", "docstring_date", "docstring_comments",
)  # fmt: skip
"""Properties of a function with a generated docstring, in the order of the fields of model.Docstring."""

QUESTION_PROPERTIES = "questions", "questions_model", "questions_prompt", "questions_date"
"""Properties of a function with generated questions, in the order of the fields of model.Questions."""

GENERATED_PROPERTIES = (*DOCSTRING_PROPERTIES, *QUESTION_PROPERTIES)
"""All properties of generated texts."""

_EXPORTED = "docstring_source", "docstring", *DOCSTRING_PROPERTIES[2:], *QUESTION_PROPERTIES
"""The same in their order in an export."""

_NOWHERE = Span(0, 0, 0, 0)


def parse_docstring(literal: bytes) -> str:
    """Evaluate a docstring literal and clean its indentation; return an invalid literal unchanged."""
    try:
        with silence_warnings():
            return inspect.cleandoc(str(read_literal(literal.decode("utf-8", "replace"))))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return literal.decode("utf-8", "replace")


def find_value(node: Node) -> str:
    """Return the value of a fact: written by a model, or the text at its place."""
    value = node.properties.get("value")
    return node.content if value is None else str(value)


MAX_VALUE_LENGTH = 200  # characters of the property `value`; the content has all of it


def cut_value(text: bytes, start: int, place: Any) -> str:
    """Return the source of a constant's value or annotation on one line, truncated to MAX_VALUE_LENGTH.

    place: byte offsets [start, end) from the start of the constant, which is at `start` of the text.
    """
    first, last = place
    found = " ".join(text[start + first : start + last][: 8 * MAX_VALUE_LENGTH].decode("utf-8", "replace").split())
    return found if len(found) <= MAX_VALUE_LENGTH else f"{found[:MAX_VALUE_LENGTH]}..."


def describe_docstring(docstring: Docstring | None) -> dict[str, Any]:
    """Return the properties of a generated docstring (A-13); all None without one."""
    values: list[Any] = [None] * len(DOCSTRING_PROPERTIES)
    if docstring is not None:
        *values, comments = astuple(docstring)
        values.append(list(comments) or None)
    return dict(zip(DOCSTRING_PROPERTIES, values, strict=True))


def describe_questions(questions: Questions | None) -> dict[str, Any]:
    """Return the properties of generated questions; all None without any."""
    if questions is None:
        return dict.fromkeys(QUESTION_PROPERTIES)
    texts, *values = astuple(questions)
    return dict(zip(QUESTION_PROPERTIES, (list(texts), *values), strict=True))


def describe_generated(generated: Generated) -> dict[str, Any]:
    """Return the properties of generated texts, without those that they lack."""
    properties = describe_docstring(generated.docstring) | describe_questions(generated.questions)
    return {name: value for name, value in properties.items() if value is not None}


def describe_change(node_id: str, before: Generated, after: Generated, has_own: bool) -> dict[str, Any]:
    """Return the properties of a function that a change of its generated texts sets; None removes one.

    has_own: whether its docstring is in its code. Raise StoreError for a docstring that would replace such a one.
    """
    changed: dict[str, Any] = {}
    if before.docstring != after.docstring:
        check_undocumented(node_id, has_own)
        changed |= describe_docstring(after.docstring)
    if before.questions != after.questions:
        changed |= describe_questions(after.questions)
    return changed


def check_undocumented(node_id: str, has_own: bool) -> None:
    """Raise StoreError for a function whose docstring is in its code, which is never overwritten (A-13)."""
    if has_own:
        raise StoreError(
            f"function '{node_id}' has a docstring in its code, which is not overwritten; expected one without"
        )


def find_docstring(properties: Mapping[str, Any]) -> Docstring | None:
    """Return the generated docstring in the properties of a function; None if there is none."""
    if properties.get("docstring_model") is None:
        return None
    text, source, model, prompt, date, comments = (properties.get(name) for name in DOCSTRING_PROPERTIES)
    origin: Literal["fim", "template"] = "template" if source == "template" else "fim"
    return Docstring(str(text), origin, str(model), str(prompt), str(date), tuple(comments or ()))


def find_questions(properties: Mapping[str, Any]) -> Questions | None:
    """Return the generated questions in the properties of a function; None if there are none."""
    if properties.get("questions_model") is None:
        return None
    texts, model, prompt, date = (properties.get(name) for name in QUESTION_PROPERTIES)
    return Questions(tuple(map(str, texts or ())), str(model), str(prompt), str(date))


def find_generated(properties: Mapping[str, Any]) -> Generated:
    """Return the generated texts in the properties of a function."""
    return Generated(find_docstring(properties), find_questions(properties))


LEAKS = "leaks"
"""The property of code that leaks a solution, with the code in and around it: one text per task (A-16)."""


def write_leaks(leaks: Iterable[Leak]) -> list[str]:
    """Return leaks as the sorted texts that a node stores, such as `mbpp same_code 1.00 MBPP/135`."""
    return sorted(f"{each.benchmark} {each.kind} {each.similarity:.2f} {each.task}" for each in leaks)


def read_leaks(properties: Mapping[str, Any]) -> tuple[Leak, ...]:
    """Parse the leaks in the properties of a node."""
    parts = (text.split(" ", 3) for text in properties.get(LEAKS) or ())
    return tuple(
        Leak(benchmark, task, next(each for each in LEAK_KINDS if each == kind), float(similarity))
        for benchmark, kind, similarity, task in parts
    )


def replace_leaks(properties: Mapping[str, Any], benchmark: str, leaks: Iterable[Leak]) -> list[str]:
    """Return the texts of a node after its leaks of one benchmark are replaced."""
    kept = (each for each in read_leaks(properties) if each.benchmark != benchmark)
    return write_leaks([*kept, *leaks])


def write_audits(audits: Iterable[Audit], latest: Audit) -> str:
    """Return audits as JSON, one per benchmark, with the latest replacing the earlier one."""
    by_name = {each.benchmark: each for each in audits} | {latest.benchmark: latest}
    return json.dumps([asdict(by_name[name]) for name in sorted(by_name)], sort_keys=True)


def read_audits(text: str | None) -> tuple[Audit, ...]:
    """Parse the audits of a store."""
    return tuple(Audit(**each) for each in json.loads(text or "[]"))


def parse_import(properties: Mapping[str, Any]) -> Import:
    """Parse an import from the properties of its node, which lack its position."""
    module, name, alias, level = (properties.get(key) for key in ("module", "imported", "alias", "level"))
    return Import(_NOWHERE, module or "", name, alias, level or 0)


def make_call(node_id: str, source: str, path: str, expression: str, line: int, reason: str) -> Node:
    """Build the node of an unresolved call site, whose only position is its line."""
    content_hash = format_id(hash_bytes(expression.encode("utf-8", "replace")))
    return Node(
        node_id, Label.CALL, source, path, expression, expression, None, 0, 0, line, line, 0, expression, content_hash,
        {"reason": reason},
    )  # fmt: skip


def order_edge(edge: Edge) -> tuple[str, str, str, int, str, str]:
    """Return the sort key of a relationship in a list or an export: a total order, missing values first."""
    line = -1 if edge.line is None else edge.line
    return edge.type.value, edge.start, edge.end, line, edge.rule or "", edge.confidence or ""


def list_nested(inside: Iterable[Node]) -> tuple[Nested, ...]:
    """Return the blocks among the nodes inside a function or block, without bodies, in their order."""
    return tuple(
        Nested(each.id, each.kind or "", each.start, each.end, each.start_line, each.end_line)
        for each in inside
        if each.label is Label.BLOCK and each.kind != "body"
    )


def export_header(encoder: str, dimension: int) -> dict[str, Any]:
    """Build the first line of an export."""
    return {"type": "graph", "version": 1, "encoder": encoder, "dimension": dimension}


def export_node(node: Node, vector: list[float] | None = None) -> dict[str, Any]:
    """Build the export line of a node (docs/schema.md)."""
    line: dict[str, Any] = {"type": "node", "label": node.label.value, "id": node.id, "source": node.source}
    for name in ("path", "name", "qualname", "kind", "content_hash"):
        if getattr(node, name):
            line[name] = getattr(node, name)
    if node.start_line:
        line |= {
            name: getattr(node, name) for name in ("start", "end", "start_line", "end_line", "start_col", "content")
        }
    line |= {name: value for name, value in node.properties.items() if name not in (*GENERATED_PROPERTIES, LEAKS)}
    line |= {name: node.properties[name] for name in (*_EXPORTED, LEAKS) if name in node.properties}
    if vector is not None:
        line["vector"] = vector
    return line


def export_edge(edge: Edge) -> dict[str, Any]:
    """Build the export line of a relationship (docs/schema.md)."""
    line = {"type": "relation", "name": edge.type.value, "start": edge.start, "end": edge.end}
    facts = {"line": edge.line, "rule": edge.rule, "confidence": edge.confidence}
    return line | {name: value for name, value in facts.items() if value is not None}


def drop_below(found: Matches, threshold: float) -> Matches:
    """Remove the matches whose score is below a threshold, with the duplicates counted for them."""
    kept = tuple(match for match in found.matches if match.score >= threshold)
    return replace(found, matches=kept, folded=sum(match.same_content for match in kept))


Omission: TypeAlias = Skip | LocalError
"""What a build left out of a source; stores keep omissions as JSON in one text."""


def pack_omissions(omissions: Sequence[Omission]) -> str:
    """Return omissions as JSON, without the tracebacks of local errors."""
    rows = [{name: value for name, value in asdict(each).items() if name != "trace"} for each in omissions]
    return json.dumps(rows)


def read_skips(packed: str) -> Iterator[Skip]:
    """Yield the skipped units."""
    return (Skip(**row) for row in json.loads(packed) if "stage" not in row)


def read_errors(packed: str) -> Iterator[LocalError]:
    """Yield the local errors."""
    return (LocalError(**row) for row in json.loads(packed) if "stage" in row)
