"""Pack hits and their helpers into a budget of tokens, whole pieces only (A-10)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from pkg.model import Helper, Hit
from pkg.retrieval.hits import OpenedHit

_TOKEN = re.compile(r"[^\W\d_]{1,8}|\d{1,3}|[^\w\s]|_")

Complete = Callable[[OpenedHit], tuple[list[Helper], list[str]]]


@dataclass(frozen=True, slots=True)
class Packed:
    """The hits that fit, with their helpers, and what did not."""

    hits: tuple[Hit, ...]
    over_budget: int  # hits and helpers left out
    notes: tuple[str, ...]
    explain: tuple[str, ...]


def count_tokens(text: str) -> int:
    """Estimate how many tokens a language model makes of a text: words of up to 8 letters, 3 digits, and symbols.

    It is no model's own tokenizer: it needs no vocabulary, takes white space as free, and on Python code is meant to
    be of the right size, not exact. Text without spaces between words counts low.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def pack_hits(opened: Iterable[OpenedHit], complete: Complete, budget: int, total: int) -> Packed:
    """Take hits in rank order, each followed by its helpers, until the first hit that does not fit.

    ``opened`` is read no further than that, so hits out of reach cost nothing. The first hit always stays. ``total``
    is how many hits there are in all; a budget of 0 has no limit.
    """
    load = _Load(budget)
    for item in opened:
        if not load.takes_hit(item.hit):
            load.refuse_rest(item.hit, total)
            break
        load.explain += item.explain
        helpers, explain = complete(item)
        load.explain += [f"hit {item.hit.rank}: {line}" for line in explain]
        kept = tuple(helper for helper in helpers if load.takes_helper(item.hit.rank, helper))
        load.hits.append(replace(item.hit, helpers=kept))
    return Packed(tuple(load.hits), load.over_budget, tuple(load.notes), tuple(load.explain))


@dataclass(slots=True)
class _Load:
    """What is packed so far."""

    budget: int
    used: int = 0
    over_budget: int = 0
    hits: list[Hit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    explain: list[str] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)  # node id -> rank of the hit that brought it

    def takes_hit(self, hit: Hit) -> bool:
        """Add a hit if it fits; the first one in any case, and says so when it is too large."""
        size = _measure(hit.path, hit.qualname, hit.pruned_content)
        if not self._fits(size):
            if self.hits:
                return False
            self.notes.append(f"hit 1 alone takes about {size} tokens, more than the budget of {self.budget}; it stays")
        self.used += size
        self.shown.setdefault(hit.id, hit.rank)
        return True

    def takes_helper(self, rank: int, helper: Helper) -> bool:
        """Add a helper if it fits and is not shown yet, and say why or why not."""
        place = f"hit {rank}: helper {helper.qualname} at {helper.path}:{helper.start_line}-{helper.end_line}"
        if helper.id in self.shown:
            self.explain.append(f"{place} left out: shown with hit {self.shown[helper.id]}")
            return False
        size = _measure(helper.path, helper.qualname, helper.content)
        if not self._fits(size):
            self.over_budget += 1
            self.explain.append(f"{place} left out: {self._describe_room(size)}")
            return False
        self.used += size
        self.shown[helper.id] = rank
        self.explain.append(f"{place} added: {helper.reason}")
        return True

    def refuse_rest(self, hit: Hit, total: int) -> None:
        """Count the first hit that does not fit and all after it."""
        rest = total - len(self.hits)
        self.over_budget += rest
        size = _measure(hit.path, hit.qualname, hit.pruned_content)
        after = f" and the {rest - 1} after it" if rest > 1 else ""
        place = f"{hit.qualname} at {hit.path}:{hit.start_line}-{hit.end_line}"
        self.explain.append(f"hit {hit.rank} ({place}){after} left out: {self._describe_room(size)}")

    def _fits(self, size: int) -> bool:
        return not self.budget or self.used + size <= self.budget

    def _describe_room(self, size: int) -> str:
        return f"about {size} tokens, and {max(self.budget - self.used, 0)} of {self.budget} are left"


def _measure(path: str, qualname: str, content: str) -> int:
    """Count a piece with its line of provenance."""
    return count_tokens(path) + count_tokens(qualname) + count_tokens(content)
