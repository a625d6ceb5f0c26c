"""Find the names that answers define, in their raw text, before their code is extracted."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pkg.extract.syntax import MAX_CODE
from pkg.rerank.examples.constructors import CONSTRUCTORS
from pkg.rerank.examples.script import KNOWN_IMPORTS

_DEFINED = re.compile(r"\b(?:def|class)[ \t]+([A-Za-z_]\w*)")
_ASSIGNED = re.compile(r"^[ \t>]*([A-Za-z_]\w*)[ \t]*(?::[^=\n]{1,80})?=(?!=)", re.MULTILINE)


def list_defined_names(text: str) -> set[str]:
    """List the functions and classes that an answer defines."""
    return {*_DEFINED.findall(text[:MAX_CODE].replace("\\n", "\n"))}


def list_possible_names(text: str) -> set[str]:
    """List the names that an answer may define or assign."""
    text = text[:MAX_CODE].replace("\\n", "\n")
    return {*_DEFINED.findall(text), *_ASSIGNED.findall(text)}


def list_common_names(counts: Mapping[str, int], answers: int, imports: Mapping[str, str]) -> frozenset[str]:
    """List the names that at least half of the answers define, so that one answer cannot change how the query is read.

    A name of the standard library counts only if the query does not import it.
    """
    known = {*KNOWN_IMPORTS, *CONSTRUCTORS} & imports.keys()
    return frozenset(name for name, count in counts.items() if 2 * count >= answers and name not in known)
