"""Parse samples of programs that read standard input: the input and the expected output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pkg.rerank.candidates import Check, Example
from pkg.rerank.parsed_question import Question

NOTATION = "sample"
MAX_SAMPLES = 16  # each is a run of the program
_READS = re.compile(r"\binput\(|\bstdin\b|\bopen\(0\)|\bfileinput\b")
_LABEL = re.compile(
    r"^[\s#*_=|\-]*(?P<sample>(?:sample|example|test)s?\b[\s\d:.#*_-]*)?"
    r"(?P<side>(?:standard[ \t]+|std|expected[ \t]+)?(?:input|in|output|out|result))"
    r"(?:[ \t]+(?:sample|example))?[ \t]*#?[ \t]*\d*[\s*_=\-]*(?:(?P<colon>[:|])[\s*_`]*(?P<inline>.*?)[`\s]*)?$",
    re.IGNORECASE,
)
_ARROW = re.compile(
    r"^[\s*_`-]*(?:sample |example |std)?in(?:put)?\b[ \t]*\d*[ \t*_]*:[ \t*_`]*(?P<given>.+?)[`\s,;|]*"
    r"(?:[-=]+>|→|\b(?:expected[ \t]+)?(?:std)?out(?:put)?\b[ \t]*\d*[ \t*_]*:)[ \t*_`]*"
    r"(?:(?:std)?out(?:put)?[ \t]*:[ \t`]*)?(?P<wanted>.+?)[`\s]*$",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"^[\s#*_=\-]*(?:explanations?|notes?|constraints?|examples?|samples?|test cases?|solution|hints?|limits?)\b"
    r"[\s\d.:*_#=\-]*(?:$|:)|^[\s#*_=\-]*(?:explanation|note)\b",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"^[^\n.]{0,60}\b(?:(?P<given>stdin|standard input|input)|stdout|standard output|outputs?|prints?)\b"
    r"[^\n.:]{0,30}:[ \t]*$",
    re.IGNORECASE,
)
_TABLE = re.compile(
    r"^[ \t]*\|?[ \t]*(?:sample )?(?:std)?in(?:put)?[ \t]*\|[ \t]*(?:std)?out(?:put)?[ \t]*\|?[ \t]*$", re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_PROSE = re.compile(r"[A-Za-z]{2,}(?:[ ,]+[A-Za-z'`$]+){3}|[a-z]{2,}\.$|^(?:The|Each|An?|One|Print|Output)\b")


@dataclass(slots=True)
class _Block:
    """Text below a label."""

    is_input: bool
    is_sample: bool  # the label contains the word sample, example or test
    line: int
    text: str = ""


def find_samples(question: Question, answers: Sequence[str], examples: Sequence[Example]) -> tuple[Example, ...]:
    """Find the samples of a query whose answers read standard input; none if it has other examples."""
    if examples or not any(map(_READS.search, answers)):
        return ()
    pairs = [*_pair_blocks([*_find_blocks(question.text.split("\n"))]), *_find_pairs(question.text)]
    if any(given.is_sample for given, _ in pairs):
        pairs = [pair for pair in pairs if pair[0].is_sample]
    found = [
        Example(given.text + "\n", Check.PROGRAM, wanted.text, NOTATION, given.line)
        for given, wanted in pairs
        if wanted.text and not (_is_prose(given.text) or _is_prose(wanted.text))
    ]
    return tuple({each.source: each for each in found}.values())[:MAX_SAMPLES]


def _is_prose(text: str) -> bool:
    """Return whether a block describes the input or output instead of showing one."""
    return _PROSE.search(text.partition("\n")[0]) is not None and not text.isupper()


def _pair_blocks(blocks: Sequence[_Block]) -> Iterator[tuple[_Block, _Block]]:
    for one, other in pairwise(blocks):
        if one.is_input and not other.is_input:
            yield one, other


def _find_pairs(text: str) -> Iterator[tuple[_Block, _Block]]:
    """Yield inputs with their outputs on one line: `Input: 2 3 -> 5`, `Input: 4, Output: 16`."""
    for row, line in enumerate(text.split("\n")):
        found = _ARROW.match(line)
        if _TABLE.match(line):
            yield from _read_table(text.split("\n"), row + 1)
        elif found:
            given, wanted = (_unquote(found[name]) for name in ("given", "wanted"))
            yield _Block(True, False, row + 1, given), _Block(False, False, row + 1, wanted)


def _read_table(lines: Sequence[str], row: int) -> Iterator[tuple[_Block, _Block]]:
    """Parse the rows of a table with a column of inputs and one of outputs."""
    while row < len(lines) and "|" in lines[row]:
        cells = [each.strip(" \t`").replace("<br>", "\n") for each in lines[row].strip().strip("|").split("|")]
        row += 1
        if len(cells) == 2 and not set(cells[0]) <= {*"-: "}:
            yield _Block(True, False, row, cells[0]), _Block(False, False, row, cells[1])


def _unquote(text: str) -> str:
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return (text[1:-1] if is_quoted else text).replace("\\n", "\n")


def _find_blocks(lines: Sequence[str]) -> Iterator[_Block]:
    """Yield the text below each label, up to the next label or heading."""
    row = 0
    while row < len(lines):
        label = _LABEL.match(lines[row])
        spoken = _SPOKEN.match(lines[row]) if label is None else None
        row += 1
        if spoken and any(map(_FENCE.match, lines[row : row + 2])):
            text, end = _take_lines(lines, row, True)
            yield _Block(spoken["given"] is not None, False, row, text)
            row = end
            continue
        if label is None or _ARROW.match(lines[row - 1]):
            continue
        is_input = "in" in label["side"].lower()
        block = _Block(is_input, label["sample"] is not None, row)
        inline = (label["inline"] or "").strip()
        if inline:
            block.text, row = _take_inline(inline, lines, row)
        else:
            block.text, row = _take_lines(lines, row, is_input)
        yield block


def _take_inline(first: str, lines: Sequence[str], row: int) -> tuple[str, int]:
    """Return a block that begins on the line of its label and continues while lines look like data, and its end."""
    taken = [_unquote(first)]
    while row < len(lines) and lines[row].strip() and not _ends(lines[row]) and not _is_prose(lines[row].strip()):
        taken.append(lines[row].strip())
        row += 1
    return "\n".join(taken), row


def _take_lines(lines: Sequence[str], row: int, is_input: bool) -> tuple[str, int]:
    """Return the block below a label and its end: a fence, or the lines up to the next label.

    An output also ends at a blank line.
    """
    while row < len(lines) and not lines[row].strip():
        row += 1
    if row < len(lines) and _FENCE.match(lines[row]):
        end = next((each for each in range(row + 1, len(lines)) if _FENCE.match(lines[each])), len(lines))
        return "\n".join(lines[row + 1 : end]).strip("\n"), end + 1
    start = row
    while row < len(lines) and not _ends(lines[row]) and (is_input or lines[row].strip()):
        row += 1
    return "\n".join(line.rstrip() for line in lines[start:row]).strip("\n"), row


def _ends(line: str) -> bool:
    return bool(_LABEL.match(line) or _OTHER.match(line) or _FENCE.match(line))
