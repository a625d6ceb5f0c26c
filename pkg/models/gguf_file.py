"""The head of a GGUF file: whether it is whole, what it says of its model, and what tells it from others.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from pkg.errors import ModelError, PathError
from pkg.models.content import identify

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = 32  # of tensors, where the file does not say
MOST_ENTRIES = 10_000_000  # more tensors, settings or words than any model has: the numbers are no numbers

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9

_BLOCKS = {  # type of a tensor: weights in a block, bytes of a block; of other types the size is not checked
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292), 20: (32, 18),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 30: (1, 2),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GgufFile:
    """What the head of a file says."""

    architecture: str
    window: int | None  # tokens that the model was trained on
    has_template: bool  # for conversations
    is_text_model: bool  # it has words
    identity: str  # of the content


def read_gguf(path: Path) -> GgufFile:
    """Read the head of a file; a PathError without one, a ModelError for what is no whole GGUF file."""
    if not path.is_file():
        raise PathError(f"no file {path}; expected a model as GGUF file")
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise ModelError(f"{path} is no GGUF file; expected a model in the format of llama.cpp")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _parse(data, path)
            except (struct.error, IndexError, UnicodeDecodeError, _HeadError):
                raise ModelError(f"{path} is truncated or damaged: its head cannot be read; fetch it again") from None


class _HeadError(Exception):
    """Say that a number in the head cannot be what it should."""


class _Reader:
    """Read values one behind another."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self.place = len(MAGIC)

    def read(self, code: str) -> int:
        """Read one number."""
        (number,) = struct.unpack_from(f"<{code}", self._data, self.place)
        self.place += struct.calcsize(f"<{code}")
        return number  # type: ignore[no-any-return]

    def count(self) -> int:
        """Read how many of something follow."""
        number = self.read("Q")
        if number > MOST_ENTRIES:
            raise _HeadError
        return number

    def text(self) -> str:
        """Read a text."""
        length = self.read("Q")
        if self.place + length > len(self._data):
            raise _HeadError
        self.place += length
        return self._data[self.place - length : self.place].decode("utf-8", "replace")

    def value(self, kind: int) -> object:
        """Read a setting; a list is passed over, and only its length told."""
        if kind == _TEXT:
            return self.text()
        if kind == _LIST:
            return self._skip_list(self.read("I"), self.count())
        if kind not in _NUMBERS:
            raise _HeadError
        return self.read(_NUMBERS[kind])

    def _skip_list(self, kind: int, length: int) -> int:
        if kind in _NUMBERS:
            self.place += length * struct.calcsize(f"<{_NUMBERS[kind]}")
        elif kind == _TEXT:
            for _ in range(length):  # a vocabulary: a hundred thousand of them, which nobody reads
                size = self.read("Q")
                self.place += size
        elif kind == _LIST:
            for _ in range(length):
                self.value(kind)
        else:
            raise _HeadError
        return length


def _parse(data: mmap.mmap, path: Path) -> GgufFile:
    reader = _Reader(data)
    version = reader.read("I")
    if version not in VERSIONS:
        raise ModelError(f"{path} is GGUF of version {version}; expected 2 or 3, of a machine of little-endian order")
    tensors, settings = reader.count(), reader.count()
    told = {reader.text(): reader.value(reader.read("I")) for _ in range(settings)}
    end = max((_read_tensor(reader) for _ in range(tensors)), default=0)
    alignment = told.get("general.alignment", ALIGNMENT)
    assert isinstance(alignment, int)
    start = -(-reader.place // alignment) * alignment
    if len(data) < start + end:
        raise ModelError(
            f"{path} is truncated: it has {len(data):,} bytes of {start + end:,}, which its head tells; fetch it again"
        )
    architecture = str(told.get("general.architecture", ""))
    window = told.get(f"{architecture}.context_length")
    return GgufFile(
        architecture,
        window if isinstance(window, int) else None,
        "tokenizer.chat_template" in told,
        "tokenizer.ggml.tokens" in told,
        identify([path]),
    )


def _read_tensor(reader: _Reader) -> int:
    """Read what is told of a tensor; give where it ends behind the head."""
    reader.text()
    shape = [reader.read("Q") for _ in range(reader.read("I"))]
    kind, offset = reader.read("I"), reader.read("Q")
    weights, size = _BLOCKS.get(kind, (1, 0))
    return offset + math.prod(shape) // weights * size
