"""Fit lines into a token budget, which sections share so that a long one leaves room for the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pkg.retrieval.token_count import count_tokens


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of one kind under a title, and their total number with those that are not in `lines`."""

    title: str  # a plural, such as callers
    lines: Sequence[str]
    total: int


def fit_lines(lines: Iterable[str], budget: int) -> tuple[str, int]:
    """Join lines up to a token budget (0: no limit); return the text and the number of lines left out.

    An item may hold several lines: it is kept whole, or left out with all items after it.
    """
    kept, used, left_out = list[str](), 0, 0
    for line in lines:
        cost = count_tokens(line)
        if left_out or (budget and used + cost > budget):
            left_out += line.count("\n") + 1
        else:
            kept.append(line)
            used += cost
    return "\n".join(kept), left_out


def fit_sections(sections: Sequence[Section], budget: int) -> tuple[str, tuple[str, ...]]:
    """Render sections that share a token budget (0: no limit); return the text and what each leaves out."""
    filled = [each for each in sections if each.total]
    texts, left_out = list[str](), list[str]()
    rooms = share_budget([measure_section(each) for each in filled], budget)
    for each, room in zip(filled, rooms, strict=True):
        left = room - _count_title(each)
        text, cut = fit_lines([f"  {line}" for line in each.lines], left) if left > 0 else ("", 0)
        shown = len(each.lines) - cut if text else 0
        missing = each.total - shown
        if shown:
            texts.append(f"{each.title}{f' ({shown} of {each.total})' if missing else ''}:\n{text}")
        if missing:
            left_out.append(f"{missing} {each.title}")
    return "\n".join(texts), tuple(left_out)


def measure_section(section: Section) -> int:
    """Count the tokens of a whole section."""
    return sum(map(count_tokens, section.lines)) + _count_title(section)


def _count_title(section: Section) -> int:
    return count_tokens(f"{section.title} ({len(section.lines)} of {section.total}):")


def share_budget(costs: Sequence[int], budget: int) -> list[int]:
    """Share a budget among items with these costs: one that needs less than its share leaves the rest to the others."""
    if not budget:
        return list(costs)
    rooms, left = [0] * len(costs), budget
    order = sorted(range(len(costs)), key=costs.__getitem__)
    for done, number in enumerate(order):
        rooms[number] = min(costs[number], left // (len(costs) - done))
        left -= rooms[number]
    return rooms
