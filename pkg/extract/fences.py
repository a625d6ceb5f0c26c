"""Find the fenced parts of an answer: Markdown fences with their language, and [PYTHON] tags (P-21)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAME = rb"[\w\x80-\xff]+"
_MODULE = rb"[\w.\x80-\xff]+(?:[ \t]+as[ \t]+" + _NAME + rb")?"

_KEYWORDS = (
    rb"and|as|assert|async|await|case|class|def|del|elif|else|except|exec|finally|for|from|global|if|import|in|is"
    rb"|lambda|match|nonlocal|not|or|pass|print|raise|return|try|type|while|with|yield"
)

DEFINES = re.compile(
    rb"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+" + _NAME + rb"[ \t]*[(\[]"
    rb"|class[ \t]+" + _NAME + rb"[ \t]*[(:\[]"
    rb"|from[ \t]+[\w.\x80-\xff]+[ \t]+import\b"
    rb"|import[ \t]+" + _MODULE + rb"(?:[ \t]*,[ \t]*" + _MODULE + rb")*[ \t]*(?:[;\#].*)?\r?$)",
    re.MULTILINE,
)
"""A line that prose does not begin with: a definition or an import."""

BEGINS = re.compile(
    DEFINES.pattern + rb"|^[ \t]*(?:@[A-Za-z_]"
    rb"|(?:if|for|while|with|try|async|match)\b.*:"
    rb"|(?:return|raise|assert|del|global|print)\b"
    rb"|[\w*'\"\[\x80-\xff][\w.,'\"\[\]\x80-\xff \t*]*(?::[^=:\n]+)?[-+*/%&|^@<>]{0,2}=[^=]"
    rb"|[\w.\x80-\xff]+\()",
    re.MULTILINE,
)
"""A line that may begin a statement; the parser decides."""

_WORD = rb"(?!(?:" + _KEYWORDS + rb")\b)[A-Za-z]+"
_PROSE = re.compile(rb"^" + _WORD + rb"(?:[ ]" + _WORD + rb"[ ,.:;!]|:[ \t\r]*$)", re.MULTILINE)

CLASS = re.compile(rb"[ \t]*class\b")
DEFINITION = re.compile(rb"[ \t]*(?:async[ \t]+def|def|class)\b")
CLAUSE = re.compile(rb"[ \t]*(?:(?:elif|else|except|finally|case)\b|\#)")
PROMPT = re.compile(rb"^[ \t]*>>>(?: |\r?$)", re.MULTILINE)
_PROMPTED = re.compile(rb"[ \t]*(>>>|\.\.\.)(?: |\r?$)")
_INDENT = re.compile(rb"[ \t]*")

_TOKEN = re.compile(
    rb"(?P<comment>\#[^\n]*)"
    rb'|(?P<text>"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"""|\\?\Z)'
    rb"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'''|\\?\Z)"
    rb'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?'
    rb"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?)"
    rb"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>\\?\r?\n)",
    re.DOTALL,
)


def has_prose(code: bytes) -> bool:
    """Return whether a line begins with two words that are no keywords, or is one word with a colon: not Python.

    The parser accepts `Then:` as a name with its annotation on the next line. The check saves parsing prose, which is
    slow. A triple-quoted string may contain such lines: then the result is False.
    """
    return _PROSE.search(code) is not None and b'"""' not in code and b"'''" not in code


def measure_indent(line: bytes) -> int:
    """Return the column of the first character; tabs advance to multiples of eight, as in Python."""
    return len(take_indent(line).expandtabs(8))


def take_indent(line: bytes) -> bytes:
    """Return the white space at the beginning of a line."""
    found = _INDENT.match(line)
    return found.group() if found else b""


def dedent(lines: list[bytes]) -> list[bytes]:
    """Remove the common indentation of all lines."""
    indents = [take_indent(line) for line in lines if line.strip()]
    common = min(indents, key=len, default=b"")
    while not all(indent.startswith(common) for indent in indents):
        common = common[:-1]
    return [line[len(common) :] if line.strip() else line.lstrip(b" \t") for line in lines] if common else lines


def strip_prompts(lines: list[bytes]) -> list[bytes]:
    """Turn a console session into its code: prompts are removed, output is blanked, lines keep their number."""
    code = []
    entering = False
    for line in lines:
        found = _PROMPTED.match(line)
        entering = found is not None and (entering or found.group(1) == b">>>")
        code.append(line[found.end() :] if found is not None and entering else b"")
    return code


def find_continued(lines: list[bytes]) -> set[int]:
    """Find the rows that begin inside a string or bracket, or after a backslash.

    A bracket still open at a definition, or at a statement after a blank line, was prose or was never closed: it ends
    there.
    """
    continued: set[int] = set()
    row = depth = 0
    for token in _TOKEN.finditer(b"\n".join(lines)):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth = max(0, depth - 1)
        elif token.lastgroup != "comment":
            text = token.group()
            inner = text.count(b"\n")
            first, row = row + 1, row + inner
            if token.lastgroup == "end" and depth and _starts_statement(lines, row):
                depth = 0
            if token.lastgroup == "text" or depth or text.startswith(b"\\"):
                continued.update(range(first, row + 1))
    return continued


def _starts_statement(lines: list[bytes], row: int) -> bool:
    line = lines[row]
    return bool(DEFINES.match(line) or (not lines[row - 1].strip() and line[:1].strip() and BEGINS.match(line)))


_OPENING = re.compile(
    rb"(?P<lead>[^`~]*)(?P<mark>`{3,}|~{3}(?!~)|~{4,}(?=[ \t]*\w))[ \t]*(?P<info>[^`\r]*)\r?$",
)
_LEAD = re.compile(rb"[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?$")  # a fence may open a list item
_LABEL = re.compile(rb"[{. \t]*([\w+#-]+)")
_PYTHON = re.compile(rb"(?:i?python[23]?(?:-?(?:repl|console|session))?|py[23]?|pyi|pycon|doctest)$", re.IGNORECASE)
_TRANSPARENT = frozenset({b"markdown", b"md"})  # an answer inside a fence: the inner fences count
_TAGGED = re.compile(rb"\[PYTHON\](.*?)(?:\[/PYTHON\]|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence: its number, the rows from mark to mark, and the lines between."""

    number: int
    start: int  # row of the opening mark
    end: int  # row after the closing mark
    label: bytes  # lower case; empty without a language
    lines: list[bytes]

    @property
    def is_python(self) -> bool:
        """Return whether the label names Python."""
        return bool(_PYTHON.match(self.label))


def keep_tagged(code: bytes) -> bytes:
    """Blank the text outside [PYTHON] tags, and the tags; a text without tags stays unchanged."""
    if b"[PYTHON]" not in code:
        return code
    kept = []
    position = 0
    for found in _TAGGED.finditer(code):
        kept.append(b"\n" * code.count(b"\n", position, found.start()))
        kept.append(found.group(1))
        position = found.end()
    kept.append(b"\n" * code.count(b"\n", position))
    return b"".join(kept)


def find_fences(lines: list[bytes]) -> Iterator[Fence]:
    """Find the fences from top to bottom; an unclosed one ends with the text."""
    number = row = 0
    while row < len(lines):
        opening = _open_fence(lines[row])
        row += 1
        if opening is None:
            continue
        mark, label, indent = opening
        start = row
        while row < len(lines) and not _ends_fence(lines[row], mark, indent):
            row += 1
        body = lines[start:row]
        if row < len(lines) and _closes(lines[row], mark, indent):
            body.append(lines[row].rstrip().rstrip(mark[:1]))  # code may precede the closing mark
            row += 1
        number += 1
        yield Fence(number, start - 1, row, label, body)


def _open_fence(line: bytes) -> tuple[bytes, bytes, int] | None:
    """Parse an opening mark: the mark, the label and the indentation; after words only a Python label opens."""
    if b"```" not in line and b"~~~" not in line:
        return None
    found = _OPENING.match(line)
    if found is None:
        return None
    named = _LABEL.match(found["info"])
    label = named.group(1).lower() if named else b""
    if label in _TRANSPARENT or not (_LEAD.match(found["lead"]) or _PYTHON.match(label)):
        return None
    return found["mark"], label, len(take_indent(line))


def _ends_fence(line: bytes, mark: bytes, indent: int) -> bool:
    """Return whether a line closes the fence, or opens the next one because this one was never closed."""
    if mark[:3] not in line:
        return False
    if _closes(line, mark, indent):
        return True
    opening = _open_fence(line)
    return opening is not None and opening[2] <= indent + 3 and bool(_PYTHON.match(opening[1]))


def _closes(line: bytes, mark: bytes, indent: int) -> bool:
    """Return whether a line is the mark alone, not much deeper than the opening, or code followed by the mark."""
    text = line.strip()
    if not text.endswith(mark):
        return False
    if text.strip(mark[:1]):
        return mark[:1] == b"`" and text.count(b"`") == len(mark)
    return len(take_indent(line)) <= indent + 3
