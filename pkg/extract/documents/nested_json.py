"""Parse the nested JSON that a model writes of a document, repaired where it can be, and turn it into facts (P-12)."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

from pkg.extract.documents.fact_tree import FactTree
from pkg.extract.text_files.markup_headings import clean_title
from pkg.model import Fact

Pairs: TypeAlias = "list[tuple[str, Any]]"
"""The pairs of an object in their order; a key may occur twice."""

MAX_DEPTH = 40  # nested values; deeper ones are kept as text
DEEPEST = 300  # open brackets of an answer; the limits of the parser differ between versions of Python
_BEGIN = re.compile(r"[{\[]")
_DANGLING = re.compile(r'(?:,|,?\s*"(?:[^"\\]|\\.)*"\s*:?)\s*$')
_TRAILING = re.compile(r",(\s*[}\]])")


class _Object(dict[str, Any]):
    """An object with all of its pairs, also those of equal keys."""

    pairs: Pairs = []  # noqa: RUF012 - replaced for each object

    @classmethod
    def make(cls, pairs: Pairs) -> _Object:
        made = cls(pairs)
        made.pairs = pairs
        return made


def parse_nested(text: str) -> Any:
    """Return the object or list that an answer holds; None if there is none, or it is empty.

    Prose and fences around it are ignored; commas before a bracket, single quotes and a missing end are repaired.
    """
    found = _BEGIN.search(text)
    if found is None:
        return None
    body = text[found.start() :]
    signs = (1 if sign in "{[" else -1 for sign in body if sign in "{[]}")
    if max(accumulate(signs)) > DEEPEST:
        return None
    for each in (body, _TRAILING.sub(r"\1", body), _complete(body)):
        value = _decode(each)
        if value:
            return value
    return _evaluate(body)


def _decode(text: str) -> Any:
    try:
        value, _ = json.JSONDecoder(object_pairs_hook=_Object.make, strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value


def _complete(text: str) -> str:
    """Close the strings and brackets of a text that breaks off, without its last incomplete pair."""
    closers, is_text, is_escaped = list[str](), False, False
    for sign in text:
        if is_text:
            is_escaped, is_text = (sign == "\\" and not is_escaped), is_escaped or sign != '"'
        elif sign == '"':
            is_text = True
        elif sign in "{[":
            closers.append("}" if sign == "{" else "]")
        elif sign in "}]" and closers:
            closers.pop()
            if not closers:
                break
    text = text.rstrip("\\") + ('"' if is_text else "")
    end = "".join(reversed(closers))
    whole = _TRAILING.sub(r"\1", text.rstrip().rstrip(",") + end)
    return whole if _decode(whole) else _TRAILING.sub(r"\1", _DANGLING.sub("", text) + end)


def _evaluate(text: str) -> Any:
    """Read an object in the syntax of Python, with single quotes and None; None if it is none."""
    end = max(text.rfind("}"), text.rfind("]")) + 1
    try:
        value = ast.literal_eval(text[:end])
        return _decode(json.dumps(value)) or None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def list_written(
    text: bytes, pieces: Sequence[tuple[int, int, Any]], above: Sequence[str], name: str
) -> tuple[Fact, ...]:
    """Return the facts of parsed values, parents first, each value with the byte offsets of its piece of the text.

    The place of a fact is that of its value in the piece, if it occurs there, or that of the facts below it. Empty
    values are left out; a value that is not the text at its place is kept with the fact.
    """
    tree = FactTree(text, above)
    for start, end, value in pieces:
        writer = _TreeWriter(tree, text, start, end)
        pairs = value.pairs if isinstance(value, _Object) else [(name, value)]
        for key, each in pairs:
            writer.add(clean_title(str(key).encode("utf-8", "replace")), each, None, 0)
    return tuple(tree.facts)


class _TreeWriter:
    """Add the values of one piece to a tree."""

    def __init__(self, tree: FactTree, text: bytes, start: int, end: int) -> None:
        self._tree, self._text, self._start, self._end = tree, text, start, end

    def add(self, key: str, value: Any, parent: int | None, depth: int) -> None:
        if isinstance(value, _Object | list) and depth < MAX_DEPTH:
            inner = value.pairs if isinstance(value, _Object) else [("", each) for each in value]
            if not any(_is_filled(each) for _, each in inner):
                return
            start, end = self._find_all(value)
            number = self._tree.add("section", key, start, end, parent)
            for name, each in inner:
                self.add(clean_title(str(name).encode("utf-8", "replace")), each, number, depth + 1)
        elif _is_filled(value):
            said = _write_value(value)
            place = self._find(said)
            is_there = place is not None
            start, end = place or (self._start, self._end)
            self._tree.add("value" if key else "item", key, start, end, parent, None if is_there else said)

    def _find(self, said: str) -> tuple[int, int] | None:
        wanted = said.encode("utf-8", "replace")
        at = self._text.find(wanted, self._start, self._end)
        return None if at < 0 else (at, at + len(wanted))

    def _find_all(self, value: Any) -> tuple[int, int]:
        """Return the extent of the values inside; that of the piece if any of them is not in the text."""
        places = [self._find(said) for said in _list_values(value, 0)]
        found = [each for each in places if each is not None]
        if not found or len(found) < len(places):
            return self._start, self._end
        return min(start for start, _ in found), max(end for _, end in found)


def _is_filled(value: Any) -> bool:
    return value is not None and (not isinstance(value, str | list | dict) or bool(value)) and str(value).strip() != ""


def _write_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode().strip()


def _list_values(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, _Object | list) and depth <= MAX_DEPTH:
        for each in [each for _, each in value.pairs] if isinstance(value, _Object) else value:
            yield from _list_values(each, depth + 1)
    elif _is_filled(value):
        yield _write_value(value)
