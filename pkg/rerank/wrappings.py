"""Remove the wrapping of an answer: quotes, markup, JSON, a diff, line numbers, an IPython session.

Each reader returns the text without one kind of wrapping, or None if it finds none. The result is parsed like any
answer (pkg.rerank.extraction), so a tool call may contain a fence.
"""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import dedent
from typing import Any, NamedTuple

from pkg.extract.syntax import MAX_CODE, parse_code

MAX_OBJECTS = 64  # braces of an answer at which a JSON object is tried
MAX_DEPTH = 8  # nested objects, and strings that are JSON themselves

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufe0f]")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_PLAIN = {0xFF01 + index: 0x21 + index for index in range(94)}
_WORDS = (
    r"think|thinking|thoughts?|thought_process|reason|reasoning|reflection|analysis|scratch_?pad|draft|plan|seed:think"
)
_UNQUOTED = r"(?<!['\"])(?<!(?<!`)`)"  # a quoted mark is only mentioned, or is a string of the code

_OPEN = re.compile(
    rf"{_UNQUOTED}(?:<(?:{_WORDS})>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|START_THINKING)\|>)",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"{_UNQUOTED}(?:</(?:{_WORDS})>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|END_THINKING)\|>)",
    re.IGNORECASE,
)
_PHRASES = tuple(
    (re.compile(begin, re.MULTILINE), re.compile(end, re.MULTILINE))
    for begin, end in (
        (r"^Thinking\.\.\.[ \t]*$", r"^\.\.\.done thinking\.[ \t]*$"),
        (r"^Here is my thought process:", r"^Here is my response:"),
        (r"\Aanalysis(?=[A-Z\s])", r"assistantfinal"),
    )
)
"""Marks around reasoning: DeepSeek-R1, Qwen3 and many others (think), Seed-OSS (seed:think), Magistral ([THINK]), Kimi
(◁think▷), Sky-T1 and OpenThinker (begin_of_thought), Command A (START_THINKING), Ollama (Thinking...), Granite 3.2
(Here is my thought process:), gpt-oss without its control tokens (analysis, assistantfinal). A phrase counts only if
both its begin and its end occur."""


_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")  # gpt-oss
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")

_TAGS = r"answer|response|final_answer|final|seed:answer"
_SOLUTION = r"<\|(?:begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE)\|>"
_ANSWER_MARK = re.compile(rf"^[ \t]*</?(?:{_TAGS})>|</(?:{_TAGS})>[ \t]*$|{_SOLUTION}", re.MULTILINE | re.IGNORECASE)
"""Marks around the answer itself."""


_END = re.compile(r"(?:<\|[a-z_ ]{2,30}\|>|<｜[^｜\n]{2,30}｜>|</s>|<end_of_turn>)\Z")
"""End-of-text token that was not removed from the output."""
MAX_END_TOKEN, MAX_END_TOKENS = 40, 8  # characters of such a token; number of tokens, usually one or two


_PLAIN |= dict(zip(map(ord, "\u2018\u2019\u201c\u201d"), map(ord, "''\"\""), strict=True))
_QUOTED = re.compile(r"^[ \t]*(?:>(?!>>)[ \t]?)+", re.MULTILINE)
_NUMBERED = re.compile(
    r"^[ \t]*(?:L|[Ll]ine[ \t]+)?(?P<number>\d{1,5})(?P<mark>[ \t]*[:|│)]|\.(?=[ \t])|\t|(?=[ \t]))(?P<code>.*)$"
)
_PROMPT = re.compile(r"^[ \t]*In[ \t]*\[\d*\]:[ \t]?(.*)$")
_CONTINUED = re.compile(r"^[ \t]*\.{3,}:[ \t]?(.*)$")
_SHOWN = re.compile(r"^[ \t]*Out[ \t]*\[\d*\]:")
_ONE_LINE = re.compile(
    r"```+[ \t]*(?:python3?|py)?[ \t]+(?P<code>[^`\n]+?)[ \t]*```+|```+(?P<bare>(?:async )?def [^`\n]+?)```+"
)
_INLINE = re.compile(r"(?<!`)(?P<mark>`{1,2})(?P<code>[^`\n]+)(?P=mark)(?!`)")
_INLINE_TAG = re.compile(r"<(?:code|tt|kbd)>(?P<code>[^<\n]+)</(?:code|tt|kbd)>")
_MARKED_UP = re.compile(
    r"<(?:pre|code|p|div|br|span|parameter|arg_value|function|file|script|xml|solution)\b[^>]*>", re.I
)
_BLOCK = re.compile(
    r"<(?P<tag>pre|code|textarea|parameter|arg_value|function|file|solution|python)\b[^>]*>(?P<code>.*?)</(?P=tag)>",
    re.I | re.S,
)
_TAG = re.compile(r"</?(?:pre|code|p|div|span|b|i|em|strong|table|tbody|tr|td|ol|ul|li|html|body|font)\b[^>]*>", re.I)
_BREAK = re.compile(r"<br[ \t]*/?>\n?|</(?:div|p|tr|li)>\n?", re.I)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.S)
_HUNK = re.compile(r"^(?:@@ .*@@.*|diff --git .*|--- \S.*|\+\+\+ \S.*|index \w+\.\.\w+.*|\*\*\* .*)$")
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+|^\w+[ \t]*=[ \t]*lambda\b", re.MULTILINE)
_CODE_KEYS = (
    "code",
    "source",
    "content",
    "python",
    "solution",
    "answer",
    "new_str",
    "file_text",
    "text",
    "input",
    "cmd",
)

Reader = Callable[[str], str | None]


def list_unwrapped(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text of an answer without each kind of wrapping that it has, with a description."""
    seen = {text}
    for name, read in READERS:
        found = read(text)
        if found is not None and found.strip() and found not in seen:
            seen.add(found)
            yield found, name


def normalise_characters(text: str) -> str | None:
    """Remove invisible characters, and replace typographic spaces, brackets and quotes by ASCII."""
    found = _SPACES.sub(" ", _INVISIBLE.sub("", text)).translate(_PLAIN)
    return found if found != text else None


def read_json(text: str) -> str | None:
    """Return the code in JSON objects of a text, such as the arguments of a tool call."""
    values = [*_find_objects(text)] or _read_literal(text)
    found = [each for value in values for each in _list_texts(value, 0)]
    codes = [each for each in found if _DEFINES.search(each)]
    return "\n\n".join(_fence(each) for each in dict.fromkeys(codes)) if codes else None


def _fence(code: str) -> str:
    return code if "```" in code else f"```python\n{code}\n```"


def _find_objects(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(strict=False)
    position, looks = 0, 0
    while looks < MAX_OBJECTS and (begin := _find_brace(text, position)) >= 0:
        looks += 1
        try:
            value, position = decoder.raw_decode(text, begin)
            yield value
        except (ValueError, RecursionError):
            position = begin + 1


def _read_literal(text: str) -> list[Any]:
    """Parse a text that is a Python dict or list literal."""
    if text.strip()[:1] not in ("{", "[") or len(text) > MAX_CODE:
        return []
    try:
        return [ast.literal_eval(text.strip())]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []


def _find_brace(text: str, position: int) -> int:
    found = [index for mark in '{["' if (index := text.find(mark, position)) >= 0 and (mark != '"' or index == 0)]
    return min(found, default=-1)


def _list_texts(value: Any, depth: int) -> Iterator[str]:
    """Yield the strings in a value, those under keys that usually hold code first."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        inner = value.strip()
        if inner[:1] in ("{", "["):
            for each in _find_objects(inner):
                yield from _list_texts(each, depth + 1)
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(each, str) for each in value):  # the lines of a notebook cell
            yield "\n".join(each.removesuffix("\n") for each in value)
        else:
            for each in value:
                yield from _list_texts(each, depth + 1)
    elif isinstance(value, dict):
        for key in sorted(value, key=lambda name: name not in _CODE_KEYS):
            yield from _list_texts(value[key], depth + 1)


def read_markup(text: str) -> str | None:
    """Return the code in HTML, or in the tags of an XML tool call."""
    if "&lt;" in text and not _MARKED_UP.search(text):
        text = html.unescape(text)
    if not _MARKED_UP.search(text):
        return None
    text = _CDATA.sub(lambda found: html.escape(found[1], quote=False), text)
    blocks = [each["code"] for each in _BLOCK.finditer(text)]
    plain = [html.unescape(_TAG.sub("", _BREAK.sub("\n", each))).strip("\n") for each in blocks or [text]]
    codes = [each for each in plain if _DEFINES.search(dedent(each))]
    return "\n\n".join(_fence(each) for each in codes) if codes else None


def read_quote(text: str) -> str | None:
    """Remove the marks of a block quote, as in mails and Markdown."""
    lines = text.split("\n")
    quoted = [line for line in lines if _QUOTED.match(line)]
    if not quoted:
        return None
    return "\n".join(_QUOTED.sub("", line, count=1) for line in lines)


def read_diff(text: str) -> str | None:
    """Return the new side of a diff."""
    lines = text.split("\n")
    added = "\n".join(line[1:] for line in lines if line.startswith("+"))
    if not added or not (any(map(_HUNK.match, lines)) or _DEFINES.search(added)):
        return None
    kept = [
        line for line in lines if not (_HUNK.match(line) or line.startswith("-") or line.startswith("\\ No newline"))
    ]
    return "\n".join(line[1:] if line[:1] in ("+", " ") else line for line in kept)


def read_numbered(text: str) -> str | None:
    """Remove line numbers that count up."""
    lines = text.split("\n")
    found = [(index, match) for index, line in enumerate(lines) if (match := _NUMBERED.match(line))]
    runs: list[list[tuple[int, re.Match[str]]]] = []
    for index, match in found:
        last = runs[-1][-1] if runs else None
        if last and last[0] == index - 1 and int(match["number"]) == int(last[1]["number"]) + 1:
            runs[-1].append((index, match))
        else:
            runs.append([(index, match)])
    best = max(runs, key=len, default=[])
    code = "\n".join(match["code"] for _, match in best)
    first = code.split("\n")[0]
    indent = len(first) - len(first.lstrip())
    return "\n".join(line[min(indent, len(line) - len(line.lstrip())) :] for line in code.split("\n")) if best else None


def read_ipython(text: str) -> str | None:
    """Return the input of an IPython session."""
    lines = text.split("\n")
    if not any(map(_PROMPT.match, lines)):
        return None
    kept: list[str] = []
    for line in lines:
        typed = _PROMPT.match(line) or _CONTINUED.match(line)
        if typed:
            kept.append(typed[1])
    entries = "\n".join(kept)
    return entries if not _SHOWN.match(entries) else None


def read_escaped(text: str) -> str | None:
    """Unescape a text with escaped line ends."""
    if "\\n" not in text or "\n" in text.strip():
        return None
    plain = text.strip().strip("\"'")
    return plain.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\'", "'")


def read_inline(text: str) -> str | None:
    """Return the code within a sentence, or in a fence of one line."""
    marked = [*_ONE_LINE.finditer(text), *_INLINE.finditer(text), *_INLINE_TAG.finditer(text)]
    codes = [html.unescape(_find_code(each.groupdict())).strip() for each in marked]
    defining = [each for each in codes if _DEFINES.search(each) and parse_code(each) is not None]
    return "\n\n".join(_fence(each) for each in defining) if defining else None


def _find_code(found: Mapping[str, str | None]) -> str:
    return found.get("code") or found.get("bare") or ""


READERS: tuple[tuple[str, Reader], ...] = (
    ("taken without invisible characters", normalise_characters),
    ("taken from JSON", read_json),
    ("taken from markup", read_markup),
    ("taken from a quote", read_quote),
    ("taken from a diff", read_diff),
    ("taken without line numbers", read_numbered),
    ("taken from an IPython session", read_ipython),
    ("taken from escaped text", read_escaped),
    ("taken from a sentence", read_inline),
)


class VisibleAnswer(NamedTuple):
    """Answer of a model without its reasoning."""

    text: str
    reasoning: str = ""
    is_unfinished: bool = False  # the output was truncated within the reasoning


def strip_reasoning(text: str) -> VisibleAnswer:
    """Remove marked reasoning, closed or not; a text without marks is unchanged."""
    if "<|channel|>" in text:
        return _read_channels(text)
    given = text = _strip_end_tokens(text)
    text = _ANSWER_MARK.sub("", _strip_phrases(text))
    kept, position, is_open = list[str](), 0, False
    while opening := _OPEN.search(text, position):
        closing = _CLOSE.search(text, opening.end())
        kept.append(text[position : opening.start()])
        is_open, position = closing is None, closing.end() if closing else len(text)
    rest = "".join((*kept, text[position:]))
    *_, last = [0, *(each.end() for each in _CLOSE.finditer(rest))]  # closed but not opened: the prompt opened it
    answer = rest[last:]
    reasoning = "" if answer == given else _CLOSE.sub("\n", _OPEN.sub("\n", given))
    return VisibleAnswer(answer, reasoning, is_open)


def _strip_end_tokens(text: str) -> str:
    """Remove end tokens; a text without any keeps its white space."""
    for _ in range(MAX_END_TOKENS):
        bare = text.rstrip()
        found = _END.search(bare, max(0, len(bare) - MAX_END_TOKEN))
        if found is None:
            break
        text = bare[: found.start()]
    return text


def _strip_phrases(text: str) -> str:
    """Remove the text between two phrases, from the first opening to the last closing one."""
    for begin, end in _PHRASES:
        opening = begin.search(text)
        closings = list(end.finditer(text, opening.end())) if opening else []
        if opening and closings:
            text = text[: opening.start()] + text[closings[-1].end() :]
    return text


def _read_channels(text: str) -> VisibleAnswer:
    """Return the content of the last final channel, or if there is none the text before the channels."""
    contents = [(each.group(1), text[each.end() : _end_channel(text, each.end())]) for each in _CHANNEL.finditer(text)]
    final = [content for channel, content in contents if channel == "final"]
    reasoning = "\n\n".join(content for channel, content in contents if channel != "final")
    before = text[: text.index("<|channel|>")].removesuffix("<|start|>assistant")
    return VisibleAnswer(final[-1] if final else before, reasoning, is_unfinished=not final)


def _end_channel(text: str, start: int) -> int:
    found = _CHANNEL_END.search(text, start)
    return found.start() if found else len(text)
