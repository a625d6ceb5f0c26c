"""The text of one answer as it arrives: told piece by piece, cut at stop strings, ended where it does not end."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.models.text_model import Listen

LONGEST_TOKEN = 64  # characters: the longest tokens of code are runs of blanks; a longer answer breaks its promise


class AnswerText:
    """Gather an answer, and tell a listener what is sure to belong to it: no stop string, nor the beginning of one.

    Servers keep to stop strings and to the number of tokens, or do not; here both hold whoever writes.
    """

    def __init__(self, stop: Sequence[str], max_tokens: int, listen: Listen | None = None) -> None:
        self.is_cut = False  # a stop string came
        self.is_endless = False  # far more came than may have
        self._stop = [end for end in stop if end]
        self._longest = max_tokens * LONGEST_TOKEN
        self._listen = listen
        self._text = ""
        self._told = 0

    @property
    def text(self) -> str:
        """Give what belongs to the answer."""
        return self._text

    @property
    def has_ended(self) -> bool:
        """Tell whether nothing more belongs to the answer."""
        return self.is_cut or self.is_endless

    @property
    def is_told(self) -> bool:
        """Tell whether the listener has heard something of it."""
        return self._listen is not None and self._told > 0

    def add(self, piece: str) -> None:
        """Take the next piece; what comes behind the end is left out."""
        if self.has_ended:
            return
        searched = max(0, len(self._text) - max(map(len, self._stop), default=0))
        self._text += piece
        found = [place for end in self._stop if (place := self._text.find(end, searched)) >= 0]
        if found:
            self._text, self.is_cut = self._text[: min(found)], True
        elif len(self._text) > self._longest:
            self._text, self.is_endless = self._text[: self._longest], True
        self._tell(len(self._text) if self.has_ended else self._find_sure_end())

    def finish(self) -> str:
        """Tell the rest, and give the whole."""
        self._tell(len(self._text))
        return self._text

    def _find_sure_end(self) -> int:
        """Find up to where no stop string can have begun."""
        for start in range(max(0, len(self._text) - max(map(len, self._stop), default=0)), len(self._text)):
            if any(end.startswith(self._text[start:]) for end in self._stop):
                return start
        return len(self._text)

    def _tell(self, end: int) -> None:
        if self._listen is not None and end > self._told:
            self._listen(self._text[self._told : end])
        self._told = max(self._told, end)
