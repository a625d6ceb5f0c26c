"""Tokens of the rows by the template of the base: longer rows are left out whole, so that no answer is cut (C-15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pkg.errors import InputError, ModelUnfitError
from pkg.lab.tuning.recipes import Recipe, Task
from pkg.lab.tuning.tuning_rows import Example, TuningRows, Turn

NO_TURN_END = "the template of the base does not end an answer with a token that ends texts: it may not learn to stop"


@dataclass(frozen=True, slots=True)
class RowLengths:
    """Tokens of the kept rows: of the prompts, and of each conversation, for pairs of both."""

    prompts: list[int]
    whole: list[tuple[int, ...]]

    @property
    def tokens(self) -> int:
        """Return the tokens of all conversations."""
        return sum(map(sum, self.whole))


def keep_fitting(
    tokenizer: Any, rows: TuningRows, recipe: Recipe, task: Task, base: str
) -> tuple[TuningRows, RowLengths, RowLengths]:
    """Return the rows that fit into the limits, those left out counted, and their lengths: trained on and held out.

    Raises ModelUnfitError if the base has no chat template, and InputError if no row fits.
    """
    if tokenizer.chat_template is None:
        raise ModelUnfitError(
            f"{base} has no chat template, so questions and answers cannot be told apart; choose an instruct model, or"
            " add a chat_template to its tokenizer_config.json"
        )
    left_out = rows.left_out.copy()
    kept: list[list[Example]] = []
    lengths: list[RowLengths] = []
    for examples in (rows.train, rows.held_out):
        fitting, found = list[Example](), RowLengths([], [])
        for example in examples:
            prompt = _count(tokenizer, example.prompt, True)
            answers = range(len(example.answers))
            whole = tuple(_count(tokenizer, example.list_turns(number), False) for number in answers)
            if task == "dpo" and prompt > recipe.max_prompt_length:
                left_out[f"prompt longer than {recipe.max_prompt_length:,} tokens"] += 1
            elif max(whole) > recipe.max_length:
                left_out[f"longer than {recipe.max_length:,} tokens"] += 1
            else:
                fitting.append(example)
                found.prompts.append(prompt)
                found.whole.append(whole)
        kept.append(fitting)
        lengths.append(found)
    if not kept[0]:
        raise InputError(
            f"all {len(rows.train):,} rows are longer than the recipe allows ({recipe.max_length:,} tokens, prompts of"
            f" pairs {recipe.max_prompt_length:,}); raise max_length, or give shorter rows"
        )
    return TuningRows(kept[0], kept[1], rows.files, left_out), lengths[0], lengths[1]


def _count(tokenizer: Any, turns: Sequence[Turn], begins_answer: bool) -> int:
    text = tokenizer.apply_chat_template(list(turns), tokenize=False, add_generation_prompt=begins_answer)
    return len(cast("list[int]", tokenizer(text, add_special_tokens=False)["input_ids"]))


def find_template_notes(tokenizer: Any, example: Example) -> list[str]:
    """Return what makes the template of a base unfit to teach the end of an answer."""
    text = tokenizer.apply_chat_template(example.list_turns(0), tokenize=False)
    ending = text[text.rfind(example.answers[0][-20:]) :]
    special = {token for token in tokenizer.all_special_tokens if token}
    return [] if any(token in ending for token in special) else [NO_TURN_END]


def count_packed(lengths: Sequence[int], limit: int) -> int:
    """Return the number of sequences of at most `limit` tokens that hold all rows: best fit, the longest row first."""
    rooms: dict[int, int] = {}  # free tokens -> number of sequences
    for length in sorted(lengths, reverse=True):
        room = min((each for each in rooms if each >= length), default=None)
        if room is None:
            room = limit
        elif rooms[room] == 1:
            del rooms[room]
        else:
            rooms[room] -= 1
        rooms[room - length] = rooms.get(room - length, 0) + 1
    return sum(rooms.values())
