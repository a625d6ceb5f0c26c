"""Put a question and the code found for it into one prompt (P-19, P-20 in its generic form)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.extract.syntax import is_python
from pkg.model import Hit, QueryResult
from pkg.models.special_tokens import break_tokens

ROLE = "You are an experienced Python programmer."
TASK = "Write Python code that solves the following problem."
PROBLEM_START, PROBLEM_END = "Problem:", "End of problem."
HELPERS_START, HELPERS_END = "The following code might be helpful.", "End of helper section."
ADVICE = (
    "Where the logic of the helper code is useful, integrate it in the body of your main function"
    " instead of calling it; otherwise ignore the helper section."
)

_MARKERS = (PROBLEM_START, PROBLEM_END, HELPERS_START, HELPERS_END)
_MARKER = re.compile(rf"\s*(?:{'|'.join(map(re.escape, _MARKERS))}|helper code \d+:)\s*", re.IGNORECASE)
QUOTE = "> "


def render_prompt(result: QueryResult) -> str:
    """Render the augmented prompt of a query; without hits it is the plain problem.

    Each helper code stands in a fence, headed by a comment with its place; the fence is longer than any run of
    backticks in what is quoted. A line of the problem or of the code that reads like one of the prompt's own marker
    lines is quoted with ``> ``, so every marker at the start of a line is the prompt's. Words that a tokenizer takes
    for control tokens are broken, in the problem too (pkg.models.special_tokens).
    """
    problem = _quote(result.text.strip("\r\n"))
    pieces = list(_list_pieces(result.hits))
    fence = _choose_fence([problem, *pieces])
    lines = [ROLE, TASK, PROBLEM_START, problem, PROBLEM_END]
    if pieces:
        lines.append(HELPERS_START)
        for number, piece in enumerate(pieces, 1):
            lines += [f"helper code {number}:", f"{fence}python", piece, fence]
        lines += [HELPERS_END, ADVICE]
    return "\n".join(lines) + "\n"


def _choose_fence(texts: list[str]) -> str:
    """Give a run of backticks that none of the texts holds; they cannot end it then, nor be taken for it."""
    longest = max(len(run) for text in texts for run in re.findall("`*", text))
    return "`" * max(3, longest + 1)


def _list_pieces(hits: tuple[Hit, ...]) -> Iterator[str]:
    """Give the code of each hit, pruned, and then of its helpers with their imports."""
    for hit in hits:
        yield _render_piece(hit.path, hit.start_line, hit.end_line, hit.qualname, hit.pruned_content)
        for helper in hit.helpers:
            place = helper.path, helper.start_line, helper.end_line, helper.qualname
            yield _render_piece(*place, helper.content, helper.imports)


def _render_piece(
    path: str, start_line: int, end_line: int, qualname: str, code: str, imports: tuple[str, ...] = ()
) -> str:
    """Write the place of a piece, the imports that it stands on, and its code."""
    place = " ".join(f"# {path}:{start_line}-{end_line} {qualname}".split())  # a path may hold line breaks
    return "\n".join((break_tokens(place), *map(_quote, imports), _quote(align_code(code))))


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


def _quote(text: str) -> str:
    """Break special tokens, and quote each line that reads like a marker.

    Line breaks are taken as broadly as any reader may take them.
    """
    lines = break_tokens(text).splitlines(keepends=True)
    return "".join(QUOTE + line if _MARKER.fullmatch(line) else line for line in lines)
