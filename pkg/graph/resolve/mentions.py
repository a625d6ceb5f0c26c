"""Which files speak of a name in a way by which they may have found it in another file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pkg.graph.resolve.model import ModuleScopes
from pkg.graph.resolve.requests import is_test_file, list_requests


@dataclass(slots=True)
class Wanted:
    """What a change reaches by itself: names that mean something else than before, and files."""

    names: set[str] = field(default_factory=set)
    of_modules: dict[str, set[int]] = field(default_factory=dict)  # only as names of these modules, by their hashes
    counts: set[str] = field(default_factory=set)  # that are called often enough to count, or no longer
    paths: set[str] = field(default_factory=set)

    @property
    def size(self) -> int:
        """Count the names that are to be looked for."""
        return len(self.names) + len(self.of_modules) + len(self.counts)


def find_mentions(
    modules: Iterable[ModuleScopes], wanted: Wanted, reach: Mapping[str, Collection[int]]
) -> Iterator[str]:
    """Give the files that ask others for one of the names, or define or decorate with one whose calls are counted.

    `reach` holds the hashes of the files that each was worked out from: only those who knew a module ask it for names.
    """
    words: list[tuple[bytes, re.Pattern[bytes], set[int] | None]] = [
        *((encode(name), _find_asking(name), None) for name in sorted(wanted.names) if name),
        *((encode(name), _find_asking(name), homes) for name, homes in sorted(wanted.of_modules.items())),
        *((encode(name), _find_defining(name), None) for name in sorted(wanted.counts) if name),
    ]
    imported = wanted.names | wanted.of_modules.keys()
    for module in modules:
        text, known = module.text, reach.get(module.path, ())
        if (
            _imports_any(module, imported)
            or _requests_any(module, imported)
            or any(
                name in text and (homes is None or not homes.isdisjoint(known)) and word.search(text)
                for name, word, homes in words
            )
        ):
            yield module.path


def encode(name: str) -> bytes:
    """Write a name as it stands in a text."""
    return name.encode("utf-8", "replace")


def _imports_any(module: ModuleScopes, names: Collection[str]) -> bool:
    """Tell whether a file imports one of the names; where a star import may bring them, whether it speaks of one."""
    for record in module.imports:
        if record.name in names or any(part in names for part in record.module.split(".")):
            return True
    return bool(module.root.stars) and any(encode(name) in module.text for name in names)


def _requests_any(module: ModuleScopes, names: Collection[str]) -> bool:
    """Tell whether a file asks pytest for one of the names: by a parameter or in quotes, wherever it is defined."""
    if b"fixture" not in module.text and not is_test_file(module.path):
        return False
    return any(name in names for scope in module.scopes for name in list_requests(scope))


def _find_asking(name: str) -> re.Pattern[bytes]:
    """Match a name as an attribute, or in quotes; of special names, not where super() is asked for them."""
    pattern = re.escape(encode(name))
    start = rb"(?<!super\(\))\.[\s\\]*" if name.startswith("__") else rb"\.[\s\\]*"
    return re.compile(start + pattern + rb"(?!\w)|['\"]" + pattern + rb"['\"]")


def _find_defining(name: str) -> re.Pattern[bytes]:
    """Match where a name is defined, or decorates."""
    return re.compile(rb"(?:(?:def|class)[\s\\]+|@[^\n(]*)" + re.escape(encode(name)) + rb"(?!\w)")
