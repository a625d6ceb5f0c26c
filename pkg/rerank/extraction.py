"""Extract the code of a candidate: the whole text, a continuation of the query's code, fences, or a valid prefix.

Follows P-21 in its order and adds what answers of models need: reasoning is ignored, the last of several versions
counts (pkg.rerank.versions), an answer may continue the code of the query or be truncated, and driver code is separated
from definitions (U-15).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from textwrap import dedent

from pkg.extract.syntax import MAX_CODE, cut_tail, find_syntax_error, parse_code
from pkg.rerank.candidates import Extracted
from pkg.rerank.parsed_question import Definition, Question, write_header
from pkg.rerank.pieces import BEGIN, FENCED, find_pieces, shows_pieces
from pkg.rerank.statement_dependencies import find_driver
from pkg.rerank.undefined_names import find_undefined
from pkg.rerank.versions import list_piece_versions, split_redefinitions
from pkg.rerank.wrappings import list_unwrapped, strip_reasoning

_DEFINITION = re.compile(r"^(?:@|def\b|class\b|async\b)", re.MULTILINE)
_READS = re.compile(r"\binput\(|\bstdin\b|\bopen\(0\)")
MAX_TRIED = 2 * MAX_CODE  # total characters that are compiled at lines where code may begin
_CODE_BEGIN = re.compile(r"^(?:return|if|for|while|with|try|import|from|[A-Za-z_][\w., \[\]]*[-+*/]?=)")


def extract_code(text: str, question: Question) -> Extracted:
    """Return the code of an answer; a text without any is returned whole, for the syntax stage to drop."""
    return list_versions(text, question)[0]


def list_versions(text: str, question: Question) -> tuple[Extracted, ...]:
    """List the versions of the code of an answer, at least one, the most likely first.

    A version with driver code is followed by the same version without it. `sandbox_stages.choose_versions` chooses
    among them by the examples of the query.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if len(text) > MAX_CODE or "\0" in text:
        return (Extracted(text),)
    visible = strip_reasoning(text)
    found = _find_unwrapped(visible.text, question)
    if not found and visible.reasoning:
        found = [_note(each, "taken from its reasoning") for each in _find_unwrapped(visible.reasoning, question)]
    if visible.is_unfinished:
        found = [replace(each, is_cut=True) for each in found]
    if not found:
        return (_find_broken(text),)
    whole = [_add_context(each, question) for each in found]
    if len(whole) > 1:
        whole = [_note(each, f"one of {len(whole)} versions") for each in whole]
    return tuple(each for version in whole for each in _add_without_driver(version, question))


def _note(found: Extracted, word: str) -> Extracted:
    return replace(found, note="; ".join(filter(None, (found.note, word))))


def _add_without_driver(found: Extracted, question: Question) -> list[Extracted]:
    """Return a version, followed by the same without driver code if it has any."""
    tree = None if question.is_script else _parse(found.code)
    driver = find_driver(found.code, tree, question.entry) if tree is not None else None
    if driver is None:
        return [found]
    without_driver = _note(found, f"judged without its driver code ({driver.line})")
    return [
        replace(found, driver=driver.line),
        replace(without_driver, code=driver.code_without, driver=driver.line, is_without_driver=True),
    ]


def _find_unwrapped(text: str, question: Question) -> list[Extracted]:
    """Find the code of an answer as it is or without a wrapping, whichever first contains the entry point."""
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
    """Try the extraction methods, most reliable first; return the first result with the entry point, or else any."""
    if question.is_script:
        programs = [each for each in _take_programs(text) if _is_answer(each.code, question)]
        if programs:
            return programs
    methods: list[Callable[[], list[Extracted]]] = [
        lambda: _take_pieces(text, question),
        lambda: _take_found(text),
        lambda: _take_start(text, question.entry),
        lambda: continue_stub(text, question),
        lambda: _take_indented(text),
        lambda: _parse_whole(text, None),
    ]
    if BEGIN.search(text.lstrip("\n")) is None:
        methods.insert(0, methods.pop(3))
    kept: list[Extracted] = []
    for extract in (lambda: _parse_whole(text, question.entry), *methods):
        found = extract()
        if found and _is_answer(found[0].code, question):
            return [each for version in found for each in _split(version, question)]
        kept = kept or found
    return kept


def _is_answer(code: str, question: Question) -> bool:
    """Return whether code defines the entry point, or for a script calls something."""
    if not question.is_script:
        return _has_entry(code, question.entry)
    tree = _parse(code)
    return tree is not None and any(isinstance(node, ast.Call) for node in ast.walk(tree))


def _has_entry(code: str, entry: str | None) -> bool:
    tree = _parse(code)
    return tree is not None and _defines(tree, entry)


def _split(found: Extracted, question: Question) -> list[Extracted]:
    """Return code that defines the entry point several times, and the code with each of these definitions alone."""
    tree = _parse(found.code)
    codes = split_redefinitions(found.code, tree, question) if tree is not None else [found.code]
    return [replace(found, code=each) for each in codes]


def _find_broken(text: str) -> Extracted:
    """Return code that does not parse: the last fence that looks like code, or else the whole text."""
    broken = [each for each in find_pieces(text) if each.priority <= FENCED and BEGIN.search(each.text)]
    return Extracted(broken[-1].text, "taken from a fence") if broken else Extracted(text)


def _parse(code: str) -> ast.Module | None:
    """Parse code; None for blank or invalid code."""
    return parse_code(code) if code.strip() else None


def _parse_whole(text: str, entry: str | None) -> list[Extracted]:
    return [Extracted(text.strip("\n"))] if _has_entry(text, entry) else []


def _defines(tree: ast.Module, entry: str | None) -> bool:
    """Return whether code defines the entry point, or anything if that is unknown."""
    names = list_defined(tree)
    return entry in names if entry else bool(names)


def list_defined(tree: ast.Module) -> list[str]:
    """List the top-level names of a module: functions, classes, and names that are assigned or imported."""
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
    """Return the versions assembled from fences and tags, or else one that continues the code of the query."""
    if not shows_pieces(text):
        return []
    pieces = find_pieces(text)
    versions = list_piece_versions(pieces, question, _list_query_names(question))
    if versions:
        return [_describe(each.code, each.is_cut) for each in versions]
    bodies = [each.text for each in reversed(pieces) if each.priority <= FENCED]
    return next(filter(None, (continue_stub(each, question) for each in bodies)), [])


def _take_programs(text: str) -> list[Extracted]:
    """Return an answer as a program: the whole text, or its fences, the last one that reads input first."""
    if _parse(text) is not None:
        return [Extracted(text.strip("\n"))]
    pieces = [each for each in find_pieces(text) if each.priority <= FENCED and each.tree is not None]
    order = [*reversed(pieces)]
    order.sort(key=lambda each: not _READS.search(each.code))
    return [_describe(each.code, each.is_cut) for each in order]


def _describe(code: str, is_cut: bool) -> Extracted:
    return Extracted(code, f"taken from a fence{'; its incomplete end is removed' if is_cut else ''}", is_cut)


def _take_found(text: str) -> list[Extracted]:
    """Return the code found as in a corpus: joined fences, console sessions, code between prose (P-02)."""
    from pkg.extract.answers import find_code

    found = find_code(text)
    code = found.code.decode("utf-8", "replace").strip("\n")
    if not code.strip() or (found.reason and BEGIN.search(code) is None):
        return []
    tree = _parse(code)
    if tree is None or not list_defined(tree):
        return []
    note = f"taken from prose{f' ({found.reason})' if found.reason else ''}"
    if _ends_broken(text, code):
        return [Extracted(code, f"{note}; its incomplete end is removed", is_cut=True)]
    return [Extracted(code, note)]


def _take_indented(text: str) -> list[Extracted]:
    """Return code that only its indentation separates from prose, as in Markdown."""
    if BEGIN.search(text):
        return []
    lines = [line for line in text.split("\n") if line[:1] in ("", " ", "\t")]
    code = dedent("\n".join(lines)).strip("\n")
    return [Extracted(code, "taken from prose")] if _has_entry(code, None) and _DEFINITION.search(code) else []


def _ends_broken(text: str, code: str) -> bool:
    """Return whether the last line of an answer is incomplete code, as in a truncated answer."""
    from pkg.extract.fences import BEGINS

    last = text.rstrip().rpartition("\n")[2]
    is_code = BEGINS.match(last.encode("utf-8", "replace")) and not last.endswith((".", "!", "?", ":"))
    return bool(is_code) and last.strip() not in code and find_syntax_error(last.strip()) is not None


def _take_start(text: str, entry: str | None) -> list[Extracted]:
    """Return the valid code before an incomplete end, as of a truncated answer."""
    kept: list[Extracted] = []
    budget = MAX_TRIED
    for begin in BEGIN.finditer(text):
        budget -= len(text) - begin.start()
        if budget < 0:
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
        return Extracted(code, "taken from prose")
    return Extracted(code, "its incomplete end is removed", is_cut=True)


def _list_query_names(question: Question) -> set[str]:
    """Return the names that the context of a query binds."""
    tree = _parse(question.context)
    return set() if tree is None else {*list_defined(tree), *_list_modules(tree)}


def _add_context(found: Extracted, question: Question) -> Extracted:
    """Prepend the imports and definitions of the query to code that lacks them."""
    tree = _parse(found.code) if question.context and "__future__" not in found.code else None
    if tree is None or not {name for name, _ in find_undefined(found.code, tree)} & _list_query_names(question):
        return found
    note = "; ".join(filter(None, (found.note, "with the imports and definitions of the query")))
    return Extracted(f"{question.context}\n\n{found.code}", note, found.is_cut)


def _list_modules(tree: ast.Module) -> list[str]:
    imports = [each for each in tree.body if isinstance(each, ast.Import)]
    return [(alias.asname or alias.name).partition(".")[0] for each in imports for alias in each.names]


def continue_stub(text: str, question: Question) -> list[Extracted]:
    """Return the answer as a continuation of the query's code; its first line may have lost its indentation."""
    body = text.strip("\n")
    stub = question.stub or (write_header(question) if _lacks_header(body) else None)
    is_body = body[:1] in (" ", "\t") or _is_body(body)
    if stub is None or not (is_body or find_syntax_error(body) is not None):
        return []
    whole = stub.rstrip() + "\n"
    note = "continues the query" if question.stub else "its header is missing and was added"
    indented = (
        [body, "    " + body] if body[0] in " \t" else ["    " + body, re.sub(r"^(?=.)", "    ", body, flags=re.M)]
    )
    for piece in indented:
        if find_syntax_error(whole + piece) is None:
            return [Extracted(whole + piece, note)]
    kept = cut_tail(whole + indented[0]) if is_body else ""
    if len(kept) <= len(whole):
        return []
    if is_prose((whole + indented[0])[len(kept) :]):
        return [Extracted(kept.rstrip("\n"), f"{note}; the text after it is not code")]
    return [Extracted(kept, f"{note}; its incomplete end is removed", is_cut=True)]


def _lacks_header(body: str) -> bool:
    """Return whether a text is only the body of a function: it returns outside a function."""
    fault = find_syntax_error(body if body[:1] not in " \t" else f"if 1:\n{body}")
    return fault is not None and "outside function" in fault[0]


def is_prose(rest: str) -> bool:
    """Return whether the text after code is an explanation rather than incomplete code."""
    from pkg.extract.fences import BEGINS, has_prose

    line = rest.strip("\n").partition("\n")[0].encode("utf-8", "replace")
    return has_prose(line + b"\n") or (bool(line[:1].strip()) and not BEGINS.match(line))


def _is_body(text: str) -> bool:
    """Return whether a text may be the body of a function that lost its indentation: statements without definitions."""
    first = re.sub(r"\A(?:[ \t]*#.*\n)+", "", text)
    return bool(_CODE_BEGIN.match(first.lstrip(" \t"))) and _DEFINITION.search(text) is None
