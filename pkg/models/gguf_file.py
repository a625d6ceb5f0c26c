"""The header of a GGUF file: checks that the file is complete, describes the model and identifies it.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import hashlib
import math
import mmap
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pkg.errors import ModelError, PathError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = 32  # of tensors, by default
MOST_ENTRIES = 10_000_000  # more tensors, settings or words than any model has: the header is damaged

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9

_BLOCKS = {  # type of a tensor: weights in a block, bytes of a block; the size of other types is not checked
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292), 20: (32, 18),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 30: (1, 2),
}  # fmt: skip
SAMPLES, SAMPLE_BYTES = 64, 1 << 16  # evenly spaced: training changes all weights, and reading all takes minutes


@dataclass(frozen=True, slots=True)
class GgufFile:
    """The model in a file, as its header describes it."""

    architecture: str
    window: int | None  # tokens in training
    has_template: bool  # for conversations
    is_text_model: bool  # has a vocabulary
    identity: str  # hash of the content


def read_gguf(path: Path) -> GgufFile:
    """Read the header of a file; raises PathError without the file and ModelError for an incomplete GGUF file."""
    if not path.is_file():
        raise PathError(f"no file {path}; expected a model as GGUF file")
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise ModelError(f"{path} is no GGUF file; expected a model in the format of llama.cpp")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _parse(data, path)
            except (struct.error, RecursionError, _HeaderError):
                raise ModelError(f"{path} is truncated or damaged: its header cannot be read; fetch it again") from None


class _HeaderError(Exception):
    """A number in the header is impossible."""


class _Reader:
    """Reads values one after another."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self.place = len(MAGIC)

    def read(self, code: str) -> int:
        """Read one number."""
        (number,) = struct.unpack_from(f"<{code}", self._data, self.place)
        self.place += struct.calcsize(f"<{code}")
        return number  # type: ignore[no-any-return]

    def count(self) -> int:
        """Read the number of entries that follow."""
        number = self.read("Q")
        if number > MOST_ENTRIES:
            raise _HeaderError
        return number

    def text(self) -> str:
        """Read a text."""
        length = self.read("Q")
        self.skip(length)
        return self._data[self.place - length : self.place].decode("utf-8", "replace")

    def skip(self, size: int) -> None:
        """Skip bytes; raises _HeaderError past the end of the file."""
        self.place += size
        if self.place > len(self._data):
            raise _HeaderError

    def value(self, kind: int) -> object:
        """Read a setting; of a list return only the length."""
        if kind == _TEXT:
            return self.text()
        if kind == _LIST:
            return self._skip_list(self.read("I"), self.count())
        if kind not in _NUMBERS:
            raise _HeaderError
        return self.read(_NUMBERS[kind])

    def _skip_list(self, kind: int, length: int) -> int:
        if kind in _NUMBERS:
            self.skip(length * struct.calcsize(f"<{_NUMBERS[kind]}"))
        elif kind == _TEXT:
            for _ in range(length):  # a vocabulary of a hundred thousand words
                self.skip(self.read("Q"))
        elif kind == _LIST:
            for _ in range(length):
                self.value(kind)
        else:
            raise _HeaderError
        return length


def _parse(data: mmap.mmap, path: Path) -> GgufFile:
    reader = _Reader(data)
    version = reader.read("I")
    if version not in VERSIONS:
        raise ModelError(f"{path} is GGUF of version {version}; expected 2 or 3, in little-endian byte order")
    tensors, count = reader.count(), reader.count()
    settings = {reader.text(): reader.value(reader.read("I")) for _ in range(count)}
    end = max((_read_tensor(reader) for _ in range(tensors)), default=0)
    alignment = settings.get("general.alignment", ALIGNMENT)
    if not isinstance(alignment, int) or alignment < 1:
        raise _HeaderError
    start = -(-reader.place // alignment) * alignment
    if len(data) < start + end:
        raise ModelError(f"{path} is truncated: it has {len(data):,} bytes of {start + end:,}; fetch it again")
    architecture = str(settings.get("general.architecture", ""))
    window = settings.get(f"{architecture}.context_length")
    return GgufFile(
        architecture,
        window if isinstance(window, int) else None,
        "tokenizer.chat_template" in settings,
        "tokenizer.ggml.tokens" in settings,
        identify([path]),
    )


def _read_tensor(reader: _Reader) -> int:
    """Read the description of a tensor; return the offset of its end after the header."""
    reader.text()
    shape = [reader.read("Q") for _ in range(reader.read("I"))]
    kind, offset = reader.read("I"), reader.read("Q")
    weights, size = _BLOCKS.get(kind, (1, 0))
    return offset + math.prod(shape) // weights * size


def identify(files: Iterable[Path]) -> str:
    """Hash the content of a model's files in their order, without names and paths."""
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(size.to_bytes(8, "little"))
        with path.open("rb") as file:
            for place in range(0, size, max(size // SAMPLES, SAMPLE_BYTES)):
                file.seek(place)
                digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()[:32]
