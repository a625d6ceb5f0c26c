"""The parts of a document: sections, paragraphs, items, definitions, tables and code, nested as in its text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from pkg.extract.documents.table_rows import find_table, list_rows
from pkg.extract.fences import PROMPT
from pkg.extract.text_files.markup_headings import (
    Heading,
    clean_title,
    count_front_matter,
    find_markdown_headings,
    find_underlined_headings,
)
from pkg.extract.text_files.text_sections import Cutter, split_lines
from pkg.model import FactKind

MAX_DEPTH = 40  # nested parts; deeper ones are kept as text of the one around them: no written document has so many


@dataclass(slots=True)
class DocumentPart:
    """A part of a document by byte offsets; the text at them is its value."""

    kind: FactKind
    key: str  # "" for a part without a name of its own: a paragraph, an item, code
    start: int
    end: int
    parts: list[DocumentPart] = field(default_factory=list)
    language: str = ""  # of code, as its fence or directive names it


_FENCE = re.compile(rb"(`{3,}|~{3,})[ \t]*\{?\.?([\w+#-]*)([^`\r\n]*)[\r\n]*$")
_ITEM = re.compile(rb"([-*+]|\d{1,9}[.)]|\#\.)([ \t]+)(?=\S)")
_TERM = re.compile(rb"(\*\*[^*\r\n]{1,100}\*\*|``?[^`\r\n]{1,100}``?)[ \t]*(?:[:\xe2=-]|\([^()\r\n]{0,80}\)[ \t]*[:-])")
_FIELD = re.compile(rb":([\w][^:\r\n]{0,100}):(?:[ \t]+|(?=[\r\n]|$))")
_SIGNATURE = re.compile(rb"`[^`]{1,400}`[ \t]*[\r\n]*$")
_DEFINITION = re.compile(rb":[ \t]+(?=\S)")
_DIRECTIVE = re.compile(rb"\.\.[ \t]+([\w:.-]+)::[ \t]*([^\r\n]*)")
_OPTION = re.compile(rb"[ \t]*:[\w -]+:(?:[ \t]|[\r\n]|$)")
_CODE = frozenset(
    {"code", "code-block", "sourcecode", "doctest", "testcode", "parsed-literal", "ipython", "plot", "prompt"}
)
_COMMENT, _COMMENT_END = b"<!--", b"-->"


def read_parts(text: bytes, is_rst: bool, name: str) -> list[DocumentPart]:
    """Return the parts of a UTF-8 text in reStructuredText or Markdown; text before the first heading gets a name."""
    return _PartReader(text, is_rst).read(name)


class _PartReader:
    """Cut the lines of one text into parts."""

    def __init__(self, text: bytes, is_rst: bool) -> None:
        self._text, self._is_rst = text, is_rst
        self._lines = split_lines(text)
        self._starts = [0, *accumulate(map(len, self._lines))]
        self._cutter = Cutter(text, (self._starts,))

    def read(self, name: str) -> list[DocumentPart]:
        """Return the sections, each with its parts."""
        find = find_underlined_headings if self._is_rst else find_markdown_headings
        headings = list(find(self._lines))
        ends = [*(each.line for each in headings), len(self._lines)]
        first = 0 if self._is_rst else min(count_front_matter(self._lines), ends[0])
        above = self._read_range(first, ends[0], 0, 0)
        if first:
            above[:0] = self._list_texts(self._starts[0], self._starts[first], "front matter")
        tops = [DocumentPart("section", name, above[0].start, above[-1].end, above)] if above else []
        open_sections: list[tuple[int, DocumentPart]] = []
        for heading, end in zip(headings, ends[1:], strict=True):
            section = self._read_section(heading, end)
            while open_sections and open_sections[-1][0] >= heading.level:
                open_sections.pop()
            (open_sections[-1][1].parts if len(open_sections) else tops).append(section)
            for _, around in open_sections:
                around.end = section.end
            if len(open_sections) < MAX_DEPTH:
                open_sections.append((heading.level, section))
        return tops

    def _read_section(self, heading: Heading, end: int) -> DocumentPart:
        title = heading.line + (self._is_rst and _is_underline(self._lines[heading.line]))
        below = title + 1
        if below < end and _is_underline(self._lines[below]) and not self._lines[title].lstrip().startswith(b"#"):
            below += 1
        start, stop = self._trim(self._starts[heading.line], self._starts[end])
        parts = self._read_range(below, end, 0, 0)
        return DocumentPart("section", heading.title, start, max([stop, *(part.end for part in parts)]), parts)

    def _trim(self, start: int, end: int) -> tuple[int, int]:
        piece = self._text[start:end]
        kept = piece.rstrip()
        return start + len(kept) - len(kept.lstrip()), start + len(kept)

    def _list_texts(self, start: int, end: int, key: str = "") -> Iterator[DocumentPart]:
        """Yield a paragraph, or the pieces of a long one, without blank pieces."""
        for low, high in self._cutter.cut(start, end):
            first, last = self._trim(low, high)
            if first < last:
                yield DocumentPart("text", key, first, last)

    def _indent(self, number: int) -> int:
        """Return the number of white characters before a line."""
        line = self._lines[number]
        return len(line) - len(line.lstrip(b" \t"))

    def _is_blank(self, number: int) -> bool:
        return not self._lines[number].strip()

    def _read_range(self, low: int, high: int, column: int, depth: int, first: int | None = None) -> list[DocumentPart]:
        """Read the lines [low, high) below an indentation; first: offset in the first line, after a marker."""
        if depth >= MAX_DEPTH:
            return list(self._list_texts(self._starts[low] + (first or 0), self._starts[high]))
        parts: list[DocumentPart] = []
        number = low
        while number < high:
            if self._is_blank(number):
                number, first = number + 1, None
                continue
            indent = self._indent(number) if first is None else first
            found, number = self._read_block(number, high, column, indent, depth)
            parts += found
            first = None
        return parts

    def _read_block(
        self, number: int, high: int, column: int, indent: int, depth: int
    ) -> tuple[list[DocumentPart], int]:
        """Read the block that begins in a line at an indentation; return its parts and the line after it."""
        line = self._lines[number][indent:]
        if not self._is_rst and (fence := _FENCE.match(line)):
            return self._read_fence(number, high, fence)
        if line.startswith(_COMMENT):
            end = next((at for at in range(number, high) if _COMMENT_END in self._lines[at]), number)
            return [], end + 1
        if self._is_rst and (line.startswith(b".. ") or line.rstrip() == b".."):
            return self._read_directive(number, high, indent, depth)
        if PROMPT.match(line):
            end = self._find_blank(number, high)
            return self._list_code(number, end, "python"), end
        if stop := find_table(self._lines, number, high):
            return self._read_table(number, stop), stop
        if found := _ITEM.match(line) or (_FIELD.match(line) if self._is_rst else None):
            return self._read_item(number, high, indent, indent + found.end(), depth)
        if indent >= column + 4 or line.startswith(b"\t"):
            end = self._find_dedent(number, high, indent if self._is_rst else column + 4)
            if self._is_rst:
                return self._read_range(number, end, indent, depth + 1), end
            return self._list_code(number, end, ""), end
        if named := self._read_definition(number, high, indent, depth):
            return named
        return self._read_paragraph(number, high, indent)

    def _find_blank(self, number: int, high: int) -> int:
        return next((at for at in range(number, high) if self._is_blank(at)), high)

    def _find_dedent(self, number: int, high: int, least: int) -> int:
        """Return the line after a run of lines with an indentation; blank ones between them belong to it."""
        end = number + 1
        for at in range(number + 1, high):
            if self._is_blank(at):
                continue
            if self._indent(at) < least:
                break
            end = at + 1
        return end

    def _list_code(self, low: int, high: int, language: str) -> list[DocumentPart]:
        while low < high and self._is_blank(low):
            low += 1
        if low == high:
            return []
        common = min(self._indent(at) for at in range(low, high) if not self._is_blank(at))
        start = self._starts[low] + common
        end = start + len(self._text[start : self._starts[high]].rstrip())
        return [DocumentPart("code", "", start, end, language=language)]

    def _read_fence(self, number: int, high: int, fence: re.Match[bytes]) -> tuple[list[DocumentPart], int]:
        mark = fence[1]
        close = re.compile(rb"[ \t]*" + re.escape(mark[:1]) + b"{%d,}[ \t\r\n]*$" % len(mark))
        end = next((at for at in range(number + 1, high) if close.match(self._lines[at])), high)
        language = fence[2].decode("ascii", "replace").lower()
        return self._list_code(number + 1, end, language), min(end + 1, high)

    def _read_table(self, number: int, stop: int) -> list[DocumentPart]:
        start, end = self._trim(self._starts[number], self._starts[stop])
        rows = [
            DocumentPart("row", clean_title(key), *self._trim(self._starts[low], self._starts[high]))
            for low, high, key in list_rows(self._lines, number, stop)
        ]
        return [DocumentPart("table", "table", start, end, rows)]

    def _read_item(
        self, number: int, high: int, indent: int, column: int, depth: int
    ) -> tuple[list[DocumentPart], int]:
        """Read an item, with the paragraphs and lists in it; it ends at a line that is not indented below its mark."""
        end = self._find_item_end(number, high, indent)
        inner = self._read_range(number, end, column, depth + 1, column)
        field = _FIELD.match(self._lines[number], indent) if self._is_rst else None
        found = field or _TERM.match(self._lines[number], column)
        key = clean_title(found[1]) if found else ""
        if not inner:
            return [], end
        if len(inner) == 1 and inner[0].kind == "text":
            return [DocumentPart("item", key, inner[0].start, inner[0].end)], end
        rest = inner[1:] if inner[0].kind == "text" else inner
        return [DocumentPart("item", key, inner[0].start, inner[-1].end, rest)], end

    def _find_item_end(self, number: int, high: int, indent: int) -> int:
        end, is_after_blank = number + 1, False
        for at in range(number + 1, high):
            if self._is_blank(at):
                is_after_blank = True
                continue
            if self._indent(at) <= indent and (is_after_blank or self._starts_block(at)):
                break
            end, is_after_blank = at + 1, False
        return end

    def _starts_block(self, number: int) -> bool:
        line = self._lines[number].lstrip(b" \t")
        is_field = self._is_rst and _FIELD.match(line) is not None
        return bool(is_field or _ITEM.match(line) or _FENCE.match(line) or line.startswith((b"|", b".. ", _COMMENT)))

    def _interrupts(self, number: int) -> bool:
        """Return whether a line ends a paragraph; a list of reStructuredText needs a blank line before it."""
        is_field = self._is_rst and _FIELD.match(self._lines[number].lstrip(b" \t")) is not None
        return is_field or (not self._is_rst and self._starts_block(number))

    def _read_directive(self, number: int, high: int, indent: int, depth: int) -> tuple[list[DocumentPart], int]:
        end = self._find_dedent(number, high, indent + 1)
        found = _DIRECTIVE.match(self._lines[number], indent)
        if found is None:  # a comment, a target or a substitution
            return [], end
        name, said = found[1].decode("ascii", "replace"), found[2].strip()
        body = number + 1
        while body < end and _OPTION.match(self._lines[body]):
            body += 1
        if name in _CODE:
            return self._list_code(body, end, said.decode("ascii", "replace").lower() or "python"), end
        key = clean_title(said) or name.rpartition(":")[2]
        column = next((self._indent(at) for at in range(body, end) if not self._is_blank(at)), indent + 3)
        inner = self._read_range(body, end, column, depth + 1)
        start, stop = self._trim(self._starts[number], self._starts[end])
        return [DocumentPart("term", key, start, stop, inner)], end

    def _read_definition(
        self, number: int, high: int, indent: int, depth: int
    ) -> tuple[list[DocumentPart], int] | None:
        """Read a term and its definition: indented below it, after a colon, or below a signature of its own."""
        line = self._lines[number][indent:]
        key = clean_title(line)
        if number + 1 < high and not self._is_blank(number + 1):
            below = self._indent(number + 1)
            if self._is_rst and below > indent:
                end = self._find_dedent(number + 1, high, indent + 1)
                return self._make_term(number, indent, key, self._read_range(number + 1, end, below, depth + 1)), end
            if not self._is_rst and (found := _DEFINITION.match(self._lines[number + 1], below)):
                end = self._find_item_end(number + 1, high, below)
                inner = self._read_range(number + 1, end, found.end(), depth + 1, found.end())
                return self._make_term(number, indent, key, inner), end
        if self._is_rst or indent or not self._is_signature(number, high):
            return None
        end = next((at for at in range(number + 1, high) if self._is_signature(at, high)), high)
        key = clean_code(line)
        return self._make_term(number, indent, key, self._read_range(number + 1, end, 0, depth + 1)), end

    def _make_term(self, number: int, indent: int, key: str, inner: list[DocumentPart]) -> list[DocumentPart]:
        start, end = self._trim(self._starts[number] + indent, self._starts[number + 1])
        return [DocumentPart("term", key, start, inner[-1].end if inner else end, inner)]

    def _is_signature(self, number: int, high: int) -> bool:
        """Return whether a line is code of its own, as converters of HTML write a signature above its description.

        They leave a line of white space after it, or another signature follows.
        """
        if not _SIGNATURE.match(self._lines[number]) or (number and not self._is_blank(number - 1)):
            return False
        after = number + 1
        while after < high and self._is_blank(after):
            if self._lines[after].strip(b"\r\n"):
                return True
            after += 1
        return after < high and after > number + 1 and _SIGNATURE.match(self._lines[after]) is not None

    def _read_paragraph(self, number: int, high: int, indent: int) -> tuple[list[DocumentPart], int]:
        end = number + 1
        while end < high and not self._is_blank(end) and not self._interrupts(end):
            end += 1
        parts = list(self._list_texts(self._starts[number] + indent, self._starts[end]))
        is_above_code = self._is_rst and self._lines[end - 1].rstrip().endswith(b"::")
        after = next((at for at in range(end, high) if not self._is_blank(at)), high)
        if is_above_code and after < high and after > end and self._indent(after) > indent:
            stop = self._find_dedent(after, high, indent + 1)
            return [*parts, *self._list_code(after, stop, "")], stop
        return parts, end


def clean_code(line: bytes) -> str:
    """Return the code between backticks as it is written, on one line."""
    return " ".join(line.strip().strip(b"`").decode("utf-8", "replace").split())


def _is_underline(line: bytes) -> bool:
    signs = line.strip()
    return len(signs) > 0 and signs == signs[:1] * len(signs) and not signs[:1].isalnum()


def find_line(starts: Sequence[int], offset: int) -> int:
    """Return the number of the line, from 1, that contains a byte offset; starts are those of the lines."""
    return bisect_left(starts, offset + 1)
