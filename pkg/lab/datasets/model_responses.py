"""Have several models answer instructions, each after a principle of what is looked for (C-02 to C-04, C-07)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random

from pkg.errors import UsageError
from pkg.lab.datasets.asking import Asker, Reply, Request, run_step
from pkg.lab.datasets.dataset_options import DatasetOptions
from pkg.lab.datasets.dataset_rows import Place, Row, StepCounts
from pkg.lab.datasets.step_estimate import StepEstimate, estimate_requests
from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.templates import PREFERENCES, choose_principle
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Message
from pkg.models.usage import Price
from pkg.quoting.data_marks import quote_data

RESPONSES = "responses"
NOWHERE = Place("", None, "")  # an instruction is about no file
NO_RESPONSE = "no response of one of its models"

OpenAsker = Callable[[str], AbstractContextManager[Asker]]


@dataclass(frozen=True, slots=True)
class Task:
    """An instruction, what is looked for in a response, and which models answer it."""

    id: str
    instruction: str
    preference: str
    models: tuple[str, ...]


def plan_tasks(
    items: Sequence[JudgedItem], models: Sequence[str], preferences: Sequence[str], per_item: int | None, seed: int
) -> list[Task]:
    """Give each instruction a preference, where it has none, and draw its models from the pool.

    Preferences are shared out in equal parts, in an order that the seed draws (C-02). per_item: models for each (C-03,
    which draws 4 of 14); None for all. Raises UsageError for a preference that is none.
    """
    unknown = [each for each in preferences if each not in PREFERENCES]
    if unknown:
        raise UsageError(f"no preference '{unknown[0]}'; expected of {', '.join(PREFERENCES)}")
    wanted = list(preferences or PREFERENCES)
    shares = [wanted[index % len(wanted)] for index in range(len(items))]
    Random(f"{seed}:preferences").shuffle(shares)
    return [
        Task(
            item.id,
            item.question,
            item.preference if item.preference in PREFERENCES else share,
            _draw_models(item.id, models, per_item, seed),
        )
        for item, share in zip(items, shares, strict=True)
    ]


def _draw_models(item: str, models: Sequence[str], per_item: int | None, seed: int) -> tuple[str, ...]:
    count = len(models) if per_item is None else min(per_item, len(models))
    return tuple(Random(f"{seed}:{item}").sample(list(models), count))


def ask_model(tasks: Sequence[Task], model: str, options: DatasetOptions, with_principles: bool) -> Iterator[Request]:
    """Ask one model for the responses that it was drawn for."""
    for task in tasks:
        if model in task.models:
            principle = choose_principle(task.preference, task.id, model, options.seed) if with_principles else ""
            messages = [Message("system", principle)] if principle else []
            asked = Conversation((*messages, Message("user", quote_data(task.instruction))))
            row = {"id": task.id, "principle": principle}
            yield Request(NOWHERE, row, asked, options.decode())


def write_responses(
    tasks: Sequence[Task], open_asker: OpenAsker, options: DatasetOptions, with_principles: bool, counts: StepCounts
) -> Iterator[Row]:
    """Give a record of each task with the responses of its models; one that lacks a response is dropped and counted.

    One model is open at a time, so the records come when all have answered; every text is kept as soon as it is there.
    """
    written: dict[str, Mapping[str, Row]] = {}
    for model in dict.fromkeys(model for task in tasks for model in task.models):
        with open_asker(model) as asker:
            requests = ask_model(tasks, model, options, with_principles)
            written[model] = {str(row["id"]): row for row in run_step(asker, requests, _read_reply, counts)}
    for task in tasks:
        found = [written[model].get(task.id) for model in task.models]
        responses = [
            {"model": model, "response": row["response"], "principle": row["principle"]}
            for model, row in zip(task.models, found, strict=True)
            if row is not None
        ]
        if len(responses) < len(task.models):
            counts.drop(NO_RESPONSE)
            continue
        counts.written += 1
        yield {
            "id": task.id,
            "instruction": task.instruction,
            "preference": task.preference,
            "models": list(task.models),
            "responses": responses,
            "step": RESPONSES,
            "seed": options.seed,
        }


def _read_reply(reply: Reply) -> list[Row] | str:
    text = reply.text.strip()
    return [{**reply.request.row, "response": text}] if text else "nothing written"


def estimate_responses(
    tasks: Sequence[Task], options: DatasetOptions, with_principles: bool, price: Price | None
) -> Iterator[tuple[str, StepEstimate]]:
    """Estimate what each model is asked for."""
    for model in dict.fromkeys(model for task in tasks for model in task.models):
        yield model, estimate_requests(RESPONSES, ask_model(tasks, model, options, with_principles), price)
