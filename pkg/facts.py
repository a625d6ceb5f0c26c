"""What resolution needs to know of a text beside its definitions: the places where names get and give values.

Facts are packed numbers, not objects: a repository has a hundred and more for each function, and few are looked at.
All positions are byte offsets into the text.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum

Fact = tuple[int, int, int, int, int, int]
"""(position, code, and two spans): what the spans are stands beside each code."""


class Code(IntEnum):
    """Name every kind of fact."""

    DEFINITION = 0  # the head (from def or class to the colon), the body
    LAMBDA = 1  # the head (from lambda to the colon), the body
    COMPREHENSION = 2  # the whole, the whole
    ASSIGN = 3  # target, value
    ANNOTATE = 4  # target, type
    FOR = 5  # target, what is gone through
    WITH = 6  # target (0, 0 without one), context manager
    EXCEPT = 7  # target, type
    RETURN = 8  # (0, 0), value
    YIELD = 9  # (0, 0), value
    YIELD_FROM = 10  # (0, 0), what is gone through
    RAISE = 11  # (0, 0), value
    CALL = 12  # callee, arguments with their brackets
    READ = 13  # an attribute that is neither called nor assigned to, (0, 0)
    GLOBAL = 14  # the names, (0, 0)
    NONLOCAL = 15  # the names, (0, 0)
    ITEM = 16  # of an item that is read, what it is of, (0, 0)
    PUT = 17  # of an item that is assigned to, what it is of, (0, 0)
    DELETE = 18  # of an item that is deleted, what it is of, (0, 0)
    CONTAINS = 19  # of `in`, what is looked through, (0, 0)
    OPERATE = 20  # a dotted name on the left of an operator, what is on the right
    REQUEST = 21  # a function that pytest gives fixtures; no fact, for resolution tells it by the names


_FACT = struct.Struct("<6I")


def pack_facts(facts: Iterable[Fact]) -> bytes:
    """Pack facts, ordered by position."""
    return b"".join([_FACT.pack(*fact) for fact in sorted(facts)])


def unpack_facts(packed: bytes) -> Iterator[Fact]:
    """Give packed facts one by one."""
    return _FACT.iter_unpack(packed)


NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*"
"""An identifier in bytes of UTF-8; what is no letter in other scripts, Python would not have let stand there."""
DOTTED_NAME = NAME + rb"(?:\." + NAME + rb")*"
"""Identifiers that stand together with the dots between them, as a part of other patterns."""
DOTTED = re.compile(NAME + rb"(?:\s*\.\s*" + NAME + rb")*\Z")


def render_callee(callee: bytes) -> str:
    """Write the callee of a call as it is kept: dotted names whole, of anything else the attribute alone."""
    if DOTTED.match(callee):
        return b"".join(callee.split()).decode("utf-8", "replace")
    last = callee.rpartition(b".")[2].strip()
    return f"(...).{last.decode('utf-8', 'replace')}" if DOTTED.match(last) else "(...)"
