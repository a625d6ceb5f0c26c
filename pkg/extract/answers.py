"""Find the Python code of an answer: in fences, tags, console sessions, prose, or the whole text (P-02).

The code has as many lines as the answer, and each line keeps its number; other lines are blank. Columns may change:
prompts, common indentation, and text before a tag on its line are removed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tree_sitter import Tree

from pkg.extract.fences import BEGINS, DEFINES, PROMPT, dedent, find_fences, has_prose, keep_tagged, strip_prompts
from pkg.extract.parser import holds_code, is_sound, parse
from pkg.extract.prose import is_sound_text, pick_code, repair, trim_prose
from pkg.model import Status

_BOM = b"\xef\xbb\xbf"
_NO_CODE = "no Python code"
_MAX_NOTES = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """The code of an answer, at its original lines; its syntax tree if it was parsed; how much was understood."""

    code: bytes
    tree: Tree | None
    status: Status
    reason: str | None


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines that may be code: from a fence, or from the text around the fences."""

    start: int  # row of the first line in the answer
    lines: list[bytes]
    name: str | None  # such as "fence 2"; None outside fences
    is_python: bool  # the fence is labelled as Python


def find_code(text: str) -> Answer:
    """Find the Python code of an answer; never raises."""
    code = text.encode("utf-8", "replace").removeprefix(_BOM)
    if b"\0" in code:
        code = code.replace(b"\0", b" ")
    if not _is_marked(code):
        answer = _parse_whole(code)
        if answer is not None:
            return answer
    lines = keep_tagged(code).split(b"\n")
    return _read_pieces(_cut_pieces(lines), len(lines))


def _is_marked(code: bytes) -> bool:
    """Return whether a fence or tag occurs before any docstring that may contain it."""
    marks = [place for mark in (b"```", b"~~~", b"[PYTHON]") if (place := code.find(mark)) >= 0]
    return bool(marks) and not any(quotes in code[: min(marks)] for quotes in (b'"""', b"'''"))


def _parse_whole(code: bytes) -> Answer | None:
    """Return the whole text if it is code, as in most rows, after one parse."""
    if has_prose(code):
        return None
    is_body = code[:1] in b" \t\r\n" and code != (dedented := b"\n".join(dedent(code.split(b"\n"))))
    if is_body:
        code = dedented
    tree = parse(code)
    return Answer(code, tree, Status.OK, None) if is_sound(tree, code, is_body) and holds_code(tree) else None


def _cut_pieces(lines: list[bytes]) -> list[_Piece]:
    """Cut the text into fences and the text around them; fences of other languages are skipped."""
    around = list(lines)
    pieces = []
    for fence in find_fences(lines):
        around[fence.start : fence.end] = [b""] * (fence.end - fence.start)
        may_be_code = fence.is_python or (not fence.label and any(map(BEGINS.match, fence.lines)))
        if may_be_code or any(map(PROMPT.match, fence.lines)):
            body = _strip_session(dedent(fence.lines))
            pieces.append(_Piece(fence.start + 1, body, f"fence {fence.number}", fence.is_python))
    if any(DEFINES.match(line) or PROMPT.match(line) for line in around):
        pieces.append(_Piece(0, around, None, False))
    return pieces


def _strip_session(lines: list[bytes]) -> list[bytes]:
    """Remove the prompts of a piece that begins with one."""
    first = next((line for line in lines if line.strip()), b"")
    return strip_prompts(lines) if PROMPT.match(first) else lines


def _read_pieces(pieces: list[_Piece], count: int) -> Answer:
    """Join the fences if they parse as they are; else repair each piece, and report repairs and losses."""
    if pieces and all(piece.name for piece in pieces):
        answer = _join(pieces, [], count)
        if answer.status is Status.OK:
            return answer
    repaired_pieces = [_repair_piece(piece) for piece in pieces]
    return _join([piece for piece, _ in repaired_pieces], [note for _, note in repaired_pieces if note], count)


def _join(pieces: list[_Piece], notes: list[str], count: int) -> Answer:
    """Put the pieces on their lines and parse the result."""
    lines = [b""] * count
    for piece in pieces:
        lines[piece.start : piece.start + len(piece.lines)] = piece.lines
    code = b"\n".join(lines)
    tree = parse(code)
    if not holds_code(tree):
        return Answer(b"\n" * (count - 1), None, Status.FAILED, _describe_all(notes) or _NO_CODE)
    if not is_sound(tree, code):
        notes = [*notes, "the pieces do not parse together"]
    return Answer(code, tree, Status.PARTIAL if notes else Status.OK, _describe_all(notes) or None)


def _describe_all(notes: list[str]) -> str:
    rest = [f"and {len(notes) - _MAX_NOTES} more"] if len(notes) > _MAX_NOTES else []
    return "; ".join(notes[:_MAX_NOTES] + rest)


def _repair_piece(piece: _Piece) -> tuple[_Piece, str | None]:
    """Make a piece parse: without surrounding prose, repaired, or without its broken statements."""
    core = trim_prose(piece.lines)
    for lines in (piece.lines, core):
        if any(lines) and is_sound_text(lines):
            return _keep(piece, lines), None
    repaired = None if has_prose(b"\n".join(core)) else repair(core, is_sound_text)
    if repaired is not None:
        lines, word, row = repaired
        return _keep(piece, lines), f"{word} repaired at line {piece.start + row + 1}"
    kept = _keep(piece, pick_code(core))
    return kept, _describe_loss(piece, kept.lines)


def _keep(piece: _Piece, lines: list[bytes]) -> _Piece:
    """Replace the lines of a piece; around fences a lone assignment or call may be prose and is dropped."""
    lines = _add_sessions(lines, piece.lines)
    is_code = (
        piece.name or any(DEFINES.match(line) for line in lines) or any(PROMPT.match(line) for line in piece.lines)
    )
    return replace(piece, lines=lines if is_code else [b""] * len(lines))


def _add_sessions(kept: list[bytes], lines: list[bytes]) -> list[bytes]:
    """Add the console sessions among the dropped lines."""
    others = [b"" if code.strip() else line for code, line in zip(kept, lines, strict=True)]
    if not any(map(PROMPT.match, others)):
        return kept
    session = strip_prompts(others)
    if not is_sound_text(session):
        session = pick_code(session)
    return [code or entered for code, entered in zip(kept, session, strict=True)]


def _describe_loss(piece: _Piece, kept: list[bytes]) -> str | None:
    """Describe the first dropped statement; return None if only prose was dropped."""
    expected = BEGINS if piece.is_python else DEFINES
    lost = (row for row, line in enumerate(piece.lines) if expected.match(line) and not kept[row].strip())
    row = next(lost, None)
    if row is None:
        return None
    if piece.name and not any(line.strip() for line in kept):
        return f"{piece.name} does not parse"
    return f"line {piece.start + row + 1} does not parse"
