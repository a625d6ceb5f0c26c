"""Tell the answer of a model that thinks aloud from what it thought: drafts are no answer."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORDS = (
    r"think|thinking|thoughts?|thought_process|reason|reasoning|reflection|analysis|scratch_?pad|draft|plan|seed:think"
)
_NO_TEXT = r"(?<!['\"])(?<!(?<!`)`)"  # a mark behind a quote is spoken of, or is a text of the code

_OPEN = re.compile(
    rf"{_NO_TEXT}(?:<(?:{_WORDS})>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|START_THINKING)\|>)",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"{_NO_TEXT}(?:</(?:{_WORDS})>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|END_THINKING)\|>)",
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
"""How models, and the programs that run them, mark what was thought: DeepSeek-R1, Qwen3 and many others (think),
Seed-OSS (seed:think), Magistral ([THINK]), Kimi (◁think▷), Sky-T1 and OpenThinker (begin_of_thought), Command A
(START_THINKING), Ollama (Thinking...), Granite 3.2 (Here is my thought process:), gpt-oss without its control tokens
(analysis, assistantfinal). Words of prose count only where both are there."""


_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")  # gpt-oss
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")

_TAGS = r"answer|response|final_answer|final|seed:answer"
_SOLUTION = r"<\|(?:begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE)\|>"
_FRAME = re.compile(rf"^[ \t]*</?(?:{_TAGS})>|</(?:{_TAGS})>[ \t]*$|{_SOLUTION}", re.MULTILINE | re.IGNORECASE)
"""What stands around the answer itself, where it is marked."""


_END = re.compile(r"(?:<\|[a-z_ ]{2,30}\|>|<｜[^｜\n]{2,30}｜>|</s>|<end_of_turn>)\Z")
"""A token that ends a text, where whoever ran the model has left it in."""
LONGEST_END, MOST_ENDS = 40, 8  # characters of such a token; tokens that are left out, one or two as a rule


class Spoken(NamedTuple):
    """What a model said when its thoughts are left out."""

    text: str
    thought: str = ""
    is_unfinished: bool = False  # its tokens ran out while it thought


def leave_reasoning(text: str) -> Spoken:
    """Leave out what a model has marked as thought, ended or not; a text without any mark stays as it is."""
    if "<|channel|>" in text:
        return _take_channels(text)
    given = text = _leave_end(text)
    text = _FRAME.sub("", _leave_phrased(text))
    kept, position, is_open = list[str](), 0, False
    while opening := _OPEN.search(text, position):
        closing = _CLOSE.search(text, opening.end())
        kept.append(text[position : opening.start()])
        is_open, position = closing is None, closing.end() if closing else len(text)
    rest = "".join((*kept, text[position:]))
    *_, last = [0, *(each.end() for each in _CLOSE.finditer(rest))]  # closed without a beginning: the prompt began it
    said = rest[last:]
    thought = "" if said == given else _CLOSE.sub("\n", _OPEN.sub("\n", given))
    return Spoken(said, thought, is_open)


def _leave_end(text: str) -> str:
    """Leave out the tokens at the end; a text without any keeps its white space."""
    for _ in range(MOST_ENDS):
        bare = text.rstrip()
        found = _END.search(bare, max(0, len(bare) - LONGEST_END))
        if found is None:
            break
        text = bare[: found.start()]
    return text


def _leave_phrased(text: str) -> str:
    """Leave out what stands between two phrases, from the first that opens to the last that closes."""
    for begin, end in _PHRASES:
        opening = begin.search(text)
        closings = list(end.finditer(text, opening.end())) if opening else []
        if opening and closings:
            text = text[: opening.start()] + text[closings[-1].end() :]
    return text


def _take_channels(text: str) -> Spoken:
    """Take what was said in the last final channel; without any, what stands outside of channels."""
    said = [(each.group(1), text[each.end() : _end_channel(text, each.end())]) for each in _CHANNEL.finditer(text)]
    final = [content for channel, content in said if channel == "final"]
    thought = "\n\n".join(content for channel, content in said if channel != "final")
    before = text[: text.index("<|channel|>")].removesuffix("<|start|>assistant")
    return Spoken(final[-1] if final else before, thought, is_unfinished=not final)


def _end_channel(text: str, start: int) -> int:
    found = _CHANNEL_END.search(text, start)
    return found.start() if found else len(text)
