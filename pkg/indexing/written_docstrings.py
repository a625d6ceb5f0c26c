"""Docstrings that were written for functions: known by the code that they are of, and encoded within it (P-07, P-08).

What a function is in the graph stays the code that a person wrote. What is encoded of it is that code with the
docstring in its place, and the words of the docstring count as such in a search.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from pkg.errors import InputError
from pkg.extract.syntax import find_indent
from pkg.model import Docstring

Docstrings: TypeAlias = Mapping[int, Docstring]
"""Docstrings by the hash of the code that they were written for, wherever in a source that code stands."""

NO_DOCSTRINGS: Docstrings = MappingProxyType({})


def fill_function(content: bytes, written: Docstring, column: int) -> bytes | None:
    """Put what was written into the code of a function that stands at a byte column; None where there is no place."""
    from pkg.enhance.commenting import unpack_comments  # heavy: most builds know of no docstring
    from pkg.enhance.comments import insert_comments
    from pkg.extract.docstrings import insert_docstring

    text, indent = content.decode("utf-8", "replace"), find_indent(content, column).decode()
    try:
        filled = insert_docstring(insert_comments(text, unpack_comments(written.comments)), written.text, indent)
    except InputError:
        return None
    return filled.encode("utf-8", "replace")
