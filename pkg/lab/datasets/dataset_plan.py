"""Building a dataset: read the files of a graph or earlier rows, then write rows without or with a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal, get_args

from pkg.errors import UsageError
from pkg.graph.store import GraphStore
from pkg.lab.datasets import import_questions, section_questions
from pkg.lab.datasets.dataset_rows import Row, StepCounts, Tally, draw, drop_duplicates
from pkg.lab.datasets.file_pieces import (
    CHUNK_SIZE,
    CHUNKS,
    SNIPPET_SIZE,
    is_python,
    list_paths,
    read_texts,
    write_chunks,
    write_snippets,
)
from pkg.lab.datasets.import_questions import read_importing_files
from pkg.lab.datasets.pair_checks import Repositories
from pkg.lab.datasets.request_runner import Request, RequestRunner, StepEstimate, estimate_requests
from pkg.lab.datasets.self_augmentation import estimate_steps, plan_steps, run_steps
from pkg.lab.lab_options import DatasetOptions
from pkg.models.text_cache import TextCache
from pkg.models.text_model import TextModel, Usage
from pkg.models.usage import Price

PlainStep = Literal["snippets", "chunks", "dependencies", "meta"]
"""Steps that need no model; the last two can use one."""

DatasetStep = Literal["snippets", "chunks", "dependencies", "meta", "explain", "questions", "curate"]
PLAIN_STEPS: tuple[PlainStep, ...] = get_args(PlainStep)


@dataclass(frozen=True, slots=True)
class Dataset:
    """The rows of a dataset, the counts of each step, and the usage of the model."""

    rows: tuple[Row, ...]
    counts: tuple[StepCounts, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """The requests of a run: their estimate, and a function that runs them."""

    estimate: Callable[[Price | None], list[StepEstimate]]
    make: Callable[[RequestRunner], Iterator[Row]]


def make_dataset(
    store: GraphStore,
    step: DatasetStep,
    source: str | None,
    model: TextModel | None,
    options: DatasetOptions,
    rows: Sequence[Row] | None = None,
) -> Dataset:
    """Build a dataset from a graph, or from rows of an earlier step; raises UsageError if the step needs a model."""
    tally = Tally()
    if model is None:
        if step not in PLAIN_STEPS:
            raise UsageError(f"the step {step} needs a model; without one there are: {', '.join(PLAIN_STEPS)}")
        return Dataset(tuple(make_plain(store, step, source, options, tally)), tuple(tally.steps.values()), Usage())
    plan = plan_requests(store, step, source, options, tally, rows)
    with closing(TextCache()) as cache, closing(RequestRunner(model, cache)) as runner:
        made = tuple(plan.make(runner))
        return Dataset(made, tuple(tally.steps.values()), runner.usage)


def make_plain(
    store: GraphStore, step: PlainStep, source: str | None, options: DatasetOptions, tally: Tally
) -> list[Row]:
    """Return the rows of a step without a model, drawn up to the limit."""
    counts = tally.step(step)
    made = list(drop_duplicates(_write_plain(store, step, source, options, counts), counts))
    drawn = draw(made, options.limit, options.seed)
    counts.written = len(drawn)
    counts.drop("not drawn", len(made) - len(drawn))
    return drawn


def _write_plain(
    store: GraphStore, step: PlainStep, source: str | None, options: DatasetOptions, counts: StepCounts
) -> Iterable[Row]:
    if step == "snippets":
        return write_snippets(read_texts(store, source, is_python), options.size or SNIPPET_SIZE, counts)
    if step == "chunks":
        return write_chunks(read_texts(store, source), options.size or CHUNK_SIZE, options.overlap, counts)
    if step == "dependencies":
        return import_questions.write_questions(read_importing_files(store, source), options.seed, counts)
    return section_questions.write_questions(section_questions.read_sections(store, source), counts)


def plan_requests(
    store: GraphStore | None,
    step: DatasetStep,
    source: str | None,
    options: DatasetOptions,
    tally: Tally,
    rows: Sequence[Row] | None = None,
) -> RequestPlan:
    """Read the inputs of a step with a model: files, sections, or chunks, or the rows of an earlier step.

    store: None if rows are given and their repository is in no graph. Raises UsageError for a step that uses no model,
    and for rows from which no step leads to it.
    """
    if rows is None and store is None:
        raise UsageError(f"neither a graph nor rows for the step {step}; pass one of them")
    if step == "dependencies" and store is not None:
        return _plan_imports(store, source, options, tally)
    if step == "meta" and store is not None:
        return _plan_sections(store, source, options, tally)
    if step in PLAIN_STEPS:
        raise UsageError(f"the step {step} uses no model; leave it out")
    return _plan_chain(store, step, source, options, tally, rows)


def _plan_imports(store: GraphStore, source: str | None, options: DatasetOptions, tally: Tally) -> RequestPlan:
    files = draw(read_importing_files(store, source), options.limit, options.seed)
    repositories, counts = _find_repositories(store, ()), tally.step(import_questions.STEP)
    return RequestPlan(
        _estimate(counts.step, lambda: import_questions.request_table_pairs(files, options)),
        lambda runner: import_questions.write_pairs(files, runner, options, counts, repositories),
    )


def _plan_sections(store: GraphStore, source: str | None, options: DatasetOptions, tally: Tally) -> RequestPlan:
    sections = section_questions.read_sections(store, source)
    read, counts = tally.step("sections"), tally.step(section_questions.STEP)
    kept = section_questions.keep_askable(sections, read)
    read.taken, read.written = len(sections), len(kept)
    kept = draw(kept, options.limit, options.seed)
    repositories = _find_repositories(store, ())
    return RequestPlan(
        _estimate(counts.step, lambda: section_questions.request_section_pairs(kept, options)),
        lambda runner: section_questions.write_pairs(kept, runner, options, counts, repositories),
    )


def _estimate(step: str, ask: Callable[[], Iterable[Request]]) -> Callable[[Price | None], list[StepEstimate]]:
    return lambda price: [estimate_requests(step, ask(), price)]


def _plan_chain(
    store: GraphStore | None,
    step: str,
    source: str | None,
    options: DatasetOptions,
    tally: Tally,
    rows: Sequence[Row] | None,
) -> RequestPlan:
    """Plan the steps from the given rows, or from the chunks of a graph."""
    if rows is None:
        assert store is not None
        counts = tally.step(CHUNKS)
        found = list(write_chunks(read_texts(store, source), options.size or CHUNK_SIZE, options.overlap, counts))
        counts.written = len(found)
    else:
        found = [row for row in rows if source in (None, row["source"])]
    steps = plan_steps(found, step)
    found = draw(found, options.limit, options.seed)
    repositories = _find_repositories(store, found)
    return RequestPlan(
        lambda price: list(estimate_steps(found, steps, options, price)),
        lambda runner: run_steps(found, steps, runner, options, tally, repositories),
    )


def _find_repositories(store: GraphStore | None, rows: Iterable[Row]) -> Repositories:
    """Return the paths of each source: those of the graph, or those of the rows if the graph lacks the source."""
    paths: dict[str, set[str]] = {}
    for row in rows:
        paths.setdefault(row["source"], set()).add(row["path"])
    if store is not None:
        paths |= {each.name: set(list_paths(store, each.name)) for each in store.sources()}
    return Repositories(paths)
