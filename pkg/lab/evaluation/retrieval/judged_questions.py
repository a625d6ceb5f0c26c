"""Read questions and their right answers in the format of BEIR: queries.jsonl and qrels.tsv."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TypeAlias

from pkg.errors import InputError, PathError, shorten
from pkg.extract.records import Fields, is_corpus, name_place, open_records
from pkg.model import Skip

EXPECTED_QUERY = 'expected {"_id": ..., "text": ...}'
EXPECTED_QREL = "expected query-id, corpus-id and score with tabs between (or TREC's query-id 0 corpus-id score)"
SHOWN = 60  # characters of a line in a message


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question, with the gain of each right answer."""

    id: str
    text: str
    gold: Mapping[str, float]  # positive, by row id, path, path::qualname or path::qualname::name of a block


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """The judged questions, and the ids of those without a judgement or a text."""

    questions: tuple[JudgedQuestion, ...]
    read: int  # number of questions in the file
    unjudged: tuple[str, ...] = ()  # ids of questions without a right answer
    unknown: tuple[str, ...] = ()  # ids in the judgements without a question


Judgements: TypeAlias = dict[str, dict[str, float]]  # gains by question and answer


def read_judged_questions(queries: str, qrels: str, limit: int | None = None) -> QuestionFile:
    """Read questions with their right answers, the first `limit` of them in the order of the file.

    Raises PathError for a file that cannot be read, InputError for an invalid line and for files without a judged
    question.
    """
    texts, judged = read_queries(queries), read_judgements(qrels)
    gold = {query: {answer: gain for answer, gain in gains.items() if gain > 0} for query, gains in judged.items()}
    unknown = tuple(query for query in judged if query not in texts)
    if len(unknown) == len(judged):
        raise InputError(
            f"no judgement of {qrels} is about a question of {queries} (seen: '{next(iter(judged))}', expected ids such"
            f" as '{next(iter(texts))}'); give the two files of one benchmark"
        )
    asked = tuple(JudgedQuestion(query, text, gold[query]) for query, text in texts.items() if gold.get(query))
    if not asked:
        raise InputError(f"no score in {qrels} is above 0; expected at least one right answer to a question")
    unjudged = tuple(query for query in texts if not gold.get(query))
    return QuestionFile(asked[:limit], len(texts), unjudged, unknown)


def read_queries(path: str) -> dict[str, str]:
    """Read the texts of the questions by id; raises PathError for a missing file, InputError for an invalid line."""
    texts: dict[str, str] = {}
    if not is_corpus(path) or path == "-":
        raise PathError(f"{path} holds no questions; expected a file .jsonl, .json, .csv (each also .gz) or .parquet")
    with closing(open_records(path)) as items:
        for item in items:
            if isinstance(item, Skip):
                raise InputError(f"{path}, {item.path}: {item.reason}; {EXPECTED_QUERY}")
            place, fields = f"{path}, {name_place(path, item[0])}", item[1]
            name, text = _read_text(place, fields, "_id", "id"), _read_text(place, fields, "text", "query")
            if name in texts:
                raise InputError(f"{place}: a question of the id '{name}' came before; expected each id once")
            texts[name] = text
    if not texts:
        raise InputError(f"no questions in {path}; {EXPECTED_QUERY} on each line")
    return texts


def _read_text(place: str, fields: Fields, *names: str) -> str:
    """Return the first of some fields that is present, as text; ids may be numbers."""
    value = next((fields[name] for name in names if name in fields), None)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        found = ", ".join(fields) or "nothing"
        raise InputError(f"{place}: no text in '{names[0]}' (found: {shorten(found, SHOWN)}); {EXPECTED_QUERY}")
    return value


def read_judgements(path: str) -> Judgements:
    """Read the gains of answers by question; raises InputError for an invalid line.

    A header line is skipped. Of an answer judged twice the higher score counts.
    """
    judged: Judgements = {}
    for number, line in _read_lines(path):
        query, answer, score = _split_judgement(line)
        gain = _read_score(score)
        if gain is None or not query or not answer:
            if number == 1:
                continue
            raise InputError(f"{path}, line {number}: {shorten(line, SHOWN)!r} is no judgement; {EXPECTED_QREL}")
        gains = judged.setdefault(query, {})
        gains[answer] = max(gain, gains.get(answer, gain))
    if not judged:
        raise InputError(f"no judgements in {path}; {EXPECTED_QREL} on each line")
    return judged


def _split_judgement(line: str) -> tuple[str, str, str]:
    parts = line.split("\t") if "\t" in line else line.split()
    if len(parts) == 4:  # the second column of TREC is an iteration number
        del parts[1]
    return (parts[0].strip(), parts[1].strip(), parts[2]) if len(parts) == 3 else ("", "", "")


def _read_score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return score if abs(score) < float("inf") else None  # false for NaN too


def _read_lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers from 1."""
    try:
        with gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                text = line.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n")
                if text.strip():
                    yield number, text
    except (OSError, EOFError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise PathError(f"cannot read {path}: {reason}; expected a file of judgements such as qrels.tsv") from None
