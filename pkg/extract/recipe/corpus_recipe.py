"""The use case of `pkg corpus`: write rows and packages into one file for `pkg build`, counting losses (P-01)."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import IO

from pkg.errors import InputError, PathError, UsageError, refuse_file
from pkg.extract.answers import find_code
from pkg.extract.files import decode_source
from pkg.extract.python import extract_unit
from pkg.extract.recipe.distributions import Package, find_packages
from pkg.extract.recipe.docstring_removal import remove_spans, summarise_docstring
from pkg.extract.recipe.licences import UNKNOWN
from pkg.extract.records import Fields, Item, is_corpus, name_place, name_row, open_records
from pkg.extract.rows import CODE_FIELDS
from pkg.model import Class, CodeUnit, Function, Skip, Status

_LICENCE_FIELDS = ("licence", "license")
SHOWN = 20  # lines listed of skipped rows


@dataclass(frozen=True, slots=True)
class RecipeOptions:
    """Selection of rows, and defaults for rows without a licence."""

    docstrings: bool = True  # keep docstrings in the code of packages
    documented: bool = False  # only functions of packages that have a docstring
    any_licence: bool = False  # packages of any licence
    licence: str | None = None  # of rows without one


@dataclass(slots=True)
class CorpusReport:
    """Counts of written rows, and of skipped ones by reason."""

    rows: int = 0
    duplicates: int = 0  # rows with the answer of an earlier one
    without_python: int = 0  # rows without Python in the answer
    undocumented: int = 0
    unreadable: int = 0
    first_unreadable: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)  # licences by package
    sources: dict[str, int] = field(default_factory=dict)  # rows by source
    licences: dict[str, int] = field(default_factory=dict)  # rows by licence

    def count(self, row: CorpusRow) -> None:
        """Count a written row."""
        self.rows += 1
        self.sources[row.source] = self.sources.get(row.source, 0) + 1
        self.licences[row.licence] = self.licences.get(row.licence, 0) + 1

    def skip(self, skip: Skip) -> None:
        """Count a row that cannot be read."""
        self.unreadable += 1
        if len(self.first_unreadable) < SHOWN:
            self.first_unreadable.append(str(skip))


def make_corpus(paths: Sequence[str], output: str, options: RecipeOptions | None = None) -> CorpusReport:
    """Write the rows of files and packages into one file of JSON lines, which is replaced only when it is complete.

    paths: files of rows, such as those with instruction, input and output; wheels, source distributions, folders, and
    names of installed packages. The same input yields the same bytes. Raises PathError for files that cannot be read or
    written, UsageError if the output is one of the inputs, InputError if no row is left.
    """
    options = options or RecipeOptions()
    if any(os.path.exists(path) and os.path.realpath(path) == os.path.realpath(output) for path in paths):
        raise UsageError(f"{output} is one of the files that are read; expected another file to write to")
    report, work = CorpusReport(), f"{output}.{os.getpid()}.tmp"
    try:
        with open(work, "x", encoding="utf-8") as file:
            _write_rows(file, paths, options, report)
        if not report.rows:
            raise InputError(f"no rows for {output}: {describe_losses(report) or 'nothing was read'}")
        os.replace(work, output)
    except OSError as fault:
        raise refuse_file(output, fault) from fault
    finally:
        Path(work).unlink(missing_ok=True)
    return report


def describe_losses(report: CorpusReport) -> str:
    """Describe the skipped rows in one line."""
    refused = ", ".join(f"{name} ({licence})" for name, licence in report.refused.items())
    counts = {
        "duplicates": report.duplicates,
        "without Python": report.without_python,
        "without docstring": report.undocumented,
        f"unreadable (the first: {next(iter(report.first_unreadable), '')})": report.unreadable,
        f"refused for the licence, which --any-licence takes: {refused}": len(report.refused),
    }
    return "; ".join(f"{count:,} {what}" for what, count in counts.items() if count)


def _write_rows(file: IO[str], paths: Sequence[str], options: RecipeOptions, report: CorpusReport) -> None:
    seen, ids = set[bytes](), Counter[str]()
    for row in _read_all(paths, options, report):
        digest = blake2b(row.output.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest in seen:
            report.duplicates += 1
            continue
        seen.add(digest)
        ids[row.id] += 1
        if ids[row.id] > 1:
            row = replace(row, id=f"{row.id}#{ids[row.id]}")
        report.count(row)
        file.write(json.dumps(asdict(row)) + "\n")


def _read_all(paths: Sequence[str], options: RecipeOptions, report: CorpusReport) -> Iterator[CorpusRow]:
    for path in paths:
        yield from (_read_alpaca if is_corpus(path) else _read_packages)(path, options, report)


def _read_packages(path: str, options: RecipeOptions, report: CorpusReport) -> Iterator[CorpusRow]:
    """Yield rows for the functions of the packages at a path; packages under other licences are refused."""
    for package in find_packages(path):
        if not (package.licence.is_permissive or options.any_licence):
            report.refused[package.source] = package.licence.name
            continue
        for skip in package.skipped:
            report.skip(skip)
        for row in list_function_rows(package, options.docstrings):
            if isinstance(row, Skip):
                report.skip(row)
            elif options.documented and not row.instruction:
                report.undocumented += 1
            else:
                yield row


def _read_alpaca(path: str, options: RecipeOptions, report: CorpusReport) -> Iterator[CorpusRow]:
    """Yield the rows of a file whose answers contain Python, unchanged."""
    stem = Path(path).name.partition(".")[0] if path != "-" else "stdin"
    with closing(open_records(path)) as items:
        for item in items:
            row = _make_row(path, stem, item, options)
            if isinstance(row, Skip):
                report.skip(row)
            elif find_code(row.output).status is Status.FAILED:
                report.without_python += 1
            else:
                yield row


def _make_row(path: str, stem: str, item: Item, options: RecipeOptions) -> CorpusRow | Skip:
    if isinstance(item, Skip):
        return Skip(f"{path}, {item.path}", item.reason)
    index, fields = item
    output = next((text for name in CODE_FIELDS if (text := _read_text(fields, name))), None)
    if output is None:
        found = ", ".join(list(fields)[:SHOWN]) or "none"
        return Skip(f"{path}, {name_place(path, index)}", f"no answer, such as 'output' (found: {found})")
    own = next((fields[name] for name in ("id", "_id") if name in fields), None)
    name = str(own) if isinstance(own, str | int) and own != "" else f"{stem}-{name_row(index)}"
    licence = next((text for name in _LICENCE_FIELDS if (text := _read_text(fields, name))), "")
    return CorpusRow(
        name,
        _read_text(fields, "instruction"),
        _read_text(fields, "input"),
        output,
        _read_text(fields, "source") or stem,
        licence or options.licence or UNKNOWN,
    )


def _read_text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


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
