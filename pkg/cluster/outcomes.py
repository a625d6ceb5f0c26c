"""Files of a shared folder that hold what tasks are given and what they make, named by what makes them.

A file is a sequence of records, each pickled with a checksum. Reading constructs the data classes of a graph and arrays
alone, so that a file which somebody else has put into the folder runs no code.
"""

from __future__ import annotations

import io
import os
import pickle
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import Struct
from typing import IO, Any

from pkg.errors import StoreError, StoreFullError
from pkg.private_files import make_file, make_folder

_HEAD = Struct("<QI")  # bytes of a record, and their checksum
_MODULES = ("pkg.model", "pkg.units", "pkg.indexing.inputs", "pkg.extract.documents.reading")
_ARRAY = {("numpy", "ndarray"), ("numpy", "dtype")}
_MAKE_ARRAY = {"_reconstruct", "_frombuffer"}  # in modules of NumPy whose names differ by version


class _Reader(pickle.Unpickler):
    """Unpickles data classes and arrays, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class by its name; raise UnpicklingError for one that no outcome holds."""
        is_array = (module, name) in _ARRAY or (module.partition(".")[0] == "numpy" and name in _MAKE_ARRAY)
        if not is_array and module not in _MODULES:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of a graph")
        found = super().find_class(module, name)
        if not is_array and not (isinstance(found, type) and found.__module__ == module):
            raise pickle.UnpicklingError(f"{module}.{name} is no class of a graph")
        return found


class Outcomes:
    """A folder of outcomes, which all workers reach by the same path."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def create(self) -> None:
        """Create the folder, private to its owner; raise StoreError where that fails."""
        try:
            make_folder(self.folder)
        except OSError as fault:
            raise StoreError(f"{self.folder} cannot be created ({fault}); expected a folder to write into") from fault

    def is_sound(self, name: str) -> bool:
        """Return whether a file is there, with all its bytes as they were written."""
        try:
            for _ in self._read_packed(name):
                pass
        except (OSError, ValueError):
            return False
        return True

    @contextmanager
    def write(self, name: str | Callable[[], str]) -> Iterator[Callable[[object], None]]:
        """Yield what appends a record; the file gets its name when the block ends, so that no part of one is seen.

        name: may be a function, called at the end, where the records decide it. Raises StoreFullError where the folder
        cannot be written.
        """
        draft = self.folder / f".{os.urandom(8).hex()}"
        try:
            make_file(draft)
            with open(draft, "wb") as file:
                yield lambda record: _append(file, record)
            draft.replace(self.folder / (name if isinstance(name, str) else name()))
        except OSError as fault:
            raise StoreFullError(
                f"{self.folder} cannot be written ({fault.strerror}); make room there, or give another folder, and run"
                " the command again: it uses the files that are complete"
            ) from fault
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def read(self, name: str) -> Iterator[Any]:
        """Yield the records of a file; raise StoreError where it is missing or damaged."""
        try:
            for packed in self._read_packed(name):
                yield _Reader(io.BytesIO(packed)).load()
        except (OSError, ValueError, pickle.UnpicklingError, AttributeError, TypeError, EOFError) as fault:
            raise StoreError(
                f"{self.folder / name} cannot be read ({fault}); delete it and run the command again: it is made again"
            ) from fault

    def _read_packed(self, name: str) -> Iterator[bytes]:
        with open(self.folder / name, "rb") as file:
            while head := file.read(_HEAD.size):
                size, checksum = _HEAD.unpack(head) if len(head) == _HEAD.size else (-1, 0)
                packed = file.read(max(size, 0))
                if len(packed) != size or zlib.crc32(packed) != checksum:
                    raise ValueError("its bytes have changed")
                yield packed

    def remove(self, name: str) -> None:
        """Delete a file; one that is missing is ignored."""
        with suppress(OSError):
            (self.folder / name).unlink()


def _append(file: IO[bytes], record: object) -> None:
    packed = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
    file.write(_HEAD.pack(len(packed), zlib.crc32(packed)))
    file.write(packed)
