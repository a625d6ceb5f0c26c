"""Responses of several models to instructions, each preceded by a principle (C-02 to C-04, C-07)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random

from pkg.errors import UsageError
from pkg.lab.datasets.dataset_rows import Place, Row, StepCounts
from pkg.lab.datasets.request_runner import Reply, Request, RequestRunner, StepEstimate, estimate_requests, run_step
from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.judge_tasks import PREFERENCES, choose_principle
from pkg.lab.lab_options import DatasetOptions
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Message
from pkg.models.usage import Price
from pkg.quoting.data_marks import quote_data

RESPONSES = "responses"
NO_PLACE = Place("", None, "")  # instructions are not about a file
NO_RESPONSE = "no response of one of its models"

OpenRunner = Callable[[str], AbstractContextManager[RequestRunner]]


@dataclass(frozen=True, slots=True)
class Task:
    """An instruction, the preference that its responses are rated by, and the models that answer it."""

    id: str
    instruction: str
    preference: str
    models: tuple[str, ...]


def plan_tasks(
    items: Sequence[JudgedItem], models: Sequence[str], preferences: Sequence[str], per_item: int | None, seed: int
) -> list[Task]:
    """Assign a preference to each instruction without one, and draw its models.

    Preferences are assigned in equal parts, in an order that the seed draws (C-02). per_item: models for each (4 of 14
    in C-03); None for all. Raises UsageError for an unknown preference.
    """
    unknown = [each for each in preferences if each not in PREFERENCES]
    if unknown:
        raise UsageError(f"no preference '{unknown[0]}'; expected one of {', '.join(PREFERENCES)}")
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


def request_responses(
    tasks: Sequence[Task], model: str, options: DatasetOptions, with_principles: bool
) -> Iterator[Request]:
    """Yield the requests to one model."""
    for task in tasks:
        if model in task.models:
            principle = choose_principle(task.preference, task.id, model, options.seed) if with_principles else ""
            messages = [Message("system", principle)] if principle else []
            prompt = Conversation((*messages, Message("user", quote_data(task.instruction))))
            row = {"id": task.id, "principle": principle}
            yield Request(NO_PLACE, row, prompt, options.make_decoding())


def write_responses(
    tasks: Sequence[Task], open_runner: OpenRunner, options: DatasetOptions, with_principles: bool, counts: StepCounts
) -> Iterator[Row]:
    """Yield a record of each task with the responses of its models; drops and counts incomplete ones.

    One model is open at a time, so the first record follows the last response; each text is cached when it is complete.
    """
    written: dict[str, Mapping[str, Row]] = {}
    for model in dict.fromkeys(model for task in tasks for model in task.models):
        with open_runner(model) as runner:
            requests = request_responses(tasks, model, options, with_principles)
            written[model] = {str(row["id"]): row for row in run_step(runner, requests, _read_reply, counts)}
    for task in tasks:
        found = [written[model].get(task.id) for model in task.models]
        responses = [
            {"model": model, "response": row["response"], "principle": row["principle"], "is_cut": row["is_cut"]}
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
    return [{**reply.request.row, "response": text, "is_cut": reply.is_cut}] if text else "nothing written"


def estimate_responses(
    tasks: Sequence[Task], options: DatasetOptions, with_principles: bool, price: Price | None
) -> Iterator[tuple[str, StepEstimate]]:
    """Yield each model with the estimate of its requests."""
    for model in dict.fromkeys(model for task in tasks for model in task.models):
        yield model, estimate_requests(RESPONSES, request_responses(tasks, model, options, with_principles), price)
