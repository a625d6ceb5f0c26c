"""Recipes have the values of the papers, and a wrong setting is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkg.errors import UsageError
from pkg.lab.tuning.recipes import list_recipes, read_recipe


def test_the_recipes_of_the_papers_have_their_values() -> None:
    """As the papers state them: Q-13, A-20; C-12, C-13, C-15, A-30."""
    names = ("method", "rank", "alpha", "dropout", "epochs", "batch", "learning_rate", "schedule", "warmup", "packing")

    def read(name: str) -> tuple[object, ...]:
        recipe = read_recipe(name)
        return tuple(getattr(recipe, each) for each in names)

    assert read("spyder") == ("qlora", 64, 64, 0.1, 5.0, 32, 1e-4, "cosine", 0.03, False)
    assert read("ultrafeedback-sft") == ("qlora", 64, 128, 0.0, 3.0, 64, 2e-4, "cosine", 0.1, True)
    assert read("ultrafeedback-dpo") == ("qlora", 64, 128, 0.0, 5.0, 32, 5e-5, "cosine", 0.1, False)
    preferring = read_recipe("ultrafeedback-dpo")
    assert (preferring.beta, preferring.max_length, preferring.max_prompt_length) == (0.1, 2048, 1024)
    assert preferring.targets == "all-linear"
    assert (read_recipe("spyder").adam_beta1, read_recipe("spyder").adam_beta2) == (0.9, 0.999)


def test_every_recipe_of_the_package_is_read() -> None:
    assert list_recipes() == ["spyder", "tiny", "ultrafeedback-dpo", "ultrafeedback-sft"]
    for name in list_recipes():
        recipe = read_recipe(name)
        assert recipe.accumulation * recipe.micro_batch == recipe.batch


def test_a_file_and_changes_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('method = "full"\nepochs = 2\n')
    recipe = read_recipe(str(path), ["epochs=3", "schedule=linear", "packing=true"])
    assert (recipe.name, recipe.method, recipe.epochs, recipe.schedule) == ("mine", "full", 3.0, "linear")
    assert recipe.packing


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("epoch=2", "has no setting 'epoch'; expected one of: tasks, method, rank"),
        ("method=lora8", "method is 'lora8'; expected one of: full, lora, qlora"),
        ("rank=0", "rank is 0; expected a number from 1"),
        ("rank=1.5", "rank is 1.5; expected a whole number"),
        ("epochs=true", "epochs is True; expected a number"),
        ("dropout=1", "dropout is 1; expected a share from 0 to below 1"),
        ("learning_rate=0", "learning_rate is 0; expected a number above 0"),
        ("weight_decay=-1", "weight_decay is -1; expected a number from 0"),
        ("packing=1", "packing is 1; expected true or false"),
        ("tasks=sft", "tasks is 'sft'; expected a list of"),
        ("epochs", "expected KEY=VALUE"),
    ],
)
def test_a_wrong_setting_is_named(change: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_recipe("tiny", [change])
    assert message in str(raised.value)


def test_an_unknown_recipe_and_one_of_another_task_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no recipe 'large'; expected spyder, tiny, ultrafeedback-dpo"):
        read_recipe("large")
    with pytest.raises(UsageError, match="recipe 'spyder' is for pkg tune sft, not for dpo"):
        read_recipe("spyder", task="dpo")
    (tmp_path / "bad.toml").write_text("rank = ")
    with pytest.raises(UsageError, match="is not valid TOML"):
        read_recipe(str(tmp_path / "bad.toml"))
