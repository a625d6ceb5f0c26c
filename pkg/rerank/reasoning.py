"""Separate the answer of a reasoning model from its reasoning, whose drafts are not answers."""

from __future__ import annotations

import re
from typing import NamedTuple

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
