"""Run `pkg query --generate`: have a model answer, report each decision, print the answer and its evidence."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.console.streams import choose_ask, emit, style_words
from pkg.errors import PathError, UsageError, refuse_file
from pkg.quoting.hidden_characters import escape_json, spell_hidden

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.generation.samples import Sample, WrittenAnswer

ORACLE = "ORACLE"  # in all output of a run that has seen hidden tests

_NAMES = (
    "generate", "model", "form", "frame", "context", "no_context", "gate", "samples", "rerank", "attempts", "link",
    "max_tokens", "temperature", "seed", "tests_file", "trace_file",
)  # fmt: skip


def split_options(options: dict[str, Any], prompt: bool) -> dict[str, Any] | None:
    """Remove the options of an answer from those of a query and return them; None if no answer is requested.

    Raises UsageError for options that do not go together.
    """
    asked = {name: options.pop(name) for name in _NAMES}
    if not asked.pop("generate"):
        _refuse_alone()
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


def _refuse_alone() -> None:
    """Reject answer options without a request for an answer; values from variables and settings files are ignored."""
    ctx = click.get_current_context()
    given = [name for name in _NAMES if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE]
    if given:
        option = next(each for each in ctx.command.params if each.name == given[0])
        raise UsageError(f"{option.opts[0]} is about an answer; give --generate as well")


def run_generate(
    text: str, store: str, query: dict[str, Any], asked: dict[str, Any], as_json: bool, fresh: bool = False
) -> None:
    """Write the answer to a question; decisions and usage go to standard error."""
    from pkg.api import generate_answer, open_graph
    from pkg.console.freshness_notes import choose_asked, refresh_graph, say_stale
    from pkg.generation.generate_options import GenerateOptions
    from pkg.models.usage import read_price, render_usage
    from pkg.retrieval.query_options import QueryOptions

    model, tests, trace = asked.pop("model"), asked.pop("tests_file"), asked.pop("trace_file")
    options = GenerateOptions(**asked, tests=tuple(_read_tests(tests)) if tests is not None else ())
    echo = _Echo() if sys.stdout.isatty() and not as_json else None
    if options.context == "none":
        answer = generate_answer(text, model, options, listen=echo, say=_say)
    else:
        with open_graph(store, ask=choose_ask()) as graph:
            query["source"] = choose_asked(graph, query["source"])
            if fresh:
                refresh_graph(graph, query["source"])
            answer = graph.generate(text, model, options, query=QueryOptions(**query), listen=echo, say=_say)
    if answer.result is not None:
        say_stale(answer.result.coverage.stale)
    if trace is not None:
        _write_trace(Path(trace), answer)
    emit(as_json, answer_lines(answer), lambda: view_answer(answer, is_told=echo is not None and echo.has_written))
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


def _write_trace(path: Path, answer: WrittenAnswer) -> None:
    """Write one line for each sample (U-10); raises PathError if the file cannot be written."""
    try:
        with path.open("w", encoding="utf-8") as file:
            for line in trace_lines(answer):
                file.write(escape_json(json.dumps(line, ensure_ascii=False)) + "\n")
    except OSError as fault:
        raise refuse_file(path, fault) from None


def trace_lines(answer: WrittenAnswer) -> Iterator[dict[str, Any]]:
    """Yield one line for each sample: its prompt, its reply, and the verdicts on it."""
    oracle = {"oracle": ORACLE} if answer.oracle else {}
    for number, sample in enumerate(answer.samples):
        chosen = {"chosen": number == answer.chosen}
        yield {"type": "sample", "number": number, **oracle, **asdict(sample), **chosen}


def answer_lines(answer: WrittenAnswer) -> Iterator[dict[str, Any]]:
    """Yield the hits and the coverage of the search, then the answer, as described in docs/generate.md."""
    from pkg.service.operations.answer_lines import query_lines

    if answer.result is not None:
        yield from query_lines(answer.result)
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
