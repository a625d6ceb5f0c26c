"""Split a long question, such as an issue, into title, prose, code, output and errors; drop the boilerplate.

An issue describes the same thing in several ways: people's words, their code, the place of the error. As one bag of
words, the longest part would outvote the others, and lists of versions would count like the title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.retrieval.long.long_question import Part

LONGEST_LINE = 1000  # characters of a line that are read: the rest is data
LONGEST_HEADING = 120
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"</?(?:details|summary|br|p|img|a|b|i|pre|code|h\d|div|ul|li|kbd|sup|sub)\b[^>\n]*>", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)|https?://\S+")
_CHECK = re.compile(r"^\s*[-*] \[[ xX]\] ")
_FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+#.-]*)")
_HEADING = re.compile(
    r"^\s*(?:#{1,6}\s*(?P<marked>\S.*?)\s*#*|\*\*(?P<bold>[^*]+?)\*\*:?|(?P<plain>[A-Z][\w /]{2,40}):)\s*$"
)
_UNDERLINE = re.compile(r"^\s*(?:-{3,}|={3,}|~{3,}|\*{3,}|_{3,})\s*$")
_ENVIRONMENT = re.compile(
    r"\b(?:environment|versions?|system (?:info|details|information)|os|platform|checklist|confirmation|installed|"
    r"installation|dependencies|your project|screenshots?|pip (?:list|freeze)|extensions|config(?:uration)? info)\b",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"^(?:what happened|what (?:did|do) you expect.*|expected.*|actual.*|current behaviou?r|describe the (?:bug|issue)"
    r".*|"
    r"description|(?:steps|how) to reproduce.*|to reproduce|reproduc.*|minimal.*example|code sample.*|problem.*|"
    r"relevant log output|anything else.*|additional (?:context|info).*|bug (?:report|description|summary).*|"
    r"summary|details|issue|steps|context|notes?|output of .*|is your feature request.*|describe the solution.*|"
    r"describe alternatives.*|(?:possible )?(?:solution|fix)|motivation|command (?:used|output)|comments?)\W*$",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"^[\s>*-]*(?![\s>*-])"  # possessive: with backtracking, a blank line would take seconds
    r"[\w./ ()-]{1,40}(?:\s*[:=]+\s*|\s+)v?(?:\d+(?:\.[\w+-]+)+|None|N/A|unknown)(?:[\s,(].{0,60})?$"
)
_FILLER = re.compile(r"^\s*(?:_No response_|N/?A|none|\.\.\.)\s*$", re.IGNORECASE)
_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.|In\s*\[\d*\]:|\s+\.\.\.:) ?")
_OUT = re.compile(r"^\s*Out\s*\[\d*\]: ?")
_TRACE = re.compile(r"Traceback \(most recent call last\)|^\s*File \"[^\"]+\", line \d+|^-+> *\d+ ")
_ERROR = re.compile(r"^[\s>E|]*(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt)\b(?::.*)?$")
_CODE = re.compile(
    r"(?:(?:from\s+[\w.]+\s+)?import\s+\w|(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[(:]|@\w|return\b|raise\s|"
    r"(?:if|for|while|with|elif|except)\b.*:\s*$|(?:else|try|finally):|[\w.\[\]'\", ]+\s*[-+*/|&]?=[^=]|[\w.]+\(.*\)?)"
)
_PYTHON = frozenset(("", "python", "py", "python3", "ipython", "pycon", "pytb", "julia", "python-traceback"))


def read_parts(text: str) -> dict[Part, str]:
    """Return the text of each part, its pieces joined by newlines, without boilerplate."""
    title, *lines = (line[:LONGEST_LINE] for line in text.strip().splitlines())
    found: dict[Part, list[str]] = {part: [] for part in Part}
    found[Part.TITLE].append(_clean(title.lstrip("# ")) or title)
    for part, line in _sort_lines(_COMMENT.sub("", "\n".join(lines))):
        found[part].append(line)
    joined = {part: "\n".join(pieces).strip() for part, pieces in found.items()}
    return {part: pieces for part, pieces in joined.items() if pieces}


def _sort_lines(body: str) -> Iterator[tuple[Part, str]]:
    """Yield each relevant line with its part."""
    is_environment = False
    for is_code, language, lines in _split_blocks(body):
        if is_code and not is_environment:
            yield from _sort_code(lines, language in _PYTHON)
        for line in () if is_code else lines:
            heading = _read_heading(line)
            if heading is not None:
                is_environment = _ENVIRONMENT.search(heading) is not None and len(heading) < 60
                if not is_environment and not _TEMPLATE.match(heading):
                    yield Part.PROSE, heading
            elif not is_environment:
                yield from _sort_prose(line)


def _read_heading(line: str) -> str | None:
    found = _HEADING.match(line) if len(line) <= LONGEST_HEADING else None
    if found is None:
        return None
    return _clean(found["marked"] or found["bold"] or found["plain"])


def _sort_prose(line: str) -> Iterator[tuple[Part, str]]:
    """Yield a line as code of a session, error or prose; drop the text of templates."""
    if (_PROMPT.match(line) and ">>>" in line) or line.lstrip().startswith("In ["):
        yield Part.CODE, _PROMPT.sub("", line)
    elif _ERROR.match(line):
        yield Part.ERROR, line.strip()
    elif not (_CHECK.match(line) or _VERSION.match(line) or _FILLER.match(line) or _UNDERLINE.match(line)):
        yield Part.PROSE, _clean(line)


def _sort_code(lines: list[str], may_be_python: bool) -> Iterator[tuple[Part, str]]:
    """Separate code, its output and errors in one block."""
    has_prompts = any(_PROMPT.match(line) for line in lines)
    has_trace = any(_TRACE.search(line) for line in lines)
    is_python = may_be_python and sum(1 for line in lines if _CODE.match(line.strip())) * 3 >= len(lines)
    in_trace = False
    for line in lines:
        if _VERSION.match(line) or _UNDERLINE.match(line):
            continue
        if has_prompts and _PROMPT.match(line):
            in_trace = False
            yield Part.CODE, _PROMPT.sub("", line)
        elif _ERROR.match(line):
            in_trace = False
            yield Part.ERROR, line.strip()
        elif in_trace or (has_trace and _TRACE.search(line)):
            in_trace = True
        elif is_python and not has_prompts and not has_trace:
            yield Part.CODE, line
        else:
            yield Part.OUTPUT, _OUT.sub("", line)


def _split_blocks(body: str) -> Iterator[tuple[bool, str, list[str]]]:
    """Yield runs of lines: whether they are a code block, fenced or indented, its language, and the lines."""
    fence, language, lines, is_indented, was_blank = "", "", list[str](), False, True
    for line in body.splitlines():
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2]:
                yield True, language, lines
                fence, lines = "", []
            else:
                lines.append(line)
            continue
        if found and line.count("```") < 2:
            yield is_indented, "", lines
            fence, language, lines, is_indented = found[1], found[2].lower(), [], False
            continue
        starts = line.startswith(("    ", "\t")) and (is_indented or was_blank)
        if line.strip() and starts != is_indented:
            yield is_indented, "", lines
            lines, is_indented = [], starts
        was_blank = not line.strip()
        lines.append(line)
    yield bool(fence) or is_indented, language if fence else "", lines


def _clean(line: str) -> str:
    """Remove markup and the addresses of links."""
    return _TAG.sub(" ", _LINK.sub(r"\1", line)).strip()
