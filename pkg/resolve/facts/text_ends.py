"""Texts that code puts together to name attributes by: of each its beginning and its end are known (A-12).

`"visit_" + kind`, `f"visit_{kind}"`, `"visit_%s" % kind` and `"visit_{}".format(kind)` begin with what is written. Only
what may stand in a name counts: of any other text nothing is told, so that messages and queries cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pkg.resolve.abstract_values import CONSTANT, EMPTY, TEXT, Value, Values, library

MAX_KNOWN = 60  # of what is known of a text; longer names are hardly put together
_NAMEABLE = re.compile(r"\w*")
_CONVERSION = re.compile(r"%(?:\(\w*\))?[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[a-zA-Z]")
_FIELD = re.compile(r"\{[^{}]*\}")

Ends = tuple[str, str, bool]
"""The beginning and the end of a text, and whether that is all of it."""
_NOTHING: Ends = ("", "", False)
ANY_TEXT: Values = frozenset({library("builtins.str()")})  # of which nothing is known


def join_texts(left: Values, right: Values, is_literal: bool) -> Values:
    """Give the texts that are made of two put side by side, one of which is written there as a literal or is not.

    Where neither is, what follows the first is left out: what all callers give to two parameters makes too many pairs.
    """
    return _make_all(_list_ends(left, right, is_literal))


def join_parts(left: Values, right: Values, is_literal: bool) -> Values:
    """Give the texts that are made of two, one of which nothing is known among them, for more may follow."""
    ends = list(_list_ends(left, right, is_literal))
    return _make_all(ends) | (ANY_TEXT if _NOTHING in ends else EMPTY)


def _make_all(made: Iterable[Ends]) -> Values:
    return frozenset(text for ends in made if (text := _make(*ends)) is not None)


def _list_ends(left: Values, right: Values, is_literal: bool) -> Iterator[Ends]:
    if is_literal:
        return (_join_ends(_read_ends(one), _read_ends(two)) for one in left for two in right)
    return (_join_ends(_read_ends(one), _NOTHING) for one in left)


def fill_percent(templates: Values) -> Values:
    """Give the texts that templates of the form "%s" make."""
    return _fill(templates, _CONVERSION)


def fill_braces(templates: Values) -> Values:
    """Give the texts that templates of the form "{}" make."""
    return _fill(templates, _FIELD)


def match_text(text: Value, name: str) -> bool:
    """Tell whether a name may be what a text is."""
    _, beginning, end, is_whole = text
    if is_whole:
        return bool(name == beginning + end)
    return len(name) >= len(beginning) + len(end) and name.startswith(beginning) and name.endswith(end)


def write_pattern(text: Value) -> str:
    """Write a text as the names are kept that attributes are asked for by: a star stands for what is not known."""
    return f"{text[1]}{text[2]}" if text[3] else f"{text[1]}*{text[2]}"


def match_pattern(pattern: str, name: str) -> bool:
    """Tell whether a name is what such a pattern says."""
    beginning, star, end = pattern.partition("*")
    return match_text((TEXT, beginning, end, not star), name)


def _fill(templates: Values, field: re.Pattern[str]) -> Values:
    found: set[Value] = set()
    for template in templates:
        parts = field.split(template[1]) if template[0] == CONSTANT and isinstance(template[1], str) else []
        text = _make(parts[0], parts[-1], False) if len(parts) > 1 else None
        found |= {text} if text is not None else EMPTY
    return frozenset(found)


def _read_ends(value: Value) -> Ends:
    if value[0] == CONSTANT and isinstance(value[1], str):
        return value[1], "", True
    return (value[1], value[2], value[3]) if value[0] == TEXT else _NOTHING


def _join_ends(one: Ends, two: Ends) -> Ends:
    """Join two texts; of the parts in the middle nothing is kept, so that what loops put together does not grow."""
    if one == ("", "", True):
        return two
    is_whole = one[2] and two[2] and not one[1] and not two[1]
    return one[0], two[1] or (two[0] if two[2] else ""), is_whole


def _make(beginning: str, end: str, is_whole: bool) -> Value | None:
    """Give a text of which something is known that may stand in a name."""
    known = beginning + end
    if not known or len(known) > MAX_KNOWN or not _NAMEABLE.fullmatch(known):
        return None
    return TEXT, beginning, end, is_whole
