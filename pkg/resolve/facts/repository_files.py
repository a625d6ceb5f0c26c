"""The files of a repository as they were extracted: by the build at hand, or recalled from records when asked for.

Their scopes are read when one is asked for; what all of them show to others is known before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from pkg.errors import StoreError
from pkg.local_errors import LocalErrors
from pkg.resolve.facts.file_records import Record, unpack_unit
from pkg.resolve.facts.scope_model import ModuleScopes, Reference, Scope
from pkg.resolve.facts.scopes import build_scopes
from pkg.resolve.facts.summary import Summary, Totals, summarise
from pkg.units import UnitText

Texts = Callable[[Iterable[str]], Iterable[tuple[str, bytes]]]
"""Give the texts of files by path, as far as they are there."""


class Units(Mapping[str, UnitText]):
    """Files by path. Of those that have only a record, text and facts are read when one of them is asked for."""

    def __init__(
        self,
        units: Iterable[UnitText],
        source: str = "",
        records: Mapping[str, Record] | None = None,
        read_texts: Texts = lambda paths: (),
        package: str = "",
    ) -> None:
        self.package = package  # that the root of the repository is the folder of
        self._units = {unit.path: unit for unit in units}
        self._source = source
        self._records = records or {}
        self._read_texts = read_texts
        self._texts: dict[str, bytes] = {}
        self._paths = sorted(self._records.keys() | self._units.keys())

    def __getitem__(self, path: str) -> UnitText:
        found = self._units.get(path)
        if found is None:
            record = self._records[path]
            found = self._units[path] = unpack_unit(self._source, path, self.text(path), record)
        return found

    def __contains__(self, path: object) -> bool:
        return path in self._units or path in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def text(self, path: str) -> bytes:
        """Give the text of a file, whether or not anything else was read of it."""
        found = self._units.get(path)
        if found is not None:
            return found.text
        if path not in self._texts:
            self.fetch([path])
        return self._texts[path]

    def fetch(self, paths: Iterable[str]) -> None:
        """Read the texts of files together, which a server has sooner than one after the other.

        A StoreError says that the store no longer has one of them.
        """
        wanted = [path for path in paths if path not in self._units and path not in self._texts]
        if wanted:
            self._texts.update(self._read_texts(wanted))
        for path in wanted:
            if path not in self._texts:
                raise StoreError(f"the text of '{path}' in source '{self._source}' is gone; build into a new store")


class Files(Mapping[str, ModuleScopes]):
    """The scopes of files by path, and names counted over all of them; files without a summary are read for it."""

    def __init__(self, units: Units, summaries: Mapping[str, Summary] | None = None) -> None:
        self._units = units
        self.package = units.package
        self.errors = LocalErrors()  # of these files and of all that is worked out from them
        self._read: dict[str, ModuleScopes] = {}
        self._bound: dict[str, list[tuple[Reference, str]]] = {}
        self.summaries: dict[str, Summary] = {}
        known = summaries or {}
        units.fetch(path for path in units if path not in known)
        for path in units:
            self.summaries[path] = known[path] if path in known else self._summarise(path)

    def __getitem__(self, path: str) -> ModuleScopes:
        found = self._read.get(path)
        if found is None:
            unit = self._units[path]
            found = self._read[path] = self._build(path, unit)
            for target, name in self._bound.get(path, ()):
                self._bind(target, name)
        return found

    def _build(self, path: str, unit: UnitText) -> ModuleScopes:
        """Build the scopes of a file; without its facts where that fails, as if it bound and called nothing."""
        try:
            return build_scopes(path, unit.text, unit.facts, unit.definitions, unit.imports)
        except Exception as fault:
            self.errors.note(fault, "resolve", path)
        return build_scopes(path, unit.text, b"", unit.definitions, unit.imports)

    def _summarise(self, path: str) -> Summary:
        """Sum up what a file shows to others; where that fails, it is read again without its facts."""
        try:
            return summarise(self[path])
        except Exception as fault:
            self.errors.note(fault, "resolve", path)
        unit = self._units[path]
        self._read[path] = build_scopes(path, unit.text, b"", unit.definitions, unit.imports)
        return summarise(self._read[path])

    def __contains__(self, path: object) -> bool:
        return path in self.summaries

    def __iter__(self) -> Iterator[str]:
        return iter(self.summaries)

    def __len__(self) -> int:
        return len(self.summaries)

    def find(self, reference: Reference) -> Scope | None:
        """Find a class or module; nothing where it is no longer there."""
        path, qualname, number = reference
        module = self.get(path)
        return module.find("class" if qualname else "module", qualname, number) if module is not None else None

    def bind(self, target: Reference, name: str) -> None:
        """Let a name be bound in a class or module, whose file need not be read for it."""
        path = target[0]
        self._bound.setdefault(path, []).append((target, name))
        if path in self._read:
            self._bind(target, name)

    def _bind(self, target: Reference, name: str) -> None:
        scope = self.find(target)
        if scope is not None:
            scope.names.setdefault(name, [])

    def list_read(self) -> Collection[ModuleScopes]:
        """Give the files that were read."""
        return self._read.values()

    @cached_property
    def totals(self) -> Totals:
        """The names of all files, counted."""
        return Totals.of(self.summaries.values())

    @cached_property
    def _defining(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, each in self.summaries.items():
            for name in each.attributes.split():
                found.setdefault(name, []).append(path)
        return found

    def list_defining(self, name: str) -> list[str]:
        """Give the files whose classes define an attribute, in their bodies or by assignment to self."""
        return self._defining.get(name, [])

    @cached_property
    def _assigning(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, each in self.summaries.items():
            for name in dict.fromkeys(each.foreign.split()):
                found.setdefault(name, []).append(path)
        return found

    def list_assigning(self, name: str) -> list[str]:
        """Give the files that assign to an attribute of something else than self."""
        return self._assigning.get(name, [])

    def text(self, path: str) -> bytes:
        """Give the text of a file, whose scopes need not be read for it."""
        return self._units.text(path)

    def fetch(self, paths: Iterable[str]) -> None:
        """Read the texts of files together."""
        self._units.fetch(path for path in paths if path in self)
