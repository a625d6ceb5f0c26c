"""Turn the parts of a document into facts: name their keys, number equal ones, and place them on lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate

from pkg.extract.documents.parts import DocumentPart, find_line
from pkg.extract.text_files.markup_headings import MAX_TITLE_LENGTH
from pkg.extract.text_files.text_sections import split_lines
from pkg.model import HEADINGS, Fact, Span

MAX_PATH_LENGTH = 1_000  # characters of a chain of keys; of a longer one the last are kept
_CUT = "..."


class FactTree:
    """The facts of one text, parents before children."""

    def __init__(self, text: bytes, above: Sequence[str] = ()) -> None:
        """Begin without facts; above: keys that enclose the whole text."""
        self._starts = [0, *accumulate(map(len, split_lines(text)))]
        self._above = tuple(above)
        self._counts: dict[tuple[int | None, str], int] = defaultdict(int)
        self._items: dict[int | None, int] = defaultdict(int)
        self.facts: list[Fact] = []

    def add(
        self, kind: str, key: str, start: int, end: int, parent: int | None = None, value: str | None = None
    ) -> int:
        """Add a fact at byte offsets and return its index; "" for a key takes the kind, or the number of an item."""
        name = self._name(kind, key, parent)
        above = HEADINGS.join(self._above) if parent is None else self.facts[parent].qualname
        path = f"{above}{HEADINGS}{name}" if above else name
        if len(path) > MAX_PATH_LENGTH:
            path = _CUT + path[len(_CUT) - MAX_PATH_LENGTH :]
        span = Span(start, end, find_line(self._starts, start), find_line(self._starts, max(start, end - 1)))
        self.facts.append(Fact(name, path, kind, span, parent, value))  # type: ignore[arg-type]
        return len(self.facts) - 1

    def _name(self, kind: str, key: str, parent: int | None) -> str:
        if not key and kind in ("item", "row"):
            self._items[parent] += 1
            return f"[{self._items[parent]}]"
        name = key or kind
        name = name if len(name) <= MAX_TITLE_LENGTH else f"{name[:MAX_TITLE_LENGTH]}{_CUT}"
        self._counts[parent, name] += 1
        count = self._counts[parent, name]
        return name if count == 1 else f"{name} ({count})"


def list_facts(text: bytes, parts: Iterable[DocumentPart], above: Sequence[str]) -> tuple[list[Fact], list[str]]:
    """Return the facts of the parts of a text, parents first, and the language of each ("" except for code)."""
    tree, languages = FactTree(text, above), list[str]()
    waiting: list[tuple[DocumentPart, int | None]] = [(part, None) for part in reversed(list(parts))]
    while waiting:
        part, parent = waiting.pop()
        number = tree.add(part.kind, part.key, part.start, part.end, parent)
        languages.append(part.language)
        waiting += [(each, number) for each in reversed(part.parts) if not _is_all(each, part)]
    return tree.facts, languages


def _is_all(part: DocumentPart, around: DocumentPart) -> bool:
    """Return whether a paragraph is all that a key has, so that it is the value of the key."""
    return part.kind == "text" and around.kind in ("section", "term") and len(around.parts) == 1
