"""Generate an answer without a graph, and choose the best of several answers."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from pkg.api.lazy_types import api_types
from pkg.argument_types import check_sequence, check_text
from pkg.rerank.candidates import CPU_SECONDS, INPUTS, STAGES, Ranking, RerankOptions


def rank_candidates(
    query: str,
    candidates: Sequence[str | Mapping[str, Any] | api_types.Candidate],
    *,
    examples: Sequence[Any] = (),
    stages: Sequence[api_types.StageName] = STAGES,
    weights: Mapping[str, float] | None = None,
    compare: api_types.Comparison = "stripped",
    sandbox: api_types.BackendName | None = None,
    jobs: int = 0,
    inputs: int = INPUTS,
    cpu_seconds: float = CPU_SECONDS,
    seed: int = 0,
    encoder: str = "static",
) -> Ranking:
    """Choose the best of several answers to a query, with reasons (P-23 to P-25, A-08); needs no graph.

    candidates: at least one text, or object with a text and optionally an id.
    examples: input and output examples such as "f(2) == 4" or {"call": "f(2)", "expected": 4}.
    The other options are those of pkg.RerankOptions. For many queries use rank_tasks, which keeps one sandbox.
    Raises InputError without candidates, TypeError for a text or mapping instead of a sequence.
    """
    from pkg.rerank.reranker import Reranker

    check_text("query", query, "a text, such as the task in words")
    check_sequence("candidates", candidates, 'texts, or of objects with the field text, such as [{"text": "x = 1"}]')
    check_sequence("examples", examples, 'texts or objects, such as ["f(2) == 4"]')
    check_sequence("stages", stages, f"names: {', '.join(STAGES)}")
    options = RerankOptions(
        stages=tuple(stages),
        weights=weights or {},
        compare=compare,
        sandbox=sandbox,
        jobs=jobs,
        inputs=inputs,
        cpu_seconds=cpu_seconds,
        seed=seed,
        encoder=encoder,
    )
    with Reranker(options) as reranker:
        return reranker.rerank(query, candidates, examples=examples)


def rank_tasks(
    tasks: Iterable[api_types.Task | api_types.Skip],
    *,
    options: RerankOptions | None = None,
    oracle: Mapping[api_types.Name, Any] | None = None,
) -> Iterator[Ranking | api_types.Skip]:
    """Rank tasks concurrently and yield the rankings in their order; a Skip for a task that cannot be ranked.

    oracle: hidden tests by task id, for research; their choice is no valid measurement.
    """
    from pkg.rerank.reranker import Reranker
    from pkg.rerank.tasks import rank_all

    check_sequence("tasks", tasks, "pkg.Task")
    with Reranker(options) as reranker:
        yield from rank_all(reranker, tasks, oracle)


def rank_stream(
    tasks: AsyncIterable[api_types.Task | api_types.Skip] | Iterable[api_types.Task | api_types.Skip],
    *,
    options: RerankOptions | None = None,
) -> AsyncIterator[Ranking | api_types.Skip]:
    """Rank tasks one by one as they arrive; yield a Skip for a task that cannot be ranked."""
    from pkg.rerank.reranker import Reranker
    from pkg.rerank.tasks import rank_one_by_one

    return rank_one_by_one(lambda: Reranker(options), tasks)


def generate_answer(
    text: str,
    model: str | api_types.TextModel,
    options: api_types.GenerateOptions | None = None,
    *,
    listen: api_types.Listen | None = None,
    say: Callable[[str], None] = lambda text: None,
    on_sample: Callable[[api_types.Sample], None] = lambda sample: None,
) -> api_types.WrittenAnswer:
    """Generate an answer to a question without a graph; Graph.generate adds context from the graph."""
    from pkg.generation.sample_writer import Context

    return generate_in_context(text, model, Context(), options, listen, say, on_sample)


def generate_in_context(
    text: str,
    model: str | api_types.TextModel,
    context: api_types.Context,
    options: api_types.GenerateOptions | None,
    listen: api_types.Listen | None,
    say: Callable[[str], None],
    on_sample: Callable[[api_types.Sample], None],
) -> api_types.WrittenAnswer:
    """Generate an answer with the given context; raises ModelError.

    Texts of the model are kept in the user's cache folder until the answer is complete, so that the same call continues
    after an interruption.
    """
    from pkg.cache_file import find_cache_file
    from pkg.generation.cascade import write_answer
    from pkg.generation.generate_options import GenerateOptions
    from pkg.generation.prompt_templates.template_choice import check_template
    from pkg.models.registry import use_model
    from pkg.models.text_cache import UNFINISHED, TextCache, UnfinishedTexts
    from pkg.rerank.reranker import Reranker

    options = options or GenerateOptions()
    check_template(options.form)  # before the model is loaded
    with use_model(model) as opened, Reranker() as reranker, closing(TextCache(find_cache_file(UNFINISHED))) as cache:
        kept = UnfinishedTexts(cache)
        answer = write_answer(
            text, opened, context, options, reranker, listen=listen, say=say, on_sample=on_sample, unfinished=kept
        )
        kept.finish()
    return answer
