"""Steps are counted, memory grows with what it depends on, and too little memory is refused before the start."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import InputError, ModelError, ModelUnfitError
from pkg.lab.tuning.recipes import Recipe, Task, read_recipe
from pkg.lab.tuning.row_lengths import RowLengths, count_packed, find_template_notes, keep_fitting
from pkg.lab.tuning.run_estimate import (
    GIB,
    BaseShape,
    RunEstimate,
    check_memory,
    count_memory,
    count_steps,
    estimate_run,
)
from pkg.lab.tuning.tuning_rows import Example, TuningRows

SEVEN = BaseShape(
    parameters=7_240_000_000, in_linear=6_980_000_000, adapter=168_000_000, layers=32, hidden=4096, inner=14336,
    words=32000,
)  # fmt: skip
"""The shape of Mistral-7B, whose adapter of rank 64 has 168 million parameters."""


class WordTokenizer:
    """Counts words; its template marks turns with words of its own."""

    chat_template = "{{ messages }}"
    all_special_tokens = ("END",)

    def apply_chat_template(
        self, turns: list[dict[str, str]], tokenize: bool, add_generation_prompt: bool = False
    ) -> str:
        text = " ".join(f"{turn['role']} {turn['content']} END" for turn in turns)
        return f"{text} assistant" if add_generation_prompt else text

    def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[str]]:
        return {"input_ids": text.split()}


def make_rows(*lengths: int, answers: int = 1) -> TuningRows:
    prompt = ({"role": "user", "content": "q"},)
    examples = [Example(prompt, (("a " * length).strip(),) * answers) for length in lengths]
    return TuningRows(examples[:-1], examples[-1:], [])


def estimate(recipe: Recipe, task: Task = "sft", free: int = 8 * GIB, rows: int = 100) -> RunEstimate:
    made = make_rows(*[50] * (rows + 1), answers=2 if task == "dpo" else 1)
    lengths = [
        RowLengths([3] * len(part), [(60,) * (2 if task == "dpo" else 1)] * len(part))
        for part in (made.train, made.held_out)
    ]
    return estimate_run(made, (lengths[0], lengths[1]), recipe, task, SEVEN, [("cpu", "float32", free, 1e11)])


@pytest.mark.parametrize(
    ("sequences", "changes", "steps"),
    [
        (100, ["batch=32", "micro_batch=4", "epochs=1"], 4),
        (96, ["batch=32", "micro_batch=4", "epochs=5"], 15),
        (1, ["batch=32", "micro_batch=4", "epochs=5"], 5),
        (100, ["batch=8", "micro_batch=8", "epochs=1.5"], 20),
        (100, ["batch=8", "micro_batch=8", "epochs=9", "max_steps=7"], 7),
    ],
)
def test_steps_are_those_of_whole_batches(sequences: int, changes: list[str], steps: int) -> None:
    assert count_steps(sequences, read_recipe("tiny", changes)) == steps


@given(st.lists(st.integers(1, 100), max_size=60))
def test_packed_sequences_hold_all_rows_and_no_more_than_needed(lengths: list[int]) -> None:
    packed = count_packed(lengths, 100)
    assert -(-sum(lengths) // 100) <= packed <= len(lengths)
    assert count_packed(lengths[::-1], 100) == packed
    # No two sequences could be joined: all but one are more than half full together.
    assert packed <= max(1, 2 * sum(lengths) / 100 + 1)


def test_the_paper_size_recipes_fit_where_the_papers_ran_them() -> None:
    for name, task, gib in (("spyder", "sft", 48), ("ultrafeedback-sft", "sft", 24), ("ultrafeedback-dpo", "dpo", 24)):
        needed = sum(count_memory(SEVEN, read_recipe(name), task, "bfloat16", 2048, "cuda").values())  # type: ignore[arg-type]
        assert 6 * GIB < needed < gib * GIB


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ("micro_batch=8", "activations"),
        ("method=full", "trained"),
        ("method=full", "weights"),
        ("micro_batch=8", "outputs"),
    ],
)
def test_memory_grows_with_what_it_depends_on(change: str, part: str) -> None:
    small, large = (
        count_memory(SEVEN, read_recipe("tiny", changes), "dpo", "bfloat16", 512, "cuda") for changes in ([], [change])
    )
    assert large[part] > small[part]


def test_checkpointing_keeps_less() -> None:
    plain, again = (
        count_memory(SEVEN, read_recipe("tiny", changes), "sft", "bfloat16", 512, "cuda")["activations"]
        for changes in ([], ["gradient_checkpointing=true"])
    )
    assert again < plain / 4


def test_preferences_cost_more_than_answers() -> None:
    recipe = read_recipe("tiny")
    answers, pairs = estimate(recipe).devices[0], estimate(recipe, "dpo").devices[0]
    assert answers.seconds is not None
    assert pairs.seconds is not None
    assert pairs.seconds > 2 * answers.seconds


def test_four_bits_run_on_no_processor() -> None:
    devices = estimate(read_recipe("spyder")).devices
    assert [(each.is_here, each.seconds is None) for each in devices] == [(True, True), *[(False, False)] * 3]


def test_too_little_memory_is_refused_with_remedies() -> None:
    recipe = read_recipe("tiny")
    with pytest.raises(
        ModelError, match=r"needs about 3\d\.\d GiB on cpu, of which 8\.0 are free; try --set micro_batch=1"
    ):
        check_memory(estimate(recipe), recipe)
    check_memory(estimate(recipe, free=80 * GIB), recipe)


def test_longer_rows_are_left_out_whole_and_counted() -> None:
    recipe = read_recipe("tiny", ["max_length=30"])
    rows, trained_on, held = keep_fitting(WordTokenizer(), make_rows(5, 25, 27, 200, 5), recipe, "sft", "hf:m")
    assert rows.left_out == {"longer than 30 tokens": 2}
    assert (trained_on.whole, trained_on.prompts, held.whole) == ([(10,), (30,)], [4, 4], [(10,)])


def test_a_pair_is_left_out_for_its_prompt_or_its_longer_answer() -> None:
    recipe = read_recipe("tiny", ["max_length=30", "max_prompt_length=3"])
    with pytest.raises(InputError, match="all 2 rows are longer than the recipe allows"):
        keep_fitting(WordTokenizer(), make_rows(5, 5, 5, answers=2), recipe, "dpo", "hf:m")


def test_a_base_without_a_chat_template_is_refused() -> None:
    bare: Any = WordTokenizer()
    bare.chat_template = None
    with pytest.raises(ModelUnfitError, match="hf:m has no chat template"):
        keep_fitting(bare, make_rows(5, 5), read_recipe("tiny"), "sft", "hf:m")


def test_a_template_without_an_end_of_the_answer_is_noted() -> None:
    (example,) = make_rows(5).held_out
    assert find_template_notes(WordTokenizer(), example) == []
    endless: Any = WordTokenizer()
    endless.all_special_tokens = ("STOP",)
    assert "may not learn to stop" in find_template_notes(endless, example)[0]
