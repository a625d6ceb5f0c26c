"""Rank many tasks from a file or an iterable in parallel, write one line for each, and resume an interrupted run."""

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
    """Read the tasks of a file, or of standard input for `-`; raises a PathError if it cannot be opened."""
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
    """Make a task from the fields of a line; raises an InputError for a missing or invalid field."""
    query, given, examples = fields.get("query"), fields.get("candidates"), fields.get("examples")
    if not isinstance(query, str):
        raise InputError(f"no field query with a text (found: {_list_fields(fields)})")
    if not isinstance(given, list) or not given:
        raise InputError("no candidates; expected a list of at least one, each a text or an object with the field text")
    if examples is not None and not isinstance(examples, list):
        raise InputError(f"the field examples is {type(examples).__name__}; expected a list")
    language = fields.get("language")
    if language is not None and str(language).lower() not in _PYTHON:
        raise InputError(f"language {language!r}; expected python")
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
    """Read hidden tests, one line per task: {"id": ..., "tests": [...]}; raises an InputError for any other line."""
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
    """Rank tasks in parallel and yield their rankings in the order of the tasks.

    oracle: hidden tests by task id, for research. A task that cannot be ranked yields a Skip; a Skip is passed through.
    """
    jobs = reranker.options.jobs or count_cores()
    with ThreadPoolExecutor(jobs, thread_name_prefix="rerank") as threads:

        def submit(numbered: tuple[int, Item]) -> Future[Outcome]:
            return threads.submit(_rank_one, reranker, numbered[1], numbered[0], oracle)

        try:
            yield from map_ahead(submit, enumerate(items), jobs)
        finally:
            threads.shutdown(wait=True, cancel_futures=True)


def _rank_one(reranker: Reranker, item: Item, index: int, oracle: Mapping[Name, Any] | None) -> Outcome:
    if isinstance(item, Skip):
        return item
    name = f"task {index + 1}" if item.id is None else str(item.id)
    try:
        return reranker.rank(item, _find_tests(item, oracle))
    except InputError as fault:
        return Skip(name, str(fault))
    except Exception as fault:  # affects only this task
        return Skip(name, describe_local(fault))


def _find_tests(task: Task, oracle: Mapping[Name, Any] | None) -> Any:
    """Return the hidden tests of a task; raises an InputError if it has none, because its ranking would differ."""
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
    """Rank tasks one after the other as they arrive, without blocking the event loop."""
    reranker = await asyncio.to_thread(open_reranker)
    try:
        index = 0
        async for item in _as_async(tasks):
            yield await asyncio.to_thread(_rank_one, reranker, item, index, None)
            index += 1
    finally:
        reranker.close()


async def _as_async(tasks: AsyncIterable[Item] | Iterable[Item]) -> AsyncIterator[Item]:
    if isinstance(tasks, AsyncIterable):
        async for item in tasks:
            yield item
    else:
        for item in tasks:
            yield item


ORACLE = "ORACLE"  # mode in every line of a ranking that used hidden tests


def outcome_line(outcome: Outcome, key: str | None = None, is_oracle: bool = False) -> dict[str, Any]:
    """Return the output line of a ranking or a skipped task; the fields of the input come first."""
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
    """Return the key that identifies a task when a run is resumed."""
    return sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def make_item_key(item: Item, options: RerankOptions, is_oracle: bool) -> str:
    """Return the key of a task with its options."""
    if isinstance(item, Skip):
        return make_key(f"{item.path} {item.reason}")
    texts = [(each.id, each.text) for each in item.candidates]
    chosen = {name: value for name, value in asdict(options).items() if name != "jobs"}
    parts = [item.id, item.query, texts, list(item.examples), chosen, is_oracle]
    return make_key(json.dumps(parts, sort_keys=True, default=str))


def read_done(path: Path) -> Counter[str]:
    """Read the keys in an output file, and truncate an incomplete last line.

    Raises a PathError if the file cannot be read, and a UsageError if it is not such an output.
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


def skip_done(keyed: Iterable[tuple[str, Item]], done: Counter[str]) -> Iterator[tuple[str, Item]]:
    """Yield the tasks that are not done; equal tasks count separately."""
    left = done.copy()
    for key, item in keyed:
        if left[key] > 0:
            left[key] -= 1
        else:
            yield key, item
