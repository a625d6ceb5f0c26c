"""Write the docstrings or questions of many functions in parallel, each stored as soon as it is written."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from pkg.enhance.docstring_cache import DocstringCache, make_key
from pkg.enhance.function_facts import FunctionText
from pkg.enhance.writer import Failure, GeneratedText, TextWriter
from pkg.local_errors import describe_local

_QUEUED = 2  # for each thread, so that the next function is ready while the caller handles a result


@dataclass(frozen=True, slots=True)
class Written:
    """The result for one function."""

    index: int  # among the given functions
    function: FunctionText
    result: GeneratedText | Failure
    is_new: bool  # written for this function; else from the cache or an equal function


def write_all(
    functions: Iterable[FunctionText],
    writer: TextWriter,
    cache: DocstringCache | None = None,
    parallel: int | None = None,
    retry_failed: bool = False,
) -> Generator[Written, None, None]:
    """Write texts in parallel, and yield each as soon as it is written.

    Cached results are reused (failures unless `retry_failed`), and equal functions are written once. If the caller
    stops or is interrupted, the pending requests are awaited and stored. An error of the model is raised after all
    written texts have been yielded.
    """
    run = _Run(writer, cache, retry_failed)
    numbered = iter(enumerate(functions))
    threads = parallel or writer.parallel
    pool = ThreadPoolExecutor(threads)
    try:
        yield from run.go(pool, numbered, _QUEUED * threads)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Run:
    """The pending functions of one run, by cache key."""

    def __init__(self, writer: TextWriter, cache: DocstringCache | None, retry_failed: bool) -> None:
        self._writer = writer
        self._cache = cache
        self._retry_failed = retry_failed
        self._waiting: dict[bytes, list[tuple[int, FunctionText]]] = {}
        self._futures: dict[Future[GeneratedText | Failure], bytes] = {}
        self._known: dict[bytes, GeneratedText | Failure] = {}
        self._fault: BaseException | None = None

    def go(
        self, pool: ThreadPoolExecutor, numbered: Iterator[tuple[int, FunctionText]], most: int
    ) -> Iterator[Written]:
        """Write functions, at most `most` at a time, until all are written or the model fails."""
        for index, function in numbered:
            yield from self._begin(pool, index, function)
            while len(self._futures) >= most:
                yield from self._wait()
            if self._fault is not None:
                break
        while self._futures:
            yield from self._wait()
        if self._fault is not None:
            raise self._fault

    def _begin(self, pool: ThreadPoolExecutor, index: int, function: FunctionText) -> Iterator[Written]:
        key = make_key(function, self._writer)
        known = self._known.get(key) or self._look_up(key)
        if known is not None:
            yield Written(index, function, known, False)
        elif key in self._waiting:
            self._waiting[key].append((index, function))
        else:
            self._waiting[key] = [(index, function)]
            self._futures[pool.submit(self._write, key, function)] = key

    def _look_up(self, key: bytes) -> GeneratedText | Failure | None:
        found = self._cache.find(key) if self._cache else None
        return None if self._retry_failed and isinstance(found, Failure) else found

    def _write(self, key: bytes, function: FunctionText) -> GeneratedText | Failure:
        """Write one text and store it, in a thread of the pool.

        An unexpected exception is a failure of this function alone; it is not stored, so that a later version retries.
        """
        try:
            result = self._writer.write(function)
        except Exception as fault:
            return Failure(describe_local(fault))
        if self._cache is not None:
            self._cache.put(key, result)
        return result

    def _wait(self) -> Iterator[Written]:
        done, _ = wait(self._futures, return_when=FIRST_COMPLETED)
        for future in [each for each in self._futures if each in done]:  # in the order of submission
            yield from self._finish(future)

    def _finish(self, future: Future[GeneratedText | Failure]) -> Iterator[Written]:
        key = self._futures.pop(future)
        waiting = self._waiting.pop(key)
        if future.cancelled():
            return
        if (fault := future.exception()) is not None:
            self._fault = self._fault or fault
            for other in self._futures:
                other.cancel()
            return
        result = self._known[key] = future.result()
        for number, (index, function) in enumerate(waiting):
            yield Written(index, function, result, number == 0)
