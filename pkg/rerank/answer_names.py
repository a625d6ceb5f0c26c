"""Find the names that answers define before their code is known, whatever stands around it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pkg.extract.syntax import MAX_CODE
from pkg.rerank.examples.made_values import CONSTRUCTORS
from pkg.rerank.examples.script import KNOWN_IMPORTS

_WRITTEN = re.compile(r"\b(?:def|class)[ \t]+([A-Za-z_]\w*)")
_ASSIGNED = re.compile(r"^[ \t>]*([A-Za-z_]\w*)[ \t]*(?::[^=\n]{1,80})?=(?!=)", re.MULTILINE)


def list_defined_names(text: str) -> set[str]:
    """List the functions and classes that an answer defines."""
    return {*_WRITTEN.findall(text[:MAX_CODE].replace("\\n", "\n"))}


def list_written(text: str) -> set[str]:
    """List the names that an answer may define, whatever stands around its code."""
    text = text[:MAX_CODE].replace("\\n", "\n")
    return {*_WRITTEN.findall(text), *_ASSIGNED.findall(text)}


def list_shared(counts: Mapping[str, int], answers: int, imports: Mapping[str, str]) -> frozenset[str]:
    """List the names that at least half of the answers define: one answer must not change what the query says for all.

    A name that Python's library has is theirs only where the query does not import it.
    """
    known = {*KNOWN_IMPORTS, *CONSTRUCTORS} & imports.keys()
    return frozenset(name for name, count in counts.items() if 2 * count >= answers and name not in known)
