"""Parse and check the reports of a candidate's process, and the values in them.

That process can write anything to its report channel. A malformed report, or a value that pkg.sandbox.values cannot
have rendered, becomes a verdict on that candidate and never raises.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pkg.sandbox.pipe_messages import split_messages
from pkg.sandbox.protocol import STARTED, Kind, Limits, Verdict
from pkg.sandbox.values import CONSTRUCTED_TYPES, MAX_DEPTH, MAX_DIGEST, make_value

MAX_DETAIL = 600
MAX_SHOWN = 60  # characters of malformed input in a message
MAX_SECONDS = 1e9
FIELDS = frozenset(("kind", "detail", "seconds", "value"))
CLAIMABLE = frozenset(kind.value for kind in Kind) - {Kind.TIMEOUT.value}  # only a clock decides on a timeout

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # could break or control a terminal
_HEX = re.compile(r"-?0x[0-9a-f]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class MalformedError(ValueError):
    """Raised for a malformed report or value."""


def parse_claims(report: bytes, limits: Limits) -> list[Verdict]:
    """Parse the reports of a process on its load and on one step; further reports are ignored.

    A malformed report becomes the last verdict, of the kind other.
    """
    claims: list[Verdict] = []
    for body in split_messages(report.removeprefix(STARTED))[:2]:
        try:
            claims.append(_parse_claim(body, limits))
        except MalformedError as fault:
            return [*claims, Verdict(Kind.OTHER, f"malformed report: {clean_line(str(fault))}")]
    return claims


def _parse_claim(body: bytes, limits: Limits) -> Verdict:
    """Parse one report and check each field; raises a MalformedError."""
    message = _load(body)
    if not isinstance(message, dict) or message.keys() != FIELDS:
        raise MalformedError(f"expected the fields {', '.join(sorted(FIELDS))}, found {_show(message)}")
    kind, detail, seconds, value = (message[name] for name in ("kind", "detail", "seconds", "value"))
    if not isinstance(kind, str) or kind not in CLAIMABLE:
        raise MalformedError(f"a process cannot claim the kind {_show(kind)}")
    if not isinstance(detail, str):
        raise MalformedError(f"the detail is {_show(detail)}, expected a text")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < MAX_SECONDS:
        raise MalformedError(f"the seconds are {_show(seconds)}, expected a number from 0")
    if value is not None:
        _check_text(value, limits)
    return Verdict(Kind(kind), clean_line(detail), float(seconds), value if kind == Kind.OK.value else None)


def _check_text(value: object, limits: Limits) -> None:
    if not isinstance(value, str) or not value.isascii():
        raise MalformedError(f"the value is {_show(value)}, expected ASCII text")
    if len(value) > max(limits.output_bytes, MAX_DIGEST):
        raise MalformedError(f"a value of {len(value)} characters, expected at most {limits.output_bytes}")
    parse_value(value)


def clean_line(text: str) -> str:
    """Return untrusted text as one short printable line."""
    return _UNPRINTABLE.sub("?", " ".join(text[: 2 * MAX_DETAIL].split()))[:MAX_DETAIL]


def parse_value(text: str) -> Any:
    """Parse a rendered value to its JSON tree; raises a MalformedError if it is not a valid rendering."""
    tree = _load(text)
    _check(tree, 0)
    return tree


def _load(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MalformedError(f"not JSON: {_show(text)}") from None


def _check(tree: Any, depth: int) -> None:
    """Check a value and its items."""
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
        raise MalformedError(f"not a rendered value: {_show(tree)}")


def _check_all(items: list[Any], depth: int) -> None:
    for item in items:
        _check(item, depth + 1)


def _is_atom(kind: str, content: Any) -> bool:
    """Return whether this is a valid value without items."""
    if kind == "bytes":
        return isinstance(content, str) and all(character <= "\xff" for character in content)
    if kind == "int":
        return isinstance(content, str) and _HEX.fullmatch(content) is not None
    if not isinstance(content, list) or len(content) != 2:
        return False
    if kind == "complex":
        return all(isinstance(part, float) for part in content)
    is_text = all(isinstance(part, str) for part in content)
    if kind == "made":
        return is_text and content[0] in CONSTRUCTED_TYPES and _can_be_made(*content)
    return is_text and (kind == "repr" or (kind == "long" and _SHA256.fullmatch(content[0]) is not None))


def _can_be_made(kind: str, text: str) -> bool:
    """Return whether a text represents a value of a type: 2021-02-30 looks like a date but is not one."""
    if CONSTRUCTED_TYPES[kind][1].fullmatch(text) is None:
        return False
    if kind == "PosixPath":  # any text is valid, and some systems cannot create it
        return True
    try:
        make_value(kind, text)
    except (ValueError, ArithmeticError):
        return False
    return True


def _show(found: object) -> str:
    """Return the start of malformed input; deep or large input is not traversed."""
    if isinstance(found, list | dict):
        return f"a {type(found).__name__} of {len(found)}"
    if isinstance(found, int) and found.bit_length() > MAX_SHOWN:
        return "a huge number"
    return ascii(found[:MAX_SHOWN] if isinstance(found, str | bytes) else found)
