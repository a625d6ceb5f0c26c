"""Extract training data from a package: functions and constants with names, identifiers, and the prose about them."""

from __future__ import annotations

import ast
import inspect
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from pkg.extract.python import extract_unit
from pkg.model import CodeUnit, Constant, Function, Span
from pkg.terms.words import blank_separators

MOST_PARAGRAPHS, MOST_COMMENTS, MOST_IDENTIFIERS = 3, 12, 600
FEWEST_WORDS, MOST_WORDS = 3, 60  # of a question: shorter ones name nothing, longer ones are manuals

_SKIPPED = re.compile(
    r"(^|/)(tests?|testing|_?vendor(ed)?|third_?party|thirdparty_files|externals?)(/|$)|_pb2(_grpc)?\.py$"
)
_COMMENT = re.compile(rb"(?m)^[ \t]*#[^\n]*|  #[^\n]*")
_COMMENT_LINE = re.compile(rb"[ \t]*#+[ \t]?(.*)")
_MARK = re.compile(r"\s*(?:type:|noqa|pragma|pylint|todo|fixme|xxx|hack|-\*-|[-=#*_~]{3})", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Mined:
    """A function or constant as training data: its place, the prose about it, and its distinct identifiers.

    ``blocks`` are comments with the identifiers of the block directly below; ``key`` is equal for functions that differ
    only in layout, comments and docstrings.
    """

    path: str
    qualname: str
    paragraphs: list[str]  # of the docstring
    comments: list[str]
    code: str  # identifiers, without those of docstring and comments
    blocks: list[tuple[str, str]]
    key: str
    is_constant: bool = False


def read_wheel(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path, text) of the UTF-8 Python files of a wheel, sorted, without tests and vendored code."""
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".py") and not _SKIPPED.search(name) and _is_utf8(text := archive.read(name)):
                yield name, text


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def mine_file(path: str, text: bytes) -> Iterator[Mined]:
    """Yield the functions of a file, including methods but not nested functions, and its constants."""
    code = extract_unit(text, with_summary=False)
    blocks = _find_commented(code)
    for index, definition in enumerate(code.definitions):
        if isinstance(definition, Function) and not _is_inner(code, definition):
            yield _mine(path, code, definition, blocks.get(index, []))
    for constant in code.constants:
        if not _is_inner(code, constant):
            yield _mine_constant(path, code.text, constant)


def _is_inner(code: CodeUnit, definition: Function | Constant) -> bool:
    parent = definition.parent
    while parent is not None:
        above = code.definitions[parent]
        if isinstance(above, Function):
            return True
        parent = above.parent
    return False


def _mine(path: str, code: CodeUnit, function: Function, blocks: list[tuple[str, str]]) -> Mined:
    whole = _strip_docstring(code.text, function.span, function.docstring)
    bare = _COMMENT.sub(b"", whole)
    return Mined(
        path,
        function.qualname,
        [text for text in read_paragraphs(code.text, function.docstring) if is_question(text)][:MOST_PARAGRAPHS],
        [text for text in _read_comments(whole) if is_question(text)][:MOST_COMMENTS],
        list_identifiers(bare),
        blocks,
        hash_code(bare),
    )


def _mine_constant(path: str, text: bytes, constant: Constant) -> Mined:
    """Read a constant; the comments above and beside it and the string below it describe it."""
    start, end = constant.span.start, constant.span.end
    beside = _COMMENT_LINE.fullmatch(text[end:].partition(b"\n")[0].rstrip())
    prose = [_read_above(text, start), beside[1].decode("utf-8", "ignore") if beside else ""]
    docstring = constant.docstring and Span(*constant.docstring, 0, 0)
    prose = [each for each in (*prose, *read_paragraphs(text, docstring or None)) if is_question(each)]
    bare = _COMMENT.sub(b"", text[start:end])
    return Mined(
        path, constant.qualname, prose[:MOST_PARAGRAPHS], [], list_identifiers(bare), [], hash_code(bare), True
    )


def _strip_docstring(text: bytes, span: Span, docstring: Span | None) -> bytes:
    if docstring is None:
        return text[span.start : span.end]
    return text[span.start : docstring.start] + text[docstring.end : span.end]


def read_paragraphs(text: bytes, docstring: Span | None) -> list[str]:
    """Return the paragraphs of a docstring, each on one line."""
    if docstring is None:
        return []
    try:
        value = ast.literal_eval(text[docstring.start : docstring.end].decode())
    except (ValueError, SyntaxError):
        return []
    pieces = inspect.cleandoc(value).split("\n\n") if isinstance(value, str) else []
    return [" ".join(piece.split()) for piece in pieces if piece.strip()]


def is_question(text: str) -> bool:
    """Return whether a text has enough words for a search, and not too many."""
    words = set(_WORD.findall(text.lower()))
    return len(words) >= FEWEST_WORDS and len(text.split()) <= MOST_WORDS and not _MARK.match(text)


def list_identifiers(text: bytes) -> str:
    """Return the distinct identifiers of a text, separated by spaces."""
    found = list(dict.fromkeys(blank_separators(text).split()))[:MOST_IDENTIFIERS]
    return b" ".join(found).decode("utf-8", "ignore")


def hash_code(bare: bytes) -> str:
    """Hash the sequence of identifiers of code, ignoring layout and punctuation."""
    return blake2b(b" ".join(blank_separators(bare).split()), digest_size=8).hexdigest()


def _read_comments(text: bytes) -> Iterator[str]:
    """Yield each group of comment lines as one text."""
    group: list[str] = []
    for line in text.split(b"\n"):
        matched = _COMMENT_LINE.fullmatch(line)
        if matched:
            group.append(matched[1].decode("utf-8", "ignore").strip())
        elif group:
            yield " ".join(group)
            group = []


def _find_commented(code: CodeUnit) -> dict[int, list[tuple[str, str]]]:
    """Return for each function the comments directly above a block, with the identifiers of the block."""
    found: dict[int, list[tuple[str, str]]] = {}
    for block in code.blocks:
        comment = "" if block.kind == "body" else _read_above(code.text, block.span.start)
        if is_question(comment):
            content = list_identifiers(_COMMENT.sub(b"", code.text[block.span.start : block.span.end]))
            found.setdefault(block.function, []).append((comment, content))
    return found


def _read_above(text: bytes, position: int) -> str:
    """Return the comment lines directly above the line of a position, of the same indentation, as one text."""
    first = text.rfind(b"\n", 0, position) + 1
    start, indent = first, text[first:position]
    while start and not indent.strip():
        above = text.rfind(b"\n", 0, start - 1) + 1
        if not text[above:start].startswith(indent + b"#"):
            break
        start = above
    lines = [_COMMENT_LINE.fullmatch(line) for line in text[start:first].splitlines()]
    return " ".join(line[1].decode("utf-8", "ignore").strip() for line in lines if line)
