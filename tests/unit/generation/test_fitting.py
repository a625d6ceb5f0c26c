from __future__ import annotations

import pytest
from scripted_model import ScriptedModel

from pkg.errors import ContextLengthError
from pkg.generation.prompt_templates.fitting import BEGIN_TOKENS, CHAT_TOKENS, MESSAGE_TOKENS, count_prompt, fit_prompt
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, make_task
from pkg.generation.prompt_templates.template_choice import TEMPLATES

TASK = make_task("Add two numbers.")
HELPERS = [HelperText(f"{name}.py:1-2 {name}", f"def {name}():\n    return {'x + ' * 30}x") for name in ("a", "b", "c")]
ATTEMPTS = [Attempt(f"def add{number}(): ...", "failed " * 30) for number in range(3)]


def make_model(window: int | None) -> ScriptedModel:
    return ScriptedModel([""], window=window)


def measure(helpers: int = 0, attempts: int = 0) -> int:
    prompt = TEMPLATES["brief"].render(TASK, HELPERS[:helpers], ATTEMPTS[len(ATTEMPTS) - attempts :])
    return count_prompt(prompt, make_model(None))


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_whole_helpers_are_dropped_from_the_last_one_on_and_reported(kept: int) -> None:
    found = fit_prompt(TEMPLATES["brief"], TASK, HELPERS, make_model(measure(kept) + 100), 100)

    assert found.helpers == tuple(HELPERS[:kept])
    assert found.dropped_helpers == tuple(HELPERS[kept:])
    assert found.prompt == TEMPLATES["brief"].render(TASK, HELPERS[:kept])
    assert [helper.place in "".join(found.notes) for helper in HELPERS] == [number >= kept for number in range(3)]


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_the_oldest_attempts_are_dropped_first_and_reported(kept: int) -> None:
    found = fit_prompt(TEMPLATES["brief"], TASK, [], make_model(measure(0, kept) + 100), 100, ATTEMPTS)

    assert found.attempts == tuple(ATTEMPTS[3 - kept :])
    assert found.dropped_attempts == 3 - kept
    assert found.prompt == TEMPLATES["brief"].render(TASK, [], ATTEMPTS[3 - kept :])
    assert len(found.notes) == (kept < 3)


def test_helpers_are_dropped_before_attempts() -> None:
    found = fit_prompt(TEMPLATES["brief"], TASK, HELPERS, make_model(measure(0, 3) + 100), 100, ATTEMPTS)

    assert (found.helpers, found.attempts) == ((), tuple(ATTEMPTS))


def test_a_prompt_that_is_one_token_too_long_does_not_fit() -> None:
    found = fit_prompt(TEMPLATES["brief"], TASK, HELPERS, make_model(measure(3) + 99), 100)

    assert len(found.helpers) == 2


def test_a_task_that_does_not_fit_alone_is_an_error_with_the_numbers() -> None:
    size = measure()
    with pytest.raises(ContextLengthError, match=rf"task alone takes {size} tokens.* 100;.*has {size + 99} tokens"):
        fit_prompt(TEMPLATES["brief"], TASK, HELPERS, make_model(size + 99), 100)


def test_the_newest_attempt_is_never_dropped() -> None:
    with pytest.raises(ContextLengthError, match="the task and its last attempt alone take"):
        fit_prompt(TEMPLATES["brief"], TASK, [], make_model(measure() + 101), 100, ATTEMPTS)


def test_nothing_is_dropped_for_a_model_with_an_unknown_window() -> None:
    found = fit_prompt(TEMPLATES["brief"], TASK, HELPERS, make_model(None), 10**9, ATTEMPTS)

    assert (found.helpers, found.attempts, found.notes) == (tuple(HELPERS), tuple(ATTEMPTS), ())


def test_a_text_is_counted_by_the_tokeniser_of_the_model() -> None:
    prompt, model = TEMPLATES["raw"].render(TASK), make_model(None)

    assert prompt.text is not None
    assert count_prompt(prompt, model) == BEGIN_TOKENS + model.count_tokens(prompt.text)


def test_every_message_is_counted_with_its_chat_template() -> None:
    prompt = TEMPLATES["llama31"].render(TASK)
    words = sum(len(message.content.split()) for message in prompt.messages)

    assert count_prompt(prompt, make_model(None)) == CHAT_TOKENS + 2 * MESSAGE_TOKENS + words
