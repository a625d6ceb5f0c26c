"""The files of a repository as they were extracted: by the build at hand, or recalled from records when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from pkg.errors import StoreError
from pkg.resolve.records import Record, read_unit
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
    ) -> None:
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
            found = self._units[path] = read_unit(self._source, path, self.text(path), record)
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
        """Read the texts of files together, which a server has sooner than one after the other."""
        wanted = [path for path in paths if path not in self._units and path not in self._texts]
        if wanted:
            self._texts.update(self._read_texts(wanted))
        for path in wanted:
            if path not in self._texts:
                raise StoreError(f"the text of '{path}' in source '{self._source}' is gone; build into a new store")
