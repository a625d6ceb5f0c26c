"""Read tasks: JSON lines, each a query with its candidates; a line that is none comes as a Skip that says why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from pkg.errors import InputError
from pkg.extract.records import name_place, open_records
from pkg.model import Skip
from pkg.rerank.nouns import Name, Task
from pkg.rerank.reranker import make_candidates

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
