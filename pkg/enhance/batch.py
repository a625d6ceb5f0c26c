"""Write the docstrings of many functions, several at once, each kept as soon as it is there."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from pkg.enhance.docstring_cache import DocstringCache, make_key
from pkg.enhance.function_facts import FunctionText
from pkg.enhance.writer import DocstringWriter, Failure
from pkg.local_errors import describe_local
from pkg.model import Docstring

_QUEUED = 2  # for each request at a time: the next is ready while the reader of results is busy


@dataclass(frozen=True, slots=True)
class Written:
    """What came of one function."""

    index: int  # its place among the functions given
    function: FunctionText
    result: Docstring | Failure
    is_new: bool  # written now, and paid for; else it was known, or an equal function was written now


def write_all(
    functions: Iterable[FunctionText],
    writer: DocstringWriter,
    cache: DocstringCache | None = None,
    parallel: int | None = None,
    retry_failed: bool = False,
) -> Generator[Written, None, None]:
    """Write docstrings, several at once, and give each as soon as it is there, with its place among the functions.

    What the cache knows is not written again, and of equal functions one is; failures are, where it is wanted. Whoever
    stops to read, or is interrupted, loses nothing: what is still being written is waited for and kept. A fault of the
    model ends it with that fault, after all that was written has been given.
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
    """The functions of one run that are being written, by what their docstring depends on."""

    def __init__(self, writer: DocstringWriter, cache: DocstringCache | None, retry_failed: bool) -> None:
        self._writer = writer
        self._cache = cache
        self._retry_failed = retry_failed
        self._waiting: dict[bytes, list[tuple[int, FunctionText]]] = {}
        self._futures: dict[Future[Docstring | Failure], bytes] = {}
        self._known: dict[bytes, Docstring | Failure] = {}
        self._fault: BaseException | None = None

    def go(
        self, pool: ThreadPoolExecutor, numbered: Iterator[tuple[int, FunctionText]], most: int
    ) -> Iterator[Written]:
        """Keep up to a number of functions in work until all are written, or one meets a fault."""
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

    def _look_up(self, key: bytes) -> Docstring | Failure | None:
        found = self._cache.find(key) if self._cache else None
        return None if self._retry_failed and isinstance(found, Failure) else found

    def _write(self, key: bytes, function: FunctionText) -> Docstring | Failure:
        """Write one docstring and keep it, in a thread of its own, whatever happens to the reader of results.

        An unexpected exception costs this function alone; it is not kept, for another version may do better.
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
        for future in [each for each in self._futures if each in done]:  # in the order in which they were begun
            yield from self._finish(future)

    def _finish(self, future: Future[Docstring | Failure]) -> Iterator[Written]:
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
