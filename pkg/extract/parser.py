"""The one tree-sitter parser of a process: bytes in, syntax tree out."""

from __future__ import annotations

import re
from functools import lru_cache

import tree_sitter_python
from tree_sitter import Language, Parser, Tree

PYTHON = Language(tree_sitter_python.language())

_LONG_RUN = 500  # lines of comment, of a backslash alone, or blank
_RUN = re.compile(rb"^(?:[ \t\f]*(?:#[^\n]*|\\)?\r?\n){2,}", re.MULTILINE)
# A line that looks like a comment may lie in a string, whose end must stay.
_BLANK_LINE = re.compile(rb"^(?![^\n]*(?:\"\"\"|'''|#[^\n]*\\\r?\n))[^\r\n]+", re.MULTILINE)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(PYTHON)


def parse(code: bytes) -> Tree:
    """Parse Python source; a broken text still gives a tree, with ERROR nodes."""
    return _parser().parse(_blank_long_runs(code))


def parses(code: bytes) -> bool:
    """Tell whether the whole text is syntactically right, Python 2 print statements included."""
    return not parse(code).root_node.has_error


def _blank_long_runs(code: bytes) -> bytes:
    """Blank what the parser needs time for by the square of its length: thousands of lines of comment in a row."""
    return code if code.count(b"#") + code.count(b"\\") < _LONG_RUN else _RUN.sub(_blank_run, code)


def _blank_run(found: re.Match[bytes]) -> bytes:
    run = found.group()
    return run if run.count(b"\n") < _LONG_RUN else _BLANK_LINE.sub(lambda line: b" " * len(line.group()), run)
