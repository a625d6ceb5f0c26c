"""Abridge a function to its header and the lines that decide an answer: those with words of the question first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import dedent

from pkg.model import Node
from pkg.retrieval.heads import locate_header
from pkg.retrieval.token_count import count_tokens
from pkg.terms.words import split_terms

GAP = "..."
SHARE = 0.6  # of the lines of code: with more, other functions are not shown; with less, its steps are lost
FEWEST = 3  # lines of code of an abridged function
_DECIDES = re.compile(r"\s*(?:if|elif|while|for|return|raise|yield|await|async|with|except|match|case)\b")
_DOCSTRING = re.compile(r'\s*[rRbBuU]{0,2}("""|\'\'\')(?:[^\\]|\\.)*?\1', re.DOTALL)


def abridge(node: Node, terms: Mapping[str, float], budget: int) -> str | None:
    """Return the header of a function and its deciding lines in a token budget, gaps marked; None if too few fit.

    terms: of the question, with their weights. The docstring, comments and blank lines are left out. Lines with more
    words of the question come first, then those that branch, loop or return.
    """
    found = locate_header(node.content)
    if found is None:
        return None
    docstring = _DOCSTRING.match(node.content, found.end)
    header = dedent(" " * node.start_col + node.content[: found.end])
    body = node.content[docstring.end() if docstring else found.end :].split("\n")
    code = [number for number, line in enumerate(body) if line.strip() and not line.lstrip().startswith("#")]
    room = budget - count_tokens(header)
    wanted = max(FEWEST, round(len(code) * SHARE))
    ranked = sorted(code, key=lambda number: (-_weigh(body[number], terms), number))
    kept: list[int] = []
    for number in ranked[:wanted]:
        cost = count_tokens(body[number]) + 1
        if cost <= room:
            kept.append(number)
            room -= cost
    if len(kept) < min(FEWEST, len(code)):
        return None
    return "\n".join([header, *_write(body, sorted(kept), code, node.start_col)])


def _weigh(line: str, terms: Mapping[str, float]) -> float:
    held = set(split_terms(line.encode("utf-8", "replace")))
    return 2 * sum(weight for term, weight in terms.items() if term in held) + bool(_DECIDES.match(line))


def _write(body: Sequence[str], kept: Sequence[int], code: Sequence[int], column: int) -> Iterator[str]:
    """Yield the kept lines without the column of the definition, and a gap where code is left out."""
    shown, before = set(kept), -1
    for number in code:
        if number not in shown:
            continue
        line = body[number]
        if any(before < other < number for other in code):
            yield f"{' ' * max(len(line) - len(line.lstrip()) - column, 0)}{GAP}"
        before = number
        yield line[column:] if not line[:column].strip() else line
    if any(other > before for other in code):
        yield f"    {GAP}"
