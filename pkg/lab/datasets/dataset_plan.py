"""The use case that makes a set: read what it is about, then write rows without a model, or ask one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from pkg.errors import UsageError
from pkg.lab.datasets import import_pairs, import_questions, section_questions
from pkg.lab.datasets.asking import Asker, Request
from pkg.lab.datasets.dataset_options import DatasetOptions
from pkg.lab.datasets.dataset_rows import Row, StepCounts, Tally, draw, drop_twins
from pkg.lab.datasets.file_pieces import CHUNK_SIZE, CHUNKS, SNIPPET_SIZE, is_python, write_chunks, write_snippets
from pkg.lab.datasets.import_tables import read_importing_files
from pkg.lab.datasets.pair_checks import Repositories
from pkg.lab.datasets.repository_texts import list_paths, read_texts
from pkg.lab.datasets.step_chain import estimate_steps, plan_steps, run_steps
from pkg.lab.datasets.step_estimate import StepEstimate, estimate_requests
from pkg.lab.datasets.text_cache import TextCache
from pkg.models.text_model import TextModel, Usage
from pkg.models.usage import Price

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

PlainStep = Literal["snippets", "chunks", "dependencies", "meta"]
"""Steps that need no model; the last two may have one."""
DatasetStep = Literal["snippets", "chunks", "dependencies", "meta", "explain", "questions", "curate"]
PLAIN_STEPS: tuple[PlainStep, ...] = get_args(PlainStep)


@dataclass(frozen=True, slots=True)
class Dataset:
    """The rows of a set, what each step took, wrote and dropped, and what the model was asked for."""

    rows: tuple[Row, ...]
    counts: tuple[StepCounts, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class AskingPlan:
    """What a model will be asked about, which is read already."""

    estimate: Callable[[Price | None], list[StepEstimate]]
    make: Callable[[Asker], Iterator[Row]]


def make_dataset(
    store: GraphStore,
    step: DatasetStep,
    source: str | None,
    model: TextModel | None,
    options: DatasetOptions,
    rows: Sequence[Row] | None = None,
) -> Dataset:
    """Make a set of a graph, or of the rows of an earlier step; a UsageError for a step that needs a model."""
    tally = Tally()
    if model is None:
        if step not in PLAIN_STEPS:
            raise UsageError(f"the step {step} needs a model; without one there are: {', '.join(PLAIN_STEPS)}")
        return Dataset(tuple(make_plain(store, step, source, options, tally)), tuple(tally.steps.values()), Usage())
    plan = plan_asking(store, step, source, options, tally, rows)
    with closing(TextCache()) as cache, closing(Asker(model, cache)) as asker:
        made = tuple(plan.make(asker))
        return Dataset(made, tuple(tally.steps.values()), asker.usage)


def make_plain(
    store: GraphStore, step: PlainStep, source: str | None, options: DatasetOptions, tally: Tally
) -> list[Row]:
    """Make the rows of a step without a model, or as many as the limit draws."""
    counts = tally.step(step)
    made = list(drop_twins(_write_plain(store, step, source, options, counts), counts))
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


def plan_asking(
    store: GraphStore | None,
    step: DatasetStep,
    source: str | None,
    options: DatasetOptions,
    tally: Tally,
    rows: Sequence[Row] | None = None,
) -> AskingPlan:
    """Read what a model will be asked about: files, sections, or chunks, or the rows of an earlier step.

    store: None where rows are given and their repository is in no graph. Raises UsageError for a step that asks none,
    and for rows that do not lead to it.
    """
    if rows is None and store is None:
        raise UsageError(f"neither a graph nor rows for the step {step}; give one of them")
    if step == "dependencies" and store is not None:
        return _plan_imports(store, source, options, tally)
    if step == "meta" and store is not None:
        return _plan_sections(store, source, options, tally)
    if step in PLAIN_STEPS:
        raise UsageError(f"the step {step} asks no model; leave it out")
    return _plan_chain(store, step, source, options, tally, rows)


def _plan_imports(store: GraphStore, source: str | None, options: DatasetOptions, tally: Tally) -> AskingPlan:
    files = draw(read_importing_files(store, source), options.limit, options.seed)
    repositories, counts = _find_repositories(store, ()), tally.step(import_questions.STEP)
    return AskingPlan(
        _estimate(counts.step, lambda: import_pairs.ask_tables(files, options)),
        lambda asker: import_pairs.write_pairs(files, asker, options, counts, repositories),
    )


def _plan_sections(store: GraphStore, source: str | None, options: DatasetOptions, tally: Tally) -> AskingPlan:
    sections = section_questions.read_sections(store, source)
    read, counts = tally.step("sections"), tally.step(section_questions.STEP)
    kept = section_questions.keep_askable(sections, read)
    read.taken, read.written = len(sections), len(kept)
    kept = draw(kept, options.limit, options.seed)
    repositories = _find_repositories(store, ())
    return AskingPlan(
        _estimate(counts.step, lambda: section_questions.ask_sections(kept, options)),
        lambda asker: section_questions.write_pairs(kept, asker, options, counts, repositories),
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
) -> AskingPlan:
    """Begin with the rows that were given, else with the chunks of a graph."""
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
    return AskingPlan(
        lambda price: list(estimate_steps(found, steps, options, price)),
        lambda asker: run_steps(found, steps, asker, options, tally, repositories),
    )


def _find_repositories(store: GraphStore | None, rows: Iterable[Row]) -> Repositories:
    """Tell which files there are: those of the graph, and of a source that it does not have those of the rows."""
    paths: dict[str, set[str]] = {}
    for row in rows:
        paths.setdefault(row["source"], set()).add(row["path"])
    if store is not None:
        paths |= {each.name: set(list_paths(store, each.name)) for each in store.sources()}
    return Repositories(paths)
