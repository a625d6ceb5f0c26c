"""Pack hits and their helpers into a token budget, whole pieces only; the budget limits code, not hits (A-10, A-29)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from pkg.model import Helper, Hit
from pkg.retrieval.heads import list_unshown
from pkg.retrieval.helpers import Completion
from pkg.retrieval.hits import OpenedHit, ReadHit, list_hit
from pkg.retrieval.token_count import count_tokens

COMPLETION_BATCH = 50  # completed together, which bounds the memory for their calls

MIN_CODE = 30
"""Tokens that must be left for another hit to be opened: the size of a block of two lines with its place."""

Open = Callable[[ReadHit], OpenedHit]
Complete = Callable[[Sequence[OpenedHit]], Sequence[Completion]]


@dataclass(frozen=True, slots=True)
class Packed:
    """All hits, with their helpers, and the numbers of pieces that the budget excluded."""

    hits: tuple[Hit, ...]
    without_code: int  # hits listed without their code
    over_budget: int  # the same, plus excluded helpers
    notes: tuple[str, ...]
    explain: tuple[str, ...]
    bound: int = 0  # call sites of the hits with code, by confidence
    possible: int = 0
    unbound: int = 0


def pack_hits(read: Iterable[ReadHit], open_hit: Open, complete: Complete, budget: int) -> Packed:
    """Add hits in rank order, each with its code and then its helpers while these fit, and list the others.

    A hit whose code does not fit is listed without it, and the next one may fit. When hardly any room is left no
    further hit is opened, so unreachable code costs nothing. The first hit always has its code. A budget of 0 has no
    limit.
    """
    packer = _Packer(budget, complete)
    for each in read:
        if not packer.has_room():
            packer.pack_waiting()
        if not packer.has_room():
            packer.list_hit(list_hit(each))
            continue
        opened = open_hit(each)
        if not packer.fits(_measure_hit(opened.hit)):
            packer.pack_waiting()
        packer.add(opened)
    packer.pack_waiting()
    return packer.finish()


@dataclass(slots=True)
class _Packer:
    """Hits packed so far, and pending ones that fit without helpers and are completed together."""

    budget: int
    complete: Complete
    used: int = 0
    reserved: int = 0  # for the pending hits
    helpers_left_out: int = 0
    hits: list[Hit] = field(default_factory=list)
    waiting: list[OpenedHit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    explain: list[str] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)  # node id -> rank of its hit
    bound: int = 0
    possible: int = 0
    unbound: int = 0

    def has_room(self) -> bool:
        """Return whether one more hit may get its code."""
        return self.is_first() or (len(self.waiting) < COMPLETION_BATCH and self.fits(MIN_CODE))

    def is_first(self) -> bool:
        """Return whether there is no hit yet."""
        return not self.hits and not self.waiting

    def fits(self, size: int) -> bool:
        """Return whether this number of tokens is left, in addition to the pending hits."""
        return not self.budget or self.used + self.reserved + size <= self.budget

    def add(self, opened: OpenedHit) -> None:
        """Make a hit pending if its code fits; the first one in any case, with a note if it is too large."""
        size = _measure_hit(opened.hit)
        if self.is_first() and not self.fits(size):
            self.notes.append(f"hit 1 alone takes about {size} tokens, more than the budget of {self.budget}; it stays")
        elif not self.fits(size):
            self.list_hit(opened.hit, size)
            return
        self.waiting.append(opened)
        self.reserved += size

    def pack_waiting(self) -> None:
        """Pack the pending hits with the helpers that fit: these may take the room of a later hit."""
        batch, self.waiting, self.reserved = self.waiting, [], 0
        for item, completion in zip(batch, self.complete(batch) if batch else (), strict=True):
            size = _measure_hit(item.hit)
            if self.hits and not self.fits(size):
                self.list_hit(item.hit, size)
                continue
            self.used += size
            self.shown.setdefault(item.hit.id, item.hit.rank)
            self.explain += item.explain
            self.add_calls(item.hit.rank, completion)
            kept = tuple(helper for helper in completion.helpers if self.add_helper(item.hit.rank, helper))
            self.hits.append(replace(item.hit, helpers=kept))

    def list_hit(self, hit: Hit, size: int | None = None) -> None:
        """List a hit without its code; `size` is known if it was opened."""
        place = f"{hit.qualname} at {hit.path}:{hit.start_line}-{hit.end_line}"
        self.explain.append(f"hit {hit.rank} ({place}) without its code: {self._describe_room(size)}")
        self.hits.append(replace(hit, content="", pruned_content="", pruned=(), score_pruned=hit.score, has_code=False))

    def add_calls(self, rank: int, found: Completion) -> None:
        """Count the calls of a hit, and record how its helpers were chosen."""
        self.bound += found.bound
        self.possible += found.possible
        self.unbound += found.unbound
        self.explain += [f"hit {rank}: {line}" for line in found.explain]

    def add_helper(self, rank: int, helper: Helper) -> bool:
        """Add a helper if it fits and is not shown yet, and record the reason."""
        place = f"hit {rank}: helper {helper.qualname} at {helper.path}:{helper.start_line}-{helper.end_line}"
        if helper.id in self.shown:
            self.explain.append(f"{place} left out: shown with hit {self.shown[helper.id]}")
            return False
        size = _measure(helper.path, helper.qualname, helper.content, *helper.imports)
        if self.budget and self.used + size > self.budget:
            self.helpers_left_out += 1
            self.explain.append(f"{place} left out: {self._describe_room(size)}")
            return False
        self.used += size
        self.shown[helper.id] = rank
        self.explain.append(f"{place} added: {helper.reason}")
        return True

    def _describe_room(self, size: int | None) -> str:
        needed = "" if size is None else f"about {size} tokens, and "
        return f"{needed}{max(self.budget - self.used, 0)} of {self.budget} are left"

    def finish(self) -> Packed:
        """Return all hits by rank, with a note of how many have no code."""
        hits = sorted(self.hits, key=lambda hit: hit.rank)
        without = sum(not hit.has_code for hit in hits)
        if without:
            self.notes.append(
                f"{without} of {len(hits)} hits are listed without code: the budget of {self.budget} tokens has no room"
                " for it; give a larger one, or 0 for no limit"
            )
        return Packed(
            hits=tuple(hits),
            without_code=without,
            over_budget=without + self.helpers_left_out,
            notes=tuple(self.notes),
            explain=tuple(self.explain),
            bound=self.bound,
            possible=self.possible,
            unbound=self.unbound,
        )


def _measure_hit(hit: Hit) -> int:
    return _measure(hit.path, hit.qualname, *list_unshown(hit), hit.pruned_content)


def _measure(*texts: str) -> int:
    """Count the tokens of a piece with the line of its place and its imports; white space is free."""
    return count_tokens("\n".join(texts))
