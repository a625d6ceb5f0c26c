"""A run of tuning by TRL: check, estimate, train with checkpoints, write (Q-13, C-12, C-13, C-15, A-31)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pkg import __version__
from pkg.errors import MissingExtraError, ModelError, UsageError
from pkg.lab.tuning.checkpoint_folder import FINAL, check_target, find_checkpoint, finish_run, open_run, seal_checkpoint
from pkg.lab.tuning.recipes import Recipe, Task
from pkg.lab.tuning.row_lengths import RowLengths, find_template_notes, keep_fitting
from pkg.lab.tuning.run_estimate import RunEstimate, check_memory, estimate_run, measure_speed, read_shape
from pkg.lab.tuning.tuning_curves import Line, read_curves, read_history, write_curves
from pkg.lab.tuning.tuning_rows import TuningRows, read_tuning_rows
from pkg.models.adapters import split_adapters, write_card
from pkg.models.hf_model import choose_device, import_packages, load_weights, quiet_packages, read_base
from pkg.models.model_options import ModelOptions, read_options

PACKAGES = ("trl", "peft", "datasets", "accelerate")  # of the extra, besides those of hf
VERSIONS = ("torch", "transformers", *PACKAGES, "bitsandbytes")
CHECKPOINTS = 10  # in a run, with an evaluation of the held-out rows at each
LINES = 200  # of the curves at most

Listen = Callable[[int, int], None]
"""Called with the number of finished steps and their total."""


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """A run that was checked, with its estimate; nothing of the weights is loaded yet."""

    task: Task
    base: str  # detail of the name hf:BASE, which may have adapters
    recipe: Recipe
    rows: TuningRows
    lengths: tuple[RowLengths, RowLengths]
    estimate: RunEstimate
    options: ModelOptions
    device: str
    precision: str
    identity: str  # of the base
    notes: tuple[str, ...]

    @property
    def key(self) -> dict[str, Any]:
        """Return the values that two runs of the same result have in common."""
        return {
            "task": self.task,
            "base": self.identity,
            "recipe": self.recipe.describe(),
            "data": [each.sha256 for each in self.rows.files],
        }


@dataclass(frozen=True, slots=True)
class TunedModel:
    """The result of a run: its folder, the name of the model, its curves and its card."""

    out: Path
    model: str
    lines: list[Line]
    card: dict[str, Any]
    notes: tuple[str, ...] = ()


def plan_run(task: Task, model: str, files: Sequence[str], recipe: Recipe, options: ModelOptions) -> TuningPlan:
    """Check all that a run needs and estimate it, without loading weights.

    Raises UsageError for a model of another kind, MissingExtraError, PathError and InputError for files, ModelError
    for an unusable base, and ModelUnfitError for one without a chat template.
    """
    kind, _, base = model.partition(":")
    if kind != "hf" or not base:
        raise UsageError(f"model '{model}' cannot be tuned; expected hf:FOLDER, hf:NAME or hf:FILE.gguf")
    options = options.fill_up(read_options())
    rows = read_tuning_rows(files, task, recipe)
    torch, transformers = import_tuning(base, options.allow_download)
    if options.threads:
        torch.set_num_threads(options.threads)
    device = options.device or choose_device(torch)
    precision = choose_precision(torch, device, options)
    read = read_base(base, options.allow_download)
    window = getattr(read.config.get_text_config(), "max_position_embeddings", None)
    recipe = replace(recipe, max_length=min(recipe.max_length, window or recipe.max_length))
    rows, *lengths = keep_fitting(read.tokenizer, rows, recipe, task, f"hf:{base}")
    with quiet_packages(transformers):
        shape = read_shape(read.config, recipe, torch, transformers)
    here = (device, precision, find_free_memory(torch, device), measure_speed(torch, device, precision))
    estimate = estimate_run(rows, (lengths[0], lengths[1]), recipe, task, shape, [here])
    notes = tuple(find_template_notes(read.tokenizer, rows.train[0]))
    return TuningPlan(
        task=task,
        base=base,
        recipe=recipe,
        rows=rows,
        lengths=(lengths[0], lengths[1]),
        estimate=estimate,
        options=options,
        device=device,
        precision=precision,
        identity=read.identity,
        notes=notes,
    )


def import_tuning(base: str, allow_download: bool) -> tuple[Any, Any]:
    """Import torch and transformers, and check the packages of the extra; raises MissingExtraError."""
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # which TRL would send; read when the packages are imported
    if not allow_download:
        os.environ["HF_DATASETS_OFFLINE"] = "1"
    purpose = f"tuning of 'hf:{base}'"
    try:
        torch, transformers = import_packages(base, allow_download)
    except MissingExtraError as fault:
        package = str(fault).partition("package '")[2].partition("'")[0]
        raise MissingExtraError(package, "train", purpose) from None
    for package in PACKAGES:
        try:
            version(package)
        except PackageNotFoundError:
            raise MissingExtraError(package, "train", purpose) from None
    return torch, transformers


def choose_precision(torch: Any, device: str, options: ModelOptions) -> str:
    """Return the type of the frozen weights: that of the options, bfloat16 on a GPU that has it, else float32."""
    if options.dtype:
        return options.dtype
    return "bfloat16" if device.startswith("cuda") and torch.cuda.is_bf16_supported() else "float32"


def find_free_memory(torch: Any, device: str) -> int:
    """Return the free bytes of a device."""
    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    import psutil

    return int(psutil.virtual_memory().available)


def check_device(plan: TuningPlan) -> None:
    """Raise ModelError if the method of a recipe does not run on the device of a plan."""
    if plan.recipe.method != "qlora":
        return
    here = "would run here: --set method=lora, or --recipe tiny"
    if not plan.device.startswith("cuda"):
        raise ModelError(
            f"recipe '{plan.recipe.name}' keeps weights in 4 bits (qlora), which needs a CUDA GPU; this machine has"
            f" {plan.device}; {here}"
        )
    try:
        version("bitsandbytes")
    except PackageNotFoundError:
        raise ModelError(
            f"recipe '{plan.recipe.name}' keeps weights in 4 bits (qlora), which needs bitsandbytes; run: pip install"
            f" bitsandbytes; {here}"
        ) from None


def run_plan(
    plan: TuningPlan,
    out: Path,
    *,
    restart: bool = False,
    ignore_memory: bool = False,
    listen: Listen = lambda done, total: None,
) -> TunedModel:
    """Train, resuming an interrupted run of the same plan, and write the result; a finished run is only read.

    Raises UsageError for the folder of another run or one in use, InputError for a damaged checkpoint, ModelError if
    the device lacks memory or an ability, and PathError if the folder cannot be written.
    """
    check_device(plan)
    done = check_target(out, plan.key)
    if done is not None:
        return TunedModel(out, _name_model(plan, out), read_curves(out), done, ("this run was complete already",))
    if not ignore_memory:
        check_memory(plan.estimate, plan.recipe)
    with open_run(out, plan.key, restart) as part:
        lines, card, notes = _train(plan, part, listen)
        finish_run(part, out)
    return TunedModel(out, _name_model(plan, out), lines, card, (*plan.notes, *notes))


def _train(plan: TuningPlan, part: Path, listen: Listen) -> tuple[list[Line], dict[str, Any], list[str]]:
    """Train from the last checkpoint in a folder, and write the result into it; return curves, card and notes."""
    checkpoint = find_checkpoint(part)
    began = time.monotonic()
    with quiet_training():
        trainer = build_trainer(plan, part, listen, is_resumed=checkpoint is not None)
        try:
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        except (RuntimeError, MemoryError) as fault:
            raise _explain_fault(plan, fault) from fault
        lines = read_history(trainer.state.log_history)
        card = _make_card(plan, lines, trainer.state.global_step, time.monotonic() - began, checkpoint)
        return lines, card, _write_result(trainer, plan, part / FINAL, lines, card)


def _name_model(plan: TuningPlan, out: Path) -> str:
    return f"hf:{out}" if plan.recipe.method == "full" else f"hf:{plan.base}+{out}"


def _explain_fault(plan: TuningPlan, fault: BaseException) -> ModelError:
    message = " ".join(str(fault).split())[:300]
    if "memory" in message.lower() or isinstance(fault, MemoryError):
        return ModelError(
            f"{plan.device} ran out of memory ({message}); the checkpoints are kept: try --set micro_batch=1 with"
            " another --out"
        )
    return ModelError(f"the training stopped ({message}); the checkpoints are kept, and the same command resumes")


@contextmanager
def quiet_training() -> Iterator[None]:
    """Suppress the messages, bars and caches of the packages while they train."""
    import warnings

    import datasets
    import transformers

    logging, quiet = transformers.utils.logging, datasets.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    quiet.set_verbosity_error()
    datasets.disable_progress_bars()
    datasets.disable_caching()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)


def build_trainer(plan: TuningPlan, folder: Path, listen: Listen, is_resumed: bool = False) -> Any:
    """Load the base and return TRL's trainer of a plan, which writes checkpoints into a folder."""
    import torch
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

    model, tokenizer = _load_base(plan, torch)
    names = ("train_dataset", "eval_dataset")
    parts = {
        name: Dataset.from_list([each.make_record() for each in examples]) if examples else None
        for name, examples in zip(names, (plan.rows.train, plan.rows.held_out), strict=True)
    }
    settings = {**list_arguments(plan, folder), "eval_on_start": bool(plan.rows.held_out) and not is_resumed}
    common: dict[str, Any] = {
        **parts,
        "model": model,
        "processing_class": tokenizer,
        "callbacks": [_make_watcher(listen)],
        "peft_config": None if plan.recipe.method == "full" else _make_adapter(plan.recipe),
    }
    if plan.task == "sft":
        packing = {"packing": plan.recipe.packing, "max_length": plan.recipe.max_length, "eval_packing": False}
        trainer = SFTTrainer(args=SFTConfig(**settings, **packing), **common)
    else:
        reference = deepcopy(model) if plan.recipe.method == "full" else None  # of LoRA: the model without the adapter
        arguments = DPOConfig(**settings, beta=plan.recipe.beta, max_length=None)  # longer rows were left out
        trainer = DPOTrainer(ref_model=reference, args=arguments, **common)
    trainer.remove_callback(PrinterCallback)
    return trainer


def _load_base(plan: TuningPlan, torch: Any) -> tuple[Any, Any]:
    """Return the model with its adapters merged, and its tokenizer."""
    more: dict[str, Any] = {}
    precision = "float32" if plan.recipe.method == "full" else plan.precision
    if plan.recipe.method == "qlora":
        from transformers import BitsAndBytesConfig

        more["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=getattr(torch, precision),
        )
        more["device_map"] = {"": plan.device}
    loaded = load_weights(plan.base, precision, plan.options.allow_download, plan.device, merge=True, **more)
    if loaded.tokenizer.pad_token is None:
        loaded.tokenizer.pad_token = loaded.tokenizer.eos_token
    return loaded.model, loaded.tokenizer


def _make_adapter(recipe: Recipe) -> Any:
    from peft import LoraConfig

    targets: Any = recipe.targets if recipe.targets == "all-linear" else recipe.targets.replace(" ", "").split(",")
    return LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules=targets,
        bias="none",
        task_type="CAUSAL_LM",
    )


def list_arguments(plan: TuningPlan, folder: Path) -> dict[str, Any]:
    """Return the arguments that both trainers of TRL take.

    Curves, evaluations and checkpoints share their steps, so that a resumed run reports the same means.
    """
    recipe, steps = plan.recipe, plan.estimate.steps
    every = max(1, -(-steps // LINES))
    saved = every * max(1, -(-steps // (CHECKPOINTS * every)))
    on_gpu = plan.device.startswith("cuda")
    return {
        "output_dir": str(folder),
        "num_train_epochs": recipe.epochs,
        "max_steps": recipe.max_steps or -1,
        "per_device_train_batch_size": recipe.micro_batch,
        "per_device_eval_batch_size": recipe.micro_batch,
        "gradient_accumulation_steps": recipe.accumulation,
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": recipe.schedule,
        "warmup_steps": recipe.warmup,  # below 1 it is a share
        "adam_beta1": recipe.adam_beta1,
        "adam_beta2": recipe.adam_beta2,
        "weight_decay": recipe.weight_decay,
        "gradient_checkpointing": recipe.gradient_checkpointing,
        "bf16": on_gpu and plan.precision == "bfloat16",
        "use_cpu": plan.device == "cpu",
        "seed": recipe.seed,
        "data_seed": recipe.seed,
        "logging_steps": every,
        "save_strategy": "steps",
        "save_steps": saved,
        "save_total_limit": 2,
        "eval_strategy": "steps" if plan.rows.held_out else "no",
        "eval_steps": saved,
        "report_to": "none",
        "disable_tqdm": True,
        "dataloader_pin_memory": on_gpu,
        "remove_unused_columns": True,
    }


def _make_watcher(listen: Listen) -> Any:
    """Return a callback that reports each step, and seals each checkpoint when it is complete."""
    from transformers import TrainerCallback

    def report(self: Any, args: Any, state: Any, control: Any, **more: Any) -> None:
        listen(state.global_step, state.max_steps)

    def seal(self: Any, args: Any, state: Any, control: Any, **more: Any) -> None:
        seal_checkpoint(Path(args.output_dir) / f"checkpoint-{state.global_step}")

    return type("Watcher", (TrainerCallback,), {"on_step_end": report, "on_save": seal})()


def _make_card(
    plan: TuningPlan, lines: list[Line], steps: int, seconds: float, checkpoint: Path | None
) -> dict[str, Any]:
    """Return the card: what was tuned, on which data, how, by which versions, and how far it went."""
    held = [line["held_out_loss"] for line in lines if "held_out_loss" in line]
    return {
        "made_by": f"pkg {__version__}",
        "kind": "model" if plan.recipe.method == "full" else "adapter",
        "base": {"model": f"hf:{plan.base}", "identity": plan.identity, "precision": plan.precision},
        "data": {
            "files": [each._asdict() for each in plan.rows.files],
            "trained_on": len(plan.rows.train),
            "held_out": len(plan.rows.held_out),
            "left_out": dict(plan.rows.left_out.most_common()),
            "tokens": plan.lengths[0].tokens,
        },
        "steps": steps,
        "held_out_loss": [held[0], held[-1]] if held else [],
        "seconds": round(seconds, 1),
        "resumed": checkpoint is not None,
        "device": plan.device,
        "versions": dict(_list_versions()),
        "run": plan.key,
    }


def _list_versions() -> Iterator[tuple[str, str]]:
    for package in VERSIONS:
        with suppress(PackageNotFoundError):
            yield package, version(package)


def _write_result(trainer: Any, plan: TuningPlan, folder: Path, lines: list[Line], card: dict[str, Any]) -> list[str]:
    """Write weights, tokenizer, curves and card into a new folder; return notes."""
    folder.mkdir(exist_ok=True)
    model = trainer.accelerator.unwrap_model(trainer.model)
    save_weights(model, folder)
    if plan.recipe.method == "full":
        trainer.processing_class.save_pretrained(str(folder))
    title = f"{plan.task} of {Path(split_adapters(plan.base)[0]).name}"
    notes = write_curves(lines, folder, title)
    write_card(folder, card)
    return notes


def save_weights(model: Any, folder: Path) -> None:
    """Write the weights of a model or an adapter as safetensors."""
    model.save_pretrained(str(folder), safe_serialization=True)
