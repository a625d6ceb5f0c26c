"""Change one member of a JSON text with comments, or one table of a TOML text, and keep the rest unchanged."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pkg.errors import InputError

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)  # accepts tabs inside strings, as editors do
_WORD = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_MARGIN = re.compile(r"\n([ \t]*)\Z")
MAX_DEPTH = 200  # nested objects; a settings file has a few
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass(slots=True)
class _Value:
    """A value with its position in the text; of an object also the members."""

    start: int
    end: int
    value: Any
    members: dict[str, _Value] = field(default_factory=dict)
    places: list[int] = field(default_factory=list)  # positions of the member names


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def read_all(self) -> _Value:
        value = self._read(0)
        if self._peek():
            raise self._fail("the end")
        return value

    def _peek(self) -> str:
        """Skip whitespace and comments, and return the next character; "" at the end."""
        found = _BLANK.match(self._text, self._place)
        self._place = found.end() if found else self._place
        return self._text[self._place : self._place + 1]

    def _read(self, depth: int) -> _Value:
        mark = self._peek()
        if depth > MAX_DEPTH:
            raise self._fail("fewer nested objects")
        if mark == "{":
            return self._read_object(depth)
        start = self._place
        if mark == "[":
            items = []
            for _ in self._list_items("]"):
                items.append(self._read(depth + 1).value)
            return _Value(start, self._place, items)
        if mark == '"':
            text = self._read_text()
            return _Value(start, self._place, text)
        word = _WORD.match(self._text, start)
        if word is None:
            raise self._fail("a value")
        self._place = word.end()
        try:
            return _Value(start, self._place, json.loads(word[0]))
        except ValueError:
            raise self._fail("a number") from None

    def _read_object(self, depth: int) -> _Value:
        made = _Value(self._place, 0, {})
        for _ in self._list_items("}"):
            made.places.append(self._place)
            name = self._read_text()
            if self._peek() != ":":
                raise self._fail("':'")
            self._place += 1
            made.members[name] = member = self._read(depth + 1)
            made.value[name] = member.value
        made.end = self._place
        return made

    def _list_items(self, end: str) -> Any:
        """Yield before each item of a list or object, and allow a comma after the last one."""
        self._place += 1
        while self._peek() != end:
            yield
            if self._peek() == ",":
                self._place += 1
            elif self._peek() != end:
                raise self._fail(f"',' or '{end}'")
        self._place += 1

    def _read_text(self) -> str:
        if self._peek() != '"':
            raise self._fail("a string")
        try:
            text, self._place = _DECODER.raw_decode(self._text, self._place)
        except ValueError:
            raise self._fail("the end of a string") from None
        return str(text)

    def _fail(self, expected: str) -> InputError:
        line = self._text.count("\n", 0, self._place) + 1
        return InputError(f"invalid JSON: line {line}: expected {expected}, seen {self._text[self._place :][:20]!r}")


def read_commented(text: str) -> Any:
    """Parse JSON with comments and trailing commas; raises InputError with the line of a syntax error."""
    return _Reader(text).read_all().value if text.strip() else {}


def put_member(text: str, path: Sequence[str], value: Any) -> str:
    """Replace the value at a path of names, or insert it as first member; raises InputError for a non-object."""
    text = text if text.strip() else "{}\n"
    place = _Reader(text).read_all()
    for depth, name in enumerate(path):
        if not isinstance(place.value, dict):
            raise InputError(f"'{path[depth - 1] if depth else 'the file'}' is {place.value!r}; expected an object")
        if name not in place.members:
            for outer in reversed(path[depth + 1 :]):
                value = {outer: value}
            return _insert(text, place, name, value)
        place = place.members[name]
    margin = _find_margin(text, place.start)
    written = _write(value, margin, _find_step(text)).replace("\n", find_line_end(text))
    return text[: place.start] + written + text[place.end :]


def cut_member(text: str, path: Sequence[str]) -> str:
    """Remove the member at a path of names, and keep the rest; a text without it is returned as it is."""
    place = _Reader(text).read_all() if text.strip() else _Value(0, 0, {})
    for name in path[:-1]:
        if name not in place.members:
            return text
        place = place.members[name]
    if path[-1] not in place.members:
        return text
    names = list(place.members)
    index = names.index(path[-1])
    end = place.members[path[-1]].end
    if index:  # with the comma before it
        return text[: place.members[names[index - 1]].end] + text[end:]
    after = text[end:]
    comma = _BLANK.match(after)
    if comma is not None and after.startswith(",", comma.end()):
        return text[: place.start + 1] + after[comma.end() + 1 :]
    return text[: place.start + 1] + after


def _insert(text: str, place: _Value, name: str, value: Any) -> str:
    outer, step = _find_margin(text, place.start), _find_step(text)
    inner = outer + step
    added = f"\n{inner}{json.dumps(name)}: {_write(value, inner, step)}"
    if place.members:
        on_its_line = _MARGIN.search(text, place.start, place.places[0])
        added += "," if on_its_line else f",\n{inner}"
    elif "\n" not in text[place.start : place.end]:
        added += f"\n{outer}"
    return text[: place.start + 1] + added.replace("\n", find_line_end(text)) + text[place.start + 1 :]


def _write(value: Any, margin: str, step: str) -> str:
    return json.dumps(value, indent=step, ensure_ascii=False).replace("\n", f"\n{margin}")


def _find_margin(text: str, place: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _find_step(text: str) -> str:
    """Return one level of indentation of the text."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def find_line_end(text: str) -> str:
    r"""Return the most frequent line end of a text, \r\n or \n; \n for a text without lines."""
    with_return = text.count("\r\n")
    return "\r\n" if with_return * 2 > text.count("\n") else "\n"


def read_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raises InputError for a syntax error."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"invalid TOML: {fault}") from None
    return data


def put_table(text: str, path: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> str:
    """Replace the table at a path of bare names, or append it; values are strings and lists of strings."""
    header, end = f"[{'.'.join(path)}]", find_line_end(text)
    table = end.join([header, *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())])
    found = re.search(rf"^[ \t]*{re.escape(header)}[ \t]*(#[^\n]*)?\r?$", text, re.MULTILINE)
    if found is None:
        return (f"{text.rstrip()}{end}{end}" if text.strip() else "") + f"{table}{end}"
    after = _TABLE.search(text, found.end())
    rest = text[after.start() :] if after else ""
    return f"{text[: found.start()]}{table}{end}" + (f"{end}{rest}" if rest else "")


def cut_table(text: str, path: Sequence[str]) -> str:
    """Remove the table at a path of bare names, with the blank lines before it; the rest stays."""
    header = re.escape(f"[{'.'.join(path)}]")
    found = re.search(rf"(?:\r?\n)*^[ \t]*{header}[ \t]*(#[^\n]*)?\r?$", text, re.MULTILINE)
    if found is None:
        return text
    after = _TABLE.search(text, found.end())
    end = find_line_end(text)
    kept = text[: found.start()]
    if after is None:
        return f"{kept}{end}" if kept else ""
    return f"{kept}{end}{end}{text[after.start() :]}" if kept else text[after.start() :]
