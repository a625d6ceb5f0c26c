"""`pkg query`: find code for a question; with `--generate`, have a model answer and report each decision."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from pkg.console.freshness_notes import choose_asked, open_answering, refresh_graph, say_stale
from pkg.console.options import fresh_option, json_option, store_options, where_options
from pkg.console.settings import Switch, decode_option, is_by_default, model_setting, setting, source_setting
from pkg.console.streams import NOTHING_FITS, NOTHING_FOUND, choose_ask, emit, read_text, style_words
from pkg.console.tables import HEAD_MARGIN, WRITTEN, escape_markup, highlight, join_numbered
from pkg.errors import PathError, UnknownWordsError, UsageError, count_things, refuse_file
from pkg.generation.generate_options import CONTEXTS, TASK_TYPES, GenerateOptions
from pkg.model import BLOCK_KINDS
from pkg.quoting.hidden_characters import escape_json, spell_hidden, spell_line
from pkg.retrieval.heads import list_unshown
from pkg.retrieval.query_options import (
    BLOCK_CHOICES,
    HELPER_CHOICES,
    MODES,
    PROMPT_HITS,
    PRUNE_CHOICES,
    RANKINGS,
    QueryOptions,
)
from pkg.service.operations import answer_lines

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from pkg.generation.samples import Sample, WrittenAnswer
    from pkg.model import Coverage, Cut, Hit, QueryResult


QUERY = QueryOptions()
GENERATE = GenerateOptions()

SHOWN_LINES = 60  # of one hit on a terminal; JSON output and the prompt are complete

_FOLD = re.compile(r"# \.\.\. lines \d+-(\d+) folded$")

ORACLE = "ORACLE"  # in all output of a run that has seen hidden tests

_NAMES = (
    "generate", "model", "form", "frame", "context", "no_context", "gate", "samples", "rerank", "attempts", "link",
    "max_tokens", "temperature", "seed", "tests_file", "trace_file",
)  # fmt: skip


_QUESTIONS = "questions"  # value of --rerank-hits: the order by questions that a model writes


def _prune_nothing(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Translate --no-prune to --prune none."""
    if value:
        ctx.params["prune"] = "none"


@click.command(
    epilog='Example:  pkg query "retry a request after a timeout" --mode function --top-k 3   or, for an answer:'
    "  pkg query - --generate --model gguf:coder.gguf < task.py"
)
@click.argument("text", callback=decode_option)
@store_options
@setting(
    "--mode",
    type=click.Choice(MODES),
    default=QUERY.mode,
    help="Find blocks, whole functions, both, or classes, constants and modules (declaration); or list files with their"
    " best functions; or find sections of text files.",
)
@setting(
    "--top-k",
    "-k",
    type=click.IntRange(1),
    default=QUERY.top_k,
    help="Number of hits; 1 with --prompt or --generate.",
)
@setting(
    "--ranking",
    type=click.Choice(RANKINGS),
    default=QUERY.ranking,
    help="Order hits by the trained ranker, by the ranks of both searches, or only by the cosine.",
)
@setting(
    "--blocks",
    type=click.Choice(BLOCK_CHOICES),
    default=QUERY.blocks,
    help="Search all blocks, only compound statements, or only function bodies.",
)
@setting(
    "--declarations/--no-declarations",
    default=QUERY.declarations,
    help="Find classes, constants and modules besides functions and blocks (default), or not.",
)
@source_setting(help="Search only this source.")
@where_options
@click.option("--kind", type=click.Choice(BLOCK_KINDS), help="Search only blocks of this kind.")
@setting(
    "--budget",
    type=click.IntRange(0),
    default=QUERY.budget,
    help="Token budget of all code; 0 for no limit.",
)
@setting(
    "--prune",
    type=Switch(PRUNE_CHOICES, on="safe", off="none"),
    default=QUERY.prune,
    is_flag=False,
    flag_value="safe",
    is_eager=True,  # so that --no-prune, which is processed later, takes precedence
    help="Cut irrelevant branches: only those that no other code depends on, any by the papers' rule, or none.",
)
@click.option(
    "--no-prune",
    is_flag=True,
    expose_value=False,
    callback=_prune_nothing,
    help="Same as --prune none.",
    deprecated="Give --prune none; version 0.4 will not have it",
)
@setting(
    "--prune-steps",
    type=click.IntRange(1),
    default=QUERY.prune_steps,
    help="Maximum number of successive cuts.",
)
@setting("--hops", type=click.IntRange(0), default=QUERY.hops, help="Maximum number of calls from a hit to a helper.")
@setting(
    "--helpers",
    type=click.Choice(HELPER_CHOICES),
    default=QUERY.helpers,
    help="Add the callees of a hit that TEXT needs, all of them whole, or none; all with --generate.",
)
@click.option("--callers", is_flag=True, help="Add the callers of each hit.")
@click.option(
    "--rerank-hits",
    metavar="MODEL",
    help="Reorder the 50 best candidates by a cross-encoder of sentence-transformers; or the 30 best by an encoder such"
    " as minilm; or questions: the 15 best by questions that the text model of --model writes for them once.",
)
@setting(
    "--floor/--no-floor",
    default=QUERY.floor,
    help="Report if nothing fits, and keep it out of prompts (default); or do not check.",
)
@click.option(
    "--exclude-leaks", is_flag=True, help="Leave out code that pkg audit has marked as solution of a benchmark."
)
@fresh_option
@click.option("--exit-code", is_flag=True, help="Exit with code 3 if nothing is found or nothing fits.")
@click.option("--explain", is_flag=True, help="Show every count and decision: scores, cuts, helpers, budget.")
@click.option("--prompt", is_flag=True, help="Write the augmented prompt for a text model.")
@click.option("--generate", is_flag=True, help="Answer TEXT by a text model, with the hits as context.")
@model_setting(
    help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER.", only_with="generate", or_with="rerank_hits=questions"
)
@click.option("--form", default=GENERATE.form, show_default=True, help="Prompt template: auto, paper, or a name.")
@setting("--frame", type=click.Choice(TASK_TYPES), default=GENERATE.frame, help="Task type: the kind of answer.")
@setting(
    "--context",
    type=click.Choice(CONTEXTS),
    default=GENERATE.context,
    help="Context in the prompt: decided by a rule, none, signatures, or code.",
)
@setting(
    "--gate",
    default=GENERATE.gate,
    callback=decode_option,
    metavar="FILE",
    only_with="generate",
    help="Rules of --context auto, written by pkg eval calibrate. Default: the built-in rules.",
)
@click.option(
    "--no-context",
    is_flag=True,
    help="Same as --context none.",
    deprecated="Give --context none; version 0.4 will not have it",
)
@click.option(
    "--samples",
    "-n",
    type=click.IntRange(0),
    default=GENERATE.samples,
    help="Number of answers to choose from. Default: 1, and more while an example in TEXT fails.",
)
@click.option("--rerank/--no-rerank", default=GENERATE.rerank, help="Choose one of the answers (default), or show all.")
@setting(
    "--attempts",
    type=click.IntRange(1),
    default=GENERATE.attempts,
    only_with="generate",
    help="Maximum number of attempts; a retry is told which examples failed.",
)
@click.option(
    "--link/--no-link", default=GENERATE.link, help="Insert the helpers that an answer calls (default), or not."
)
@setting(
    "--max-tokens",
    type=click.IntRange(1),
    default=GENERATE.max_tokens,
    only_with="generate",
    help="Token limit of one answer.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0),
    default=GENERATE.temperature,
    show_default=True,
    help="Temperature of samples after the first of each prompt template.",
)
@click.option("--seed", type=int, default=GENERATE.seed, show_default=True, help="Seed of the samples.")
@click.option(
    "--oracle-tests",
    "tests_file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="For research: show attempts the hidden tests of FILE, one per line; all output is marked ORACLE.",
)
@click.option(
    "--trace",
    "trace_file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write every prompt, answer and verdict to FILE as JSON lines.",
)
@json_option
def query(
    text: str,
    store: str,
    fresh: bool,
    explain: bool,
    prompt: bool,
    exit_code: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the code for TEXT; --generate lets a model use it.

    - reads TEXT from standard input. If TEXT has examples, such as asserts or a doctest, an answer of --generate
    with context is used only if all of them hold, so that context cannot make it worse.
    """
    text = read_text(text)
    options["rerank_hits"] = name_hit_order(options["rerank_hits"], options["model"])
    asked = split_options(options, prompt)
    ctx = click.get_current_context()
    if (prompt or asked is not None) and is_by_default(ctx, "top_k"):
        options["top_k"] = PROMPT_HITS
    if asked is not None and is_by_default(ctx, "helpers"):
        options["helpers"] = "all"  # as in the benchmarks; an answer may use any helper
    if asked is not None:
        if exit_code:
            raise UsageError("--exit-code does not apply to --generate; leave out one of them")
        run_generate(text, store, options, asked, as_json, fresh)
        return
    with open_answering(store, fresh, options["source"]) as (graph, options["source"]):
        try:
            result = graph.query(text, **options)
        except UnknownWordsError as fault:
            if not exit_code:
                raise
            click.echo(f"pkg: {spell_hidden(str(fault))}", err=True)
            sys.exit(NOTHING_FOUND)
        say_stale(result.coverage.stale)
        fits = result.coverage.fits is not False
        if prompt:
            answer = graph.prompt(result)
            click.echo(answer)
            if not fits:
                click.echo(f"pkg: the prompt shows no code: {result.coverage.notes[0]}", err=True)
        else:
            emit(as_json, answer_lines.query_lines(result, explain), lambda: view_query(result, explain))
    if exit_code and not (fits and result.hits):
        sys.exit(NOTHING_FOUND)


def name_hit_order(rerank_hits: str | None, model: str | None) -> str | None:
    """Return the value of --rerank-hits, with the model that writes questions; raises UsageError without one."""
    if rerank_hits != _QUESTIONS:
        return rerank_hits
    if model is None:
        raise UsageError(
            "--rerank-hits questions needs a text model; expected --model openai:NAME@URL, gguf:FILE or hf:FOLDER,"
            " PKG_MODEL, or model in pkg.toml"
        )
    return f"{_QUESTIONS}:{model}"


def split_options(options: dict[str, Any], prompt: bool) -> dict[str, Any] | None:
    """Remove the options of an answer from those of a query and return them; None if no answer is requested.

    Raises UsageError for options that do not go together.
    """
    asked = {name: options.pop(name) for name in _NAMES}
    if not asked.pop("generate"):
        _refuse_alone(is_model_used=(options["rerank_hits"] or "").startswith(f"{_QUESTIONS}:"))
        return None
    if prompt:
        raise UsageError("--prompt writes the prompt and --generate has it answered; give one of them")
    if asked["model"] is None:
        raise UsageError(
            "no model; expected --model openai:NAME@URL, gguf:FILE or hf:FOLDER, PKG_MODEL, or model in pkg.toml;"
            " for the prompt alone give --prompt"
        )
    if asked.pop("no_context"):
        asked["context"] = "none"
    return asked


def _refuse_alone(is_model_used: bool) -> None:
    """Reject answer options without a request for an answer; values from variables and settings files are ignored."""
    ctx = click.get_current_context()
    names = [name for name in _NAMES if not (is_model_used and name == "model")]
    given = [name for name in names if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    if given:
        option = next(each for each in ctx.command.params if each.name == given[0])
        raise UsageError(f"{option.opts[0]} needs --generate; give both")


def run_generate(
    text: str, store: str, query: dict[str, Any], asked: dict[str, Any], as_json: bool, fresh: bool = False
) -> None:
    """Write the answer to a question; decisions and usage go to standard error."""
    from pkg.api import generate_answer, open_graph
    from pkg.models.usage import read_price, render_usage

    model, tests, trace = asked.pop("model"), asked.pop("tests_file"), asked.pop("trace_file")
    options = GenerateOptions(**asked, tests=tuple(_read_tests(tests)) if tests is not None else ())
    echo = _Echo() if sys.stdout.isatty() and not as_json else None
    samples: list[Sample] = []

    def keep(sample: Sample) -> None:
        """Write the samples so far, so that an interrupted command keeps them; which one is chosen is not known yet."""
        samples.append(sample)
        if trace is not None:
            _write_trace(Path(trace), trace_lines(samples, bool(options.tests)))

    if options.context == "none":
        answer = generate_answer(text, model, options, listen=echo, say=_say, on_sample=keep)
    else:
        with open_graph(store, ask=choose_ask()) as graph:
            query["source"] = choose_asked(graph, query["source"])
            if fresh:
                refresh_graph(graph, query["source"])
            found = QueryOptions(**query)
            answer = graph.generate(text, model, options, query=found, listen=echo, say=_say, on_sample=keep)
    if answer.result is not None:
        say_stale(answer.result.coverage.stale)
    if trace is not None:
        _write_trace(Path(trace), trace_lines(answer.samples, answer.oracle, answer.chosen))
    emit(
        as_json,
        written_answer_lines(answer),
        lambda: view_answer(answer, is_told=echo is not None and echo.has_written),
    )
    click.echo(f"pkg: {render_usage(answer.usage, answer.model, read_price())}", err=True)


class _Echo:
    """Writes the text of an answer to the terminal as it arrives."""

    has_written = False

    def __call__(self, text: str) -> None:
        self.has_written = True
        click.echo(spell_hidden(text), nl=False)


def _say(text: str) -> None:
    click.echo(f"pkg: {spell_hidden(text)}", err=True)


def _read_tests(path: str) -> Iterator[str]:
    """Read hidden tests, one per line; raises PathError if the file cannot be read."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise PathError(f"cannot read the tests in {path}: {fault}; expected a text file, one assert a line") from None
    return (line for line in lines if line.strip())


def _write_trace(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write one line for each sample (U-10); raises PathError if the file cannot be written."""
    try:
        with path.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(escape_json(json.dumps(line, ensure_ascii=False)) + "\n")
    except OSError as fault:
        raise refuse_file(path, fault) from None


def trace_lines(samples: Sequence[Sample], is_oracle: bool, chosen: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield one line for each sample: its prompt, its reply, its verdicts, and whether it was chosen, if known."""
    oracle = {"oracle": ORACLE} if is_oracle else {}
    for number, sample in enumerate(samples):
        choice = {} if chosen is None else {"chosen": number == chosen}
        yield {"type": "sample", "number": number, **oracle, **asdict(sample), **choice}


def written_answer_lines(answer: WrittenAnswer) -> Iterator[dict[str, Any]]:
    """Yield the hits and the coverage of the search, then the answer, as described in docs/generate.md."""
    if answer.result is not None:
        yield from answer_lines.query_lines(answer.result)
    best = answer.best
    yield {
        "type": "answer",
        **({"oracle": ORACLE} if answer.oracle else {}),
        "model": answer.model,
        "frame": answer.frame,
        "text": answer.text,
        "code": answer.code,
        "form": best.variant.template,
        "context": best.variant.context,
        "shown": list(best.shown),
        "linked": [{"name": each.name, "place": each.place} for each in best.linked],
        "missing": list(best.missing),
        "examples": list(answer.examples),
        "passed": best.passed,
        "is_cut": best.is_cut,
        "attempts": best.hop,
        "samples": [_describe_sample(each) for each in answer.samples],
        "chosen": answer.chosen,
        "decisions": list(answer.decisions),
        "usage": asdict(answer.usage),
    }


def _describe_sample(sample: Sample) -> dict[str, Any]:
    return {
        "form": sample.variant.template,
        "context": sample.variant.context,
        "temperature": sample.variant.decoding.temperature,
        "hop": sample.hop,
        "code": sample.code,
        "text": sample.text,
        "passed": sample.passed,
        "feedback": sample.feedback,
    }


def view_answer(answer: WrittenAnswer, is_told: bool) -> Iterator[RenderableType]:
    """Render the answer, unless it was streamed to the terminal, and its evidence."""
    from rich.syntax import Syntax

    best = answer.best
    if answer.oracle:
        yield style_words(f"{ORACLE}: hidden tests were seen, this is no measurement", "red")
    if not is_told:
        is_code = answer.frame == "code" and answer.code
        words = spell_hidden(answer.code if is_code else answer.text)
        yield Syntax(words, "python", theme="ansi_dark", background_color="default") if is_code else style_words(words)
    yield style_words(f"\n{answer.model}, {best.variant.describe()}: {best.describe()}", "dim")
    for place in best.shown:
        yield style_words(f"  shown to the model: {place}", "dim")
    for each in best.linked:
        yield style_words(f"  put in: {each.name} of {each.place}", "cyan")
    for line in best.feedback.splitlines() if not best.holds else ():
        yield style_words(f"  {line}", "yellow")


def view_query(result: QueryResult, explain: bool) -> Iterator[RenderableType]:
    """Render hits with their place, score and highlighted code, pruned code as folds, and one line of coverage."""
    if result.hits and result.coverage.fits is False:
        yield NOTHING_FITS
    for hit in result.hits:
        yield _view_title(hit)
        if hit.functions:
            yield from _view_places(hit)
            continue
        if hit.docstring and hit.docstring_source in WRITTEN:  # a docstring from the source is part of the code
            yield style_words(f"{hit.docstring}\n({hit.docstring_source})", "dim italic")
        yield from _view_twins(hit)
        yield from _view_head(hit)
        if hit.has_code:
            yield _view_code(hit)
        for helper in hit.helpers:
            place = f"{escape_markup(helper.path)}:{helper.start_line}"
            does = {"caller": "called by", "wrapped": "wraps"}.get(helper.role, "calls")
            yield f"  [cyan]{does} {escape_markup(helper.qualname)}[/] {place}  [dim]{escape_markup(helper.reason)}[/]"
            if helper.role == "wrapped":  # it holds the implementation
                yield _view_lines(helper.content, helper.start_line, (), has_folds=helper.is_folded)
    if not result.hits:
        yield "nothing found"
    counts = explain_counts(result.coverage) if explain else describe_counts(result.coverage)
    for note in (*([counts] if counts else []), *result.coverage.notes, *(result.explain if explain else ())):
        yield style_words(spell_line(note), "dim")


def describe_counts(covered: Coverage) -> str:
    """Return how many candidates are shown, and how to get more; "" if all are shown, or none fits."""
    if covered.fits is False:
        return ""
    candidates = covered.searched - covered.filtered - covered.folded
    helpers = covered.over_budget - covered.without_code  # the notes count the hits without code
    parts = [f"best {covered.shown:,} of {candidates:,} shown; see --top-k"] * (0 < covered.shown < candidates)
    parts += [f"{count_things(helpers, 'helper')} left out; see --budget"] * bool(helpers)
    return ", ".join(parts)


def explain_counts(covered: Coverage) -> str:
    """Return how many nodes were searched, and what became of them."""
    return (
        f"{covered.searched:,} searched, {covered.filtered:,} filtered out, {covered.folded:,} duplicates left out,"
        f" {covered.shown:,} shown, {covered.over_budget:,} over budget"
    )


def _view_title(hit: Hit) -> RenderableType:
    kind = f"{hit.kind} block in " if hit.label == "Block" else f"{hit.kind} " if hit.kind else ""
    cuts = ", ".join(f"{cut.start_line}-{cut.end_line}" for cut in hit.pruned)
    scores = f"{hit.score:.3f}" + (f" -> {hit.score_pruned:.3f} without lines {cuts}" if cuts else "")
    others = f", {count_things(hit.same_function, 'more block')} of it" if hit.same_function else ""
    return (
        f"[bold]{hit.rank}. {escape_markup(hit.path)}:{hit.start_line}[/]"
        f"  {kind}[bold cyan]{escape_markup(hit.qualname)}[/]"
        f"  [green]{scores}[/]  [dim]{escape_markup(hit.source)}{others}[/]"
        + ("  [yellow]stale[/]" if hit.is_stale else "")
    )


def _view_head(hit: Hit) -> Iterator[RenderableType]:
    """Render the headers of class and function, and the first sentence of the docstring."""
    for text in list_unshown(hit):
        is_told = text == hit.summary and hit.docstring_source in WRITTEN  # already shown above
        if not is_told:
            yield style_words(indent(text, HEAD_MARGIN), "dim italic" if text == hit.summary else "dim")


def _view_twins(hit: Hit) -> Iterator[RenderableType]:
    """Name the variants that a hit stands for."""
    if hit.twins:
        yield f"  [dim]also: {escape_markup(', '.join(hit.twins))}[/]"


def _view_places(hit: Hit) -> Iterator[RenderableType]:
    """List the functions that represent a file."""
    for place in hit.functions:
        summary = f"  [dim italic]{escape_markup(place.summary)}[/]" if place.summary else ""
        where = f"{place.start_line}-{place.end_line}"
        yield f"  [cyan]{escape_markup(place.qualname)}[/] {where}  [green]{place.score:.3f}[/]{summary}"


def _view_code(hit: Hit) -> Text:
    """Highlight the code of a hit; only the head of a class or module, and plain text unchanged."""
    if hit.label in ("Chunk", "Fact"):
        return _view_lines(hit.content, hit.start_line, (), has_folds=False, is_text=True)
    is_head = hit.label not in ("Function", "Block")
    return _view_lines(hit.pruned_content if is_head else hit.content, hit.start_line, hit.pruned, is_head)


def _view_lines(content: str, first: int, cuts: Sequence[Cut], has_folds: bool, is_text: bool = False) -> Text:
    """Highlight the first lines of code with their numbers, with a fold in place of each cut."""
    lines = highlight(content, "text" if is_text else "python")
    view = join_numbered(_number_lines(lines[:SHOWN_LINES], first, cuts, has_folds))
    if len(lines) > SHOWN_LINES:
        view.append(f"       and {count_things(len(lines) - SHOWN_LINES, 'more line')}\n", "dim")
    return view


def _number_lines(
    lines: Sequence[Text], number: int, cuts: Sequence[Cut], has_folds: bool
) -> Iterator[tuple[int, Text]]:
    """Number lines as in the file; a head already contains its folds, other code has them inserted here."""
    from rich.text import Text

    from pkg.retrieval.folds import format_fold

    by_line = {line: cut for cut in cuts for line in range(cut.start_line, cut.end_line + 1)}
    for line in lines:
        cut = by_line.get(number)
        if cut is None:
            yield number, line
        elif number == cut.start_line:
            margin = line.plain[: len(line.plain) - len(line.plain.lstrip())]
            yield number, Text(margin + format_fold(cut.start_line, cut.end_line), "dim")
        fold = _FOLD.search(line.plain) if has_folds else None
        number = int(fold[1]) + 1 if fold else number + 1
