"""Move code to the margin that its first line stands at, as it lost its own when it was cut from its file."""

from __future__ import annotations

from pkg.extract.syntax import is_python


def align_code(code: str) -> str:
    """Move the lines below the first one left, where they lost their common indentation to the cut from the file.

    Content begins at its first word while the other lines keep their place in the file. The lines of a string that
    spans lines move with the code.
    """
    first, newline, rest = code.partition("\n")
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in rest.splitlines() if line.strip()]
    if not margins or not (margin := min(margins, key=len)):
        return code
    aligned = first + newline + _cut_margin(rest, margin)
    if is_python(aligned.encode("utf-8", "replace")):
        return aligned
    step = 1 if margin.endswith("\t") else 4  # the first line opens a suite, and the others are its inside
    return first + newline + _cut_margin(rest, margin[:-step])


def _cut_margin(text: str, margin: str) -> str:
    return "".join(line.removeprefix(margin) for line in text.splitlines(keepends=True))
