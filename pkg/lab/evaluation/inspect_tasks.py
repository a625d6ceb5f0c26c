"""HumanEval and MBPP as tasks of Inspect, for users of its viewer (docs/commands.md).

Items, prompts, context and scores are those of `pkg eval`; Inspect runs the model, and its log is the record.
"""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

from pkg.errors import MissingExtraError, UsageError
from pkg.generation.prompt_templates.prompt_template import HelperText, Prompt, make_task
from pkg.generation.prompt_templates.template_choice import TEMPLATES, check_template
from pkg.lab.evaluation.code.benchmarks import Benchmark, Item, draw_items, read_benchmark
from pkg.lab.evaluation.code.contexts import ContextFinder
from pkg.lab.evaluation.code.evaluation_conditions import choose_conditions
from pkg.lab.evaluation.code.hidden_tests import LIMITS, PLUS_LIMITS, HiddenTests, Score, score_all
from pkg.rerank.diagnosis import check_answer
from pkg.sandbox.worker_pool import open_sandbox

try:
    # Inspect recognises tasks by the bare name of their decorator.
    from inspect_ai import Task, dataset, model, scorer, solver, task
except ImportError as fault:
    raise MissingExtraError("inspect-ai", "inspect", "a task of Inspect") from fault

MAX_TOKENS = 512  # of an answer, as in the paper (P-22)


@task
def humaneval(
    data: str, plus: bool = False, context: str = "none", store: str = "", form: str = "brief", limit: int | None = None
) -> Any:
    """Make the task HumanEval; data: its file or folder, context: a written column, store: the graph."""
    return _make_task(read_benchmark("humaneval" + "+" * plus, Path(data)), context, store, form, limit)


@task
def mbpp(
    data: str, plus: bool = False, context: str = "none", store: str = "", form: str = "brief", limit: int | None = None
) -> Any:
    """Make the task MBPP, its 500 test tasks; the parameters are those of humaneval."""
    return _make_task(read_benchmark("mbpp" + "+" * plus, Path(data)), context, store, form, limit)


def _make_task(whole: Benchmark, context: str, store: str, form: str, limit: int | None) -> Any:
    benchmark = draw_items(whole, limit, seed=0)
    check_template(form)
    shown = _find_context(benchmark, context, store)
    samples = [
        dataset.Sample(input=item.task, target=item.reference, id=item.id, metadata={"shown": shown[item.id]})
        for item in benchmark.items
    ]
    return Task(
        dataset=dataset.MemoryDataset(samples, name=benchmark.name),
        solver=[write_prompt(form), solver.generate()],
        scorer=run_tests(benchmark),
        config=model.GenerateConfig(temperature=0.0, max_tokens=MAX_TOKENS),
    )


def _find_context(benchmark: Benchmark, context: str, store: str) -> dict[str, list[list[str]]]:
    """Return the shown code of each item as place and text; raises UsageError for a column that is not written."""
    condition = choose_conditions([context])[-1]
    if condition.kind != "written":
        raise UsageError(f"the column {context} chooses among answers; expected one that a model writes")
    if condition.needs_documents:
        raise UsageError(f"the column {context} shows rows of files; expected one of: pkg eval humaneval, mbpp")
    if not condition.needs_graph:
        return {item.id: [] for item in benchmark.items}
    if not store:
        raise UsageError(f"the column {context} shows code of a graph; name one, such as -T store=sqlite:///graph.db")
    from pkg.graph.opening import open_store
    from pkg.indexing.store_encoder import load_store_encoder

    with closing(open_store(store)) as graph:
        finder = ContextFinder(graph, load_store_encoder(graph))
        found = {item.id: finder.find(condition.finder, item).helpers for item in benchmark.items}
        return {item: [list(helper) for helper in helpers] for item, helpers in found.items()}


def _render(form: str, text: str, shown: list[list[str]]) -> Prompt:
    prompt = TEMPLATES[form].render(make_task(text), [HelperText(place, code) for place, code in shown])
    if prompt.text is not None or prompt.begun:
        raise UsageError(f"the form {form} begins the answer, which Inspect's models do not all go on with; try brief")
    return prompt


_MESSAGES = {"user": model.ChatMessageUser, "system": model.ChatMessageSystem, "assistant": model.ChatMessageAssistant}


@solver.solver
def write_prompt(form: str = "brief") -> Any:
    """Return the solver that writes the prompt of a sample in a prompt template, with the code found for it."""

    async def solve(state: Any, generate: Any) -> Any:
        prompt = _render(form, state.input_text, state.metadata["shown"])
        state.messages = [_MESSAGES[message.role](content=message.content) for message in prompt.messages]
        return state

    return solve


@scorer.scorer(metrics=[scorer.accuracy(), scorer.stderr()])
def run_tests(benchmark: Benchmark) -> Any:
    """Return the scorer that runs the hidden tests of an item in PKG's sandbox."""
    items = {item.id: item for item in benchmark.items}
    limits = PLUS_LIMITS if benchmark.name.endswith("+") else LIMITS

    async def score(state: Any, target: Any) -> Any:
        code, found = await asyncio.to_thread(_judge, items[state.sample_id], state.output.completion, limits)
        value = scorer.CORRECT if found.passed else scorer.INCORRECT
        return scorer.Score(value=value, answer=code, explanation=f"{found.error} {found.detail}".strip())

    return score


def _judge(item: Item, answer: str, limits: Any) -> tuple[str, Score]:
    with open_sandbox() as sandbox:
        code = check_answer(answer, item.task, (), sandbox=sandbox).code
        (found,) = score_all(HiddenTests(sandbox, limits), [(code, item)])
        return code, found
