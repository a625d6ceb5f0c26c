"""Questions from comments: find the block below which the comment belongs, out of some 30,000 blocks.

The files are drawn from those of evaluation_code, unchanged except that the comments used as questions are removed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation_code import STANDARD_LIBRARY, read_files
from question_sets import Question, QuestionSet, keep_set, take_lowest

from pkg.extract.python import extract_unit
from pkg.extract.recipe.docstring_removal import is_question, remove_spans
from pkg.model import Block, CodeUnit, Status

FILES, QUESTIONS = 1_000, 1_000
_COMMENT_LINE = re.compile(rb"[ \t]*#[ \t]?(.*)")
_MARK = re.compile(r"\s*(?:type:|noqa|pragma|pylint|todo|fixme|xxx|hack|-\*-|[-=#*_~]{3})", re.IGNORECASE)
_CODE = re.compile(r"[=(\[{;]\s*\w*[)\]}]?\s*$|^\s*(?:if|for|while|def|return|import|from|print)\b.*[:=(]")


@dataclass(frozen=True, slots=True)
class Commented:
    """A block, and the comment directly above it with its span."""

    place: str
    text: str
    start: int
    end: int
    content: bytes


def read_comment_questions(cache: Path) -> QuestionSet:
    """Return the questions, generated once and cached."""
    return keep_set(f"comments-{STANDARD_LIBRARY}", cache, "block", lambda folder: _make(cache, folder))


def _make(cache: Path, folder: Path) -> Iterator[Question]:
    units = {path: extract_unit(text, with_summary=False) for path, text in _draw_files(cache).items()}
    counts = Counter(hash(_read(unit, block)) for unit in units.values() for block in unit.blocks)
    commented = {path: list(_list_commented(path, unit)) for path, unit in units.items()}
    unique = [each for found in commented.values() for each in found if counts[hash(each.content)] == 1]
    asked = {each.text: each for each in unique}
    chosen = {text: asked[text] for text in take_lowest(asked, QUESTIONS, "questions")}
    for path, unit in units.items():
        cuts = [(each.start, each.end) for each in commented[path] if chosen.get(each.text) == each]
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(remove_spans(unit.text, 0, len(unit.text), cuts))
    yield from (Question(text, (each.place,)) for text, each in chosen.items())


def _draw_files(cache: Path) -> dict[str, bytes]:
    """Draw files that parse and contain blocks besides bodies."""
    found = {path: text for path, text in read_files(cache) if b"    # " in text}
    return {path: found[path] for path in sorted(take_lowest(found, FILES, "files"))}


def _list_commented(path: str, unit: CodeUnit) -> Iterator[Commented]:
    """Yield the blocks directly below a comment of the same indentation that is usable as a question."""
    if unit.status is not Status.OK:
        return
    names = Counter(definition.qualname for definition in unit.definitions)
    for block in unit.blocks:
        owner = unit.definitions[block.function].qualname
        start = _find_comment(unit.text, block.span.start)
        if block.kind == "body" or start is None or names[owner] > 1:
            continue
        line = unit.text.rfind(b"\n", 0, block.span.start) + 1
        text = " ".join(_COMMENT_LINE.sub(rb"\1", unit.text[start : line - 1]).decode().split())
        if is_question(text) and not _MARK.match(text) and not _CODE.search(text):
            yield Commented(f"{path}::{owner}::{block.path}", text, start, line - 1, _read(unit, block))


def _find_comment(text: bytes, position: int) -> int | None:
    """Return the start of the comment lines directly above the line of a position."""
    first = text.rfind(b"\n", 0, position) + 1
    indent, start = text[first:position], None
    while first and not indent.strip():
        above = text.rfind(b"\n", 0, first - 1) + 1
        if not text[above:first].startswith(indent + b"#"):
            break
        first = start = above
    return start


def _read(unit: CodeUnit, block: Block) -> bytes:
    return b" ".join(unit.text[block.span.start : block.span.end].split())
