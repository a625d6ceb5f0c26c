"""Prune a retrieved text: remove the branch whose removal brings it nearest to the question (P-18).

Candidate 0 is the unchanged text, so the similarity never falls; every nested block is one branch (A-04). One call
scores all candidates; only the best ones are really cut and parsed, and scored again if `pass` fills the gap. That is
the papers' rule. The safe rule also requires a gain above noise, and that the remaining code works without the branch
(`safe_cuts`); its cuts are shown as folds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pkg.encode.encoder import Encoder, Vectors, encode_without
from pkg.extract.syntax import is_noop, is_python
from pkg.model import Cut, Nested
from pkg.retrieval.folds import Gap, fold_gaps
from pkg.retrieval.pruning.safe_cuts import Surroundings, find_objection

_NO_CODE = re.compile(rb"[ \t\f]*(#[^\n]*)?\r?\n?\Z")  # a blank line or a comment, or the end of one
_HEADER = re.compile(rb":[ \t]*(#[^\n]*)?\r?\n?\Z")
_NEWLINE = re.compile(rb"\r?\n?\Z")


class Remainder(NamedTuple):
    """The rest of a text, and the filler of the gap: `pass`, or nothing."""

    text: bytes
    filler: bytes


@dataclass(frozen=True, slots=True)
class Excision:
    """The bytes [start, end) removed from a text, and the possible remainders."""

    text: bytes
    start: int
    end: int
    stop: int  # end of the block's own lines; the cut may extend to the next code
    filler: bytes  # `pass`, indented like the block
    column: int  # indentation of the block's statement, in bytes
    lines: tuple[int, int]  # start and end of the block's whole lines; (0, 0) if it shares them

    @property
    def remainders(self) -> tuple[Remainder, Remainder]:
        """Return the remainders without and with `pass` in place of the block, the likelier one first."""
        bare, filled = self._join(b""), self._join(self.filler)
        return (filled, bare) if self._empties_suite() else (bare, filled)

    @property
    def leaves_nothing(self) -> bool:
        """Return whether the block is the only code."""
        return self._line_before() is None and self._line_after() is None

    def _join(self, filler: bytes) -> Remainder:
        joined = self.text[: self.start] + filler + self.text[self.end :]
        is_cut_off = self.end == len(self.text) and not self.text.endswith(b"\n")
        return Remainder(joined.rstrip() if is_cut_off else joined, filler)

    def _empties_suite(self) -> bool:
        """Return whether the block seems to be the only code of its suite."""
        before, after = self._line_before(), self._line_after()
        is_first = before is None or _HEADER.search(before) is not None
        return is_first and (after is None or len(after) - len(after.lstrip(b" \t\f")) < self.column)

    def _line_before(self) -> bytes | None:
        end = self.start
        while end > 0:
            start = self.text.rfind(b"\n", 0, end - 1) + 1
            if not _NO_CODE.match(line := self.text[start:end]):
                return line
            end = start
        return None

    def _line_after(self) -> bytes | None:
        start = self.stop
        while start < len(self.text):
            end = _end_of_line(self.text, start)
            if not _NO_CODE.match(line := self.text[start:end]):
                return line
            start = end
        return None


def excise(text: bytes, start: int, end: int, indent: bytes) -> Excision:
    """Plan the removal of the block at text[start:end]: whole lines if it shares them with no other code.

    A comment after the block goes with it. ``indent`` is the white space before the text's first line.
    """
    first, stop = text.rfind(b"\n", 0, start) + 1, _end_of_line(text, end)
    head, tail = text[first:start], text[end:stop]
    if head.strip() or not _NO_CODE.match(tail):
        return Excision(text=text, start=start, end=end, stop=end, filler=b"pass", column=len(head), lines=(0, 0))
    newline = _NEWLINE.search(tail)
    filler = head + b"pass" + (newline.group() if newline else b"")
    if first > 0:
        return Excision(
            text=text, start=first, end=stop, stop=stop, filler=filler, column=len(head), lines=(first, stop)
        )
    # The text starts after the first line's indentation; the remainder must start likewise.
    follower = _skip_to_code(text, stop, indent)
    return Excision(
        text=text,
        start=0,
        end=follower,
        stop=stop,
        filler=filler + text[stop:follower],
        column=len(indent),
        lines=(0, stop),
    )


def _end_of_line(text: bytes, position: int) -> int:
    newline = text.find(b"\n", position)
    return len(text) if newline < 0 else newline + 1


def _skip_to_code(text: bytes, position: int, indent: bytes) -> int:
    """Skip blank lines, and the indentation of the line after them."""
    while position < len(text) and not text[position : _end_of_line(text, position)].strip():
        position = _end_of_line(text, position)
    return position + len(indent) if text.startswith(indent, position) else position


GAIN = 1e-6  # smaller gains are rounding errors of float32 sums
SAFE_GAIN = 0.02
"""Minimal gain of a safe cut. For a question unrelated to a function, the best of its safe cuts gains less in 95 of 100
functions: 0.022, 0.015 and 0.015 at that percentile on scrapy, alembic and dulwich."""
MAX_BRANCHES = 64


@dataclass(frozen=True, slots=True)
class Pruned:
    """A text after pruning: its cuts with the scores before and after, and refused cuts with the reasons."""

    content: bytes  # the rest, as it is scored
    cuts: tuple[Cut, ...]
    tried: int
    refused: tuple[str, ...]
    gaps: tuple[tuple[str, bool], ...] = ()  # id of each cut branch, and whether `pass` replaces it
    shown: bytes = b""  # the rest, with a fold in place of each cut under the safe rule

    @property
    def gain(self) -> float:
        """Return the increase of the similarity to the question."""
        return self.cuts[-1].score_after - self.cuts[0].score_before if self.cuts else 0.0


def prune(
    encoder: Encoder,
    query: Vectors,
    content: bytes,
    indent: bytes,
    branches: Sequence[Nested],
    steps: int = 1,
    limit: int = MAX_BRANCHES,
    heading: str = "",
    around: Surroundings | None = None,
    is_code: bool = True,
) -> Pruned:
    """Cut up to ``steps`` branches, each the one whose removal brings the text nearest to the question.

    ``query`` is float32 [dimension]. ``branches`` have byte offsets into the content and lines of the unit; ``indent``
    is the white space before the first line, ``heading`` the heading that the text is encoded with; ``around`` is the
    function that the text is or is part of, for the safe rule; without it the papers' rule applies. Without ``is_code``
    the text need not parse, and its cuts must gain as much as safe ones. The result of code parses
    whenever the content does, and its gain is never below 0; ties go to fewer removed lines, then to the earlier
    branch. A cut that leaves no statement is refused: a bare signature often scores best, and helps no one.
    """
    inner = sorted((branch for branch in branches if branch.kind != "body"), key=lambda b: (b.start - b.end, b.start))
    judge, left, refused = _Judge(encoder, query, indent, heading, is_code), inner[:limit], []
    rule = None if around is None else SafeRule(content, indent, around, {branch.id: branch for branch in left})
    if len(inner) > limit:
        refused.append(f"{len(inner) - limit} of {len(inner)} branches not tried: the limit is {limit}, largest first")
    pruned = Pruned(content, (), len(left), ())
    while left and len(pruned.cuts) < steps:
        found = _cut_best(judge, rule, pruned, left, refused)
        if found is None:
            break
        pruned, left = found
    shown = rule.show(pruned.gaps) if rule else pruned.content
    return replace(pruned, shown=shown, refused=tuple(dict.fromkeys(refused)))


@dataclass(frozen=True, slots=True)
class SafeRule:
    """Judge branches by their places before any cut, and show cuts as folds."""

    text: bytes
    indent: bytes
    around: Surroundings
    branches: dict[str, Nested]

    def find_objection(self, branch_id: str, gaps: Sequence[tuple[str, bool]]) -> str:
        """Return why a branch must stay, in words; "" if it may be removed with the earlier cuts."""
        if not any(self._excise(branch_id).lines):
            return "other code shares its lines"
        return find_objection(self.around, self.branches[branch_id], [self.branches[each] for each, _ in gaps])

    def show(self, gaps: Sequence[tuple[str, bool]]) -> bytes:
        """Return the whole text with a fold in each gap."""
        return fold_gaps(self.text, [self._find_gap(branch_id, is_filled) for branch_id, is_filled in gaps])

    def _excise(self, branch_id: str) -> Excision:
        branch = self.branches[branch_id]
        return excise(self.text, branch.start, branch.end, self.indent)

    def _find_gap(self, branch_id: str, is_filled: bool) -> Gap:
        branch, (start, stop) = self.branches[branch_id], self._excise(branch_id).lines
        return Gap(branch, start, stop, self.text[start : branch.start], is_filled)


@dataclass(frozen=True, slots=True)
class _Judge:
    """Score and parse candidate texts for one question and one place in a file."""

    encoder: Encoder
    query: Vectors
    indent: bytes
    heading: str
    is_code: bool

    def excise(self, text: bytes, branch: Nested) -> Excision:
        return excise(text, branch.start, branch.end, self.indent)

    def score_cuts(self, text: bytes, branches: Sequence[Nested]) -> list[float]:
        """Score the whole text and the text without each branch, in one call."""
        excisions = [self.excise(text, branch) for branch in branches]
        cuts = np.array([(0, 0), *((excision.start, excision.end) for excision in excisions)], np.int64)
        return [float(score) for score in encode_without(self.encoder, text, cuts, self.heading) @ self.query]

    def score(self, text: bytes) -> float:
        return float(self.encoder.encode([text], [self.heading])[0] @ self.query)

    def choose_remainder(self, excision: Excision) -> Remainder | None:
        """Return the remainder that parses, the likelier one first; None if neither does.

        A text that the running Python cannot parse before the cut is judged by tree-sitter.
        """
        if excision.leaves_nothing:
            return None
        likely, other = excision.remainders
        if not self.is_code:
            return other if likely.filler else likely
        for candidate in (likely, other):
            if is_python(candidate.text, self.indent):
                return candidate
        text, indent = excision.text, self.indent
        if is_python(text, indent):
            return None
        from pkg.extract.parser import is_python_like  # few texts need the other parser

        if is_python_like(text, indent) and is_python_like(likely.text, indent):
            return likely
        return None


def _cut_best(
    judge: _Judge, rule: SafeRule | None, pruned: Pruned, branches: Sequence[Nested], refused: list[str]
) -> tuple[Pruned, list[Nested]] | None:
    """Make the best cut that parses, gains and is allowed, and shift the other branches."""
    before, *scores = judge.score_cuts(pruned.content, branches)
    floor = before + (GAIN if rule is None and judge.is_code else SAFE_GAIN)
    for score, branch in sorted(zip(scores, branches, strict=True), key=lambda pair: _rank(*pair)):
        if score <= floor:
            return None
        if rule and (objection := rule.find_objection(branch.id, pruned.gaps)):
            refused.append(f"{_describe(branch)} kept: {objection}")
            continue
        excision = judge.excise(pruned.content, branch)
        remainder = judge.choose_remainder(excision)
        if remainder is None:
            rest = "nothing else would be left" if excision.leaves_nothing else "the rest would not parse"
            refused.append(f"{_describe(branch)} kept: {rest}")
            continue
        if judge.is_code and is_noop(remainder.text, judge.indent):
            refused.append(f"{_describe(branch)} kept: nothing but headers and `pass` would be left")
            continue
        after = judge.score(remainder.text) if remainder.filler else score
        if after <= floor:
            refused.append(f"{_describe(branch)} kept: with `pass` in its place the score would not rise")
            continue
        cut = Cut(branch.id, branch.kind, branch.start_line, branch.end_line, before, after)
        gaps = (*pruned.gaps, (branch.id, bool(remainder.filler)))
        found = replace(pruned, content=remainder.text, cuts=(*pruned.cuts, cut), gaps=gaps)
        return found, _move_branches(branches, excision, remainder)
    return None


def _rank(score: float, branch: Nested) -> tuple[float, int, int]:
    return -round(score, 6), branch.end_line - branch.start_line, branch.start


def _describe(branch: Nested) -> str:
    return f"{branch.kind} at lines {branch.start_line}-{branch.end_line}"


def _move_branches(branches: Sequence[Nested], excision: Excision, remainder: Remainder) -> list[Nested]:
    """Map branches into the cut text and drop those inside the cut."""
    start, end = excision.start, excision.end
    refilled = start + len(remainder.filler)
    shift = refilled - end
    moved: list[Nested] = []
    for branch in branches:
        if branch.end <= start:
            moved.append(branch)
        elif branch.start >= end:
            moved.append(branch._replace(start=branch.start + shift, end=branch.end + shift))
        elif branch.start < start:  # an owner of the cut; it may have ended with it
            last = branch.end + shift if branch.end > end else len(remainder.text[:refilled].rstrip())
            moved.append(branch._replace(end=last))
    return moved
