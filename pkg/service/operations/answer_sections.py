"""Fit lines into a budget of tokens: in sections that share it, so that a long one leaves room for the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pkg.retrieval.token_count import count_tokens


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of one kind under a title, and how many of them there are with those that are not given."""

    title: str  # a plural, such as callers
    lines: Sequence[str]
    total: int


def fit_lines(lines: Iterable[str], budget: int) -> tuple[str, int]:
    """Join as many lines as a budget of tokens has room for (0: no limit); give the text, and how many are left out.

    A line may be a text of several: it stays whole, or is left out with all behind it.
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
    """Write sections that share a budget of tokens (0: no limit); give the text, and what of each is left out."""
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
    """Count the tokens of a section that is written whole."""
    return sum(map(count_tokens, section.lines)) + _count_title(section)


def _count_title(section: Section) -> int:
    return count_tokens(f"{section.title} ({len(section.lines)} of {section.total}):")


def share_budget(costs: Sequence[int], budget: int) -> list[int]:
    """Share a budget among what costs so much each: what needs less than its share leaves the rest to the others."""
    if not budget:
        return list(costs)
    rooms, left = [0] * len(costs), budget
    order = sorted(range(len(costs)), key=costs.__getitem__)
    for done, number in enumerate(order):
        rooms[number] = min(costs[number], left // (len(costs) - done))
        left -= rooms[number]
    return rooms
