"""Document the functions of one source within a budget: choose, write, store; no docstring is paid for twice (P-07)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from pkg.enhance.batch import write_all
from pkg.enhance.undocumented import Target, Undocumented
from pkg.enhance.writer import Failure, GeneratedText
from pkg.errors import UsageError
from pkg.indexing.generated_storage import GeneratedStorage
from pkg.model import Skip
from pkg.models.text_model import Usage
from pkg.models.usage import Price

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.enhance.docstring_cache import DocstringCache
    from pkg.enhance.function_facts import FunctionText
    from pkg.enhance.writer import TextWriter
    from pkg.graph.store import GraphStore

STORE_SECONDS = 30.0
"""Interval between writes to the store: each rebuilds the files beside the database, a second for 40,000 functions.
Docstrings not stored when the process is killed are in the cache."""
STORE_AT_ONCE = 2_000  # distinct functions per write, where a cache is faster than the interval


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run; None means no limit. Requests in progress at the end are finished."""

    limit: int | None = None  # functions to document, without known failures
    seconds: float | None = None
    max_cost: float | None = None
    price: Price | None = None

    def __post_init__(self) -> None:
        if self.max_cost is not None and self.price is None:
            raise UsageError("a limit on cost needs prices; give those of a million tokens: --price IN/OUT")

    def count_cost(self, usage: Usage) -> float | None:
        """Return the cost of a usage; None without a price."""
        return None if self.price is None else self.price.count_cost(usage.prompt_tokens, usage.completion_tokens)

    def take(self, functions: int, seconds: float, cost: float | None) -> Budget:
        """Return the remaining budget after some use."""
        return replace(
            self,
            limit=None if self.limit is None else max(0, self.limit - functions),
            seconds=None if self.seconds is None else max(0.0, self.seconds - seconds),
            max_cost=None if self.max_cost is None else max(0.0, self.max_cost - (cost or 0.0)),
        )

    def find_reached_limit(self, functions: int, seconds: float, usage: Usage) -> str:
        """Return the name of the limit that is reached; "" if none is."""
        cost = self.count_cost(usage)
        if self.limit is not None and functions >= self.limit:
            return f"--limit {self.limit}"
        if self.seconds is not None and seconds >= self.seconds:
            return f"--minutes {self.seconds / 60:g}"
        if self.max_cost is not None and cost is not None and cost >= self.max_cost:
            return f"--max-cost {self.max_cost:g}"
        return ""


NO_LIMIT = Budget()


class Outcome(NamedTuple):
    """Result for one distinct function, which may occur several times."""

    target: Target
    result: GeneratedText | Failure
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
class EnhanceOptions:
    """Options of documenting functions."""

    model: str  # such as gguf:FILE, or template
    form: str | None = None  # prompt template; None: the best that the model supports
    comments: bool = False  # also comment the blocks of each function (P-08)
    questions: bool = False  # write questions that functions answer instead of docstrings
    budget: Budget = NO_LIMIT
    retry_failed: bool = False
    is_stored: bool = True  # False: docstrings go to the cache only
    listen: EnhancementListen | None = None
    agree: Callable[[str], bool] | None = None  # asked for consent before code is sent to a service


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
    kind: str = "docstrings"  # or questions


def enhance(
    store: GraphStore,
    source: str,
    writer: TextWriter,
    encoder: Encoder,
    options: EnhanceOptions,
    cache: DocstringCache | None = None,
) -> EnhanceReport:
    """Generate and store docstrings, or questions, for the functions of a source that have none (P-07).

    Functions of equal code get the same text. Texts are stored every 30 s and when the run ends for any
    reason; without is_stored they go to the cache only. Raises what model, store and encoder raise.
    """
    with closing(Undocumented(store, source, writer.name, writer.prompt, options.questions)) as missing:
        run = _Run(store, source, writer, encoder, options, missing)
        run.write(cache)
        return run.report()


class _Run:
    """One run over the functions of a source: pending requests, results, and docstrings to store."""

    def __init__(
        self,
        store: GraphStore,
        source: str,
        writer: TextWriter,
        encoder: Encoder,
        options: EnhanceOptions,
        missing: Undocumented,
    ) -> None:
        self._store, self._source, self._writer = store, source, writer
        self._options, self._budget, self._missing = options, options.budget, missing
        self._storage = GeneratedStorage(store, source, encoder) if options.is_stored else None
        self._total, _ = missing.count()
        self._handed: dict[int, Target] = {}  # pending requests, by position
        self._waiting: dict[int, GeneratedText] = {}  # generated, not stored
        self._start = self._stored = time.monotonic()
        self._before = writer.usage
        self._done = self._written = self._functions = self._asked = self._known_failures = 0
        self._failed: list[Skip] = []
        self._stopped = ""

    def write(self, cache: DocstringCache | None) -> None:
        """Generate docstrings until all are done or the budget is spent; results are stored however it ends."""
        try:
            retry_failed = self._options.retry_failed
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
        if self._options.listen is not None:
            total, usage = min(self._total, self._budget.limit or self._total), self._usage
            cost = self._budget.count_cost(usage)
            self._options.listen(outcome, Progress(self._done, total, self._seconds, usage, cost))

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
            self._storage.add(self._waiting, ids)
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
            "questions" if self._options.questions else "docstrings",
        )
