"""Find the functions of a source that lack a docstring or questions; functions of equal code count as one.

Functions in the code of documents are left out: the text around them explains them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pkg.enhance.function_facts import FunctionText
from pkg.enhance.writer import TEMPLATE
from pkg.graph.graph_records import find_docstring, find_questions
from pkg.graph.path_filter import is_test
from pkg.model import Docstring, Label, Node, Questions, RelationType
from pkg.resources import open_scratch
from pkg.units import format_id

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

_CREATE = """CREATE TABLE code (hash TEXT PRIMARY KEY, id TEXT, path TEXT, qualname TEXT, kind TEXT, place INTEGER,
        content BLOB);
    CREATE TABLE function (hash TEXT, id TEXT, calls INTEGER, PRIMARY KEY (hash, id)) WITHOUT ROWID"""
_PUT_CODE = """INSERT INTO code VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET
    id = excluded.id, path = excluded.path, qualname = excluded.qualname, kind = excluded.kind, place = excluded.place
    WHERE excluded.id < id"""
_PUT_FUNCTION = "INSERT OR IGNORE INTO function VALUES (?, ?, ?)"
_COUNT = "SELECT count(*), coalesce(sum(length(content)), 0) FROM code"
_LIST = """SELECT code.*, sum(calls) AS calls, count(*) FROM code JOIN function USING (hash) GROUP BY hash
    ORDER BY {} LIMIT ?"""
_LIST_IDS = "SELECT id FROM function WHERE hash = ? ORDER BY id"


class Target(NamedTuple):
    """A distinct function that lacks a text, with one of its occurrences."""

    hash: int  # of the content
    id: str  # lowest id of the functions with this code
    path: str
    qualname: str
    kind: str
    content: str
    calls: int  # calls of functions with this code
    functions: int  # number of functions with this code

    @property
    def content_hash(self) -> str:
        """Return the hash as nodes have it."""
        return format_id(self.hash)

    @property
    def text(self) -> FunctionText:
        """Return the function in the form that a writer takes."""
        return _make_text(self.content, self.qualname, self.path, self.kind)


@dataclass(frozen=True, slots=True)
class Census:
    """Counts of the functions of a source by origin of their docstring."""

    human: int = 0
    written: int = 0
    missing: int = 0


def read_function_text(node: Node) -> FunctionText:
    """Return a function of the graph in the form that a writer takes."""
    return _make_text(node.content, node.qualname, node.path, node.kind or "")


def _make_text(content: str, qualname: str, path: str, kind: str) -> FunctionText:
    is_method = kind == "method"
    owner = qualname.rpartition(".")[0].rpartition(".")[2] if is_method else None
    return FunctionText(content, qualname, path, is_method, owner)


class Undocumented:
    """The functions of a source that lack a text, on disk, so that memory does not grow with their number."""

    def __init__(
        self, store: GraphStore, source: str, model: str, prompt: str | None = None, of_questions: bool = False
    ) -> None:
        """Collect the functions of a source that need a docstring of a model, or questions.

        prompt: the model's current prompt; None accepts any of its prompts. Raises what reading a store raises.
        """
        self._scratch = open_scratch(_CREATE)
        human = written = missing = 0
        with store.snapshot():
            calls = Counter(edge.end for edge in store.edges([RelationType.CALLS], source))
            documents = {node.path for node in store.nodes([Label.FACT], source)}
            for node in store.nodes([Label.FUNCTION], source):
                if node.path in documents:
                    continue
                if of_questions:
                    if needs_questions(model, prompt, find_questions(node.properties)):
                        missing += 1
                        self._put(node, calls[node.id], _place_question(node))
                    else:
                        written += 1
                    continue
                found = find_docstring(node.properties)
                if found is None and node.properties.get("docstring_source") == "human":
                    human += 1
                elif needs_docstring(model, prompt, found):
                    missing += 1
                    self._put(node, calls[node.id])
                else:
                    written += 1
        self.census = Census(human, written, missing)

    def _put(self, node: Node, calls: int, place: int = 0) -> None:
        named = node.content_hash, node.id, node.path, node.qualname, node.kind
        self._scratch.execute(_PUT_CODE, (*named, place, node.content.encode("utf-8", "replace")))
        self._scratch.execute(_PUT_FUNCTION, (node.content_hash, node.id, calls))

    def count(self) -> tuple[int, int]:
        """Return the number of distinct functions, and their bytes."""
        codes, size = self._scratch.execute(_COUNT).fetchone()
        return codes, size

    def list_called(self, limit: int | None = None) -> Iterator[Target]:
        """Iterate over the distinct functions, most called first, ties by id.

        For questions, undocumented and public functions come before others, and tests last.
        """
        return self._list("code.place, calls DESC, code.id", limit)

    def list_sample(self, size: int) -> Iterator[Target]:
        """Iterate over a sample of distinct functions, chosen by hash: as good as random, and reproducible."""
        return self._list("code.hash", size)

    def _list(self, order: str, limit: int | None) -> Iterator[Target]:
        rows = self._scratch.execute(_LIST.format(order), (-1 if limit is None else limit,))
        for hashed, identity, path, qualname, kind, _, content, calls, functions in rows:
            text = content.decode("utf-8", "replace")
            yield Target(int(hashed, 16), identity, path, qualname, kind, text, calls, functions)

    def list_ids(self, hashed: int) -> list[str]:
        """List the ids of the functions with a content hash."""
        return [identity for (identity,) in self._scratch.execute(_LIST_IDS, (format_id(hashed),))]

    def close(self) -> None:
        """Delete the temporary database."""
        self._scratch.close()


def needs_docstring(model: str, prompt: str | None, found: Docstring | None) -> bool:
    """Return whether a function needs a docstring: it has none, a template's, or one of an older prompt.

    prompt: the model's current prompt; None accepts any of its prompts.
    """
    if found is None or (found.source == "template" and model != TEMPLATE):
        return True
    if found.model != model or prompt is None:
        return False
    wanted = _list_versions(prompt)
    return _list_versions(found.prompt)[: len(wanted)] != wanted  # additional comments do no harm


def needs_questions(model: str, prompt: str | None, found: Questions | None) -> bool:
    """Return whether a function needs questions: it has none, or those of an older prompt of the model."""
    return found is None or (found.model == model and prompt not in (None, found.prompt))


def _place_question(node: Node) -> int:
    """Return the place of a function in the order of questions: undocumented and public ones first, tests last."""
    is_documented = node.properties.get("docstring") is not None
    parts = node.qualname.split(".")
    is_private = any(each.startswith("_") and not each.endswith("__") for each in parts)
    return 4 * is_test(node.path) + 2 * is_documented + is_private


def _list_versions(prompt: str) -> list[str]:
    """Return the versions in the name of a prompt; a retry may use another template, but has the same version."""
    return re.findall(r"/(\d+)", prompt)
