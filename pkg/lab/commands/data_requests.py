"""Shared parts of the commands of `pkg data`: options of a model, estimates, consent, output and counts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pkg.console.options import json_option
from pkg.console.progress import Consent, ProgressBar, say
from pkg.console.settings import Decorator, combine, decode_option, setting
from pkg.console.streams import emit, read_text, style_words
from pkg.errors import PathError, UsageError, count_things
from pkg.lab.lab_options import DatasetOptions

if TYPE_CHECKING:
    from pkg.lab.datasets.dataset_rows import Row, Tally
    from pkg.lab.datasets.request_runner import RequestRunner, StepEstimate
    from pkg.models.usage import Price

DEFAULTS = DatasetOptions()
STDIN = "-"

output_option = click.option(
    "--output", "-o", callback=decode_option, metavar="FILE",
    help="Output file, replaced when complete. Default: standard output.",
)  # fmt: skip
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Seed of sampling.")


def limit_option(help: str) -> Decorator:
    """Return the option --limit with its help text."""
    return click.option("--limit", type=click.IntRange(0), metavar="N", help=help)


def model_options(tokens: int) -> Decorator:
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


def read_input(name: str, expected: str) -> str:
    """Return the text of a file, or of standard input for `-`; raises PathError if it cannot be read."""
    try:
        return read_text(STDIN) if name == STDIN else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise PathError(f"cannot read {name}: {fault}; expected {expected}") from None


def read_bench_rows(name: str, expected: str) -> list[Row]:
    """Read the rows of a bench from a file or, for `-`, standard input; raises PathError and InputError."""
    from pkg.lab.datasets.preference_pairs import read_bench

    return read_bench(read_input(name, expected).split("\n"), name)


def report_estimates(estimates: Sequence[tuple[str, StepEstimate]], as_json: bool) -> None:
    """Write the estimate of each step with its model."""
    lines = [{"type": "estimate", "model": model, **asdict(each)} for model, each in estimates]
    emit(as_json, lines, lambda: [style_words(f"{model}: {each.describe()}") for model, each in estimates])


def agree_to_send(model: str, estimates: Sequence[StepEstimate], is_agreed: bool) -> None:
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
def open_runner(name: str, step: str, total: int, price: Price | None) -> Iterator[RequestRunner]:
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


def write_output(rows: Iterable[Row], output: str | None) -> None:
    """Write rows into a file, or to standard output; raises PathError if the file cannot be written."""
    from pkg.lab.datasets.dataset_rows import write_rows

    if output in (None, "-"):
        for row in rows:
            emit(True, [row], tuple)
    else:
        write_rows(rows, Path(str(output)))


def report_counts(tally: Tally) -> None:
    """Report the rows that each step has taken and written, and the dropped ones by reason."""
    for counts in tally.steps.values():
        line = f"{counts.step}: {counts.taken:,} taken, {count_things(counts.written, 'row')} written"
        reasons = sorted(counts.dropped.items(), key=lambda pair: (-pair[1], pair[0]))
        dropped = "; ".join(f"{count:,} {reason}" for reason, count in reasons)
        say(f"{line}, dropped: {dropped}" if dropped else line)
