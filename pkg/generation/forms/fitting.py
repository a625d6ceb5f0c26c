"""Fit a prompt into the window of a model: whole helpers and whole attempts go, and what went is told (A-27, A-29)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pkg.errors import ContextLengthError
from pkg.generation.forms.prompt_form import Attempt, Form, HelperText, Prompt, PromptTask
from pkg.models.text_model import TextModel

MESSAGE_TOKENS = 8  # what a chat template writes around a message; six with Llama 3, five with ChatML
BEGIN_TOKENS = 2  # that a tokeniser may put around a text
CHAT_TOKENS = 24  # the message of the system that some templates add where there is none, and the opened answer


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt that fits, with its size, and what had to go for it."""

    prompt: Prompt
    tokens: int  # of the prompt, rather too many
    helpers: tuple[HelperText, ...] = ()  # those that the prompt shows
    dropped_helpers: tuple[HelperText, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    dropped_attempts: int = 0  # the oldest

    @property
    def notes(self) -> tuple[str, ...]:
        """Say in words what was left out."""
        gone = [f"helper {helper.place}" for helper in self.dropped_helpers]
        gone += [f"the oldest attempts: {self.dropped_attempts}"] if self.dropped_attempts else []
        return tuple(f"left out of the prompt, which would not fit into the window: {each}" for each in gone)


def fit_prompt(
    form: Form,
    task: PromptTask,
    helpers: Sequence[HelperText],
    model: TextModel,
    max_tokens: int,
    attempts: Sequence[Attempt] = (),
) -> FittedPrompt:
    """Write a prompt that leaves room for an answer of so many tokens.

    Helpers are dropped from the last one on, then attempts from the oldest one on, but for the newest. A model whose
    window is not known gets all. Raises ContextLengthError where even the task, with the newest attempt, is too long.
    """
    for shown, kept in _list_choices(helpers, attempts):
        prompt = form.render(task, shown, kept)
        tokens = count_prompt(prompt, model)
        if model.window is None or tokens + max_tokens <= model.window:
            break
    else:
        raise ContextLengthError(_describe_lack(tokens, max_tokens, model, bool(attempts)))
    dropped = tuple(helpers[len(shown) :]), tuple(kept), len(attempts) - len(kept)
    return FittedPrompt(prompt, tokens, tuple(shown), *dropped)


def _list_choices(
    helpers: Sequence[HelperText], attempts: Sequence[Attempt]
) -> Iterator[tuple[Sequence[HelperText], Sequence[Attempt]]]:
    """List what a prompt may show, the most first."""
    for count in range(len(helpers), 0, -1):
        yield helpers[:count], attempts
    for first in range(max(1, len(attempts))):
        yield (), attempts[first:]


def count_prompt(prompt: Prompt, model: TextModel) -> int:
    """Count the tokens of a prompt by the model's own tokeniser, with an allowance for the template of a chat."""
    if prompt.text is not None:
        return BEGIN_TOKENS + model.count_tokens(prompt.text)
    return CHAT_TOKENS + sum(MESSAGE_TOKENS + model.count_tokens(message.content) for message in prompt.messages)


def _describe_lack(tokens: int, max_tokens: int, model: TextModel, has_attempt: bool) -> str:
    what = "the task and its last attempt alone take" if has_attempt else "the task alone takes"
    return (
        f"{what} {tokens:,} tokens, and the answer may take {max_tokens:,}; the window of {model.name} has"
        f" {model.window:,} tokens for both; shorten the question, allow a shorter answer, or use a model with a"
        " larger window"
    )
