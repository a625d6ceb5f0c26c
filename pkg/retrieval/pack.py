"""Pack hits and their helpers into a budget of tokens, whole pieces only (A-10, A-29)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pkg.model import Helper, Hit
from pkg.retrieval.helpers import Completion
from pkg.retrieval.hits import OpenedHit

_TOKEN = re.compile(r"[^\W\d_]{1,8}|\d{1,3}|[^\w\s]|_")
_LETTERS, _DIGITS = string.ascii_letters.encode(), string.digits.encode()
_NO_SYMBOL = _LETTERS + _DIGITS + string.whitespace.encode() + b"\x1c\x1d\x1e\x1f"
_RUNS = [
    (bytes(byte if byte in kept else 32 for byte in range(256)), most) for kept, most in ((_LETTERS, 8), (_DIGITS, 3))
]
"""For letters and for digits: a table that writes all else as spaces, and how many of them make a token."""

HITS_AT_ONCE = 50  # completed together: what is read for them is in memory together

Complete = Callable[[Sequence[OpenedHit]], Sequence[Completion]]


@dataclass(frozen=True, slots=True)
class Packed:
    """The hits that fit, with their helpers, and what did not."""

    hits: tuple[Hit, ...]
    over_budget: int  # hits and helpers left out
    notes: tuple[str, ...]
    explain: tuple[str, ...]
    bound: int = 0  # call sites of the hits that fit, by how sure they are
    possible: int = 0
    unbound: int = 0


@lru_cache(maxsize=200)  # a hit is measured again when its helpers are
def count_tokens(text: str) -> int:
    """Estimate how many tokens a language model makes of a text: words of up to 8 letters, 3 digits, and symbols.

    It is no model's own tokenizer: it needs no vocabulary, takes white space as free, and on Python code is meant to
    be of the right size, not exact. Text without spaces between words counts low.
    """
    if not text.isascii():
        return len(_TOKEN.findall(text))
    data = text.encode("ascii")  # counted without a match for each token: the budget is asked about every text
    symbols = len(data.translate(None, _NO_SYMBOL))
    return symbols + sum(_count_runs(data.translate(table).split(), most) for table, most in _RUNS)


def _count_runs(runs: Iterable[bytes], most: int) -> int:
    lengths = Counter(map(len, runs))
    return sum(-(-length // most) * count for length, count in lengths.items())


def pack_hits(opened: Iterable[OpenedHit], complete: Complete, budget: int, total: int) -> Packed:
    """Take hits in rank order, each followed by its helpers, until the first hit that does not fit.

    ``opened`` is read no further than that, so hits out of reach cost nothing. The first hit always stays. ``total``
    is how many hits there are in all; a budget of 0 has no limit.
    """
    load = _Load(budget)
    for batch in _batch_hits(opened, load):
        if not load.has_room(batch[0].hit):
            load.refuse_rest(batch[0].hit, total)
            break
        if not _pack_batch(load, batch, complete(batch), total):
            break
    calls = load.bound, load.possible, load.unbound
    return Packed(tuple(load.hits), load.over_budget, tuple(load.notes), tuple(load.explain), *calls)


def _batch_hits(opened: Iterable[OpenedHit], load: _Load) -> Iterator[list[OpenedHit]]:
    """Group hits that would fit without helpers; one that would not begins a group, and nothing is opened after it."""
    batch: list[OpenedHit] = []
    size = 0
    for item in opened:
        own = _measure_hit(item.hit)
        if batch and (len(batch) == HITS_AT_ONCE or not load.fits(size + own)):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += own
        if not load.fits(size):
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _pack_batch(load: _Load, batch: Sequence[OpenedHit], completions: Sequence[Completion], total: int) -> bool:
    """Pack hits with their helpers; tell whether all fit."""
    for item, completion in zip(batch, completions, strict=True):
        if not load.takes_hit(item.hit):
            load.refuse_rest(item.hit, total)
            return False
        load.explain += item.explain
        load.take_calls(item.hit.rank, completion)
        kept = tuple(helper for helper in completion.helpers if load.takes_helper(item.hit.rank, helper))
        load.hits.append(replace(item.hit, helpers=kept))
    return True


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
    bound: int = 0
    possible: int = 0
    unbound: int = 0

    def has_room(self, hit: Hit) -> bool:
        """Tell whether a hit will be taken."""
        return not self.hits or self.fits(_measure_hit(hit))

    def takes_hit(self, hit: Hit) -> bool:
        """Add a hit if it fits; the first one in any case, and says so when it is too large."""
        size = _measure_hit(hit)
        if not self.fits(size):
            if self.hits:
                return False
            self.notes.append(f"hit 1 alone takes about {size} tokens, more than the budget of {self.budget}; it stays")
        self.used += size
        self.shown.setdefault(hit.id, hit.rank)
        return True

    def take_calls(self, rank: int, found: Completion) -> None:
        """Count the calls of a hit, and note how its helpers were chosen."""
        self.bound += found.bound
        self.possible += found.possible
        self.unbound += found.unbound
        self.explain += [f"hit {rank}: {line}" for line in found.explain]

    def takes_helper(self, rank: int, helper: Helper) -> bool:
        """Add a helper if it fits and is not shown yet, and say why or why not."""
        place = f"hit {rank}: helper {helper.qualname} at {helper.path}:{helper.start_line}-{helper.end_line}"
        if helper.id in self.shown:
            self.explain.append(f"{place} left out: shown with hit {self.shown[helper.id]}")
            return False
        size = _measure(helper.path, helper.qualname, helper.content, *helper.imports)
        if not self.fits(size):
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
        size = _measure_hit(hit)
        after = f" and the {rest - 1} after it" if rest > 1 else ""
        place = f"{hit.qualname} at {hit.path}:{hit.start_line}-{hit.end_line}"
        self.explain.append(f"hit {hit.rank} ({place}){after} left out: {self._describe_room(size)}")

    def fits(self, size: int) -> bool:
        """Tell whether so many tokens are left."""
        return not self.budget or self.used + size <= self.budget

    def _describe_room(self, size: int) -> str:
        return f"about {size} tokens, and {max(self.budget - self.used, 0)} of {self.budget} are left"


def _measure_hit(hit: Hit) -> int:
    return _measure(hit.path, hit.qualname, hit.pruned_content)


def _measure(*texts: str) -> int:
    """Count a piece with its line of provenance and its imports; white space parts tokens, and is none."""
    return count_tokens("\n".join(texts))
