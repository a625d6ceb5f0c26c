"""Find the code of a candidate: as it stands, as the rest of the query's code, in fences, or before a broken end.

P-21 in its order, and then what a model's answers need beyond it: not what was thought but what was said, the version
that the answer ends with (pkg.rerank.versions), code that goes on where the query breaks off, the part of an answer
that was finished when its tokens ran out, and definitions apart from the lines that use them (U-15).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from textwrap import dedent

from pkg.extract.syntax import MAX_CODE, cut_tail, find_fault, parse_code
from pkg.rerank.candidates import Extracted
from pkg.rerank.drivers import find_driver
from pkg.rerank.pieces import BEGIN, FENCED, find_pieces, shows_pieces
from pkg.rerank.reasoning import leave_reasoning
from pkg.rerank.stub_continuation import continue_stub, is_prose
from pkg.rerank.undefined_names import find_undefined
from pkg.rerank.versions import list_piece_versions, split_redefinitions
from pkg.rerank.wanted import Definition, Question
from pkg.rerank.wrappings import list_unwrapped

_DEFINITION = re.compile(r"^(?:@|def\b|class\b|async\b)", re.MULTILINE)
_READS = re.compile(r"\binput\(|\bstdin\b|\bopen\(0\)")
MOST_TRIED = 2 * MAX_CODE  # characters behind lines at which code may begin; each try compiles what follows one


def extract_code(text: str, question: Question) -> Extracted:
    """Find the code that an answer means; a text without any is given back, for the syntax stage to refuse."""
    return list_versions(text, question)[0]


def list_versions(text: str, question: Question) -> tuple[Extracted, ...]:
    """List the versions of the code that an answer shows, at least one, what it means first.

    Behind each that has lines which only use what is wanted stands the same without them. Which one holds, the
    examples of the query say (pkg.rerank.version_choice).
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if len(text) > MAX_CODE or "\0" in text:
        return (Extracted(text),)
    spoken = leave_reasoning(text)
    found = _find_unwrapped(spoken.text, question)
    if not found and spoken.thought:
        found = [_note(each, "taken out of its reasoning") for each in _find_unwrapped(spoken.thought, question)]
    if spoken.is_unfinished:
        found = [replace(each, is_cut=True) for each in found]
    if not found:
        return (_find_broken(text),)
    whole = [_add_context(each, question) for each in found]
    if len(whole) > 1:
        whole = [_note(each, f"one of {len(whole)} versions that are looked at") for each in whole]
    return tuple(each for version in whole for each in _list_driven(version, question))


def _note(found: Extracted, word: str) -> Extracted:
    return replace(found, note="; ".join(filter(None, (found.note, word))))


def _list_driven(found: Extracted, question: Question) -> list[Extracted]:
    """Give a version, and where lines below only use what it defines also the version without them."""
    tree = None if question.is_script else _parse(found.code)
    driver = find_driver(found.code, tree, question.entry) if tree is not None else None
    if driver is None:
        return [found]
    bare = _note(found, f"judged by its definitions, without the lines that use them ({driver.line})")
    return [
        replace(found, driver=driver.line),
        replace(bare, code=driver.bare, driver=driver.line, is_bare=True),
    ]


def _find_unwrapped(text: str, question: Question) -> list[Extracted]:
    """Read an answer as it stands, or else without what it is wrapped in: the first reading with what is wanted."""
    found = _find_answer(text, question)
    has_answer = bool(found) and _is_answer(found[0].code, question)
    if has_answer and not found[0].is_cut:
        return found
    for unwrapped, note in list_unwrapped(text):
        inner = _find_answer(unwrapped, question)
        if inner and _is_answer(inner[0].code, question) and not (has_answer and inner[0].is_cut):
            return [_note(each, note) for each in inner]
        found = found or [_note(each, note) for each in inner]
    return found


def _find_answer(text: str, question: Question) -> list[Extracted]:
    """Try the ways to read an answer, the surest first, and take the first that has what is wanted, or else any."""
    if question.is_script:
        programs = [each for each in _take_programs(text) if _is_answer(each.code, question)]
        if programs:
            return programs
    ways: list[Callable[[], list[Extracted]]] = [
        lambda: _take_pieces(text, question),
        lambda: _take_found(text),
        lambda: _take_start(text, question.entry),
        lambda: continue_stub(text, question),
        lambda: _take_indented(text),
        lambda: _take_whole(text, None),
    ]
    if BEGIN.search(text.lstrip("\n")) is None:
        ways.insert(0, ways.pop(3))
    kept: list[Extracted] = []
    for take in (lambda: _take_whole(text, question.entry), *ways):
        found = take()
        if found and _is_answer(found[0].code, question):
            return [each for version in found for each in _split(version, question)]
        kept = kept or found
    return kept


def _is_answer(code: str, question: Question) -> bool:
    """Return whether code is an answer: a definition, or a program that does something."""
    if not question.is_script:
        return _has_wanted(code, question.entry)
    tree = _parse(code)
    return tree is not None and any(isinstance(node, ast.Call) for node in ast.walk(tree))


def _has_wanted(code: str, entry: str | None) -> bool:
    tree = _parse(code)
    return tree is not None and _defines(tree, entry)


def _split(found: Extracted, question: Question) -> list[Extracted]:
    """Give code that defines what is wanted several times with each of these definitions alone as well."""
    tree = _parse(found.code)
    codes = split_redefinitions(found.code, tree, question) if tree is not None else [found.code]
    return [replace(found, code=each) for each in codes]


def _find_broken(text: str) -> Extracted:
    """Give what Python refuses: the last fence where that looks like code, or else all of the text."""
    broken = [each for each in find_pieces(text) if each.sureness <= FENCED and BEGIN.search(each.text)]
    return Extracted(broken[-1].text, "taken from a fence") if broken else Extracted(text)


def _parse(code: str) -> ast.Module | None:
    """Parse what may be code; None where there is none, or Python does not take it."""
    return parse_code(code) if code.strip() else None


def _take_whole(text: str, entry: str | None) -> list[Extracted]:
    return [Extracted(text.strip("\n"))] if _has_wanted(text, entry) else []


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


def _take_pieces(text: str, question: Question) -> list[Extracted]:
    """Take the versions that fences and tags make, or else one that goes on where the query breaks off."""
    if not shows_pieces(text):
        return []
    pieces = find_pieces(text)
    versions = list_piece_versions(pieces, question, _list_brought(question))
    if versions:
        return [_describe(each.code, each.is_cut) for each in versions]
    bodies = [each.text for each in reversed(pieces) if each.sureness <= FENCED]
    return next(filter(None, (continue_stub(each, question) for each in bodies)), [])


def _take_programs(text: str) -> list[Extracted]:
    """Take an answer as a program: all of it, or the last fence that reads something, and the others after it."""
    if _parse(text) is not None:
        return [Extracted(text.strip("\n"))]
    pieces = [each for each in find_pieces(text) if each.sureness <= FENCED and each.tree is not None]
    order = [*reversed(pieces)]
    order.sort(key=lambda each: not _READS.search(each.code))
    return [_describe(each.code, each.is_cut) for each in order]


def _describe(code: str, is_cut: bool) -> Extracted:
    return Extracted(code, f"taken from a fence{'; a broken end is left out' if is_cut else ''}", is_cut)


def _take_found(text: str) -> list[Extracted]:
    """Take what the reader of corpora finds: fences together, console sessions, code between prose (P-02)."""
    from pkg.extract.answers import find_code

    found = find_code(text)
    code = found.code.decode("utf-8", "replace").strip("\n")
    if not code.strip() or (found.reason and BEGIN.search(code) is None):
        return []
    tree = _parse(code)
    if tree is None or not list_defined(tree):
        return []
    note = f"taken out of prose{f' ({found.reason})' if found.reason else ''}"
    if _ends_broken(text, code):
        return [Extracted(code, f"{note}; its broken end is left out", is_cut=True)]
    return [Extracted(code, note)]


def _take_indented(text: str) -> list[Extracted]:
    """Take code that is told from prose by its indentation alone, as in Markdown."""
    if BEGIN.search(text):
        return []
    lines = [line for line in text.split("\n") if line[:1] in ("", " ", "\t")]
    code = dedent("\n".join(lines)).strip("\n")
    return [Extracted(code, "taken out of prose")] if _has_wanted(code, None) and _DEFINITION.search(code) else []


def _ends_broken(text: str, code: str) -> bool:
    """Tell whether the last line of an answer is code that was not taken, as where its tokens ran out."""
    from pkg.extract.fences import BEGINS

    last = text.rstrip().rpartition("\n")[2]
    is_code = BEGINS.match(last.encode("utf-8", "replace")) and not last.endswith((".", "!", "?", ":"))
    return bool(is_code) and last.strip() not in code and find_fault(last.strip()) is not None


def _take_start(text: str, entry: str | None) -> list[Extracted]:
    """Take the code before a broken end, as of an answer whose tokens ran out, or else before the last break."""
    kept: list[Extracted] = []
    left = MOST_TRIED
    for begin in BEGIN.finditer(text):
        left -= len(text) - begin.start()
        if left < 0:
            break
        code = cut_tail(text[begin.start() :]).rstrip("\n")
        tree = _parse(code)
        if tree is not None and any(isinstance(each, Definition) for each in tree.body):
            found = _describe_start(code, text[begin.start() + len(code) :])
            if _defines(tree, entry):
                return [found]
            kept = kept or [found]
    return kept


def _describe_start(code: str, rest: str) -> Extracted:
    if not rest.strip() or is_prose(rest):
        return Extracted(code, "taken out of prose")
    return Extracted(code, "its broken end is left out", is_cut=True)


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
