"""`pkg tune`: tune a text model on rows of `pkg data`, with the estimate before and the curves after."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.console.options import json_option
from pkg.console.progress import ProgressBar, say
from pkg.console.settings import combine, decode_option, decode_options, model_setting
from pkg.console.streams import emit, style_words
from pkg.console.tables import make_table
from pkg.errors import UsageError, count_things

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.tuning.recipes import Task
    from pkg.lab.tuning.run_estimate import RunEstimate
    from pkg.lab.tuning.tuning_run import TunedModel, TuningPlan

GIB = 1 << 30
CANNOT_RUN = "cannot run"

_files = click.argument("files", nargs=-1, required=True, metavar="FILE...", callback=decode_options)
_out = click.option("--out", "-o", callback=decode_option, metavar="FOLDER", help="Folder of the result, which is new.")
_dtype = click.option("--dtype", metavar="TYPE", help="Type of the weights: float32, bfloat16 or float16.")
_training = combine(
    _files,
    model_setting(help="Base: hf:FOLDER, hf:NAME in your cache, or hf:FILE.gguf, each with +ADAPTER."),
    _out,
    click.option(
        "--recipe", default="tiny", show_default=True, callback=decode_option, metavar="NAME|FILE",
        help="Recipe of the package, or a TOML file.",
    ),
    click.option(
        "--set", "changes", multiple=True, callback=decode_options, metavar="KEY=VALUE",
        help="Change a setting of the recipe, such as epochs=2. Repeatable.",
    ),
    click.option("--seed", type=click.IntRange(0), help="Seed of the split, the order and the adapter."),
    _dtype,
    click.option("--dry-run", is_flag=True, help="Report steps, tokens, memory and time by device; train nothing."),
    click.option("--restart", is_flag=True, help="Drop the checkpoints of an interrupted run."),
    click.option("--ignore-memory", is_flag=True, help="Start even if the memory may not suffice."),
    json_option,
)  # fmt: skip


@click.group("tune")
def tune() -> None:
    """Tune a text model on questions and answers, or on preferences.

    The base is a model on this machine; nothing is downloaded unless PKG_ALLOW_DOWNLOAD is 1. The result is an adapter,
    used as --model hf:BASE+FOLDER, or with a recipe of the method full a model. An interrupted run is resumed by the
    same command.
    """


@tune.command("sft", epilog="Example:  pkg tune sft kept.jsonl --model hf:model.gguf --out tuned --dry-run")
@_training
def sft(**options: Any) -> None:
    """Tune a model on questions with their answers.

    FILE has JSON lines with question and answer, as pkg data curate, dependencies and meta write, or with instruction
    and output. A share of the questions, 5 % by default, is held out to measure the loss.
    """
    _run_training("sft", **options)


@tune.command("dpo", epilog="Example:  pkg tune dpo pairs.jsonl --model hf:model.gguf+tuned --out preferred")
@_training
def dpo(**options: Any) -> None:
    """Tune a model on pairs of answers by direct preference optimisation.

    FILE has JSON lines with prompt, chosen and rejected. The reference is the base with its adapters.
    """
    _run_training("dpo", **options)


@tune.command("merge", epilog="Example:  pkg tune merge --model hf:model.gguf+tuned --out merged")
@model_setting(help="Base with its adapters: hf:BASE+ADAPTER.")
@_out
@_dtype
@json_option
def merge(model: str | None, out: str | None, dtype: str | None, as_json: bool) -> None:
    """Write a base with its adapters as one model.

    The result is a folder of transformers, used as --model hf:FOLDER. The default type of its weights is float32.
    """
    from pkg.lab.tuning.merging import merge_adapters
    from pkg.models.model_options import ModelOptions

    name, folder = _require(model, out)
    card = merge_adapters(name, folder, ModelOptions(dtype=dtype))
    line = {"type": "merged", "out": str(folder), "model": f"hf:{folder}", **card}
    emit(as_json, [line], lambda: [style_words(f"merged into {folder}; use it as --model hf:{folder}")])


def _require(model: str | None, out: str | None) -> tuple[str, Path]:
    """Return the model and the folder; raises UsageError without one of them."""
    if model is None:
        raise UsageError("no model; expected --model hf:BASE, PKG_MODEL, or model in pkg.toml")
    if out is None:
        raise UsageError("no folder for the result; expected --out FOLDER")
    return model, Path(out)


def _run_training(
    task: Task,
    *,
    files: tuple[str, ...],
    model: str | None,
    out: str | None,
    recipe: str,
    changes: tuple[str, ...],
    seed: int | None,
    dtype: str | None,
    dry_run: bool,
    restart: bool,
    ignore_memory: bool,
    as_json: bool,
) -> None:
    """Plan a run, report its estimate, and train unless only the estimate was requested."""
    from pkg.lab.tuning.recipes import read_recipe
    from pkg.lab.tuning.tuning_run import plan_run, run_plan
    from pkg.models.model_options import ModelOptions

    name, folder = _require(model, "" if dry_run and out is None else out)
    chosen = read_recipe(recipe, [*changes, *([] if seed is None else [f"seed={seed}"])], task)
    plan = plan_run(task, name, files, chosen, ModelOptions(dtype=dtype))
    if dry_run:
        emit(as_json, [_make_estimate_line(plan)], lambda: view_estimate(plan.estimate))
        return
    for text in describe_size(plan.estimate):
        say(text)
    with closing(ProgressBar()) as bar:
        listen = (lambda done, total: bar.count("steps", done, total)) if sys.stderr.isatty() else None
        more: dict[str, Any] = {} if listen is None else {"listen": listen}
        tuned = run_plan(plan, folder, restart=restart, ignore_memory=ignore_memory, **more)
    for note in tuned.notes:
        say(note)
    emit(as_json, _list_lines(task, tuned), lambda: view_tuned(task, tuned))


def _make_estimate_line(plan: TuningPlan) -> dict[str, Any]:
    return {
        "type": "estimate",
        "task": plan.task,
        "model": f"hf:{plan.base}",
        "recipe": plan.recipe.describe(),
        **plan.estimate.describe(),
        "notes": list(plan.notes),
    }


def describe_size(estimate: RunEstimate) -> Iterator[str]:
    """Yield the size of a run in words, and the rows left out by reason."""
    yield (
        f"{count_things(estimate.rows, 'row')} to train on, {estimate.held_out:,} held out;"
        f" {estimate.tokens:,} tokens and {count_things(estimate.sequences, 'sequence')} an epoch,"
        f" the longest of {estimate.longest:,} tokens"
    )
    for reason, count in estimate.left_out.items():
        yield f"left out {count_things(count, 'row')}: {reason}"
    first = estimate.devices[0]
    took = f"it {CANNOT_RUN}, because qlora needs a CUDA GPU"
    if first.seconds is not None:
        took = f"about {_write_time(first.seconds)}"
    yield (
        f"{count_things(estimate.steps, 'step')}, {estimate.warmup_steps:,} of them warm-up; {estimate.trained:,} of"
        f" {estimate.parameters:,} parameters trained; on {first.device} {took},"
        f" {first.needed_bytes / GIB:.1f} of {first.free_bytes / GIB:.1f} GiB free"
    )


def view_estimate(estimate: RunEstimate) -> Iterator[RenderableType]:
    """Yield the size of a run and a table of devices."""
    yield from (style_words(text) for text in describe_size(estimate))
    names = ("device", "weights", "needs GiB", "has GiB", "fits", "time")
    rows = [
        (
            each.device + (" (here)" if each.is_here else ""),
            each.precision,
            f"{each.needed_bytes / GIB:.1f}",
            f"{each.free_bytes / GIB:.1f}",
            "yes" if each.fits and each.seconds is not None else "no",
            CANNOT_RUN if each.seconds is None else _write_time(each.seconds),
        )
        for each in estimate.devices
    ]
    yield make_table(names, rows, right=("needs GiB", "has GiB"))
    yield style_words("steps and tokens are counted; memory and time are estimates", "dim")


def _write_time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _list_lines(task: Task, tuned: TunedModel) -> Iterable[dict[str, Any]]:
    from pkg.lab.tuning.tuning_curves import CAUTION

    yield from ({"type": "curve", **line} for line in tuned.lines)
    card = {name: value for name, value in tuned.card.items() if name != "run"}
    caution = {"caution": CAUTION} if task == "dpo" else {}
    yield {"type": "tuned", "task": task, "out": str(tuned.out), "model": tuned.model, **card, **caution}


def view_tuned(task: Task, tuned: TunedModel) -> Iterator[RenderableType]:
    """Yield the curves at the evaluations as a table, and the name of the tuned model."""
    from pkg.lab.tuning.tuning_curves import CAUTION

    names = ["loss", "held_out_loss", "learning_rate"]
    names += ["held_out_accuracy", "held_out_margin"] if task == "dpo" else ["held_out_token_accuracy"]
    shown = [line for line in tuned.lines if "held_out_loss" in line] or tuned.lines[-1:]
    rows = [[f"{line['step']:.0f}", *(f"{line[name]:.4g}" if name in line else "" for name in names)] for line in shown]
    yield make_table(("step", *(name.replace("_", " ") for name in names)), rows, right=("step",))
    if task == "dpo":
        yield style_words(CAUTION, "dim")
    yield style_words(f"written to {tuned.out}; use it as --model {tuned.model}")
