"""Stand-in until the writers' own comes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from hashlib import blake2b
from pathlib import Path

from pkg.enhance.function_facts import FunctionText
from pkg.enhance.writer import DocstringWriter, Failure
from pkg.model import Docstring
from pkg.private_files import make_folder
from pkg.resources import map_ahead


def find_cache_path() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("pkg", appauthor=False) / "docstrings.db"


class DocstringCache:
    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("CREATE TABLE IF NOT EXISTS docstring (key BLOB PRIMARY KEY, result TEXT)")

    def _key(self, writer: DocstringWriter, function: FunctionText) -> bytes:
        return blake2b("\0".join((writer.identity, writer.prompt, function.content)).encode(), digest_size=16).digest()

    def find(self, writer: DocstringWriter, function: FunctionText) -> Docstring | Failure | None:
        row = self._connection.execute(
            "SELECT result FROM docstring WHERE key = ?", (self._key(writer, function),)
        ).fetchone()
        if row is None:
            return None
        values = json.loads(row[0])
        return Failure(values) if isinstance(values, str) else Docstring(*values)

    def put(self, writer: DocstringWriter, function: FunctionText, result: Docstring | Failure) -> None:
        values = result.reason if isinstance(result, Failure) else astuple(result)
        self._connection.execute(
            "INSERT OR REPLACE INTO docstring VALUES (?, ?)", (self._key(writer, function), json.dumps(values))
        )

    def close(self) -> None:
        self._connection.close()


def write_all(
    writer: DocstringWriter, functions: Iterable[FunctionText], cache: DocstringCache | None = None
) -> Iterator[tuple[Docstring | Failure, bool]]:
    def write(function: FunctionText) -> tuple[Docstring | Failure, bool]:
        known = cache.find(writer, function) if cache else None
        if known is not None:
            return known, True
        result = writer.write(function)
        if cache:
            cache.put(writer, function, result)
        return result, False

    with ThreadPoolExecutor(writer.parallel) as pool:
        yield from map_ahead(lambda function: pool.submit(write, function), functions, writer.parallel)
