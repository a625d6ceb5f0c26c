"""Read what a candidate writes: never more than wanted, never waiting, and into a buffer that is wiped."""

from __future__ import annotations

import os

PATIENCE = 16  # times the wanted length that are read and thrown away before a run is ended for it


class Pipe:
    """One pipe from a candidate: what came through it, up to a length, and how much in all.

    The supervisor is forked for every candidate, so what it remembers of one the next could read: nothing that comes
    here becomes an object of Python, and the buffer is filled with zeros in the end.
    """

    def __init__(self, keep: int) -> None:
        self.descriptor, self.end = os.pipe()
        os.set_blocking(self.descriptor, False)
        self.buffer = bytearray(keep)
        self.total = 0
        self.is_open = True

    @property
    def size(self) -> int:
        """Tell how many bytes were kept."""
        return min(self.total, len(self.buffer))

    @property
    def is_flooded(self) -> bool:
        """Tell whether far more came than anybody wants."""
        return self.total > PATIENCE * len(self.buffer)

    def read(self) -> None:
        """Take what is there."""
        while self.is_open and not self.is_flooded:
            try:
                self._read_once()
            except BlockingIOError:
                return

    def _read_once(self) -> None:
        room = len(self.buffer) - self.size
        with memoryview(self.buffer)[self.size :] if room else memoryview(bytearray(1 << 16)) as place:
            count = os.readv(self.descriptor, [place])
            if not room:
                place[:] = bytes(len(place))
        self.is_open = count > 0
        self.total += count

    def wipe(self) -> None:
        """Forget what came."""
        self.buffer[:] = bytes(len(self.buffer))
        os.close(self.descriptor)
