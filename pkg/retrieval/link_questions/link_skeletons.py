"""The skeletons of questions about links: sequences of tokens, for each kind of question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

LinkKind = Literal[
    "callers", "callees", "uses", "needs", "importers", "imports", "subclasses", "bases", "overridden by", "overrides",
    "definition", "tests", "impact", "creators", "readers", "calls", "inherits", "links",
]  # fmt: skip
"""What a question asks of its subject: `needs` are callees, bases and imports, `creators` the callers of a class;
`calls`, `inherits` and `links` are between two subjects."""


_W = r"(?:(?:WHO|FILE|THING|MANY|HOWMANY|TESTS)(?: (?:of|in) (?:THING|FILE))? )+"
_CHANGING = (
    r"(?:(?:WHO|THING|FILE|TESTS|BREAK|USE|IF|CHANGE|CAN|RUN|MANY|HOW|of|by|to|in|on|from|for) )*X"
    r"(?: (?:IF|CHANGE|BREAK|RUN|WHO|TESTS|THING|by))*"
)
_COVERING = "(?:COVER|CALL|USE|IMPORT|TESTED|TESTS|REACH|CREATE|RUN|CHANGE|through|on|to|by)"
_TESTS = r"(?:(?:WHO|MANY|THING|WHERE|FILE|of) )*TESTS (?:(?:THING|FILE|TESTS) )*"
_PATHS = r"(?:(?:WHO|FIND|HOW|CALL|THING|of) )*(?:PATH|THING) (?:(?:of|CALL|REACH) )*"
_AT = r"(?: (?:of|to|into|on|from|by|in|for))?"


_NO_NOUN = r"(?!)"


def _list_incoming(kind: str, active: str, passive: str, nouns: str) -> Iterator[tuple[str, str]]:
    yield kind, rf"(?:WHERE )?{_W}(?P<in>in Z )?{active}{_AT} X"
    yield kind, rf"(?:WHERE )?(?:{_W})?(?:{active}|{nouns}) (?:of|to|for) X"
    yield kind, rf"WHERE {active}{_AT} X"
    yield kind, rf"(?:{_W})?{nouns} X"
    yield kind, rf"X {nouns}"
    before = r"(?:WHERE )?(?:(?:from|by|in) )?(?:WHERE )?"
    after = r"(?: (?:by|from|in|of|on))?(?: (?:WHO|WHERE|FILE|THING|TESTS))*"
    yield kind, rf"{before}(?!WHO X {passive}$)(?:{_W})?X {passive}{after}"
    yield kind, rf"{_W}WHERE X {passive}(?: (?:from|in|by))?"


_TABLE: Sequence[tuple[str, str]] = (
    ("impact", rf"(?=.*\bCHANGE\b)(?=.*\b(?:BREAK|USE)\b)(?!.*\bTESTS\b){_CHANGING}"),
    ("impact", r"CAN CHANGE(?: THING)?(?: of)? X(?: BREAK)?"),
    ("impact", r"(?:WHO )?BREAK (?:BREAK )?(?:of|for|to) X"),
    ("impact", r"(?:WHO |THING |FILE )+BREAK by X"),
    ("impact", r"(?:WHO |THING |FILE )+CHANGE IF CHANGE X"),
    ("impact", r"(?:WHO )?IF CHANGE X (?:(?:WHO|TESTS|THING|FILE|to) )*(?:CHANGE|BREAK|USE)(?: (?:CHANGE|to))*"),
    ("tests", rf"(?=.*\bTESTS\b)(?=.*\bCHANGE\b){_CHANGING}"),
    ("tests", rf"{_TESTS}(?:{_COVERING} )+(?:(?:for|of|on) )?X"),
    ("tests", rf"{_TESTS}(?:for|of|on|by) X"),
    ("tests", r"(?:(?:WHERE|HOW|by|WHO|TESTS) )*X TESTED(?: (?:by|in|TESTS|THING|WHO))*"),
    ("tests", r"(?:WHERE )?X TESTS"),
    ("definition", r"(?:(?:WHERE|WHO|FILE|THING|in|at) )+X DEFINED(?: (?:in|at))?"),
    ("definition", r"in WHO FILE X(?: LIVE)?"),
    ("definition", r"WHO FILE X(?: LIVE)? (?:in|from)"),
    ("definition", r"(?:WHO )?(?:FILE|THING) (?:DEFINE|IMPLEMENT)(?: DEFINITION)?(?: (?:of|for))? X"),
    ("definition", r"WHO DEFINE X"),
    ("definition", r"WHERE (?:CAN )?FIND(?: for)?(?: (?:DEFINITION|THING|of|for))* X"),
    ("definition", r"WHERE X LIVE(?: (?:in|from))?"),
    ("definition", r"WHERE (?:DEFINITION|THING) (?:THING )?(?:of|for) X"),
    ("definition", r"(?:FIND |WHO )?DEFINITION (?:THING )?(?:of|for) X"),
    ("definition", r"(?:WHERE|in WHO FILE|WHO FILE) N(?: in)?"),
    ("calls", r"(?:IF )?X (?:CALL|REACH)(?: (?:into|to|in|on|CALL))* Y"),
    ("-calls", r"(?:IF )?X (?:CALLED|REACH) (?:by|from|in|inside|within|through) Y"),
    ("calls", rf"{_PATHS}(?:from|between) X (?:to|and) Y"),
    ("calls", r"HOW X (?:REACH|LIVE)(?: (?:to|in|CALL))* Y"),
    ("links", r"(?:IF )?X (?:USE|IMPORT)(?: (?:on|to))? Y"),
    ("-links", r"(?:IF )?X (?:USED|IMPORTED) (?:by|in|inside|within|into) Y"),
    ("inherits", r"(?:IF )?X (?:INHERIT|CHILDREN|INHERITED)(?: THING)?(?: (?:of|from|on))? Y"),
    ("-inherits", r"(?:IF )?X BASES(?: THING)? (?:of|for) Y"),
    ("callees", rf"{_W}X CALL{_AT}"),
    ("callees", rf"{_W}CALLED (?:by|in|from|inside|within) X"),
    ("callees", rf"(?:{_W})?CALLEES (?:of|for|in) X"),
    ("needs", rf"{_W}X USE{_AT}"),
    ("needs", rf"{_W}USED (?:by|in|inside|within) X"),
    ("needs", rf"(?:{_W})?DEPENDENCIES (?:(?:of|for) )?X"),
    ("imports", rf"{_W}X IMPORT{_AT}"),
    ("imports", rf"{_W}IMPORTED (?:by|in|into|inside|within) X"),
    ("imports", rf"(?:{_W})?IMPORT (?:in|inside) X"),
    ("bases", rf"(?:from )?{_W}X (?:INHERIT|IMPLEMENT){_AT}"),
    ("bases", rf"(?:from )?{_W}X INHERITED (?:from|on|of)"),
    ("bases", rf"from {_W}X INHERITED"),
    ("bases", rf"(?:{_W})?BASES (?:THING )?(?:of|for) X"),
    ("bases", rf"{_W}BASES (?:THING )?X"),
    ("subclasses", rf"{_W}(?:in Z )?INHERITED (?:from|on) X"),
    ("subclasses", r"INHERITED THING (?:of|from) X"),
    ("subclasses", rf"(?:{_W})?X (?:CHILDREN|INHERIT)(?: THING)?"),
    ("subclasses", rf"(?:{_W})?CHILDREN (?:THING )?(?:of|for) X"),
    ("subclasses", rf"{_W}X BASES(?: THING)?"),
    ("overrides", rf"{_W}X OVERRIDE"),
    ("overrides", rf"{_W}OVERRIDDEN (?:by|in) X"),
    ("uses", r"X DEAD(?: THING)?"),
    ("subclasses", rf"{_W}IMPLEMENT X"),
    *_list_incoming("callers", "CALL", "CALLED", "CALLERS"),
    *_list_incoming("uses", "USE", "USED", "USERS"),
    *_list_incoming("importers", "IMPORT", "IMPORTED", "IMPORTERS"),
    *_list_incoming("subclasses", "INHERIT", "INHERITED", "CHILDREN"),
    *_list_incoming("overridden by", "OVERRIDE", "OVERRIDDEN", _NO_NOUN),
    *_list_incoming("creators", "CREATE", "CREATED", _NO_NOUN),
    *_list_incoming("readers", "READ", "READ", _NO_NOUN),
)  # fmt: skip
"""Skeletons of each kind, the most specific first: W is who or which function, X and Y are subjects, Z is a place, and
N is a subject that looks like a name. A kind with - has its subjects in reverse."""


@cache
def list_skeletons() -> list[tuple[str, re.Pattern[str]]]:
    """Return the patterns of skeletons in their order, each with its kind."""
    return [(kind, re.compile(pattern)) for kind, pattern in _TABLE]
