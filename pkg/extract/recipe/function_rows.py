"""Make a row of each function of a package: its code alone, in the class that it stands in."""

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
    """One row of a corpus as it is written: an answer with what it answers, where it comes from, and its licence."""

    id: str
    instruction: str
    input: str
    output: str
    source: str
    licence: str


def list_function_rows(package: Package, with_docstrings: bool = True) -> Iterator[CorpusRow | Skip]:
    """Give a row for each function and method outside of functions; what cannot be read or parsed is a Skip.

    with_docstrings: leave docstrings where they are; else they stand in the instruction of the row alone.
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
    """List the classes around a function, the outermost first; None for one inside of another function."""
    owners, parent = list[str](), function.parent
    while parent is not None:
        above = unit.definitions[parent]
        if not isinstance(above, Class):
            return None
        owners.append(above.name)
        parent = above.parent
    return owners[::-1]


def cut_function(unit: CodeUnit, function: Function, owners: list[str], with_docstrings: bool = True) -> str | None:
    """Cut a function out, below the headers of its classes; None where it does not parse so, or nothing is left."""
    start = unit.text.rfind(b"\n", 0, function.span.start) + 1
    if unit.text[start : function.span.start].strip():
        return None  # it stands behind other code on its line
    spans = [] if with_docstrings else _list_docstrings(unit, function)
    code = remove_spans(unit.text, start, function.span.end, spans).rstrip() + b"\n"
    head = b"".join(b" " * depth + b"class %s:\n" % name.encode() for depth, name in enumerate(owners))
    is_indented = code[:1] in b" \t"
    if is_indented and not owners:
        head = b"if True:\n"  # it stood in a compound statement
    whole = head + code
    found = extract_unit(whole, with_summary=False)
    if found.status is not Status.OK or not any(block.kind == "body" for block in found.blocks):
        return None
    return whole.decode("utf-8", "replace")


def _list_docstrings(unit: CodeUnit, function: Function) -> list[tuple[int, int]]:
    """List the docstrings of a function and of what stands in it."""
    return [
        (each.docstring.start, each.docstring.end)
        for each in unit.definitions
        if each.docstring and function.span.start <= each.span.start and each.span.end <= function.span.end
    ]
