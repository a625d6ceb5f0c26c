"""Determine the licence of a package from its metadata, and whether it permits everyone to use and share the code.

Only known permissive licences count: code under another or an unknown licence is excluded from a corpus, unless the
user decides otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

PERMISSIVE = frozenset(
    {
        "0BSD", "Apache-2.0", "BlueOak-1.0.0", "BSD-1-Clause", "BSD-2-Clause", "BSD-2-Clause-Patent", "BSD-3-Clause",
        "BSD-3-Clause-Clear", "BSL-1.0", "CC0-1.0", "CNRI-Python", "HPND", "ISC", "MIT", "MIT-0", "MIT-CMU", "NCSA",
        "PSF-2.0", "Python-2.0", "Python-2.0.1", "Unlicense", "UPL-1.0", "X11", "Zlib", "ZPL-2.1",
        "Apache", "BSD", "PSF", "CC0", "ZPL", "Public-Domain",
    }
)  # fmt: skip
"""Licences by SPDX name; in the last line, names without a version as metadata have them."""

_CLASSIFIED = {
    "Apache Software License": "Apache",
    "BSD License": "BSD",
    "Blue Oak Model License (BlueOak-1.0.0)": "BlueOak-1.0.0",
    "Boost Software License 1.0 (BSL-1.0)": "BSL-1.0",
    "CC0 1.0 Universal (CC0 1.0) Public Domain Dedication": "CC0-1.0",
    "Historical Permission Notice and Disclaimer (HPND)": "HPND",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Public Domain": "Public-Domain",
    "Python Software Foundation License": "PSF",
    "The Unlicense (Unlicense)": "Unlicense",
    "Universal Permissive License (UPL)": "UPL-1.0",
    "University of Illinois/NCSA Open Source License": "NCSA",
    "Zero-Clause BSD (0BSD)": "0BSD",
    "Zope Public License": "ZPL",
    "zlib/libpng License": "Zlib",
}
"""Permissive licences by the classifiers of packages."""

_WRITTEN = (
    (re.compile(r"^(the )?(modified |new |simplified )?bsd\b|^[234]-clause bsd\b", re.IGNORECASE), "BSD"),
    (re.compile(r"^(the )?(mit|expat)\b", re.IGNORECASE), "MIT"),
    (re.compile(r"^(the )?apache\b(?!.*\b1\.)", re.IGNORECASE), "Apache"),
    (re.compile(r"^(the )?isc\b", re.IGNORECASE), "ISC"),
    (re.compile(r"^(psf\b|python software foundation\b)", re.IGNORECASE), "PSF"),
    (re.compile(r"^(the )?unlicense\b", re.IGNORECASE), "Unlicense"),
    (re.compile(r"^cc0\b", re.IGNORECASE), "CC0"),
    (re.compile(r"^public domain$", re.IGNORECASE), "Public-Domain"),
)
"""Spellings of permissive licences in the free text of a package."""
_OTHERS = re.compile(
    r"gpl|\bmpl\b|mozilla|eupl|cddl|proprietary|commercial|all rights reserved|\bnc\b|\bcommons clause\b", re.IGNORECASE
)
"""Words of licences that are not permissive, and may occur beside a permissive one."""

_TOKEN = re.compile(r"[()]|[\w.+-]+")
_FOLDED = {name.casefold(): name for name in PERMISSIVE}
_SHOWN = 60  # characters shown of a free text
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence as a package names it, and whether it is permissive."""

    name: str
    is_permissive: bool


def read_licence(expression: str | None, classifiers: Sequence[str] = (), text: str | None = None) -> Licence:
    """Determine the licence of a package: from its SPDX expression, else its classifiers, else its free text.

    Several classifiers must all be permissive, as they do not express a choice.
    """
    if expression and expression.strip():
        return _judge_expression(expression.strip())
    named = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License ::")]
    named = [each for each in named if each != "OSI Approved"]
    if named:
        known = [_CLASSIFIED.get(each) for each in named]
        name = " AND ".join(dict.fromkeys(_CLASSIFIED.get(each, each) for each in named))
        return Licence(name, all(known))
    return _read_text(text or "")


def _read_text(text: str) -> Licence:
    """Read the free text of a package: a name, an expression, or the whole text of a licence."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    judged = _judge_expression(first) if first else Licence(UNKNOWN, False)
    if judged.is_permissive or not first or first.casefold() == UNKNOWN:
        return judged
    if not _OTHERS.search(first):
        name = next((name for pattern, name in _WRITTEN if pattern.match(first)), None)
        if name is not None:
            return Licence(name, True)
    return Licence(first[:_SHOWN], False)


def _judge_expression(expression: str) -> Licence:
    """Evaluate an SPDX expression: one side of OR suffices, AND needs both; exceptions only permit more."""
    tokens = _TOKEN.findall(expression)
    try:
        is_permissive, rest = _read_side(tokens, "OR", any)
    except IndexError:
        return Licence(expression[:_SHOWN], False)
    name = _FOLDED.get(expression.casefold(), expression)
    return Licence(name[:_SHOWN], is_permissive and not rest)


def _read_side(tokens: list[str], word: str, join: Callable[[list[bool]], bool]) -> tuple[bool, list[str]]:
    """Parse sides joined by a word; return their value and the remaining tokens. IndexError: a side is missing."""
    sides = []
    while True:
        side, tokens = _read_side(tokens, "AND", all) if word == "OR" else _read_name(tokens)
        sides.append(side)
        if not tokens or tokens[0].upper() != word:
            return join(sides), tokens
        tokens = tokens[1:]


def _read_name(tokens: list[str]) -> tuple[bool, list[str]]:
    first, rest = tokens[0], tokens[1:]
    if first == "(":
        inner, rest = _read_side(rest, "OR", any)
        return inner and rest[0] == ")", rest[1:]
    if rest and rest[0].upper() == "WITH":
        rest = rest[2:]
    return first.removesuffix("+").casefold() in _FOLDED, rest
