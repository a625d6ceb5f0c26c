"""Run `pkg data`: make question sets of a repository, with the cost before and the counts after."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import click

from pkg.console.options import fresh_option, store_options
from pkg.console.settings import (
    combine,
    decode_option,
    model_setting,
    source_setting,
)
from pkg.console.streams import choose_ask
from pkg.errors import StoreMissingError, UsageError
from pkg.lab.commands.data_preferences import pairs, references, responses
from pkg.lab.commands.data_requests import (
    DEFAULTS,
    STDIN,
    agree_to_send,
    limit_option,
    model_options,
    open_runner,
    output_option,
    read_input,
    report_counts,
    report_estimates,
    seed_option,
    write_output,
)
from pkg.lab.lab_options import PAIR_TOKENS, DatasetOptions

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.lab.datasets.dataset_plan import DatasetStep, PlainStep
    from pkg.lab.datasets.dataset_rows import Row, Tally

ROW_FILES = (".jsonl", ".json")

_given = click.argument("given", metavar="[PATH]", required=False, callback=decode_option)


_input = combine(
    _given, store_options, source_setting(help="Take only this source."), fresh_option, output_option, seed_option
)  # fmt: skip


_writer = click.option(
    "--model", "writer", callback=decode_option, metavar="MODEL",
    help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER. Default: none.",
)  # fmt: skip
_needed_model = model_setting(help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER.")
_repeat = click.option(
    "--repeat", type=click.IntRange(1), default=DEFAULTS.repeat, show_default=True,
    help="Number of explanations of each chunk.",
)  # fmt: skip


@click.group("data")
def data() -> None:
    """Write a data set of questions and answers about a repository.

    PATH is an input of pkg build; without it, the graph of --store is used. Rows are JSON lines with their source;
    dropped rows are reported on standard error with the reason. Texts of a model are cached, so that
    the same command can be resumed.
    """


@data.command("snippets", epilog="Example:  pkg data snippets ~/src/shop -o snippets.jsonl")
@_input
@limit_option("Number of rows, sampled by --seed.")
@click.option(
    "--size", type=click.IntRange(1), default=2000, show_default=True, help="Length of a snippet in characters."
)
def snippets(size: int, **options: Any) -> None:
    """Cut Python files into snippets."""
    _run_plain("snippets", size=size, overlap=0, **options)


@data.command("chunks", epilog="Example:  pkg data chunks ~/src/shop -o chunks.jsonl")
@_input
@limit_option("Number of rows, sampled by --seed.")
@click.option(
    "--size", type=click.IntRange(1), default=1500, show_default=True, help="Length of a chunk in characters."
)
@click.option("--overlap", type=click.IntRange(0), default=DEFAULTS.overlap, show_default=True,
              help="Overlap of two chunks in characters.")  # fmt: skip
def chunks(**options: Any) -> None:
    """Cut all files into overlapping chunks."""
    _run_plain("chunks", **options)


@data.command("dependencies", epilog="Example:  pkg data dependencies ~/src/shop --limit 135 -o dependencies.jsonl")
@_input
@limit_option("Number of rows, or of files with --model, sampled by --seed.")
@_writer
@model_options(PAIR_TOKENS)
def dependencies(**options: Any) -> None:
    """Write questions about imports, with answers."""
    _run_either("dependencies", **options)


@data.command("meta", epilog="Example:  pkg data meta ~/src/shop -o meta.jsonl")
@_input
@limit_option("Number of rows, or of sections with --model, sampled by --seed.")
@_writer
@model_options(DEFAULTS.max_tokens)
def meta(**options: Any) -> None:
    """Write questions about documentation and settings."""
    _run_either("meta", **options)


@data.command("explain", epilog="Example:  pkg data explain chunks.jsonl --model gguf:coder.gguf -o explained.jsonl")
@_input
@limit_option("Number of chunks, sampled by --seed.")
@_needed_model
@_repeat
@model_options(DEFAULTS.max_tokens)
def explain(**options: Any) -> None:
    """Explain chunks to a beginner by a model.

    Each explanation answers one of 39 questions. PATH can also be the output of pkg data chunks; - reads it from
    standard input.
    """
    _run_chain("explain", **options)


@data.command("questions", epilog="Example:  pkg data questions explained.jsonl --model gguf:coder.gguf -o pairs.jsonl")
@_input
@limit_option("Number of input rows, sampled by --seed.")
@_needed_model
@_repeat
@model_options(DEFAULTS.max_tokens)
def questions(**options: Any) -> None:
    """Write a question and its answer from each explanation.

    PATH can also be the output of an earlier step; otherwise the earlier steps are run first. Questions that do not
    name an existing file, module and lines, and answers without code, are dropped.
    """
    _run_chain("questions", **options)


@data.command("curate", epilog="Example:  pkg data curate pairs.jsonl --model gguf:coder.gguf -o kept.jsonl")
@_input
@limit_option("Number of input rows, sampled by --seed.")
@_needed_model
@_repeat
@click.option("--threshold", type=click.IntRange(1, 5), default=DEFAULTS.threshold, show_default=True,
              help="Minimum score of kept pairs.")  # fmt: skip
@model_options(DEFAULTS.max_tokens)
def curate(**options: Any) -> None:
    """Score each pair from 1 to 5 by a model, and keep good ones.

    PATH can also be the output of an earlier step; otherwise the earlier steps are run first.
    """
    _run_chain("curate", **options)


for _command in (responses, pairs, references):
    data.add_command(_command)


def _run_plain(
    step: PlainStep,
    *,
    given: str | None,
    store: str,
    source: str | None,
    fresh: bool,
    output: str | None,
    **options: Any,
) -> None:
    """Write the rows of a step without a model."""
    from pkg.lab.datasets.dataset_plan import make_plain
    from pkg.lab.datasets.dataset_rows import Tally

    tally, wanted = Tally(), DatasetOptions(**options)
    with _open_graph(given, store, fresh, source) as graph:
        write_output(make_plain(graph, step, source, wanted, tally), output)
    report_counts(tally)


def _run_either(step: Literal["dependencies", "meta"], *, writer: str | None, **options: Any) -> None:
    """Write the rows of a step that the graph answers, or with --model those of the model."""
    if writer is not None:
        _ask_graph(step, model=writer, **options)
        return
    if options["estimate"]:
        raise UsageError("--estimate needs --model; give both")
    names = ("given", "store", "source", "fresh", "output", "seed", "limit")
    _run_plain(step, **{name: options[name] for name in names})


def _run_chain(step: DatasetStep, *, model: str | None, **options: Any) -> None:
    """Run the steps from the input to the requested one."""
    from pkg.lab.datasets.dataset_rows import Tally

    if model is None:
        raise UsageError(
            "no model; expected --model openai:NAME@URL, gguf:FILE or hf:FOLDER, PKG_MODEL, or model in pkg.toml"
        )
    given = options["given"]
    if given is None or not (given == STDIN or given.endswith(ROW_FILES)):
        _ask_graph(step, model=model, **options)
        return
    rows = _read_file(given)
    with _open_known(options["store"]) as graph:
        _ask(graph, step, Tally(), rows, model=model, **options)


def _ask_graph(step: DatasetStep, **options: Any) -> None:
    from pkg.lab.datasets.dataset_rows import Tally

    with _open_graph(options["given"], options["store"], options["fresh"], options["source"]) as graph:
        _ask(graph, step, Tally(), None, **options)


def _read_file(name: str) -> list[Row]:
    """Read the rows of an earlier step; raises PathError if there is no such file."""
    from pkg.lab.datasets.dataset_rows import read_rows

    text = read_input(name, "the output of an earlier step of pkg data")
    return list(read_rows(text.split("\n"), name))  # not splitlines: a text in a row may hold other line separators


@contextmanager
def _open_graph(given: str | None, store: str, fresh: bool, source: str | None) -> Iterator[GraphStore]:
    """Open the graph, or build a temporary one of the input, outside the user's folders."""
    from pkg.api import build_graph, open_graph
    from pkg.console.freshness_notes import open_answering, say_stale
    from pkg.console.progress import listen_to_build
    from pkg.lab.datasets.file_pieces import list_paths, list_repositories
    from pkg.retrieval.freshness import find_stale

    if given is None:
        with open_answering(store, fresh, source) as (graph, source):
            known = list_repositories(graph.store, source)
            shown = [(each.name, path) for each in known for path in list_paths(graph.store, each.name)]
            say_stale(find_stale(graph.store, shown))
            yield graph.store
        return
    with TemporaryDirectory(prefix="pkg-data-") as folder:
        address = f"sqlite:///{folder}/graph.db"
        with listen_to_build(False) as (listener, close_bar):
            build_graph(given, store=address, source=source, listener=listener)
            close_bar()
        with open_graph(address) as graph:
            yield graph.store


@contextmanager
def _open_known(store: str) -> Iterator[GraphStore | None]:
    """Open the graph that belongs to the input rows, for the paths of their repository; None if there is none."""
    from pkg.api import open_graph

    try:
        graph = open_graph(store, ask=choose_ask())
    except StoreMissingError:
        yield None
        return
    with graph:
        yield graph.store


def _ask(
    graph: GraphStore | None,
    step: DatasetStep,
    tally: Tally,
    rows: list[Row] | None,
    *,
    model: str,
    price: str | None,
    **given: Any,
) -> None:
    """Estimate the requests; unless only the estimate was requested, run them."""
    from pkg.lab.datasets.dataset_plan import plan_requests
    from pkg.models.usage import parse_price

    cost = None if price is None else parse_price(price)
    names = ("seed", "limit", "max_tokens", "temperature", "repeat", "threshold")
    wanted = DatasetOptions(**{name: given[name] for name in names if name in given})
    plan = plan_requests(graph, step, given["source"], wanted, tally, rows)
    estimates = plan.estimate(cost)
    if given["estimate"]:
        report_estimates([(model, each) for each in estimates], given["as_json"])
        return
    agree_to_send(model, estimates, given["yes"])
    with open_runner(model, step, sum(each.requests for each in estimates), cost) as runner:
        write_output(plan.make(runner), given["output"])
    report_counts(tally)
