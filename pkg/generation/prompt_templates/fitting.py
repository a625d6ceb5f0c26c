"""Fit a prompt into a model's window by dropping whole helpers and attempts, and report the dropped (A-27, A-29)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pkg.errors import ContextLengthError
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask, PromptTemplate
from pkg.models.text_model import TextModel

MESSAGE_TOKENS = 8  # of a chat template around a message; six with Llama 3, five with ChatML
BEGIN_TOKENS = 2  # that a tokeniser may put around a text
CHAT_TOKENS = 24  # of the system message that some templates add to a prompt without one, and the answer's opening


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt that fits the window, with its size, and what was dropped for it."""

    prompt: Prompt
    tokens: int  # of the prompt, an upper estimate
    helpers: tuple[HelperText, ...] = ()  # shown by the prompt
    dropped_helpers: tuple[HelperText, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    dropped_attempts: int = 0  # the oldest

    @property
    def notes(self) -> tuple[str, ...]:
        """Describe what was dropped, for the user."""
        dropped = [f"helper {helper.place}" for helper in self.dropped_helpers]
        dropped += [f"the oldest attempts: {self.dropped_attempts}"] if self.dropped_attempts else []
        return tuple(f"left out of the prompt, which would not fit into the window: {each}" for each in dropped)


def fit_prompt(
    template: PromptTemplate,
    task: PromptTask,
    helpers: Sequence[HelperText],
    model: TextModel,
    max_tokens: int,
    attempts: Sequence[Attempt] = (),
) -> FittedPrompt:
    """Write a prompt that leaves room in the window for an answer of `max_tokens`.

    Drops helpers from the last one on, then attempts from the oldest one on, except the newest. Nothing is dropped for
    a model with an unknown window. Raises ContextLengthError if the task with its newest attempt is too long.
    """
    for shown, kept in _list_choices(helpers, attempts):
        prompt = template.render(task, shown, kept)
        tokens = count_prompt(prompt, model)
        if model.window is None or tokens + max_tokens <= model.window:
            break
    else:
        raise ContextLengthError(_describe_overflow(tokens, max_tokens, model, bool(attempts)))
    dropped = tuple(helpers[len(shown) :]), tuple(kept), len(attempts) - len(kept)
    return FittedPrompt(prompt, tokens, tuple(shown), *dropped)


def _list_choices(
    helpers: Sequence[HelperText], attempts: Sequence[Attempt]
) -> Iterator[tuple[Sequence[HelperText], Sequence[Attempt]]]:
    """Yield the helpers and attempts that a prompt may show, the largest choice first."""
    for count in range(len(helpers), 0, -1):
        yield helpers[:count], attempts
    for first in range(max(1, len(attempts))):
        yield (), attempts[first:]


def count_prompt(prompt: Prompt, model: TextModel) -> int:
    """Count the tokens of a prompt with the model's tokeniser, with an allowance for its chat template."""
    if prompt.text is not None:
        return BEGIN_TOKENS + model.count_tokens(prompt.text)
    return CHAT_TOKENS + sum(MESSAGE_TOKENS + model.count_tokens(message.content) for message in prompt.messages)


def _describe_overflow(tokens: int, max_tokens: int, model: TextModel, has_attempt: bool) -> str:
    start = "the task and its last attempt alone take" if has_attempt else "the task alone takes"
    return (
        f"{start} {tokens:,} tokens, and the answer may take {max_tokens:,}; the window of {model.name} has"
        f" {model.window:,} tokens for both; shorten the question, allow a shorter answer, or use a model with a"
        " larger window"
    )
