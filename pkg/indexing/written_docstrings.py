"""Generated docstrings, keyed by the code of their functions and encoded within it (P-07, P-08).

The content of a function node stays the original code. Its vector is of the code with the docstring inserted, and
the words of the docstring count as the docstring field in a search.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from pkg.errors import InputError
from pkg.extract.syntax import find_indent
from pkg.model import Docstring

Docstrings: TypeAlias = Mapping[int, Docstring]
"""Generated docstrings by the hash of their functions' code, wherever in a source that code occurs."""

NO_DOCSTRINGS: Docstrings = MappingProxyType({})


def fill_function(content: bytes, written: Docstring, column: int) -> bytes | None:
    """Insert a generated docstring into the code of a function at a byte column; return None if it has no place."""
    from pkg.enhance.commenting import unpack_comments  # heavy, and most builds have no generated docstring
    from pkg.enhance.comments import insert_comments
    from pkg.extract.docstrings import insert_docstring

    text, indent = content.decode("utf-8", "replace"), find_indent(content, column).decode()
    try:
        filled = insert_docstring(insert_comments(text, unpack_comments(written.comments)), written.text, indent)
    except InputError:
        return None
    return filled.encode("utf-8", "replace")
