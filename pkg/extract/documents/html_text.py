"""Write the text of an HTML page in Markdown, so that one reader understands both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser

_BLOCKS = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "main",
        "body",
        "header",
        "footer",
        "aside",
        "figure",
        "figcaption",
        "blockquote",
        "details",
        "summary",
        "address",
        "ul",
        "ol",
        "dl",
        "table",
        "hr",
        "br",
        "form",
        "fieldset",
    ]
)
_SKIPPED = frozenset(
    ["script", "style", "head", "nav", "svg", "noscript", "template", "button", "select", "iframe", "canvas", "math"]
)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_INLINE = {**dict.fromkeys(("code", "tt", "kbd", "samp"), "`"), "strong": "**", "b": "**"}
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_SPACE = re.compile(r"\s+")
_MARKS = re.compile(r"(?=[#>|`~:]|[-*+] |\d+[.)] |={3}|-{3})")  # would begin a block of Markdown
_LANGUAGE = re.compile(r"(?:highlight-|language-|lang-|sourceCode )([\w+#-]+)")
MAX_NESTED = 40  # lists in lists; deeper ones are written on the level of the deepest


def write_markdown(page: str) -> str:
    """Return the text of a page in Markdown; scripts, styles and navigation are left out. Never raises."""
    writer = _Writer()
    writer.feed(page)
    writer.close()
    writer.end()
    return writer.text


class _Writer(HTMLParser):
    """Write lines while a page is read; elements may be left open or closed twice."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._lines: list[str] = []
        self._words: list[str] = []  # of the block that is being written
        self._marks: list[str] = []  # of enclosing items, each used by its first line
        self._indents: list[str] = []
        self._numbers: list[int] = []  # of enclosing lists; -1 without numbers
        self._skipped = 0  # enclosing elements that are left out
        self._skipped_name = ""
        self._prefix = ""
        self._pre: list[str] | None = None
        self._language = ""
        self._row: list[str] | None = None
        self._rows = 0

    @property
    def text(self) -> str:
        """Return the Markdown written so far."""
        return "\n".join(self._lines)

    def end(self) -> None:
        """Write what is open at the end of the page."""
        if self._pre is not None:
            self._end_pre()
        self._flush()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        if self._skipped:
            self._skipped += tag == self._skipped_name
            return
        named = " ".join(value or "" for name, value in attrs if name in ("class", "role"))
        if tag not in _VOID and (tag in _SKIPPED or "headerlink" in named or "navigation" in named.split()):
            self._skipped, self._skipped_name = 1, tag
        elif language := _LANGUAGE.search(named):
            self._language = language[1].lower()
        self._start(tag)

    def _start(self, tag: str) -> None:
        if self._skipped:
            self._flush()
            return
        if tag == "pre":
            self._flush()
            self._pre = []
        elif self._pre is not None:
            if tag == "br":
                self._pre.append("\n")
        elif self._row is not None and tag in _HEADINGS:
            self._words.append(" ")
        elif tag in ("td", "th", "tr") or (self._row is not None and tag in _BLOCKS):
            self._start_cell(tag)
        elif tag in _HEADINGS:
            self._flush()
            self._prefix = f"{_HEADINGS[tag]} "
        elif tag in ("ul", "ol"):
            self._flush()
            self._numbers.append(0 if tag == "ol" else -1)
        elif tag in ("li", "dd"):
            self._start_item(tag)
        elif tag == "dt":
            self._end_item("dd")
            self._flush()
        elif tag in _INLINE:
            self._words.append(_INLINE[tag])
        elif tag in _BLOCKS:
            self._flush()
            self._rows = 0 if tag == "table" else self._rows

    def handle_endtag(self, tag: str) -> None:
        """End an element, if it is open."""
        if self._skipped:
            self._skipped -= tag == self._skipped_name
        elif tag == "pre" and self._pre is not None:
            self._end_pre()
        elif self._pre is not None:
            return
        elif tag == "tr" and self._row is not None:
            self._end_row()
        elif self._row is not None and tag in _BLOCKS and tag != "table":
            self._words.append(" ")
        elif tag in _HEADINGS or tag in _BLOCKS:
            if tag == "table" and self._row is not None:
                self._end_row()
            self._flush()
            if tag in ("ul", "ol") and self._numbers:
                self._end_item("li")
                self._numbers.pop()
            elif tag == "dl":
                self._end_item("dd")
        elif tag == "dt":
            self._flush(is_term=True)
        elif tag in ("li", "dd"):
            self._end_item(tag)
        elif tag in _INLINE:
            self._words.append(_INLINE[tag])

    def handle_data(self, data: str) -> None:
        """Add text."""
        if self._skipped:
            return
        if self._pre is not None:
            self._pre.append(data)
        else:
            self._words.append(data)

    def _start_item(self, tag: str) -> None:
        if (tag == "li" and self._numbers and len(self._marks) >= self._depth()) or (
            tag == "dd" and self._marks and self._marks[-1] == "dd"
        ):
            self._end_item(tag)
        self._flush()
        if len(self._indents) >= MAX_NESTED:
            return
        mark = ":   "
        if tag == "li":
            if self._numbers and self._numbers[-1] >= 0:
                self._numbers[-1] += 1
                mark = f"{self._numbers[-1]}. "
            else:
                mark = "- "
        self._marks.append(tag)
        self._indents.append(mark)

    def _depth(self) -> int:
        """Return the number of items that are open where no list item is open twice."""
        return len(self._numbers) + sum(mark == "dd" for mark in self._marks)

    def _end_item(self, tag: str) -> None:
        self._flush()
        if self._marks and self._marks[-1] == tag:
            self._marks.pop()
            self._indents.pop()

    def _start_cell(self, tag: str) -> None:
        if tag == "tr":
            if self._row is not None:
                self._end_row()
            self._flush()
            self._row = []
        elif tag in ("td", "th") and self._row is not None:
            self._end_cell()
        else:
            self._words.append(" ")

    def _end_cell(self) -> None:
        cell = _SPACE.sub(" ", "".join(self._words)).strip().replace("|", "\\|")
        self._words = []
        if self._row is not None and (cell or self._row):
            self._row.append(cell)

    def _end_row(self) -> None:
        self._end_cell()
        row, self._row = self._row or [], None
        if not any(row):
            return
        if not self._rows:
            self._write("", is_blank=True)
        self._write(f"| {' | '.join(row)} |")
        self._rows += 1
        if self._rows == 1:
            self._write(f"|{' --- |' * len(row)}")

    def _flush(self, is_term: bool = False) -> None:
        """Write the block that is open as one line."""
        words = _SPACE.sub(" ", "".join(self._words)).strip()
        prefix, self._words, self._prefix = self._prefix, [], ""
        words = words.replace("``", "").replace("****", "")
        if not words:
            return
        if not prefix and _MARKS.match(words) and not words.startswith("`"):
            words = f"\\{words}"
        if not is_term or self._lines[-1:] != [""]:
            self._write("", is_blank=True)
        self._write(f"{prefix}{words}")

    def _write(self, line: str, is_blank: bool = False) -> None:
        if is_blank:
            # A definition follows its term at once.
            follows = self._indents[-1:] == [":   "] and self._lines and not self._lines[-1].startswith(" ")
            if self._lines and self._lines[-1] and not follows:
                self._lines.append("")
            return
        marks = "".join(self._indents)
        self._indents = [" " * len(mark) for mark in self._indents]
        self._lines.append(f"{marks}{line}" if line else "")

    def _end_pre(self) -> None:
        code = "".join(self._pre or ()).strip("\n").rstrip()
        self._pre = None
        if code.strip():
            fence = make_fence(code)
            self._write("", is_blank=True)
            for line in (f"{fence}{self._language}", *code.split("\n"), fence):
                self._write(line)
        self._language = ""


def make_fence(code: str) -> str:
    """Return a fence that is longer than any in the code."""
    longest = max(map(len, re.findall(r"`{3,}", code)), default=2)
    return "`" * (longest + 1)


def write_cells(cells: Sequence[tuple[str, str]]) -> str:
    """Return cells of Markdown and of code, each with "" or its language, as one text in Markdown."""
    parts = []
    for language, text in cells:
        if language:
            fence = make_fence(text)
            text = f"{fence}{language}\n{text.rstrip()}\n{fence}"
        parts.append(f"{text.rstrip()}\n")
    return "\n".join(parts)
