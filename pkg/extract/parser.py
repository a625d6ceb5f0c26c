"""The one tree-sitter parser of a process: bytes in, syntax tree out."""

from __future__ import annotations

from functools import lru_cache

import tree_sitter_python
from tree_sitter import Language, Parser, Tree

PYTHON = Language(tree_sitter_python.language())


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(PYTHON)


def parse(code: bytes) -> Tree:
    """Parse Python source; a broken text still gives a tree, with ERROR nodes."""
    return _parser().parse(code)


def parses(code: bytes) -> bool:
    """Tell whether the whole text is syntactically right, Python 2 print statements included."""
    return not parse(code).root_node.has_error
