"""Read questions with their solutions from the rows of files, each row that has none as a Skip (U-05).

Rows have the form of CoNaLa (intent, snippet), CoSQA (doc or query, code, label), CodeXGLUE and CodeSearchNet
(docstring, code), CodeContests (description, solutions by language) or any other with known names of fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pkg.errors import InputError
from pkg.extract.records import name_place, open_records
from pkg.model import Skip

QUESTION_FIELDS = (
    "rewritten_intent", "intent", "question", "query", "description", "instruction", "doc", "docstring", "nl", "prompt",
    "text", "title",
)  # fmt: skip
"""Fields that may hold a question; the first one that holds text counts."""

SOLUTION_FIELDS = (
    "snippet", "solutions", "solution", "canonical_solution", "code", "original_string", "answer", "output",
)  # fmt: skip
"""Fields that may hold a solution; the first one that holds text, or solutions by language, counts."""

LANGUAGE_FIELDS = ("language", "lang")
PYTHON = frozenset({"python", "python3", "py", "3"})
"""Names of the language in lower case; 3 is that of CodeContests, whose 1 is Python 2."""


@dataclass(frozen=True, slots=True)
class Document:
    """A question with its solution, and its place: the name of the file and the number of the row, from 1."""

    place: str
    question: str  # one line
    solution: str

    @property
    def text(self) -> str:
        """Return question and solution, as they are encoded and shown."""
        return f"# {self.question}\n{self.solution}"


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """The documents of a file, and its rows without one."""

    name: str
    documents: tuple[Document, ...]
    skipped: tuple[Skip, ...]


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """The documents of several files, each distinct text once."""

    files: tuple[DocumentFile, ...]
    documents: tuple[Document, ...]

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of all documents, independent of the format of their files."""
        rows = [(each.question, each.solution) for each in self.documents]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def read_documents(paths: Sequence[str]) -> DocumentSet:
    """Read the documents of some files: JSON lines, a JSON array, CSV or Parquet.

    Raises PathError for a file that cannot be opened, and InputError for one without a document.
    """
    files = tuple(_read_file(path, name) for path, name in zip(paths, _name_files(paths), strict=True))
    distinct = {(each.question, each.solution): each for file in reversed(files) for each in reversed(file.documents)}
    return DocumentSet(files, tuple(reversed(distinct.values())))


def _name_files(paths: Sequence[str]) -> list[str]:
    """Name files by their last parts, or by whole paths where two have the same."""
    names = [Path(path).name for path in paths]
    return [path if names.count(name) > 1 else name for path, name in zip(paths, names, strict=True)]


def _read_file(path: str, name: str) -> DocumentFile:
    documents, skipped = [], []
    with closing(open_records(path)) as items:
        for item in items:
            if isinstance(item, Skip):
                skipped.append(item)
                continue
            index, fields = item
            found = _read_row(fields)
            if isinstance(found, str):
                skipped.append(Skip(name_place(path, index), found))
            else:
                documents.append(Document(f"{name}:{index + 1}", *found))
    if not documents:
        reason = f" ({skipped[0]})" if skipped else ""
        raise InputError(f"{path} holds no question with a solution{reason}; expected rows with both")
    return DocumentFile(name, tuple(documents), tuple(skipped))


def _read_row(fields: Mapping[str, object]) -> tuple[str, str] | str:
    """Return question and solution of a row, or the reason why it has none."""
    if fields.get("label") in (0, "0"):
        return "label 0: the code does not answer the question"
    language = next((fields[name] for name in LANGUAGE_FIELDS if isinstance(fields.get(name), str)), "python")
    if str(language).lower() not in PYTHON:
        return f"the language {str(language)[:40]}; expected Python"
    question = next((text for name in QUESTION_FIELDS if (text := _read_text(fields.get(name)))), "")
    if not question:
        return f"no question (fields: {_list_names(fields)}); expected one of: {', '.join(QUESTION_FIELDS)}"
    solution = next((text for name in SOLUTION_FIELDS if (text := _read_solution(fields.get(name)))), "")
    if not solution:
        return f"no solution in Python (fields: {_list_names(fields)}); expected one of: {', '.join(SOLUTION_FIELDS)}"
    return " ".join(question.split()), solution.strip("\r\n").rstrip()


def _list_names(fields: Mapping[str, object]) -> str:
    return ", ".join(name[:40] for name in sorted(fields)[:12]) or "none"


def _read_text(value: object) -> str:
    """Return a text with lone surrogates replaced, "" for another value or white space alone."""
    if not isinstance(value, str) or value.isspace():
        return ""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _read_solution(value: object) -> str:
    """Return a solution, or the first one in Python among those by language; "" without one."""
    if isinstance(value, dict):  # of CodeContests, a list for each field
        languages, texts = value.get("language"), value.get("solution")
        pairs = zip(languages, texts, strict=False) if isinstance(languages, list) and isinstance(texts, list) else ()
        return next(_list_python(pairs), "")
    if isinstance(value, list):
        rows = [each for each in value if isinstance(each, dict)]
        return next(_list_python((each.get("language"), each.get("solution")) for each in rows), "")
    return _read_text(value)


def _list_python(pairs: Iterable[tuple[object, object]]) -> Iterator[str]:
    for language, text in pairs:
        if str(language).lower() in PYTHON and (found := _read_text(text)):
            yield found
