"""The text of one answer as it arrives: streamed to a listener, cut at stop strings, limited in length."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.models.text_model import Listen

LONGEST_TOKEN = 64  # characters; the longest tokens of code are runs of spaces


class AnswerText:
    """Collects an answer, and streams it to a listener without stop strings or beginnings of them.

    Not every server applies stop strings and the limit of tokens, so both are applied here.
    """

    def __init__(self, stop: Sequence[str], max_tokens: int, listen: Listen | None = None) -> None:
        self.is_cut = False  # at a stop string
        self.is_endless = False  # longer than its tokens can be
        self._stop = [end for end in stop if end]
        self._longest = max_tokens * LONGEST_TOKEN
        self._listen = listen
        self.text = ""
        self._streamed = 0  # characters

    @property
    def has_ended(self) -> bool:
        """Return whether further pieces are ignored."""
        return self.is_cut or self.is_endless

    @property
    def is_streamed(self) -> bool:
        """Return whether the listener has received any text."""
        return self._listen is not None and self._streamed > 0

    def add(self, piece: str) -> None:
        """Append a piece, up to the end of the answer."""
        if self.has_ended:
            return
        searched = max(0, len(self.text) - max(map(len, self._stop), default=0))
        self.text += piece
        found = [place for end in self._stop if (place := self.text.find(end, searched)) >= 0]
        if found:
            self.text, self.is_cut = self.text[: min(found)], True
        elif len(self.text) > self._longest:
            self.text, self.is_endless = self.text[: self._longest], True
        self._stream(len(self.text) if self.has_ended else self._find_safe_end())

    def finish(self) -> str:
        """Stream the rest, and return the whole text."""
        self._stream(len(self.text))
        return self.text

    def _find_safe_end(self) -> int:
        """Return the end of the text before any partial stop string."""
        for start in range(max(0, len(self.text) - max(map(len, self._stop), default=0)), len(self.text)):
            if any(end.startswith(self.text[start:]) for end in self._stop):
                return start
        return len(self.text)

    def _stream(self, end: int) -> None:
        if self._listen is not None and end > self._streamed:
            self._listen(self.text[self._streamed : end])
        self._streamed = max(self._streamed, end)
