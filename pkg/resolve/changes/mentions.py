"""Which files speak of a name in a way by which they may have found it in another file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field

from pkg.resolve.changes.dependency_record import DependencyRecord
from pkg.resolve.changes.written_names import encode, encode_end, match_name, normalise
from pkg.resolve.facts.file_records import hash_text
from pkg.resolve.facts.repository_files import Files
from pkg.resolve.facts.scope_model import ModuleScopes
from pkg.resolve.facts.text_ends import match_pattern


@dataclass(slots=True)
class Wanted:
    """What a change reaches by itself: names that mean something else than before, and files."""

    names: set[str] = field(default_factory=set)
    of_modules: dict[str, set[int]] = field(default_factory=dict)  # only as names of these modules, by their hashes
    counts: set[str] = field(default_factory=set)  # that are called often enough to count, or no longer
    paths: set[str] = field(default_factory=set)

    def list_others(self, path: str) -> set[str]:
        """Give the names that mean something else than before elsewhere than in a file itself."""
        own = {hash_text(path)}
        return self.names | {name for name, homes in self.of_modules.items() if homes != own}

    @property
    def size(self) -> int:
        """Count the names that are to be looked for."""
        return len(self.names) + len(self.of_modules) + len(self.counts)


def find_mentions(
    files: Files,
    wanted: Wanted,
    snapshot: Mapping[str, DependencyRecord],
    same: Mapping[str, Callable[[ModuleScopes], bytes]],
) -> set[str]:
    """Give the files that ask others for one of the names, or define or decorate with one whose calls are counted.

    Only files that were worked out from a module ask it for names. Of a file in which nothing changed for others,
    `same` gives what is as it was, and that is looked through. Where a text is the name of an attribute, that is known
    from the last resolution.
    """
    words = [
        *((encode_end(name), _find_asking(name), None) for name in sorted(wanted.names) if name),
        *((encode_end(name), _find_asking(name), homes) for name, homes in sorted(wanted.of_modules.items())),
        *((encode(name), _find_defining(name), None) for name in sorted(wanted.counts) if name),
    ]
    named = wanted.names | wanted.of_modules.keys()
    found = set()
    for path, summary in files.summaries.items():
        imported = named if path not in same else wanted.list_others(path)  # the names of a file are no imports of it
        is_asked = path in snapshot and any(_asks_for(asked, named) for asked in snapshot[path].asked)
        if is_asked or _names_any(summary.imports, imported) or _names_any(summary.requests, named):
            found.add(path)
    asked: dict[str, list[_Word]] = {}  # by file, the words that its text is to be searched for
    for path, summary in files.summaries.items() if words else ():
        reach = snapshot[path].reach if path in snapshot else frozenset()
        those = [word for word in words if word[2] is None or not word[2].isdisjoint(reach)]
        if path not in found and (those or summary.has_stars):
            asked[path] = those
    files.fetch(asked)
    names = [encode(name) for name in named]
    for path, those in asked.items():
        text = normalise(files.text(path) if path not in same else same[path](files[path]))
        is_brought = files.summaries[path].has_stars and any(name in text for name in names)
        if is_brought or any(name in text and word.search(text) for name, word, _ in those):
            found.add(path)
    return found


_Word = tuple[bytes, re.Pattern[bytes], "set[int] | None"]
"""A name, how it stands where it counts, and the modules as whose name it does, by their hashes; None for any."""


def _asks_for(asked: str, named: Set[str]) -> bool:
    """Tell whether one of the names is that of an attribute which is asked for by a text, known as a whole or not."""
    return asked in named if "*" not in asked else any(match_pattern(asked, name) for name in named)


def _names_any(listed: str, names: Set[str]) -> bool:
    """Tell whether one of the names stands among those that a file imports, or asks pytest for."""
    return not names.isdisjoint(listed.split())


def _find_asking(name: str) -> re.Pattern[bytes]:
    """Match a name as an attribute; of special names, not where super() is asked for them."""
    start = rb"(?<!super\(\))\.[\s\\]*" if name.startswith("__") else rb"\.[\s\\]*"
    return re.compile(start + match_name(name) + rb"(?!\w)")


def _find_defining(name: str) -> re.Pattern[bytes]:
    """Match where a name is defined, or decorates."""
    return re.compile(rb"(?:(?:def|class)[\s\\]+|@[^\n(]*)" + re.escape(encode(name)) + rb"(?!\w)")
