"""The size of a run before it starts: steps and tokens exactly, memory and time by device as estimates.

Nothing of the weights is loaded: the shape of the base is that of its configuration.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pkg.errors import ModelError
from pkg.lab.tuning.recipes import Recipe, Task
from pkg.lab.tuning.row_lengths import RowLengths, count_packed
from pkg.lab.tuning.tuning_rows import TuningRows

GIB = 1 << 30
BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "nf4": 0.5625}  # of a weight; nf4 with its scales
PROCESS = {"cpu": 1.0 * GIB, "cuda": 1.5 * GIB, "mps": 1.0 * GIB}  # Python with its packages, the context of a GPU
UTILISED = {"cpu": 0.4, "cuda": 0.35, "mps": 0.3}  # of the speed of a large product of matrices
LAYER_SECONDS = {"cpu": 4e-4, "cuda": 1e-4, "mps": 2e-4}  # of one layer and pass at least, however small

CARDS = (("RTX A5000, 24 GB", 24, 111e12), ("RTX A6000, 48 GB", 48, 155e12), ("A100, 80 GB", 80, 312e12))
"""GPUs to compare with: GiB and operations a second in bfloat16; the first two are those of the papers (C-15, Q-13)."""


@dataclass(frozen=True, slots=True)
class BaseShape:
    """Sizes of a base."""

    parameters: int
    in_linear: int  # parameters of linear layers except the output
    adapter: int  # parameters of LoRA by the recipe
    layers: int
    hidden: int
    inner: int
    words: int


@dataclass(frozen=True, slots=True)
class DeviceEstimate:
    """Memory and time of a run on one device."""

    device: str
    is_here: bool
    precision: str
    needed_bytes: int
    free_bytes: int
    seconds: float | None  # None if it cannot run there

    @property
    def fits(self) -> bool:
        """Return whether the run fits into the free memory."""
        return self.needed_bytes <= self.free_bytes


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """Size of a run, and its devices, that which will run it first."""

    rows: int
    held_out: int
    left_out: dict[str, int]
    sequences: int  # of an epoch: rows or pairs, fewer if packed
    tokens: int  # of an epoch
    longest: int
    steps: int
    warmup_steps: int
    parameters: int
    trained: int
    devices: tuple[DeviceEstimate, ...]

    def describe(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        return {**asdict(self), "devices": [{**asdict(each), "fits": each.fits} for each in self.devices]}


def count_steps(sequences: int, recipe: Recipe) -> int:
    """Return the steps of the optimiser; the last step of an epoch may be smaller."""
    batches = -(-sequences // recipe.micro_batch)
    steps = math.ceil(recipe.epochs * max(1, -(-batches // recipe.accumulation)))
    return min(steps, recipe.max_steps) if recipe.max_steps else steps


def read_shape(config: Any, recipe: Recipe, torch: Any, transformers: Any) -> BaseShape:
    """Return the sizes of a base from its configuration; raises ModelError if no layer has a name of the recipe."""
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    output = model.get_output_embeddings()
    linear = [each for each in model.modules() if isinstance(each, torch.nn.Linear) and each is not output]
    if recipe.targets != "all-linear":
        names = tuple(recipe.targets.replace(" ", "").split(","))
        chosen = [each for name, each in model.named_modules() if name.endswith(names) and each in linear]
    else:
        chosen = linear
    if not chosen:
        raise ModelError(
            f"the base has no layer of the recipe's targets ({recipe.targets}); expected all-linear, or the ends of"
            " names, such as q_proj,v_proj"
        )
    text = config.get_text_config()
    return BaseShape(
        parameters=int(model.num_parameters()),
        in_linear=sum(each.weight.numel() for each in linear),
        adapter=sum(recipe.rank * (each.in_features + each.out_features) for each in chosen),
        layers=int(text.num_hidden_layers),
        hidden=int(text.hidden_size),
        inner=int(getattr(text, "intermediate_size", None) or 4 * text.hidden_size),
        words=int(text.vocab_size),
    )


def estimate_run(
    rows: TuningRows,
    lengths: tuple[RowLengths, RowLengths],
    recipe: Recipe,
    task: Task,
    shape: BaseShape,
    here: Sequence[tuple[str, str, int, float]],
) -> RunEstimate:
    """Estimate a run on rows that fit.

    here: device, precision, free bytes and operations a second of the devices of this machine, the used one first.
    """
    trained_on, held = lengths
    sequences = len(rows.train)
    longest = max((max(each) for each in (*trained_on.whole, *held.whole)), default=0)
    if recipe.packing and task == "sft":
        sequences = count_packed([each[0] for each in trained_on.whole], recipe.max_length)
        longest = recipe.max_length
    steps = count_steps(sequences, recipe)
    epochs = min(recipe.epochs, steps * recipe.batch / sequences)
    work = _count_work(trained_on.tokens * epochs, held.tokens, recipe, task, shape)
    passes = steps * recipe.accumulation * shape.layers * (3 if task == "sft" else 4)
    cards = [(name, "bfloat16", int(size * GIB), speed, False) for name, size, speed in CARDS]
    devices = []
    for name, precision, free, speed, is_here in [*((*each, True) for each in here), *cards]:
        kind = name.partition(":")[0] if is_here else "cuda"
        needed = sum(count_memory(shape, recipe, task, precision, longest, kind).values())
        can_run = recipe.method != "qlora" or kind == "cuda"
        seconds = work / speed / UTILISED[kind] + passes * LAYER_SECONDS[kind] if can_run else None
        devices.append(DeviceEstimate(name, is_here, precision, int(needed), free, seconds))
    return RunEstimate(
        rows=len(rows.train),
        held_out=len(rows.held_out),
        left_out=dict(rows.left_out.most_common()),
        sequences=sequences,
        tokens=trained_on.tokens,
        longest=longest,
        steps=steps,
        warmup_steps=math.ceil(recipe.warmup * steps),
        parameters=shape.parameters,
        trained=shape.parameters if recipe.method == "full" else shape.adapter,
        devices=tuple(devices),
    )


SPEED_SECONDS = 0.4  # of the measurement
EVALUATIONS = 11  # before the first step, and ten in the run


def _count_work(tokens: float, held: float, recipe: Recipe, task: Task, shape: BaseShape) -> float:
    """Return the operations of a run: two for each weight and token forward, the same for each of two gradients."""
    weights = shape.in_linear + shape.words * shape.hidden
    forward = 2.0 * weights
    backward = 2 * forward if recipe.method == "full" else forward + 4.0 * shape.adapter
    again = forward if recipe.gradient_checkpointing else 0.0
    reference = forward if task == "dpo" else 0.0
    return tokens * (forward + backward + again + reference) + EVALUATIONS * held * (forward + reference)


def count_memory(
    shape: BaseShape, recipe: Recipe, task: Task, precision: str, longest: int, kind: str
) -> dict[str, float]:
    """Return bytes by part: process, weights, reference, trained (gradients and optimiser), activations, outputs."""
    size = 4.0 if recipe.method == "full" else BYTES[precision]
    weights = shape.parameters * size
    if recipe.method == "qlora":
        weights = shape.in_linear * BYTES["nf4"] + (shape.parameters - shape.in_linear) * BYTES["bfloat16"]
    trained = shape.parameters * 12.0 if recipe.method == "full" else shape.adapter * 16.0
    tokens = recipe.micro_batch * longest * (2 if task == "dpo" else 1)
    if recipe.packing and task == "sft":
        tokens = recipe.micro_batch * recipe.max_length
    width = BYTES[precision]
    # Values kept for the gradients, and their copies: fitted to two measured runs (benchmarks/results/tuning.json).
    layer = tokens * width * (22 * shape.hidden + 6 * shape.inner)
    kept = shape.layers * layer
    if recipe.gradient_checkpointing:
        kept = layer + shape.layers * tokens * width * shape.hidden
    return {
        "process": PROCESS[kind],
        "weights": weights,
        "reference": weights if task == "dpo" and recipe.method == "full" else 0.0,
        "trained": trained,
        "activations": kept,
        "outputs": tokens * shape.words * 4.0 * 5,  # scores, their logarithms and gradients, in float32
    }


def measure_speed(torch: Any, device: str, precision: str) -> float:
    """Return the operations a second of products of matrices on a device, measured for a fraction of a second.

    The fastest product counts, because others wait for other processes.
    """
    width = 512 if device == "cpu" else 4096
    one = torch.ones(width, width, dtype=getattr(torch, precision), device=device)
    fastest, end = math.inf, time.perf_counter() + SPEED_SECONDS
    while (began := time.perf_counter()) < end:
        one @ one
        if device != "cpu":
            torch.accelerator.synchronize()
        fastest = min(fastest, time.perf_counter() - began)
    return 2.0 * width**3 / fastest


def check_memory(estimate: RunEstimate, recipe: Recipe) -> None:
    """Raise ModelError if a run needs more memory than its device has free."""
    device = estimate.devices[0]
    if device.fits:
        return
    smaller = [] if recipe.micro_batch == 1 else ["--set micro_batch=1"]
    smaller += [] if recipe.gradient_checkpointing else ["--set gradient_checkpointing=true"]
    smaller += ["--set method=lora"] if recipe.method == "full" else []
    raise ModelError(
        f"this run needs about {device.needed_bytes / GIB:.1f} GiB on {device.device}, of which"
        f" {device.free_bytes / GIB:.1f} are free; try {', '.join(smaller) or 'a smaller base'}, or --ignore-memory"
    )
