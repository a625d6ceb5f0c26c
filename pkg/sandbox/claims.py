"""The one door for what a candidate's process says of itself: its reports, and the values in them.

That process can write anything on its report channel. What has not the shape of a report, or of a value as
pkg.sandbox.values renders it, is said in a verdict on that candidate, and never raises.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pkg.sandbox.pipe_messages import split_messages
from pkg.sandbox.protocol import STARTED, Kind, Limits, Verdict
from pkg.sandbox.values import DIGEST_ROOM, MADE, MAX_DEPTH, make_value

MAX_DETAIL = 600
MAX_SHOWN = 60  # characters shown of what was wrong
MAX_SECONDS = 1e9
FIELDS = frozenset(("kind", "detail", "seconds", "value"))
CLAIMS = frozenset(kind.value for kind in Kind) - {Kind.TIMEOUT.value}  # this one only a clock can say

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # would break, or command, the terminal that shows it
_HEX = re.compile(r"-?0x[0-9a-f]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class MalformedError(ValueError):
    """Say what was wrong about a report or a value."""


def parse_claims(report: bytes, limits: Limits) -> list[Verdict]:
    """Read what the process said of its load and of one step; what comes behind those is not looked at.

    A report of the wrong shape is a verdict too, of the kind other, and the last one: nothing behind it is believed.
    """
    claims: list[Verdict] = []
    for body in split_messages(report.removeprefix(STARTED))[:2]:
        try:
            claims.append(_parse_claim(body, limits))
        except MalformedError as fault:
            return [*claims, Verdict(Kind.OTHER, f"malformed report: {clean_line(str(fault))}")]
    return claims


def _parse_claim(body: bytes, limits: Limits) -> Verdict:
    """Check one report, each part of it within its bounds; MalformedError says what was wrong."""
    message = _load(body)
    if not isinstance(message, dict) or message.keys() != FIELDS:
        raise MalformedError(f"expected the fields {', '.join(sorted(FIELDS))}, found {_show(message)}")
    kind, detail, seconds, value = (message[name] for name in ("kind", "detail", "seconds", "value"))
    if not isinstance(kind, str) or kind not in CLAIMS:
        raise MalformedError(f"no kind {_show(kind)} that a process can claim")
    if not isinstance(detail, str):
        raise MalformedError(f"the detail is {_show(detail)}, expected a text")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < MAX_SECONDS:
        raise MalformedError(f"the seconds are {_show(seconds)}, expected a number from 0")
    if value is not None:
        _check_text(value, limits)
    return Verdict(Kind(kind), clean_line(detail), float(seconds), value if kind == Kind.OK.value else None)


def _check_text(value: object, limits: Limits) -> None:
    if not isinstance(value, str) or not value.isascii():
        raise MalformedError(f"the value is {_show(value)}, expected the text of one")
    if len(value) > max(limits.output_bytes, DIGEST_ROOM):
        raise MalformedError(f"a value of {len(value)} characters, expected at most {limits.output_bytes}")
    parse_value(value)


def clean_line(text: str) -> str:
    """Give a text of unknown origin as one short line that any terminal can show."""
    return _UNPRINTABLE.sub("?", " ".join(text[: 2 * MAX_DETAIL].split()))[:MAX_DETAIL]


def parse_value(text: str) -> Any:
    """Read a rendered value, as the tree of JSON that it is; MalformedError for what no value is rendered as."""
    tree = _load(text)
    _check(tree, 0)
    return tree


def _load(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MalformedError(f"no JSON: {_show(text)}") from None


def _check(tree: Any, depth: int) -> None:
    """Check one value and all that it holds."""
    if depth > MAX_DEPTH + 1:
        raise MalformedError(f"a value nested more than {MAX_DEPTH} levels deep")
    if tree is None or isinstance(tree, bool | int | float | str):
        return
    if isinstance(tree, list):
        _check_all(tree, depth)
        return
    kind, content = next(iter(tree.items())) if len(tree) == 1 else ("", None)
    if kind in ("tuple", "set", "iterator") and isinstance(content, list):
        _check_all(content, depth)
    elif kind == "dict" and isinstance(content, list) and all(isinstance(e, list) and len(e) == 2 for e in content):
        _check_all([part for pair in content for part in pair], depth)
    elif not _is_atom(kind, content):
        raise MalformedError(f"no value is rendered as {_show(tree)}")


def _check_all(items: list[Any], depth: int) -> None:
    for item in items:
        _check(item, depth + 1)


def _is_atom(kind: str, content: Any) -> bool:
    """Tell whether this is one of the kinds that hold no other values."""
    if kind == "bytes":
        return isinstance(content, str) and all(sign <= "\xff" for sign in content)
    if kind == "int":
        return isinstance(content, str) and _HEX.fullmatch(content) is not None
    if not isinstance(content, list) or len(content) != 2:
        return False
    if kind == "complex":
        return all(isinstance(part, float) for part in content)
    is_text = all(isinstance(part, str) for part in content)
    if kind == "made":
        return is_text and content[0] in MADE and _can_be_made(*content)
    return is_text and (kind == "repr" or (kind == "long" and _SHA256.fullmatch(content[0]) is not None))


def _can_be_made(kind: str, text: str) -> bool:
    """Return whether a text stands for a value of a type: 2021-02-30 looks like a date and is none."""
    if MADE[kind][1].fullmatch(text) is None:
        return False
    if kind == "PosixPath":  # any text is a path, and not every system makes paths of another
        return True
    try:
        make_value(kind, text)
    except (ValueError, ArithmeticError):
        return False
    return True


def _show(found: object) -> str:
    """Show the start of what was found; a deep or large one is not walked through."""
    if isinstance(found, list | dict):
        return f"a {type(found).__name__} of {len(found)}"
    if isinstance(found, int) and found.bit_length() > MAX_SHOWN:
        return "a huge number"
    return ascii(found[:MAX_SHOWN] if isinstance(found, str | bytes) else found)
