"""Questions with the answers of several systems, read from rows of JSON (Q-01, C-07)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pkg.errors import shorten
from pkg.model import Skip

SHOWN_LENGTH = 60  # characters of a wrong value in an error message
ID_LENGTH = 12  # hexadecimal digits of an id that is computed from the content

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of code or text that a system was shown for its answer."""

    path: str
    start_line: int
    end_line: int
    content: str = ""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """A question, the answers of systems, and the references that an answer can be compared with."""

    id: str
    question: str
    answers: Mapping[str, str] = field(default_factory=dict)  # by system, in the order of the row
    reference: str = ""  # the right answer, if known
    tests: tuple[str, ...] = ()  # statements that the code of a right answer passes
    preference: str = ""  # the quality that is rated, such as readability
    type: str = ""  # of the question, such as syntax or meta
    evidence: tuple[Excerpt, ...] = ()
    truncated: frozenset[str] = frozenset()  # systems whose answer ended at the token limit


@dataclass(frozen=True, slots=True)
class ReadRows(Generic[T]):
    """The parsed rows of a file, and its invalid ones."""

    items: tuple[T, ...]
    bad: tuple[Skip, ...]  # invalid rows; `path` is the line


def parse_rows(lines: Iterable[str], parse: Callable[[Any], T], name: Callable[[T], object] = id) -> ReadRows[T]:
    """Parse JSON lines; an invalid row, and one whose name occurs twice, is skipped and returned with its reason."""
    items: dict[object, T] = {}
    bad: list[Skip] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            item = parse(json.loads(line))
        except (ValueError, RecursionError) as fault:
            bad.append(Skip(f"line {number}", str(fault)))
            continue
        if name(item) in items:
            shown = shorten(str(name(item)), SHOWN_LENGTH)
            bad.append(Skip(f"line {number}", f"the id '{shown}' occurs twice; expected one row for each"))
        else:
            items[name(item)] = item
    return ReadRows(tuple(items.values()), tuple(bad))


def read_items(lines: Iterable[str]) -> ReadRows[JudgedItem]:
    """Read items, each with an id of its own."""
    return parse_rows(lines, parse_item, lambda item: item.id)


def parse_item(row: Any) -> JudgedItem:
    """Parse a row of question and answers, or an annotation record; raises ValueError if it is neither."""
    if not isinstance(row, dict):
        raise ValueError(f"not an object but {show_value(row)}; expected one with a question and answers")
    question = _take_text(row, "question", "instruction")
    if not question.strip():
        raise ValueError("no question; expected a text under 'question' or 'instruction'")
    reference = _take_text(row, "reference", "answer")
    answers = _take_answers(row)
    name = row.get("id")
    if name is not None and not isinstance(name, str | int):
        raise ValueError(f"the id is {show_value(name)}; expected a text or a number")
    content_hash = hashlib.sha256(f"{question}\0{reference}".encode("utf-8", "replace")).hexdigest()[:ID_LENGTH]
    return JudgedItem(
        id=content_hash if name in (None, "") else str(name),
        question=question,
        answers=answers,
        reference=reference,
        tests=_take_tests(row),
        preference=_take_text(row, "preference"),
        type=_take_text(row, "type"),
        evidence=tuple(_parse_evidence(each) for each in _take_list(row, "evidence")),
        truncated=frozenset(str(each["model"]) for each in _take_list(row, "responses") if each.get("is_cut") is True),
    )


def _take_text(row: Mapping[str, Any], *names: str) -> str:
    """Return the first non-empty text under one of the names, or ""."""
    for name in names:
        value = row.get(name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"'{name}' is {show_value(value)}; expected a text")
        if value:
            return value
    return ""


def _take_list(row: Mapping[str, Any], name: str) -> list[Any]:
    value = row.get(name) or []
    if not isinstance(value, list):
        raise ValueError(f"'{name}' is {show_value(value)}; expected a list")
    return value


def _take_answers(row: Mapping[str, Any]) -> dict[str, str]:
    answers = row.get("answers") or {}
    if not isinstance(answers, dict):
        raise ValueError(f"'answers' is {show_value(answers)}; expected an object of a text by system")
    pairs = list(answers.items())
    for each in _take_list(row, "responses"):
        if not isinstance(each, dict):
            raise ValueError(f"a response is {show_value(each)}; expected an object with 'model' and 'response'")
        pairs.append((each.get("model"), each.get("response")))
    for system, answer in pairs:
        if not (isinstance(system, str) and system and isinstance(answer, str)):
            raise ValueError(
                f"{show_value(system)} answers {show_value(answer)}; expected the name of a system and a text"
            )
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a system answers twice; expected one answer of each")
    return found


def _take_tests(row: Mapping[str, Any]) -> tuple[str, ...]:
    tests = row.get("tests") or []
    tests = [tests] if isinstance(tests, str) else tests
    if not (isinstance(tests, list) and all(isinstance(each, str) for each in tests)):
        raise ValueError(f"'tests' is {show_value(tests)}; expected statements, as one text or a list")
    return tuple(tests)


def _parse_evidence(value: Any) -> Excerpt:
    try:
        lines = int(value["start_line"]), int(value["end_line"])
        path, content = value["path"], value.get("content") or ""
    except (TypeError, KeyError, ValueError, OverflowError, AttributeError):
        path, content = None, None
        lines = 0, 0
    if not (isinstance(path, str) and isinstance(content, str)):
        raise ValueError(f"evidence is {show_value(value)}; expected path, start_line, end_line and content")
    return Excerpt(path, *lines, content)


def show_value(value: object) -> str:
    """Return a value as shortened JSON, for a message."""
    return shorten(json.dumps(value, ensure_ascii=False, default=str), SHOWN_LENGTH)
