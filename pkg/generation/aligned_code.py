"""Align the lines of code cut from a file with its first line, which has lost its indentation."""

from __future__ import annotations

from pkg.extract.syntax import is_python


def align_code(code: str) -> str:
    """Remove the common indentation of all lines but the first.

    The content of a node begins at its first word, and its other lines have their indentation in the file. The lines of
    a multi-line string move with the code.
    """
    first, newline, rest = code.partition("\n")
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in rest.splitlines() if line.strip()]
    if not margins or not (margin := min(margins, key=len)):
        return code
    aligned = first + newline + _cut_margin(rest, margin)
    if is_python(aligned.encode("utf-8", "replace")):
        return aligned
    step = 1 if margin.endswith("\t") else 4  # the first line opens a suite, and the others belong to it
    return first + newline + _cut_margin(rest, margin[:-step])


def _cut_margin(text: str, margin: str) -> str:
    return "".join(line.removeprefix(margin) for line in text.splitlines(keepends=True))
