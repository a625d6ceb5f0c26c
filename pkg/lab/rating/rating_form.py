"""Checks of the data that the page sends: ratings from 0 to 10 (A-25), a choice, a written pair, names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pkg.errors import InputError, shorten
from pkg.lab.judge.ratings import SCALES, VERDICTS

LONGEST_NAME, LONGEST_TEXT = 100, 100_000  # characters
LONGEST_SITTING = 7 * 86_400.0  # seconds; more than that means that the clock was changed

SLIDERS: dict[str, tuple[str, ...]] = {"pair": ("question", "answer"), "grade": ("overall",)}
"""Names of the sliders, by kind of rating."""

DEGREES = ("none", "bachelor", "master", "doctorate", "other")
SEMESTERS = (*map(str, range(1, 10)), "10+")
SKILLS = ("1", "2", "3", "4", "5")
_CHOICES = {"degree": DEGREES, "semesters": SEMESTERS, "skill_general": SKILLS, "skill_python": SKILLS}


def read_rating(kind: str, posted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a rating row; raises InputError for a missing or invalid value.

    Code that is marked as bad needs no rating.
    """
    is_bad = posted.get("bad_code") is True
    found: dict[str, Any] = {}
    if kind in SLIDERS:
        given = posted.get("ratings") or {}
        if not isinstance(given, Mapping):
            raise InputError(f"ratings {_show(given)}; expected an object")
        wanted = [name for name in SLIDERS[kind] if not is_bad or given.get(name) is not None]
        found["ratings"] = {name: _read_number(name, given.get(name)) for name in wanted}
    elif kind == "pairwise":
        found["verdict"] = _read_choice("verdict", posted.get("verdict"), VERDICTS)
    else:
        found |= {name: read_words(name, posted.get(name)) for name in ("question", "answer")}
        empty = [name for name, text in found.items() if not text.strip()]
        if empty and not is_bad:
            raise InputError(f"no {empty[0]} yet; write one, or mark the code as bad")
    comment = read_words("comment", posted.get("comment"))
    return {**found, **({"comment": comment} if comment else {}), **({"bad_code": True} if is_bad else {})}


def read_seconds(value: object) -> float:
    """Return the seconds that a rater has spent; raises InputError for an invalid number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise InputError(f"seconds {_show(value)}; expected a number from 0")
    return round(min(float(value), LONGEST_SITTING), 1)


def read_name(value: object) -> str:
    """Return the name of a rater; raises InputError if it is empty, too long or not printable."""
    name = " ".join(value.split()) if isinstance(value, str) else ""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"name {_show(value)}; expected 1 to {LONGEST_NAME} letters, a name that you choose")
    return name


def read_participant(posted: Mapping[str, Any]) -> dict[str, str]:
    """Return the answers of a participant, all of which are optional; raises InputError for an unknown choice."""
    chosen = {
        name: _read_choice(name, posted[name], known)
        for name, known in _CHOICES.items()
        if posted.get(name) not in (None, "")
    }
    field = read_words("field", posted.get("field"), LONGEST_NAME * 2).strip()
    return chosen | ({"field": field} if field else {})


def read_words(name: str, value: object, longest: int = LONGEST_TEXT) -> str:
    """Return a text, which may be empty; raises InputError if it is not a string or too long."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{name} {_show(value)}; expected a text")
    if len(value) > longest:
        raise InputError(f"{name} of {len(value):,} characters; expected at most {longest:,}")
    return value.replace("\r\n", "\n")


def _read_number(name: str, value: object) -> int:
    low, high = SCALES["pair"]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        seen = "not set yet" if value is None else _show(value)
        raise InputError(f"{name}: {seen}; expected a whole number from {low} to {high}")
    return value


def _read_choice(name: str, value: object, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        seen = "not chosen yet" if value is None else _show(value)
        raise InputError(f"{name}: {seen}; expected one of {', '.join(known)}")
    return value


def _show(value: object) -> str:
    return shorten(repr(value), 80)
