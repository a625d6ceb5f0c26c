"""Run `pkg data`: make question sets of a repository, with the cost before and the counts after."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import click

from pkg.console.options import fresh_option, json_option, store_options
from pkg.console.progress import Consent, ProgressBar, say
from pkg.console.settings import (
    Decorator,
    combine,
    decode_option,
    decode_options,
    model_setting,
    setting,
    source_setting,
    split_names,
)
from pkg.console.streams import choose_ask, emit, read_text, style_words
from pkg.errors import PathError, StoreMissingError, UsageError, count_things
from pkg.lab.lab_options import PAIR_TOKENS, DatasetOptions

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.lab.datasets.dataset_plan import DatasetStep, PlainStep
    from pkg.lab.datasets.dataset_rows import Row, Tally
    from pkg.lab.datasets.request_runner import RequestRunner, StepEstimate
    from pkg.models.usage import Price

DEFAULTS = DatasetOptions()
ROW_FILES = (".jsonl", ".json")
STDIN = "-"

_given = click.argument("given", metavar="[PATH]", required=False, callback=decode_option)
_output = click.option(
    "--output", "-o", callback=decode_option, metavar="FILE",
    help="Output file, replaced when complete. Default: standard output.",
)  # fmt: skip
_seed = click.option("--seed", type=int, default=0, show_default=True, help="Seed of sampling.")


def _limit(help: str) -> Decorator:
    return click.option("--limit", type=click.IntRange(0), metavar="N", help=help)


_input = combine(
    _given, store_options, source_setting(help="Take only this source."), fresh_option, _output, _seed
)  # fmt: skip


def _asking(tokens: int) -> Decorator:
    """Return the options of a step that prompts a model; tokens: default length of its texts."""
    return combine(
        click.option("--max-tokens", type=click.IntRange(1), default=tokens, show_default=True,
                     help="Token limit of a text."),
        click.option("--temperature", type=click.FloatRange(0), default=DEFAULTS.temperature, show_default=True,
                     help="Temperature; 1.5 in the paper for dependencies."),
        setting("--price", metavar="IN/OUT", help="Price of a million input and output tokens, such as 0.15/0.60."),
        click.option("--estimate", is_flag=True, help="Report requests, tokens and, with --price, cost; send nothing."),
        click.option("--yes", is_flag=True, help="Send code to another machine without asking."),
        json_option,
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
    """Write questions and answers about a repository.

    PATH is an input of pkg build; without it, the graph of --store is used. Rows are JSON lines with their source;
    dropped rows are reported on standard error with the reason. Texts of a model are cached, so that
    the same command can be resumed.
    """


@data.command("snippets", epilog="Example:  pkg data snippets ~/src/shop -o snippets.jsonl")
@_input
@_limit("Number of rows, sampled by --seed.")
@click.option(
    "--size", type=click.IntRange(1), default=2000, show_default=True, help="Length of a snippet in characters."
)
def snippets(size: int, **options: Any) -> None:
    """Cut Python files into snippets."""
    _run_plain("snippets", size=size, overlap=0, **options)


@data.command("chunks", epilog="Example:  pkg data chunks ~/src/shop -o chunks.jsonl")
@_input
@_limit("Number of rows, sampled by --seed.")
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
@_limit("Number of rows, or of files with --model, sampled by --seed.")
@_writer
@_asking(PAIR_TOKENS)
def dependencies(**options: Any) -> None:
    """Write questions about imports, with answers."""
    _run_either("dependencies", **options)


@data.command("meta", epilog="Example:  pkg data meta ~/src/shop -o meta.jsonl")
@_input
@_limit("Number of rows, or of sections with --model, sampled by --seed.")
@_writer
@_asking(DEFAULTS.max_tokens)
def meta(**options: Any) -> None:
    """Write questions about documentation and settings."""
    _run_either("meta", **options)


@data.command("explain", epilog="Example:  pkg data explain chunks.jsonl --model gguf:coder.gguf -o explained.jsonl")
@_input
@_limit("Number of chunks, sampled by --seed.")
@_needed_model
@_repeat
@_asking(DEFAULTS.max_tokens)
def explain(**options: Any) -> None:
    """Explain chunks to a beginner by a model.

    Each explanation answers one of 39 questions. PATH can also be the output of pkg data chunks; - reads it from
    standard input.
    """
    _run_chain("explain", **options)


@data.command("questions", epilog="Example:  pkg data questions explained.jsonl --model gguf:coder.gguf -o pairs.jsonl")
@_input
@_limit("Number of input rows, sampled by --seed.")
@_needed_model
@_repeat
@_asking(DEFAULTS.max_tokens)
def questions(**options: Any) -> None:
    """Write a question and its answer from each explanation.

    PATH can also be the output of an earlier step; otherwise the earlier steps are run first. Questions that do not
    name an existing file, module and lines, and answers without code, are dropped.
    """
    _run_chain("questions", **options)


@data.command("curate", epilog="Example:  pkg data curate pairs.jsonl --model gguf:coder.gguf -o kept.jsonl")
@_input
@_limit("Number of input rows, sampled by --seed.")
@_needed_model
@_repeat
@click.option("--threshold", type=click.IntRange(1, 5), default=DEFAULTS.threshold, show_default=True,
              help="Minimum score of kept pairs.")  # fmt: skip
@_asking(DEFAULTS.max_tokens)
def curate(**options: Any) -> None:
    """Score each pair from 1 to 5 by a model, and keep good ones.

    PATH can also be the output of an earlier step; otherwise the earlier steps are run first.
    """
    _run_chain("curate", **options)


@data.command("responses", epilog="Example:  pkg data responses tasks.jsonl --model gguf:a.gguf --model gguf:b.gguf")
@click.argument("given", metavar="FILE", callback=decode_option)
@click.option(
    "--model", "models", multiple=True, callback=decode_options, metavar="MODEL",
    help="Text model, as for pkg query --generate. Repeatable.",
)  # fmt: skip
@click.option(
    "--per-instruction", type=click.IntRange(1), metavar="N",
    help="Number of models for each instruction, sampled by --seed; 4 in the paper. Default: all.",
)  # fmt: skip
@click.option(
    "--preference", "preferences", multiple=True, callback=split_names, metavar="NAME,...",
    help="Preferences of instructions without one: instruction-following, explanation, complexity, readability, style."
    " Default: all in equal shares.",
)  # fmt: skip
@click.option(
    "--principles/--no-principles", "with_principles", default=True, show_default=True,
    help="Begin each instruction with a sentence about its preference.",
)  # fmt: skip
@_output
@_seed
@_limit("Number of instructions, sampled by --seed.")
@_asking(DEFAULTS.max_tokens)
def responses(**options: Any) -> None:
    """Answer the instructions of FILE by several models.

    The responses are for pkg judge annotate. FILE has JSON lines with an instruction or question; - reads standard
    input. Each line of the result is a record as in the paper: instruction, preference, models and their responses.
    """
    _run_responses(**options)


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
        _write(make_plain(graph, step, source, wanted, tally), output)
    _tell(tally)


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

    text = _read_text(name, "the output of an earlier step of pkg data")
    return list(read_rows(text.split("\n"), name))  # not splitlines: a text in a row may hold other line separators


def _read_text(name: str, expected: str) -> str:
    try:
        return read_text(STDIN) if name == STDIN else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise PathError(f"cannot read {name}: {fault}; expected {expected}") from None


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
        lines = [{"type": "estimate", "model": model, **asdict(each)} for each in estimates]
        emit(given["as_json"], lines, lambda: (style_words(each.describe()) for each in estimates))
        return
    _agree_to_send(model, estimates, given["yes"])
    with _open_runner(model, step, sum(each.requests for each in estimates), cost) as runner:
        _write(plan.make(runner), given["output"])
    _tell(tally)


def _agree_to_send(model: str, estimates: Sequence[StepEstimate], is_agreed: bool) -> None:
    """Report the estimates, and raise UsageError if code would be sent to another machine without consent."""
    from pkg.models.registry import find_remote

    for each in estimates:
        say(f"{model}: {each.describe()}")
    remote = find_remote(model)
    if remote is None or not any(each.requests for each in estimates):
        return
    plain = "" if remote.startswith("https://") else ", not encrypted on the way"
    message = f"model '{model}' gets code sent to {remote}{plain}; it leaves this machine, and the service may charge"
    message += " for it"
    if not Consent(is_agreed)(message):
        raise UsageError(f"{message}; nothing was sent: agree with --yes, or choose a model of this machine")


@contextmanager
def _open_runner(name: str, step: str, total: int, price: Price | None) -> Iterator[RequestRunner]:
    """Open a model with the cache of its texts; at the end report its usage."""
    from pkg.lab.datasets.request_runner import RequestRunner
    from pkg.models.registry import open_model
    from pkg.models.text_cache import TextCache
    from pkg.models.usage import render_usage

    with closing(TextCache()) as cache, closing(open_model(name)) as model, closing(ProgressBar()) as bar:
        listen = (lambda done: bar.count(step, done, total)) if sys.stderr.isatty() else None
        runner = RequestRunner(model, cache, listen)
        try:
            with closing(runner):
                yield runner
        finally:
            bar.close()
            say(f"{render_usage(runner.usage, model.name, price)}; {runner.cached:,} texts were there already")
            if cache.fault is not None:
                say(f"not all texts are kept for another run: {cache.fault}")


def _run_responses(
    *,
    given: str,
    models: tuple[str, ...],
    per_instruction: int | None,
    preferences: tuple[str, ...],
    with_principles: bool,
    output: str | None,
    price: str | None,
    estimate: bool,
    yes: bool,
    as_json: bool,
    **drawn: Any,
) -> None:
    """Read instructions, report the estimate of each model, and write their responses."""
    from pkg.lab.datasets.dataset_rows import Tally, draw
    from pkg.lab.datasets.model_responses import RESPONSES, estimate_responses, plan_tasks, write_responses
    from pkg.lab.judge.items import read_items
    from pkg.models.usage import parse_price

    if not models:
        raise UsageError("no model; expected --model openai:NAME@URL, gguf:FILE or hf:FOLDER, once or several times")
    cost, wanted, tally = None if price is None else parse_price(price), DatasetOptions(**drawn), Tally()
    read = read_items(_read_text(given, "JSON lines with an instruction each").split("\n"))
    for skip in read.bad:
        say(f"left out {given}, {skip}")
    items = draw(read.items, wanted.limit, wanted.seed)
    tasks = plan_tasks(items, list(dict.fromkeys(models)), preferences, per_instruction, wanted.seed)
    estimates = list(estimate_responses(tasks, wanted, with_principles, cost))
    if estimate:
        lines = [{"type": "estimate", "model": model, **asdict(each)} for model, each in estimates]
        emit(as_json, lines, lambda: (style_words(f"{model}: {each.describe()}") for model, each in estimates))
        return
    for model, each in estimates:
        _agree_to_send(model, [each], yes)
    totals = {model: each.requests for model, each in estimates}

    def open_runner(model: str) -> AbstractContextManager[RequestRunner]:
        return _open_runner(model, RESPONSES, totals[model], cost)

    _write(write_responses(tasks, open_runner, wanted, with_principles, tally.step(RESPONSES)), output)
    _tell(tally)


def _write(rows: Iterable[Row], output: str | None) -> None:
    from pkg.lab.datasets.dataset_rows import write_rows

    if output in (None, "-"):
        for row in rows:
            emit(True, [row], tuple)
    else:
        write_rows(rows, Path(str(output)))


def _tell(tally: Tally) -> None:
    """Report the rows that each step has taken and written, and the dropped ones by reason."""
    for counts in tally.steps.values():
        line = f"{counts.step}: {counts.taken:,} taken, {count_things(counts.written, 'row')} written"
        reasons = sorted(counts.dropped.items(), key=lambda pair: (-pair[1], pair[0]))
        dropped = "; ".join(f"{count:,} {reason}" for reason, count in reasons)
        say(f"{line}, dropped: {dropped}" if dropped else line)
