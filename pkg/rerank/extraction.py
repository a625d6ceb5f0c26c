"""Find the code of a candidate: as it stands, as the rest of the query's code, in fences, or before a broken end.

P-21 in its order, and then what a model's answers need beyond it: the piece that defines what is wanted, code that
goes on where the query breaks off, and the part of an answer that was finished when its tokens ran out (U-15).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from pkg.extract.syntax import MAX_CODE, cut_tail, find_fault, parse_code
from pkg.rerank.undefined_names import find_undefined
from pkg.rerank.wanted import Definition, Question

_BEGIN = re.compile(r"^(?:@|def\b|class\b|async\b|import\b|from\b)", re.MULTILINE)
_DEFINITION = re.compile(r"^(?:@|def\b|class\b|async\b)", re.MULTILINE)
_CODE_BEGIN = re.compile(r"^(?:return|if|for|while|with|try|import|from|[A-Za-z_][\w., \[\]]*[-+*/]?=)")


@dataclass(frozen=True, slots=True)
class Extracted:
    """The code of one candidate and what was done to find it."""

    code: str
    note: str = ""
    is_cut: bool = False  # its end was broken and is left out


def extract_code(text: str, question: Question) -> Extracted:
    """Find the code of a candidate; a text without any is given back, for the syntax stage to refuse."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if len(text) > MAX_CODE or "\0" in text:
        return Extracted(text)
    found = _find_answer(text, question)
    return _add_context(found if found.code else Extracted(text), question)


def _find_answer(text: str, question: Question) -> Extracted:
    """Try the ways to read an answer, the surest first, and take the first that has what is wanted, or else any."""
    ways: list[Callable[[], Extracted]] = [
        lambda: _take_fence(text, question),
        lambda: _take_found(text),
        lambda: _take_start(text),
        lambda: _continue_stub(text, question.stub),
        lambda: _take_whole(text, None),
    ]
    if _BEGIN.search(text.lstrip("\n")) is None:
        ways.insert(0, ways.pop(3))
    kept = Extracted("")
    for take in (lambda: _take_whole(text, question.entry), *ways):
        found = take()
        tree = _parse(found.code)
        if tree is not None and _defines(tree, question.entry):
            return found
        kept = kept if kept.code else found
    return kept


def _parse(code: str) -> ast.Module | None:
    """Parse what may be code; None where there is none, or Python does not take it."""
    return parse_code(code) if code.strip() else None


def _take_whole(text: str, entry: str | None) -> Extracted:
    tree = _parse(text)
    if tree is None or not _defines(tree, entry):
        return Extracted("")
    return Extracted(text.strip("\n"))


def _defines(tree: ast.Module, entry: str | None) -> bool:
    """Tell whether code defines what is wanted, or anything where that is not known."""
    names = list_defined(tree)
    return entry in names if entry else bool(names)


def list_defined(tree: ast.Module) -> list[str]:
    """List what the module defines at its top level: functions, classes, and names that are assigned or imported."""
    names: list[str] = []
    for statement in tree.body:
        if isinstance(statement, Definition):
            names.append(statement.name)
        elif isinstance(statement, ast.Assign):
            names += [target.id for target in statement.targets if isinstance(target, ast.Name)]
        elif isinstance(statement, ast.ImportFrom):
            names += [alias.asname or alias.name for alias in statement.names]
    return names


def _continue_stub(text: str, stub: str | None) -> Extracted:
    """Take the answer for what follows the query's code; its first line may have lost its indentation."""
    body = text.strip("\n")
    if stub is None or not body.strip() or not (body[0] in " \t" or _is_body(body)):
        return Extracted("")
    whole = stub.rstrip() + "\n"
    indented = (
        [body, "    " + body] if body[0] in " \t" else ["    " + body, re.sub(r"^(?=.)", "    ", body, flags=re.M)]
    )
    for piece in indented:
        if find_fault(whole + piece) is None:
            return Extracted(whole + piece, "continues the query")
    kept = cut_tail(whole + indented[0])
    if len(kept) <= len(whole):
        return Extracted("")
    return Extracted(kept, "continues the query; its broken end is left out", is_cut=True)


def _is_body(text: str) -> bool:
    """Tell whether a text may be the body of a function whose indentation was lost: statements, and no definition."""
    return bool(_CODE_BEGIN.match(text)) and _DEFINITION.search(text) is None


def _take_fence(text: str, question: Question) -> Extracted:
    """Take the first fence or tag that defines what is wanted and needs nothing from another."""
    from pkg.extract.fences import find_fences, keep_tagged

    lines = keep_tagged(text.encode("utf-8", "replace")).split(b"\n")
    tagged = ["\n".join(line.decode("utf-8") for line in lines)] if "[PYTHON]" in text else []
    fences = [fence for fence in find_fences(lines) if fence.is_python or not fence.label]
    for code in (*("\n".join(line.decode("utf-8") for line in fence.lines) for fence in fences), *tagged):
        tree = _parse(code)
        if tree is not None and _defines(tree, question.entry) and not _list_lacking(code, tree, question):
            return Extracted(code.strip("\n"), "taken from a fence")
    return Extracted("")


def _take_found(text: str) -> Extracted:
    """Take what the reader of corpora finds: fences together, console sessions, code between prose (P-02)."""
    from pkg.extract.answers import find_code

    found = find_code(text)
    code = found.code.decode("utf-8", "replace").strip("\n")
    if not code.strip() or (found.reason and _BEGIN.search(code) is None):
        return Extracted("")
    tree = _parse(code)
    if tree is None or not list_defined(tree):
        return Extracted("")
    return Extracted(code, f"taken out of prose{f' ({found.reason})' if found.reason else ''}")


def _take_start(text: str) -> Extracted:
    """Take the code before a broken end, as of an answer whose tokens ran out."""
    from pkg.extract.fences import find_fences

    lines = text.encode("utf-8", "replace").split(b"\n")
    pieces = ["\n".join(line.decode("utf-8") for line in fence.lines) for fence in find_fences(lines)]
    for piece in (*pieces, text):
        begin = _BEGIN.search(piece)
        code = cut_tail(piece[begin.start() :]) if begin else ""
        tree = _parse(code)
        if tree is not None and any(isinstance(each, Definition) for each in tree.body):
            return Extracted(code.rstrip("\n"), "its broken end is left out", is_cut=True)
    return Extracted("")


def _list_lacking(code: str, tree: ast.Module, question: Question) -> set[str]:
    """List the names that neither the code nor the query binds."""
    return {name for name, _ in find_undefined(code, tree)} - _list_brought(question)


def _list_brought(question: Question) -> set[str]:
    """List the names that the code around a query binds."""
    tree = _parse(question.context)
    return set() if tree is None else {*list_defined(tree), *_list_modules(tree)}


def _add_context(found: Extracted, question: Question) -> Extracted:
    """Put the imports and definitions of the query before code that lacks them."""
    tree = _parse(found.code) if question.context and "__future__" not in found.code else None
    if tree is None or not {name for name, _ in find_undefined(found.code, tree)} & _list_brought(question):
        return found
    note = "; ".join(filter(None, (found.note, "with the imports and definitions of the query")))
    return Extracted(f"{question.context}\n\n{found.code}", note, found.is_cut)


def _list_modules(tree: ast.Module) -> list[str]:
    imports = [each for each in tree.body if isinstance(each, ast.Import)]
    return [(alias.asname or alias.name).partition(".")[0] for each in imports for alias in each.names]
