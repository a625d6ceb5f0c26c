"""How many texts of a build were longer than its encoder reads."""

from __future__ import annotations

from pkg.encode.registry import find_kind, load_encoder
from pkg.model import Skip


class CutCount:
    """Remember what an encoder had done before a build, and tell what it has cut since."""

    def __init__(self, encoder: str) -> None:
        self._encoder = encoder
        self._is_counted = find_kind(encoder).is_heavy  # the others read texts of any length
        self._cut, self._texts = self._read()

    def _read(self) -> tuple[int, int]:
        if not self._is_counted:
            return 0, 0
        from pkg.encode.batched import BatchedEncoder

        encoder = load_encoder(self._encoder)
        assert isinstance(encoder, BatchedEncoder), "a model is behind every encoder that reads a part"
        return encoder.counts.cut, encoder.counts.encoded

    def describe(self, source: str) -> list[Skip]:
        """Say what was left out of a source's texts; nothing where all was read."""
        cut, texts = (now - before for now, before in zip(self._read(), (self._cut, self._texts), strict=True))
        reason = f"{cut:,} of {texts:,} texts are longer than '{self._encoder}' reads; their ends were not encoded"
        return [Skip(source, reason)] if cut else []
