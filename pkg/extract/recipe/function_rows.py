"""Make a row of each function of a package: its code, inside the headers of its classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pkg.errors import PathError
from pkg.extract.files import decode_source
from pkg.extract.python import extract_unit
from pkg.extract.recipe.distributions import Package
from pkg.extract.recipe.docstring_removal import remove_spans, summarise_docstring
from pkg.model import Class, CodeUnit, Function, Skip, Status


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A row of a corpus to write: an answer with its question, its source, and its licence."""

    id: str
    instruction: str
    input: str
    output: str
    source: str
    licence: str


def list_function_rows(package: Package, with_docstrings: bool = True) -> Iterator[CorpusRow | Skip]:
    """Yield a row for each function and method that is not nested in a function, and a Skip for unreadable files.

    with_docstrings: keep docstrings in the code; else they are only in the instruction of the row.
    """
    for entry in package.entries:
        place = f"{package.source}/{entry.path}"
        try:
            text, _ = decode_source(entry.read())
        except PathError as fault:
            yield Skip(place, str(fault))
            continue
        unit = extract_unit(text, with_summary=False)
        if unit.status is Status.FAILED:
            yield Skip(place, unit.reason or "holds no Python")
        for function in unit.definitions:
            if isinstance(function, Function) and (owners := _list_owners(unit, function)) is not None:
                code = cut_function(unit, function, owners, with_docstrings)
                if code is not None:
                    summary = summarise_docstring(unit.text, function)
                    name = f"{package.source.replace(' ', '-')}/{entry.path}::{function.qualname}"
                    yield CorpusRow(name, summary, "", code, package.source, package.licence.name)


def _list_owners(unit: CodeUnit, function: Function) -> list[str] | None:
    """List the classes around a function, outermost first; None for one nested in another function."""
    owners, parent = list[str](), function.parent
    while parent is not None:
        above = unit.definitions[parent]
        if not isinstance(above, Class):
            return None
        owners.append(above.name)
        parent = above.parent
    return owners[::-1]


def cut_function(unit: CodeUnit, function: Function, owners: list[str], with_docstrings: bool = True) -> str | None:
    """Return the code of a function below the headers of its classes; None if it does not parse, or is empty."""
    start = unit.text.rfind(b"\n", 0, function.span.start) + 1
    if unit.text[start : function.span.start].strip():
        return None  # it follows other code on its line
    spans = [] if with_docstrings else _list_docstrings(unit, function)
    code = remove_spans(unit.text, start, function.span.end, spans).rstrip() + b"\n"
    head = b"".join(b" " * depth + b"class %s:\n" % name.encode() for depth, name in enumerate(owners))
    is_indented = code[:1] in b" \t"
    if is_indented and not owners:
        head = b"if True:\n"  # it was in a compound statement
    whole = head + code
    found = extract_unit(whole, with_summary=False)
    if found.status is not Status.OK or not any(block.kind == "body" for block in found.blocks):
        return None
    return whole.decode("utf-8", "replace")


def _list_docstrings(unit: CodeUnit, function: Function) -> list[tuple[int, int]]:
    """List the docstrings of a function and of nested definitions."""
    return [
        (each.docstring.start, each.docstring.end)
        for each in unit.definitions
        if each.docstring and function.span.start <= each.span.start and each.span.end <= function.span.end
    ]
