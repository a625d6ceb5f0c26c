"""The sections of a docstring in the styles of Google, NumPy and Sphinx, and their entries for names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["inputs", "output", "yield", "errors", "example", "text"]

_TITLES: dict[str, Kind] = {
    **dict.fromkeys(("args", "arguments", "parameters", "params", "parameter", "inputs", "input"), "inputs"),
    **dict.fromkeys(("keyword args", "keyword arguments", "other parameters"), "inputs"),
    **dict.fromkeys(("returns", "return", "return value", "outputs", "output"), "output"),
    **dict.fromkeys(("yields", "yield"), "yield"),
    **dict.fromkeys(("raises", "raise", "exceptions", "throws"), "errors"),
    **dict.fromkeys(("example", "examples", "example usage", "usage", "doctest", "doctests", "tests"), "example"),
    **dict.fromkeys(("note", "notes", "see also", "references", "attributes", "warning", "warnings", "todo"), "text"),
    **dict.fromkeys(("purpose", "description", "summary", "side effects"), "text"),
}
_FIELDS: dict[str, Kind] = {
    **dict.fromkeys(("param", "parameter", "arg", "argument", "key", "keyword", "type"), "inputs"),
    **dict.fromkeys(("return", "returns", "rtype"), "output"),
    **dict.fromkeys(("yield", "yields"), "yield"),
    **dict.fromkeys(("raise", "raises", "except", "exception"), "errors"),
}
# A title begins with a capital letter, unlike the parameters `input` and `usage`.
_TITLE = re.compile(
    r"(?:\*\*|#+ +)?(?P<title>[A-Z][A-Za-z ]{2,20}?)(?P<colon>(?:\*\*)? *:)?(?:\*\*)?(?: +(?P<rest>\S.*))?"
)
_RULE = re.compile(r"\s*[-=~]{3,}\s*")
_FIELD = re.compile(rf":(?P<word>{'|'.join(_FIELDS)})\b(?P<names>[^:]*):(?P<rest>.*)")
_ENTRY = re.compile(
    r"(?:[-*+•] +)?[`*\"']{0,2}(?P<names>\*{0,2}[\w.]+(?:, *\*{0,2}\w+)*)[`*\"']{0,2}"
    r" *(?:\((?P<type>[^()]*(?:\([^()]*\)[^()]*)*)\))? *(?::|-+ |–|—|$)"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a docstring: plain text, a title with its body, or a Sphinx field."""

    kind: Kind
    head: tuple[str, ...]  # the lines of the title
    body: tuple[str, ...]
    names: str = ""  # of a field

    @property
    def is_field(self) -> bool:
        """Return whether it is a Sphinx field."""
        return bool(self.head) and self.head[0].lstrip().startswith(":")

    @property
    def lines(self) -> tuple[str, ...]:
        """Return all lines."""
        return self.head + self.body


@dataclass(frozen=True, slots=True)
class Entry:
    """The description of one or several names in a section; text without a name has none."""

    names: tuple[str, ...]
    lines: tuple[str, ...]
    type_place: tuple[int, int] | None = None  # offsets of the type in parentheses, in the first line


def split_sections(text: str) -> list[Section]:
    """Split a docstring into its sections; their joined lines are the text, except text after a title."""
    sections: list[Section] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        section, used = _read_head(lines, at)
        end = at + used
        while end < len(lines) and not _ends(section, lines, end):
            end += 1
        body = (*section.body, *lines[at + used : end])
        sections.append(Section(section.kind, section.head, tuple(_indent(section, body)), section.names))
        at = end
    return sections


def _indent(section: Section, body: tuple[str, ...]) -> Iterator[str]:
    """Indent the body of a Google-style section if it is not indented."""
    is_titled = section.kind != "text" and len(section.head) == 1 and not section.is_field
    least = min((find_indent(line) for line in body if line.strip()), default=0)
    is_flat = is_titled and least <= find_indent(section.head[0])
    for line in body:
        yield f"    {line}" if is_flat and line.strip() else line


def _read_head(lines: Sequence[str], at: int) -> tuple[Section, int]:
    """Parse the title of a section, and return its number of lines too."""
    line = lines[at]
    field = _FIELD.match(line.strip())
    if field:
        return Section(_FIELDS[field["word"]], (line,), (), field["names"]), 1
    title = _TITLE.fullmatch(line.strip())
    kind = _TITLES.get(title["title"].lower()) if title else None
    if title is None or kind is None:
        return Section("text", (), (line,)), 1
    if title["rest"] is None and at + 1 < len(lines) and _RULE.fullmatch(lines[at + 1]):
        return Section(kind, (line, lines[at + 1]), ()), 2
    if not title["colon"]:
        return Section("text", (), (line,)), 1
    if title["rest"] is None or kind == "text":
        return Section(kind, (line,), ()), 1
    before = line[: len(line) - len(line.lstrip())]
    return Section(kind, (f"{before}{title['title']}:",), (f"{before}    {title['rest']}",)), 1


def _ends(section: Section, lines: Sequence[str], at: int) -> bool:
    """Return whether a line ends a section: it begins another, or is less indented after a blank line."""
    line = lines[at]
    if not line.strip():
        return False
    other, _ = _read_head(lines, at)
    if other.head:
        is_inside = bool(section.head) and section.kind in ("inputs", "errors") and len(section.head) == 1
        return not (is_inside and find_indent(line) > find_indent(section.head[0]) and not section.names)
    if not section.head:
        return False
    is_left = find_indent(line) <= find_indent(section.head[0])
    return is_left and not lines[at - 1].strip() and (len(section.head) == 1 or not _ENTRY.match(line.strip()))


def split_entries(lines: Sequence[str]) -> Iterator[Entry]:
    """Split the body of a section into the entries of names."""
    indent = next((find_indent(line) for line in lines if line.strip()), 0)
    names: tuple[str, ...] = ()
    place: tuple[int, int] | None = None
    held: list[str] = []
    for line in lines:
        found = _ENTRY.match(line.strip()) if line.strip() and find_indent(line) <= indent else None
        if found:
            if held:
                yield Entry(names, tuple(held), place)
            held = []
            names = tuple(name.strip(" *") for name in found["names"].split(","))
            shift = find_indent(line)
            place = (found.start("type") + shift, found.end("type") + shift) if found["type"] else None
        held.append(line)
    if held:
        yield Entry(names, tuple(held), place)


def find_indent(line: str) -> int:
    """Return the width of a line's indentation."""
    return len(line) - len(line.lstrip())
