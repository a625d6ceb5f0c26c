"""Find the pieces of code in an answer, in tags, fences and between them, and their definitions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pkg.extract.syntax import cut_tail, find_syntax_error, parse_code
from pkg.rerank.parsed_question import Definition, is_test
from pkg.rerank.statement_dependencies import list_lines

MAX_PIECES = 24  # of one answer, the last ones; each is parsed and may become a version
TAGGED, FENCED, LOOSE = range(3)  # priorities of pieces, most likely first (P-21)

_MARK = re.compile(r"^[ \t]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(?:```|~~~)|\[/?PYTHON\]|```[ \t]*(?:$|i?py)", re.MULTILINE)
_OPEN_TAG, _CLOSE_TAG = (rf"(?<!['\"`])\[{each}PYTHON\](?!['\"`])" for each in ("", "/"))  # a quoted tag is a string
_TAGS = re.compile(rf"{_OPEN_TAG}(.*?)(?:{_CLOSE_TAG}|\Z)", re.DOTALL)
_PRIMED = re.compile(rf"\A((?:(?!{_OPEN_TAG}).)*?){_CLOSE_TAG}", re.DOTALL)
_CLOSING = re.compile(r"^[ \t]*```[ \t]*$", re.MULTILINE)
_FIRST_FENCE = re.compile(r"^.*```.*$", re.MULTILINE)
BEGIN = re.compile(r"^(?:@|def\b|class\b|async\b|import\b|from\b)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive lines of an answer that may be code."""

    text: str
    priority: int
    code: str = ""  # valid code; "" for none
    is_cut: bool = False  # an incomplete end was removed
    is_open: bool = False  # its fence is not closed and ends with the answer
    tree: ast.Module | None = None


def shows_pieces(text: str) -> bool:
    """Return whether an answer marks its code with tags or fences."""
    return _MARK.search(text) is not None


def find_pieces(text: str) -> list[Piece]:
    """Return the pieces of an answer in their order."""
    found = [each for each in _list_pieces(text) if each.text.strip()]
    return [_parse_piece(each) for each in found[-MAX_PIECES:]]


def _parse_piece(piece: Piece) -> Piece:
    """Parse a piece, or its valid prefix if its end is incomplete."""
    if not piece.text.strip() or find_syntax_error(piece.text) is None:
        return replace(piece, code=piece.text, tree=parse_code(piece.text))
    begin = BEGIN.search(piece.text)
    kept = cut_tail(piece.text[begin.start() :]).rstrip("\n") if begin else ""
    return replace(piece, code=kept, is_cut=True, tree=parse_code(kept)) if kept.strip() else piece


def _list_pieces(text: str) -> Iterator[Piece]:
    primed = _PRIMED.match(text)
    if primed:  # the prompt has opened the tag
        yield from _list_fences(primed.group(1), TAGGED)
        text = text[primed.end() :]
    position = 0
    for tagged in _TAGS.finditer(text):
        yield from _list_fences(text[position : tagged.start()], None)
        yield from _list_fences(tagged.group(1), TAGGED)
        position = tagged.end()
    yield from _list_fences(text[position:], None)


def _list_fences(text: str, priority: int | None) -> Iterator[Piece]:
    """Yield the fences of a text and the code between them, or the whole text if it was in tags and has no fences."""
    from pkg.extract.fences import PROMPT, dedent, find_fences, strip_prompts

    head = _find_primed_end(text)
    if head:  # the prompt has opened the fence
        yield Piece(text[:head].strip("\n"), FENCED if priority is None else priority)
        text = text[text.find("\n", head) + 1 :] if "\n" in text[head:] else ""
    lines = text.encode("utf-8", "replace").split(b"\n")
    row, count = 0, 0
    for fence in find_fences(lines):
        yield from _list_loose(lines[row : fence.start])
        own_priority = FENCED if fence.is_python or not fence.label else LOOSE
        body = dedent(fence.lines)
        body = strip_prompts(body) if any(map(PROMPT.match, body[:2])) else body
        is_open = fence.end == len(lines) and b"```" not in lines[-1] and b"~~~" not in lines[-1]
        yield Piece(_join(body), own_priority if priority is None else priority, is_open=is_open)
        row, count = fence.end, count + 1
    if priority is not None and not count:
        yield Piece(_join(dedent(lines)), priority)
    else:
        yield from _list_loose(lines[row:])


def _find_primed_end(text: str) -> int:
    """Return the offset of the end of a fence that the prompt opened; 0 if there is none, or no code before it."""
    first = _FIRST_FENCE.search(text)
    if first is None or not _CLOSING.match(text, first.start()):
        return 0
    head = text[: first.start()]
    after = len(_CLOSING.findall(text)) % 2
    return first.start() if after and (BEGIN.search(head) or head[:1] in " \t") else 0


def _list_loose(lines: list[bytes]) -> Iterator[Piece]:
    """Yield the code among lines of prose if they contain a definition."""
    from pkg.extract.answers import find_code
    from pkg.extract.fences import DEFINITION

    if any(map(DEFINITION.match, lines)):
        code = find_code(_join(lines)).code.decode("utf-8", "replace").strip("\n")
        yield Piece(code, LOOSE)


def _join(lines: list[bytes]) -> str:
    return b"\n".join(lines).decode("utf-8", "replace").strip("\n")


def list_definitions(tree: ast.Module) -> list[Definition]:
    """List the top-level functions and classes that are not tests, or all if there are only tests."""
    found = [each for each in tree.body if isinstance(each, Definition)]
    return [each for each in found if not is_test(each)] or found


def remove_statements(code: str, statements: Sequence[ast.stmt]) -> str:
    """Return code without the lines of some statements and their decorators."""
    gone = {line for each in statements for line in list_lines(each)}
    return "\n".join(line for number, line in enumerate(code.split("\n"), 1) if number not in gone).strip("\n")


def find_binding(tree: ast.Module, name: str) -> ast.stmt | None:
    """Find the last top-level statement that defines a name: a definition, or an assignment that does not read it."""
    for statement in reversed(tree.body):
        if isinstance(statement, Definition) and statement.name == name:
            return statement
        if isinstance(statement, ast.Assign) and any(getattr(each, "id", "") == name for each in statement.targets):
            read = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
            if name not in read:
                return statement
    return None


def count_stubs(node: ast.stmt) -> int:
    """Count the stubs in a definition: functions without an implementation."""
    if isinstance(node, ast.Assign):
        return int(isinstance(node.value, ast.Constant) and node.value.value in (None, ...))
    functions = [each for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    if isinstance(node, ast.ClassDef) and not functions:
        return int(all(map(_is_placeholder, node.body)))
    return sum(all(map(_is_placeholder, each.body)) for each in functions)


def _is_placeholder(statement: ast.stmt) -> bool:
    """Return whether a statement is a placeholder: `pass`, `...`, a docstring, NotImplementedError, `x = ...`."""
    if isinstance(statement, ast.Pass | ast.Import | ast.ImportFrom):
        return True
    if isinstance(statement, ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return getattr(raised, "id", "").startswith("NotImplemented")
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Return):
        return value is None or (isinstance(value, ast.Constant) and value.value in (None, ...))
    if isinstance(statement, ast.Assign):
        return isinstance(value, ast.Constant) and value.value is ...
    return isinstance(statement, ast.Expr) and isinstance(value, ast.Constant)
