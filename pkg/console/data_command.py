"""What `pkg data` does: make sets of questions of a repository, tell the cost before and the counts after."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from pkg.console.options import fresh_option, json_option, store_options
from pkg.console.progress import Consent, ProgressBar, say
from pkg.console.settings import (
    Decorator,
    check_settings,
    combine,
    decode_option,
    is_by_file,
    model_setting,
    setting,
    source_setting,
)
from pkg.console.streams import choose_ask, emit, read_text, style_words
from pkg.datasets.dataset_options import PAIR_TOKENS, DatasetOptions
from pkg.errors import PathError, StoreMissingError, UsageError, count_things

if TYPE_CHECKING:
    from pkg.datasets.asking import Asker
    from pkg.datasets.dataset_rows import Row, Tally
    from pkg.datasets.pair_checks import Repositories
    from pkg.datasets.step_estimate import StepEstimate
    from pkg.graph.store import GraphStore
    from pkg.models.usage import Price

DEFAULTS = DatasetOptions()
ROW_FILES = (".jsonl", ".json")
STDIN = "-"

_given = click.argument("given", metavar="[PATH]", required=False, callback=decode_option)
_output = click.option(
    "--output", "-o", callback=decode_option, metavar="FILE",
    help="File to write, in place only when it is whole; default: standard output.",
)  # fmt: skip
_seed = click.option("--seed", type=int, default=0, show_default=True, help="Draws all that is drawn.")


def _limit(help: str) -> Decorator:
    return click.option("--limit", type=click.IntRange(0), metavar="N", help=help)


_input = combine(
    _given, store_options, source_setting(help="Take one source only."), fresh_option, _output, _seed
)  # fmt: skip


def _asking(tokens: int) -> Decorator:
    """Add the options of a step that a model is asked in; its texts have so many tokens by default."""
    return combine(
        click.option("--max-tokens", "longest", type=click.IntRange(1), default=tokens, show_default=True,
                     help="Tokens that a text may have."),
        click.option("--temperature", type=click.FloatRange(0), default=DEFAULTS.temperature, show_default=True,
                     help="How freely words are chosen; the paper's for dependencies is 1.5."),
        setting("--price", metavar="IN/OUT", help="What a million tokens cost, read and written, such as 0.15/0.60."),
        click.option("--estimate", is_flag=True, help="Tell requests, tokens, and with --price the cost; ask nobody."),
        click.option("--yes", is_flag=True, help="Agree beforehand that code is sent to another machine."),
        json_option,
    )  # fmt: skip


_writer = click.option(
    "--model", "writer", callback=decode_option, metavar="MODEL",
    help="Let a model write: openai:NAME@URL, gguf:FILE or hf:FOLDER. Without it rows are made without a model.",
)  # fmt: skip
_needed_model = model_setting(help="Who writes: openai:NAME@URL, gguf:FILE or hf:FOLDER.")
_repeat = click.option(
    "--repeat", type=click.IntRange(1), default=DEFAULTS.repeat, show_default=True,
    help="Times that each piece is explained.",
)  # fmt: skip


@click.group("data")
@click.pass_context
def data(ctx: click.Context) -> None:
    """Make sets of questions and answers about a repository, each row with where it comes from.

    PATH is what pkg build reads; without it the graph of --store is taken. Rows are JSON lines; what was dropped, and
    why, is told on standard error. Texts of a model are kept: the same command, run again, pays for nothing twice.
    """
    ctx.default_map = dict.fromkeys(data.commands, ctx.default_map or {})


@data.command("snippets", epilog="Example:  pkg data snippets ~/src/shop -o snippets.jsonl")
@_input
@_limit("Rows to write, drawn by --seed.")
@click.option("--size", type=click.IntRange(1), default=2000, show_default=True, help="Characters of a snippet.")
def snippets(given: str | None, store: str, source: str | None, fresh: bool, size: int, **options: Any) -> None:
    """Cut the Python files into snippets to ask about, at classes and functions first, with their exact lines."""
    from pkg.datasets.dataset_rows import Tally
    from pkg.datasets.file_pieces import SNIPPETS, is_python, write_snippets
    from pkg.datasets.repository_texts import read_texts

    tally = Tally()
    with _open_graph(given, store, fresh, source) as graph:
        rows = write_snippets(read_texts(graph, source, is_python), size, tally.step(SNIPPETS))
        _write_drawn(rows, tally, SNIPPETS, **options)


@data.command("chunks", epilog="Example:  pkg data chunks ~/src/shop -o chunks.jsonl")
@_input
@_limit("Rows to write, drawn by --seed.")
@click.option("--size", type=click.IntRange(1), default=1500, show_default=True, help="Characters of a chunk.")
@click.option("--overlap", type=click.IntRange(0), default=200, show_default=True, help="Characters that two share.")
def chunks(
    given: str | None, store: str, source: str | None, fresh: bool, size: int, overlap: int, **options: Any
) -> None:
    """Cut all files into chunks that overlap, each with what it contains and what its file imports."""
    from pkg.datasets.dataset_rows import Tally
    from pkg.datasets.file_pieces import CHUNKS

    if overlap >= size:
        raise UsageError(f"--overlap {overlap} and --size {size}; expected an overlap below the size")
    tally = Tally()
    with _open_graph(given, store, fresh, source) as graph:
        _write_drawn(_cut_chunks(graph, source, size, overlap, tally), tally, CHUNKS, **options)


def _cut_chunks(graph: GraphStore, source: str | None, size: int, overlap: int, tally: Tally) -> Iterator[Row]:
    from pkg.datasets.file_pieces import CHUNKS, write_chunks
    from pkg.datasets.repository_texts import read_texts

    return write_chunks(read_texts(graph, source), size, overlap, tally.step(CHUNKS))


@data.command("dependencies", epilog="Example:  pkg data dependencies ~/src/shop --limit 135 -o dependencies.jsonl")
@_input
@_limit("Rows to write, or with --model files to ask about, drawn by --seed.")
@_writer
@_asking(PAIR_TOKENS)
def dependencies(given: str | None, store: str, source: str | None, fresh: bool, **options: Any) -> None:
    """Ask what files import, in seven kinds of questions; the graph answers, or a model that is shown its table."""
    from pkg.datasets import import_pairs, import_questions
    from pkg.datasets.dataset_rows import draw
    from pkg.datasets.import_tables import read_importing_files

    step = import_questions.STEP
    with _open_graph(given, store, fresh, source) as graph:
        files = read_importing_files(graph, source)
        run = _Run(step, graph, options)
        if run.model is None:
            rows = import_questions.write_questions(files, options["seed"], run.tally.step(step))
            run.write_drawn(rows)
            return
        files = draw(files, options["limit"], options["seed"])
        run.ask(
            lambda: [run.estimate_step(import_pairs.ask_tables(files, run.options))],
            lambda asker: import_pairs.write_pairs(
                files, asker, run.options, run.tally.step(step), run.find_repositories(())
            ),
        )


@data.command("meta", epilog="Example:  pkg data meta ~/src/shop -o meta.jsonl")
@_input
@_limit("Rows to write, or with --model sections to ask about, drawn by --seed.")
@_writer
@_asking(DEFAULTS.max_tokens)
def meta(given: str | None, store: str, source: str | None, fresh: bool, **options: Any) -> None:
    """Ask about README, changelog, documentation and settings, section by section."""
    from pkg.datasets import section_questions
    from pkg.datasets.dataset_rows import draw

    step = section_questions.STEP
    with _open_graph(given, store, fresh, source) as graph:
        sections = section_questions.read_sections(graph, source)
        run = _Run(step, graph, options)
        if run.model is None:
            run.write_drawn(section_questions.write_questions(sections, run.tally.step(step)))
            return
        counts = run.tally.step("sections")
        kept = section_questions.keep_askable(sections, counts)
        counts.taken, counts.written = len(sections), len(kept)
        kept = draw(kept, options["limit"], options["seed"])
        run.ask(
            lambda: [run.estimate_step(section_questions.ask_sections(kept, run.options))],
            lambda asker: section_questions.write_pairs(
                kept, asker, run.options, run.tally.step(step), run.find_repositories(())
            ),
        )


@data.command("explain", epilog="Example:  pkg data explain chunks.jsonl --model gguf:coder.gguf -o explained.jsonl")
@_input
@_limit("Chunks to explain, drawn by --seed.")
@_needed_model
@_repeat
@_asking(DEFAULTS.max_tokens)
def explain(given: str | None, store: str, source: str | None, fresh: bool, **options: Any) -> None:
    """Have a model explain chunks as to a beginner, each with one of 39 questions about it.

    PATH may be the output of pkg data chunks as well; - reads it from standard input.
    """
    _run_chain("explain", given, store, source, fresh, options)


@data.command("questions", epilog="Example:  pkg data questions explained.jsonl --model gguf:coder.gguf -o pairs.jsonl")
@_input
@_limit("Rows of the input to take, drawn by --seed.")
@_needed_model
@_repeat
@_asking(DEFAULTS.max_tokens)
def questions(given: str | None, store: str, source: str | None, fresh: bool, **options: Any) -> None:
    """Have a model write a question with its answer from each explanation.

    PATH may be the output of an earlier step as well, else all steps before are done first. A question that does not
    name file, module and lines, or a file that does not exist, and an answer without the code, are dropped.
    """
    _run_chain("questions", given, store, source, fresh, options)


@data.command("curate", epilog="Example:  pkg data curate pairs.jsonl --model gguf:coder.gguf -o kept.jsonl")
@_input
@_limit("Rows of the input to take, drawn by --seed.")
@_needed_model
@_repeat
@click.option("--threshold", type=click.IntRange(1, 5), default=DEFAULTS.threshold, show_default=True,
              help="Least score that is kept.")  # fmt: skip
@_asking(DEFAULTS.max_tokens)
def curate(given: str | None, store: str, source: str | None, fresh: bool, **options: Any) -> None:
    """Have a model score each pair from 1 to 5, and keep the good ones.

    PATH may be the output of an earlier step as well, else all steps before are done first.
    """
    _run_chain("curate", given, store, source, fresh, options)


def _run_chain(
    step: str, given: str | None, store: str, source: str | None, fresh: bool, options: dict[str, Any]
) -> None:
    """Run the steps that lead from what was given to the one that was asked for."""
    from pkg.datasets.dataset_rows import draw
    from pkg.datasets.file_pieces import CHUNK_OVERLAP, CHUNK_SIZE
    from pkg.datasets.step_chain import estimate_steps, plan_steps, run_steps

    is_file = given is not None and (given == STDIN or given.endswith(ROW_FILES))
    with _open_known(store) if is_file else _open_graph(given, store, fresh, source) as graph:
        run = _Run(step, graph, options)
        if run.model is None:
            raise UsageError(
                "no model; expected --model openai:NAME@URL, gguf:FILE or hf:FOLDER, PKG_MODEL, or model in pkg.toml"
            )
        if is_file:
            rows = [row for row in _read_file(str(given)) if source in (None, row["source"])]
        else:
            assert graph is not None
            rows = list(_cut_chunks(graph, source, CHUNK_SIZE, CHUNK_OVERLAP, run.tally))
            run.tally.step("chunks").written = len(rows)
        rows = draw(rows, options["limit"], options["seed"])
        steps = plan_steps(rows, step)
        run.ask(
            lambda: list(estimate_steps(rows, steps, run.options, run.price)),
            lambda asker: run_steps(rows, steps, asker, run.options, run.tally, run.find_repositories(rows)),
        )


def _read_file(name: str) -> list[Row]:
    """Read the rows of an earlier step; a PathError where there is no such file."""
    from pkg.datasets.dataset_rows import read_rows

    try:
        text = read_text(STDIN) if name == STDIN else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise PathError(f"cannot read {name}: {fault}; expected the output of an earlier step of pkg data") from None
    return list(read_rows(text.split("\n"), name))  # a text in a row may hold what ends a line elsewhere


@contextmanager
def _open_graph(given: str | None, store: str, fresh: bool, source: str | None) -> Iterator[GraphStore]:
    """Open the graph, or build one of what was given for the moment, outside of the user's folders."""
    from pkg.api import build_graph, open_graph
    from pkg.console.build_command import listen_to_build
    from pkg.console.freshness_notes import open_answering, say_stale
    from pkg.datasets.repository_texts import list_paths, list_repositories
    from pkg.retrieval.freshness import find_stale

    if given is None:
        with open_answering(store, fresh, source) as graph:
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
    """Open the graph beside rows that were given, for the paths of their repository; None where there is none."""
    from pkg.api import open_graph

    try:
        graph = open_graph(store, ask=choose_ask())
    except StoreMissingError:
        yield None
        return
    with graph:
        yield graph.store


class _Run:
    """One run of a step: what was asked for, and what becomes of its rows."""

    def __init__(self, step: str, graph: GraphStore | None, given: dict[str, Any]) -> None:
        from pkg.datasets.dataset_rows import Tally
        from pkg.models.usage import parse_price

        self.step, self.tally = step, Tally()
        self.model: str | None = given.get("model", given.get("writer"))
        self.price: Price | None = None if given["price"] is None else parse_price(given["price"])
        self.options = DatasetOptions(
            seed=given["seed"],
            limit=given["limit"],
            repeat=given.get("repeat", 1),
            threshold=given.get("threshold", DEFAULTS.threshold),
            max_tokens=given["longest"],
            temperature=given["temperature"],
        )
        self._graph, self._given = graph, given

    def write_drawn(self, rows: Iterable[Row]) -> None:
        """Write rows that no model is asked for."""
        if self._given["estimate"]:
            raise UsageError("--estimate is about a model, and without --model none is asked")
        _write_drawn(rows, self.tally, self.step, self._given["output"], self.options.seed, self.options.limit)

    def estimate_step(self, requests: Iterable[Any]) -> StepEstimate:
        """Add up the requests of a step."""
        from pkg.datasets.step_estimate import estimate_requests

        return estimate_requests(self.step, requests, self.price)

    def find_repositories(self, rows: Sequence[Row]) -> Repositories:
        """Tell which files there are: those of the graph, and of a source that it does not have those of the rows."""
        from pkg.datasets.pair_checks import Repositories
        from pkg.datasets.repository_texts import list_paths

        paths: dict[str, set[str]] = {}
        for row in rows:
            paths.setdefault(row["source"], set()).add(row["path"])
        for source in self._graph.sources() if self._graph is not None else ():
            paths[source.name] = set(list_paths(self._graph, source.name)) if self._graph is not None else set()
        return Repositories(paths)

    def ask(self, estimate: Callable[[], list[StepEstimate]], make: Callable[[Asker], Iterable[Row]]) -> None:
        """Tell what it takes; where that is not all that was asked for, let the model write."""
        from pkg.datasets.asking import Asker
        from pkg.models.registry import open_model
        from pkg.models.text_cache import TextCache
        from pkg.models.usage import render_usage

        assert self.model is not None
        estimates = estimate()
        if self._given["estimate"]:
            lines = [{"type": "estimate", "model": self.model, **asdict(each)} for each in estimates]
            emit(self._given["as_json"], lines, lambda: (style_words(each.describe()) for each in estimates))
            return
        self._check_model(estimates)
        total = sum(each.requests for each in estimates)
        with closing(TextCache()) as cache, closing(open_model(self.model)) as model, closing(ProgressBar()) as bar:
            listen = (lambda done: bar.count(self.step, done, total)) if sys.stderr.isatty() else None
            asker = Asker(model, cache, listen)
            try:
                with closing(asker):
                    _write(make(asker), self._given["output"])
            finally:
                bar.close()
                say(f"{render_usage(asker.usage, model.name, self.price)}; {asker.known:,} texts were there already")
                if cache.fault is not None:
                    say(f"not all texts are kept for another run: {cache.fault}")
        _tell(self.tally)

    def _check_model(self, estimates: Sequence[StepEstimate]) -> None:
        """Let no settings file of the code choose the model, and send nothing away that nobody agreed to."""
        from pkg.indexing.enhancement_session import find_remote

        assert self.model is not None
        if is_by_file(click.get_current_context(), "model"):
            check_settings(
                self.model, [each.root for each in self._graph.sources()] if self._graph is not None else ["."]
            )
        for each in estimates:
            say(f"{self.model}: {each.describe()}")
        remote = find_remote(self.model)
        if remote is not None and estimates and estimates[0].requests:
            plain = "" if remote.startswith("https://") else ", not encrypted on the way"
            message = f"model '{self.model}' gets code sent to {remote}{plain}; it leaves this machine, and the service"
            message += " may charge for it"
            if not Consent(self._given["yes"])(message):
                raise UsageError(f"{message}; nothing was sent: agree with --yes, or choose a model of this machine")


def _write_drawn(
    rows: Iterable[Row], tally: Tally, step: str, output: str | None, seed: int, limit: int | None
) -> None:
    """Write rows that are made without a model, or as many of them as were asked for."""
    from pkg.datasets.dataset_rows import draw, drop_twins

    counts = tally.step(step)
    found = list(drop_twins(rows, counts))
    drawn = draw(found, limit, seed)
    counts.written = len(drawn)
    _write(drawn, output)
    counts.drop("not drawn", len(found) - len(drawn))
    _tell(tally)


def _write(rows: Iterable[Row], output: str | None) -> None:
    from pkg.datasets.row_file import write_rows

    if output in (None, "-"):
        for row in rows:
            emit(True, [row], tuple)
    else:
        write_rows(rows, Path(str(output)))


def _tell(tally: Tally) -> None:
    """Say what each step has taken and written, and what was dropped and why."""
    for counts in tally.steps.values():
        line = f"{counts.step}: {counts.taken:,} taken, {count_things(counts.written, 'row')} written"
        reasons = sorted(counts.dropped.items(), key=lambda pair: (-pair[1], pair[0]))
        dropped = "; ".join(f"{count:,} {reason}" for reason, count in reasons)
        say(f"{line}, dropped: {dropped}" if dropped else line)
