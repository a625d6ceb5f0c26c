"""Fold variants of a hit into it: overloads, the async or sync form of the same code, and test doubles.

Several variants would take places from other answers. Each has the same scope and name without the words that tell the
variants apart, as ``aio/client.py::AsyncClient.get`` and ``client.py::Client.get``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pkg.model import Outline
from pkg.retrieval.ranking import Ranked

_VARIANT = re.compile(
    r"(?<![A-Za-z])(?:asyncio|async|aio|sync|fake|mock|dummy)(?![A-Za-z])[_/]?"
    r"|(?:Async|Sync|Fake|Mock|Dummy)(?=[A-Z]|\b)"
)
_JOINT = re.compile(r"[_.](?=[/.]|$)|(?<=/)_")  # left where a word was removed: client_.py, /_client
SHORTEST = 4  # letters of a name that may have an async form with a leading a: aget_value, but not add


class _Family(NamedTuple):
    """The place that variants share: path and qualified name without the words of variants."""

    source: str
    label: str
    path: str
    qualname: str


def fold_twins(ranked: Sequence[Ranked], outlines: Mapping[str, Outline]) -> list[Ranked]:
    """Return the candidates without later variants of an earlier one, which names their places.

    outlines: of the candidates and of the functions of blocks, by id.
    """
    firsts: dict[_Family, int] = {}
    kept: list[Ranked] = []
    for each in ranked:
        outline = outlines[each.owner or each.id]
        family = _name_family(outline)
        first = next((firsts[name] for name in _list_names(family) if name in firsts), None)
        if first is None:
            firsts[family] = len(kept)
            kept.append(each)
        else:
            kept[first] = replace(kept[first], twins=(*kept[first].twins, f"{outline.path}::{outline.qualname}"))
    return kept


def _name_family(outline: Outline) -> _Family:
    path, qualname = (_VARIANT.sub("", text) for text in (outline.path.removesuffix(".py"), outline.qualname))
    return _Family(outline.source, outline.label.value, _JOINT.sub("", path), qualname)


def _list_names(family: _Family) -> Iterator[_Family]:
    """Yield a family, and those of a name with and without the leading letter of an async form."""
    yield family
    scope, _, name = family.qualname.rpartition(".")
    if scope and len(name) >= SHORTEST:
        yield family._replace(qualname=f"{scope}.a{name}")
    if scope and len(name) > SHORTEST and name.startswith("a"):
        yield family._replace(qualname=f"{scope}.{name[1:]}")
