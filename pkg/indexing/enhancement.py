"""The use case that documents functions: choose, write, store; what was written once is never paid for again (P-07)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pkg.enhance.batch import write_all
from pkg.enhance.writer import TEMPLATE, Failure
from pkg.indexing.docstring_storage import DocstringStorage
from pkg.indexing.enhancement_budget import NO_LIMIT, Budget
from pkg.indexing.undocumented import Target, Undocumented
from pkg.model import Docstring, Skip
from pkg.models.text_model import Usage

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.enhance.docstring_cache import DocstringCache
    from pkg.enhance.function_facts import FunctionText
    from pkg.enhance.writer import DocstringWriter
    from pkg.graph.store import GraphStore

STORE_SECONDS = 30.0
"""How long what was written waits to be stored: each write makes the files beside the database anew, a second for
40,000 functions. What a kill finds unstored is in the cache."""
STORE_AT_ONCE = 2_000  # codes of one write, where they come faster than a model writes


class Outcome(NamedTuple):
    """What became of a code, which one or more functions have."""

    target: Target
    result: Docstring | Failure
    is_new: bool  # asked for now; else an earlier run was, and it cost nothing


class Progress(NamedTuple):
    """How far a run is."""

    done: int  # codes, failed ones included
    total: int  # that the budget allows, as far as it counts functions
    seconds: float
    usage: Usage
    cost: float | None


EnhancementListen = Callable[[Outcome, Progress], None]
"""Told of each code when it is done."""


@dataclass(frozen=True, slots=True)
class EnhanceReport:
    """What one run did for a source."""

    source: str
    store: str
    generation: int
    model: str
    prompt: str
    written: int = 0  # codes that got a docstring
    functions: int = 0  # that have these codes
    failed: tuple[Skip, ...] = ()
    asked: int = 0  # of the codes, those that this run asked for
    known_failures: int = 0  # of the failed, those at which an earlier run had failed
    left: int = 0  # codes that the budget did not reach
    stopped: str = ""  # the limit that was reached
    human: int = 0  # functions that a person has documented
    documented: int = 0  # functions that had a written docstring before
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None  # where a price is known
    seconds: float = 0.0


def enhance(
    store: GraphStore,
    source: str,
    writer: DocstringWriter,
    encoder: Encoder,
    budget: Budget = NO_LIMIT,
    listen: EnhancementListen = lambda outcome, progress: None,
    *,
    cache: DocstringCache | None = None,
    retry_failed: bool = False,
    is_stored: bool = True,
) -> EnhanceReport:
    """Write docstrings for the functions of a source that have none, the most called first, and store them (P-07).

    Functions of equal code get the same docstring. What is written is stored every half minute, and when the run ends
    for whatever reason; without is_stored it goes into the cache alone. Raises what model, store and encoder raise.
    """
    with closing(Undocumented(store, source, partial(needs_writing, writer.name, writer.prompt))) as missing:
        run = _Run(store, source, writer, encoder, budget, listen, missing, is_stored)
        run.write(cache, retry_failed)
        return run.report()


def needs_writing(model: str, prompt: str | None, found: Docstring | None) -> bool:
    """Tell whether a function is to be written for: it has no docstring, a template's, or one of an older prompt.

    prompt: that of the model now; without one any of its prompts will do.
    """
    if found is None or (found.source == "template" and model != TEMPLATE):
        return True
    if found.model != model or prompt is None:
        return False
    wanted = _list_versions(prompt)
    return _list_versions(found.prompt)[: len(wanted)] != wanted  # one with comments will do where none are wanted


def _list_versions(prompt: str) -> list[str]:
    """Give the versions in a prompt's name: a second try may have taken another form, but is of the same version."""
    return re.findall(r"/(\d+)", prompt)


class _Run:
    """One run over the functions of a source: what is handed out, what has come back, and what waits to be stored."""

    def __init__(
        self,
        store: GraphStore,
        source: str,
        writer: DocstringWriter,
        encoder: Encoder,
        budget: Budget,
        listen: EnhancementListen,
        missing: Undocumented,
        is_stored: bool,
    ) -> None:
        self._store, self._source, self._writer, self._budget, self._listen = store, source, writer, budget, listen
        self._missing = missing
        self._storage = DocstringStorage(store, source, encoder) if is_stored else None
        self._total, _ = missing.count()
        self._handed: dict[int, Target] = {}  # out to be written, by their place in the order
        self._waiting: dict[int, Docstring] = {}  # written, not stored
        self._start = self._stored = time.monotonic()
        self._before = writer.usage
        self._done = self._written = self._functions = self._asked = self._known_failures = 0
        self._failed: list[Skip] = []
        self._stopped = ""

    def write(self, cache: DocstringCache | None, retry_failed: bool) -> None:
        """Write until all is done or the budget is spent; what was written is stored whatever ends it."""
        try:
            for each in write_all(self._hand_out(), self._writer, cache, retry_failed=retry_failed):
                self._take(Outcome(self._handed.pop(each.index), each.result, each.is_new))
                if len(self._waiting) >= STORE_AT_ONCE or time.monotonic() - self._stored >= STORE_SECONDS:
                    self._put_waiting()
        finally:
            self._put_waiting()

    def _hand_out(self) -> Iterator[FunctionText]:
        """Give functions to be written, the most called first, until the budget ends."""
        for place, target in enumerate(self._missing.list_called()):
            self._stopped = self._budget.find_end(place - self._known_failures, self._seconds, self._usage)
            if self._stopped:
                return
            self._handed[place] = target
            yield target.text

    def _take(self, outcome: Outcome) -> None:
        target, result, is_new = outcome
        self._done += 1
        self._asked += is_new
        if isinstance(result, Failure):
            self._known_failures += not is_new
            self._failed.append(Skip(f"{target.path} {target.qualname}", result.reason))
        else:
            self._written += 1
            self._functions += target.functions
            self._waiting[target.hash] = result
        total = min(self._total, self._budget.limit or self._total)
        usage = self._usage
        self._listen(outcome, Progress(self._done, total, self._seconds, usage, self._budget.count_cost(usage)))

    @property
    def _usage(self) -> Usage:
        """Tell what this run has cost; the writer may have served others before."""
        return self._writer.usage - self._before

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._start

    def _put_waiting(self) -> None:
        if self._waiting and self._storage is not None:
            ids = [identity for hashed in self._waiting for identity in self._missing.list_ids(hashed)]
            self._storage.put(self._waiting, ids)
        self._waiting, self._stored = {}, time.monotonic()

    def report(self) -> EnhanceReport:
        """Sum up the run."""
        usage, census = self._usage, self._missing.census
        return EnhanceReport(
            self._source,
            self._store.address,
            self._store.generation(),
            self._writer.name,
            self._writer.prompt,
            self._written,
            self._functions,
            tuple(self._failed),
            self._asked,
            self._known_failures,
            self._total - self._done,
            self._stopped,
            census.human,
            census.written,
            usage,
            self._budget.count_cost(usage),
            round(self._seconds, 3),
        )
