"""A text model with scripted answers, which records its prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pkg.models.text_model import Decoding, Finish, Generation, Listen, Message, Usage

Asked = tuple[Message, ...]
"""A prompt as messages: a text to complete is one user message, a hole is one before and one after it."""

Answer = str | Exception


@dataclass
class ScriptedModel:
    """Returns answers one after another, repeating the last one, or the results of a function of the prompt.

    An answer is truncated to its token limit and ended by stop strings, as with a real model; a token is a word.
    """

    answers: Sequence[Answer] | Callable[[Asked], Answer]
    name: str = "scripted"
    identity: str = "scripted 1"
    window: int | None = 4096
    parameters: int | None = None
    parallel: int = 1
    can_fill: bool = True
    can_prime: bool = True
    asked: list[Asked] = field(default_factory=list)
    decodings: list[Decoding] = field(default_factory=list)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def complete(self, prompt: str, decoding: Decoding, listen: Listen | None = None) -> Generation:
        return self._answer((Message("user", prompt),), decoding, listen)

    def fill(self, prefix: str, suffix: str, decoding: Decoding) -> Generation:
        return self._answer((Message("user", prefix), Message("user", suffix)), decoding, None)

    def chat(self, messages: Sequence[Message], decoding: Decoding, listen: Listen | None = None) -> Generation:
        return self._answer(tuple(messages), decoding, listen)

    def close(self) -> None:
        pass

    def _answer(self, asked: Asked, decoding: Decoding, listen: Listen | None) -> Generation:
        self.asked.append(asked)
        self.decodings.append(decoding)
        number = len(self.asked) - 1
        answers = self.answers
        answer = answers(asked) if callable(answers) else answers[min(number, len(answers) - 1)]
        if isinstance(answer, Exception):
            raise answer
        for end in decoding.stop:
            answer = answer.partition(end)[0]
        finish: Finish = "stop"
        if self.count_tokens(answer) > decoding.max_tokens:
            answer, finish = " ".join(answer.split()[: decoding.max_tokens]), "length"
        if listen is not None:
            listen(answer)
        told = sum(self.count_tokens(each.content) for each in asked)
        return Generation(answer, finish, Usage(1, told, self.count_tokens(answer), 0.0))
