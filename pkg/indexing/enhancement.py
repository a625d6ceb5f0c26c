"""The use case that documents functions: choose, write, store; no docstring is paid for twice (P-07)."""

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
"""Interval between writes to the store: each rebuilds the files beside the database, a second for 40,000 functions.
Docstrings not stored when the process is killed are in the cache."""
STORE_AT_ONCE = 2_000  # distinct functions per write, where a cache is faster than the interval


class Outcome(NamedTuple):
    """Result for one distinct function, which may occur several times."""

    target: Target
    result: Docstring | Failure
    is_new: bool  # requested in this run; else it comes from the cache and costs nothing


class Progress(NamedTuple):
    """Progress of a run."""

    done: int  # distinct functions, failed ones included
    total: int  # distinct functions within the limit of the budget
    seconds: float
    usage: Usage
    cost: float | None


EnhancementListen = Callable[[Outcome, Progress], None]
"""Called with each outcome."""


@dataclass(frozen=True, slots=True)
class EnhanceReport:
    """Report of one run for a source."""

    source: str
    store: str
    generation: int
    model: str
    prompt: str
    written: int = 0  # distinct functions that got a docstring
    functions: int = 0  # occurrences of these
    failed: tuple[Skip, ...] = ()
    asked: int = 0  # distinct functions requested in this run
    known_failures: int = 0  # failures known from an earlier run
    left: int = 0  # distinct functions beyond the budget
    stopped: str = ""  # limit that was reached
    human: int = 0  # functions with a docstring in their source
    documented: int = 0  # functions that already had a generated docstring
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None  # None without a price
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
    """Generate and store docstrings for the functions of a source that have none, most called first (P-07).

    Functions of equal code get the same docstring. Docstrings are stored every 30 s and when the run ends for any
    reason; without is_stored they go to the cache only. Raises what model, store and encoder raise.
    """
    with closing(Undocumented(store, source, partial(needs_docstring, writer.name, writer.prompt))) as missing:
        run = _Run(store, source, writer, encoder, budget, listen, missing, is_stored)
        run.write(cache, retry_failed)
        return run.report()


def needs_docstring(model: str, prompt: str | None, found: Docstring | None) -> bool:
    """Return whether a function needs a docstring: it has none, a template's, or one of an older prompt.

    prompt: the model's current prompt; None accepts any of its prompts.
    """
    if found is None or (found.source == "template" and model != TEMPLATE):
        return True
    if found.model != model or prompt is None:
        return False
    wanted = _list_versions(prompt)
    return _list_versions(found.prompt)[: len(wanted)] != wanted  # additional comments do no harm


def _list_versions(prompt: str) -> list[str]:
    """Return the versions in the name of a prompt; a retry may use another template, but has the same version."""
    return re.findall(r"/(\d+)", prompt)


class _Run:
    """One run over the functions of a source: pending requests, results, and docstrings to store."""

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
        self._handed: dict[int, Target] = {}  # pending requests, by position
        self._waiting: dict[int, Docstring] = {}  # generated, not stored
        self._start = self._stored = time.monotonic()
        self._before = writer.usage
        self._done = self._written = self._functions = self._asked = self._known_failures = 0
        self._failed: list[Skip] = []
        self._stopped = ""

    def write(self, cache: DocstringCache | None, retry_failed: bool) -> None:
        """Generate docstrings until all are done or the budget is spent; results are stored however it ends."""
        try:
            for each in write_all(self._hand_out(), self._writer, cache, retry_failed=retry_failed):
                self._take(Outcome(self._handed.pop(each.index), each.result, each.is_new))
                if len(self._waiting) >= STORE_AT_ONCE or time.monotonic() - self._stored >= STORE_SECONDS:
                    self._put_waiting()
        finally:
            self._put_waiting()

    def _hand_out(self) -> Iterator[FunctionText]:
        """Yield the functions to document, most called first, within the budget."""
        for place, target in enumerate(self._missing.list_called()):
            self._stopped = self._budget.find_reached_limit(place - self._known_failures, self._seconds, self._usage)
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
        """Return the cost of this run; the writer may have served others before."""
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
        """Return the report of the run."""
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
