"""Rank many tasks: read from a file or as they come, several at once, written as lines, resumed where a run stopped."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from pkg.errors import InputError, PathError, UsageError
from pkg.extract.records import name_place, open_records
from pkg.local_errors import describe_local
from pkg.model import Skip
from pkg.rerank.candidates import Name, Ranked, Ranking, RerankOptions, Task, Verdict
from pkg.rerank.reranker import Reranker, make_candidates
from pkg.resources import count_cores, map_ahead

_OWN = frozenset(("query", "candidates", "examples", "id", "task_id", "language"))
_PYTHON = frozenset(("python", "python3", "py"))

Item: TypeAlias = Task | Skip


def read_tasks(path: str) -> Iterator[Item]:
    """Read the tasks of a file, or of standard input for `-`; PathError for what cannot be opened."""
    for record in open_records(path):
        if isinstance(record, Skip):
            yield record
            continue
        index, fields = record
        try:
            yield make_task(fields)
        except InputError as fault:
            yield Skip(name_place(path, index), str(fault))


def make_task(fields: Mapping[str, Any]) -> Task:
    """Make a task of the fields of a line; an InputError says what it lacks."""
    query, given, examples = fields.get("query"), fields.get("candidates"), fields.get("examples")
    if not isinstance(query, str):
        raise InputError(f"no field query with a text (found: {_list_fields(fields)})")
    if not isinstance(given, list) or not given:
        raise InputError("no candidates; expected a list of at least one, each a text or an object with the field text")
    if examples is not None and not isinstance(examples, list):
        raise InputError(f"the field examples is {type(examples).__name__}; expected a list")
    language = fields.get("language")
    if language is not None and str(language).lower() not in _PYTHON:
        raise InputError(f"language {language!r}; expected python, the one that is ranked")
    extra = {name: value for name, value in fields.items() if name not in _OWN}
    return Task(query, make_candidates(given), tuple(examples or ()), _find_id(fields), extra)


def _find_id(fields: Mapping[str, Any]) -> Name | None:
    for name in ("id", "task_id"):
        value = fields.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return value
    return None


def _list_fields(fields: Iterable[str]) -> str:
    return ", ".join(name[:40] for name in list(fields)[:10]) or "none"


def read_oracle(path: str) -> dict[Name, Any]:
    """Read hidden tests, one line a task: {"id": ..., "tests": [...]}; an InputError for a line without."""
    found: dict[Name, Any] = {}
    for record in open_records(path):
        if isinstance(record, Skip):
            raise InputError(f"{path}, {record}")
        index, fields = record
        name = _find_id(fields)
        if name is None or "tests" not in fields:
            place = name_place(path, index)
            raise InputError(f"{path}, {place} has no id or no tests (found: {_list_fields(fields)})")
        found[name] = fields["tests"]
    return found


Outcome: TypeAlias = Ranking | Skip


def rank_all(reranker: Reranker, items: Iterable[Item], oracle: Mapping[Name, Any] | None = None) -> Iterator[Outcome]:
    """Rank tasks and give their rankings in the order of the tasks, whatever the number of workers.

    oracle: hidden tests by task id, for research. A task that cannot be ranked comes as a Skip, like those handed in.
    """
    jobs = reranker.options.jobs or count_cores()
    with ThreadPoolExecutor(jobs, thread_name_prefix="rerank") as threads:

        def submit(numbered: tuple[int, Item]) -> Future[Outcome]:
            return threads.submit(_rank_one, reranker, numbered[1], numbered[0], oracle)

        try:
            yield from map_ahead(submit, enumerate(items), jobs)
        finally:
            threads.shutdown(wait=True, cancel_futures=True)


def _rank_one(reranker: Reranker, item: Item, place: int, oracle: Mapping[Name, Any] | None) -> Outcome:
    if isinstance(item, Skip):
        return item
    name = f"task {place + 1}" if item.id is None else str(item.id)
    try:
        return reranker.rank(item, _find_tests(item, oracle))
    except InputError as fault:
        return Skip(name, str(fault))
    except Exception as fault:  # which costs this task alone
        return Skip(name, describe_local(fault))


def _find_tests(task: Task, oracle: Mapping[Name, Any] | None) -> Any:
    """Find the hidden tests of a task; a task without them would be ranked by other rules than its neighbours."""
    if oracle is None:
        return None
    if task.id is None or task.id not in oracle:
        raise InputError(
            f"the oracle has no tests for the task with the id {task.id!r}; add them, or leave the task out"
        )
    return oracle[task.id]


async def rank_one_by_one(
    open_reranker: Callable[[], Reranker], tasks: AsyncIterable[Item] | Iterable[Item]
) -> AsyncIterator[Outcome]:
    """Rank tasks as they come, one after the other, without keeping the event loop from other work."""
    reranker = await asyncio.to_thread(open_reranker)
    try:
        place = 0
        async for item in _as_async(tasks):
            yield await asyncio.to_thread(_rank_one, reranker, item, place, None)
            place += 1
    finally:
        reranker.close()


async def _as_async(tasks: AsyncIterable[Item] | Iterable[Item]) -> AsyncIterator[Item]:
    if isinstance(tasks, AsyncIterable):
        async for item in tasks:
            yield item
    else:
        for item in tasks:
            yield item


ORACLE = "ORACLE"  # stands in every line of a ranking that saw hidden tests


def outcome_line(outcome: Outcome, key: str | None = None, is_oracle: bool = False) -> dict[str, Any]:
    """Give the line of a ranking, or of a task that was left out; the fields of the input come first."""
    line = _skip_line(outcome, is_oracle) if isinstance(outcome, Skip) else _ranking_line(outcome)
    return line | ({"key": key} if key else {})


def _skip_line(skip: Skip, is_oracle: bool) -> dict[str, Any]:
    return {"type": "skip", **({"mode": ORACLE} if is_oracle else {}), "path": skip.path, "reason": skip.reason}


def _ranking_line(ranking: Ranking) -> dict[str, Any]:
    own: dict[str, Any] = {"type": "ranking"}
    if ranking.oracle:
        own["mode"] = ORACLE
    if ranking.id is not None:
        own["id"] = ranking.id
    own |= {
        "chosen": ranking.chosen,
        "code": ranking.code,
        "order": list(ranking.order),
        "fallback": ranking.fallback,
        "entry": ranking.entry,
        "examples": list(ranking.examples),
        "inputs": ranking.inputs,
        "sandbox": ranking.sandbox,
        "candidates": [_candidate_line(each) for each in ranking.candidates],
        "notes": list(ranking.notes),
    }
    return {**ranking.extra, **own}


def _candidate_line(ranked: Ranked) -> dict[str, Any]:
    own = {
        "id": ranked.id,
        "rank": ranked.rank,
        "votes": ranked.votes,
        "same_as": ranked.same_as,
        "dropped": ranked.dropped,
        "reason": ranked.reason,
        "why": ranked.why,
        "is_cut": ranked.is_cut,
        "similarity": ranked.similarity,
        "stages": [_verdict_line(each) for each in ranked.verdicts],
    }
    return {**ranked.extra, **own}


def _verdict_line(verdict: Verdict) -> dict[str, Any]:
    return {
        "stage": verdict.stage,
        "passed": verdict.passed,
        "score": round(verdict.score, 6),
        "reason": verdict.reason,
        "seconds": round(verdict.seconds, 4),
    }


def make_key(line: str) -> str:
    """Make the key by which a task is known again when a run is resumed."""
    return sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def name_item(item: Item, options: RerankOptions, is_oracle: bool) -> str:
    """Give the key of a task under options: other options are other work."""
    if isinstance(item, Skip):
        return make_key(f"{item.path} {item.reason}")
    texts = [(each.id, each.text) for each in item.candidates]
    chosen = {name: value for name, value in asdict(options).items() if name != "jobs"}
    parts = [item.id, item.query, texts, list(item.examples), chosen, is_oracle]
    return make_key(json.dumps(parts, sort_keys=True, default=str))


def read_done(path: Path) -> Counter[str]:
    """Read the keys of what a file holds, and cut off a last line that was not finished.

    PathError for what cannot be read; UsageError for a file of something else, which is left alone.
    """
    try:
        content = path.read_bytes() if path.exists() else b""
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}; expected the output of an earlier run") from None
    whole = content[: content.rfind(b"\n") + 1]
    done = Counter(_parse_key(line, path, number) for number, line in enumerate(whole.splitlines(), 1))
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    return done


def _parse_key(line: bytes, path: Path, number: int) -> str:
    try:
        fields: Any = json.loads(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or not isinstance(fields.get("key"), str):
        raise UsageError(f"{path}, line {number} is not from pkg rerank --resume; name another file")
    key: str = fields["key"]
    return key


def leave_done(keyed: Iterable[tuple[str, Item]], done: Counter[str]) -> Iterator[tuple[str, Item]]:
    """Leave out what is done; of two equal tasks one that is done leaves the other."""
    left = done.copy()
    for key, item in keyed:
        if left[key] > 0:
            left[key] -= 1
        else:
            yield key, item
