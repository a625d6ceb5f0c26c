"""Recipes of tuning: plain TOML, by name from this package or as a file, checked when read (Q-13, C-15, A-20, A-30)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from pkg.errors import UsageError, shorten

Task = Literal["sft", "dpo"]
Method = Literal["full", "lora", "qlora"]
Schedule = Literal["cosine", "linear", "constant_with_warmup"]

FOLDER = Path(__file__).with_name("recipes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All settings of a run; the defaults are those that both papers leave open."""

    name: str
    tasks: tuple[Task, ...] = ("sft", "dpo")
    method: Method = "lora"
    rank: int = 64  # of LoRA
    alpha: int = 64  # of LoRA, its scale is alpha / rank
    dropout: float = 0.0  # of LoRA
    targets: str = "all-linear"  # layers with LoRA: all linear ones but the output, or names with commas
    epochs: float = 1.0
    max_steps: int = 0  # end after these, whatever the epochs; 0 for no limit
    batch: int = 32  # sequences or pairs of one step of the optimiser
    micro_batch: int = 4  # of these at a time; the memory depends on it
    learning_rate: float = 1e-4
    schedule: Schedule = "cosine"
    warmup: float = 0.0  # share of the steps
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    weight_decay: float = 0.0
    gradient_checkpointing: bool = False  # compute activations twice, to keep fewer
    packing: bool = False  # of short rows into one sequence, without attention between them
    max_length: int = 2048  # tokens of question and answer; longer rows are left out
    max_prompt_length: int = 1024  # tokens of the prompt of a pair; longer ones are left out
    beta: float = 0.1  # of DPO
    system: str = ""  # a system message before each question
    held_out: float = 0.05  # share of the questions that are not trained on
    seed: int = 0

    def describe(self) -> dict[str, Any]:
        """Return all settings as JSON values."""
        return {**asdict(self), "tasks": list(self.tasks)}

    @property
    def accumulation(self) -> int:
        """Return the number of micro batches of a step."""
        return -(-self.batch // self.micro_batch)


_AT_LEAST_ONE = ("rank", "alpha", "batch", "micro_batch", "max_length", "max_prompt_length")
_POSITIVE = ("epochs", "learning_rate", "beta")
_SHARES = ("dropout", "warmup", "held_out", "adam_beta1", "adam_beta2")
_CHOICES: Mapping[str, tuple[str, ...]] = {"method": get_args(Method), "schedule": get_args(Schedule)}


def list_recipes() -> list[str]:
    """List the names of the recipes of the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_recipe(name: str, changes: Sequence[str] = (), task: Task | None = None) -> Recipe:
    """Read a recipe by its name or file, with changes such as `epochs=2`; raises UsageError for an invalid one.

    task: the recipe must be made for it.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        raise UsageError(f"no recipe '{name}'; expected {', '.join(list_recipes())}, or a file that ends in .toml")
    values = _parse(path.read_text(encoding="utf-8", errors="replace"), str(name))
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise UsageError(f"--set {change}: expected KEY=VALUE, such as --set epochs=2")
        values |= _parse_value(key.strip(), text.strip())
    recipe = _check(path.stem, values)
    if task is not None and task not in recipe.tasks:
        raise UsageError(f"recipe '{name}' is for pkg tune {', '.join(recipe.tasks)}, not for {task}")
    return recipe


def _parse(text: str, name: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError as fault:
        raise UsageError(f"recipe '{name}' is not valid TOML: {fault}") from None


def _parse_value(key: str, text: str) -> dict[str, Any]:
    """Return a value as TOML reads it, or as a text."""
    try:
        return _parse(f"{key} = {text}", key)
    except UsageError:
        return {key: text}


def _check(name: str, values: Mapping[str, Any]) -> Recipe:
    """Build a recipe; raises UsageError that names the setting and what is expected."""
    known = {each.name: each for each in fields(Recipe) if each.name != "name"}
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise UsageError(f"recipe '{name}' has no setting '{key}'; expected one of: {', '.join(known)}")
        checked[key] = _check_value(name, key, value, str(known[key].type))
    return Recipe(name=name, **checked)


def _check_value(name: str, key: str, value: Any, kind: str) -> Any:
    def refuse(expected: str) -> UsageError:
        return UsageError(f"recipe '{name}': {key} is {shorten(repr(value), 60)}; expected {expected}")

    if key == "tasks":
        if not isinstance(value, list) or not value or not set(value) <= set(get_args(Task)):
            raise refuse('a list of "sft" and "dpo"')
        return tuple(value)
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise refuse(f"one of: {', '.join(_CHOICES[key])}")
        return value
    if kind in ("bool", "str"):
        if type(value).__name__ != kind:
            raise refuse("true or false" if kind == "bool" else "a text")
        return value
    if isinstance(value, bool) or not isinstance(value, int if kind == "int" else int | float):
        raise refuse("a whole number" if kind == "int" else "a number")
    if key in _AT_LEAST_ONE and value < 1:
        raise refuse("a number from 1")
    if key in _POSITIVE and not value > 0:
        raise refuse("a number above 0")
    if key in _SHARES and not 0 <= value < 1:
        raise refuse("a share from 0 to below 1")
    if value < 0:
        raise refuse("a number from 0")
    return value if kind == "int" else float(value)
