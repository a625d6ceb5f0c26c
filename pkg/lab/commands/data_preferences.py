"""`pkg data responses`, `pairs` and `references`: rows to compare models with, and to train one on preferences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.console.progress import say
from pkg.console.settings import decode_option, decode_options, model_setting, split_names
from pkg.errors import InputError, UsageError, count_things
from pkg.lab.commands.data_requests import (
    DEFAULTS,
    agree_to_send,
    limit_option,
    model_options,
    open_runner,
    output_option,
    read_bench_rows,
    read_input,
    report_counts,
    report_estimates,
    seed_option,
    write_output,
)
from pkg.lab.lab_options import DatasetOptions

if TYPE_CHECKING:
    from pkg.lab.datasets.dataset_rows import Row, StepCounts
    from pkg.lab.datasets.request_runner import RequestRunner
    from pkg.model import Skip

SHOWN_REASONS = 3  # skipped rows named in a message


@click.command("responses", epilog="Example:  pkg data responses tasks.jsonl --model gguf:a.gguf --model gguf:b.gguf")
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
@output_option
@seed_option
@limit_option("Number of instructions, sampled by --seed.")
@model_options(DEFAULTS.max_tokens)
def responses(**options: Any) -> None:
    """Answer the instructions of FILE by several models.

    The responses are for pkg judge annotate. FILE has JSON lines with an instruction or question; - reads standard
    input. Each line of the result is a record as in the paper: instruction, preference, models and their responses.
    """
    _run_responses(**options)


@click.command(
    "pairs", epilog="Example:  pkg data pairs records.jsonl --hold-out 100 --bench bench.jsonl -o pairs.jsonl"
)
@click.argument("given", metavar="RECORDS", callback=decode_option)
@click.option(
    "--hold-out", type=click.IntRange(0), metavar="N",
    help="Take N instructions of each preference away for the bench; 100 in the paper.",
)  # fmt: skip
@click.option(
    "--bench", callback=decode_option, metavar="FILE",
    help="File of the bench, which is extended; its instructions form no pair.",
)  # fmt: skip
@output_option
@seed_option
def pairs(given: str, hold_out: int | None, bench: str | None, output: str | None, seed: int) -> None:
    """Write a better and a worse answer to each instruction, to train on.

    RECORDS is the output of pkg judge annotate --records. The answers of the highest and the lowest rating form a
    pair; --seed draws among equal ones. Records without a pair are counted by reason.
    """
    _run_pairs(given, hold_out, bench, output, seed)


@click.command(
    "references", epilog="Example:  pkg data references bench.jsonl --model gguf:large.gguf -o references.jsonl"
)
@click.argument("given", metavar="FILE", callback=decode_option)
@model_setting(help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER.")
@output_option
@seed_option
@limit_option("Number of rows, sampled by --seed.")
@model_options(DEFAULTS.max_tokens)
def references(**options: Any) -> None:
    """Add a reference answer to each row of the bench.

    The references are for pkg eval preferences and pkg judge grade. FILE is the bench of pkg data pairs; - reads
    standard input.
    """
    _run_references(**options)


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
    read = read_items(read_input(given, "JSON lines with an instruction each").split("\n"))
    for skip in read.bad:
        say(f"left out {given}, {skip}")
    items = draw(read.items, wanted.limit, wanted.seed)
    tasks = plan_tasks(items, list(dict.fromkeys(models)), preferences, per_instruction, wanted.seed)
    estimates = list(estimate_responses(tasks, wanted, with_principles, cost))
    if estimate:
        report_estimates(estimates, as_json)
        return
    for model, each in estimates:
        agree_to_send(model, [each], yes)
    totals = {model: each.requests for model, each in estimates}

    def open_one(model: str) -> AbstractContextManager[RequestRunner]:
        return open_runner(model, RESPONSES, totals[model], cost)

    write_output(write_responses(tasks, open_one, wanted, with_principles, tally.step(RESPONSES)), output)
    report_counts(tally)


def _run_pairs(given: str, hold_out: int | None, bench: str | None, output: str | None, seed: int) -> None:
    """Hold instructions out, and write the pairs of the others; raises InputError if there is none."""
    from pkg.lab.datasets.dataset_rows import Tally, write_rows
    from pkg.lab.datasets.preference_pairs import (
        PAIRS,
        choose_bench,
        count_left_out,
        list_held_out,
        make_pairs,
        read_records,
    )  # fmt: skip

    if hold_out is not None and bench is None:
        raise UsageError("--hold-out takes instructions away for the bench; add --bench FILE")
    if bench is not None and output not in (None, "-") and Path(bench).resolve() == Path(str(output)).resolve():
        raise UsageError(f"{bench} is both the bench and the output; expected two files")
    expected = "the records of pkg judge annotate --records"
    read = read_records(read_input(given, expected).split("\n"))
    _report_skips(read.bad, given)
    if not read.items:
        first = f"; the first: {read.bad[0]}" if read.bad else ""
        raise InputError(f"no record in {given}{first}; expected {expected}")
    kept = _read_known_bench(bench, is_needed=hold_out is None)
    rows = choose_bench(read.items, hold_out or 0, kept)
    tally = Tally()
    made = list(make_pairs(read.items, list_held_out(rows), seed, tally.step(PAIRS)))
    _check_pairs(given, made, tally.step(PAIRS))
    if bench is not None and hold_out is not None:
        write_rows(rows, Path(bench))
        _report_bench(bench, rows, len(kept), hold_out)
    write_output(made, output)
    left_out = count_left_out(read.items)
    say(f"answers in no pair: {left_out['cut']:,} cut, {left_out['unread']:,} without a rating")
    report_counts(tally)


def _read_known_bench(bench: str | None, is_needed: bool) -> list[Row]:
    """Read the rows of an existing bench; without one, return none unless it is needed."""
    if bench is None or not (is_needed or Path(bench).exists()):
        return []
    return read_bench_rows(bench, "the bench of pkg data pairs --hold-out")


def _check_pairs(given: str, made: Sequence[Row], counts: StepCounts) -> None:
    """Raise InputError, with the reasons, if no record has a pair."""
    if not made:
        reasons = ", ".join(f"{count:,} with {reason}" for reason, count in counts.dropped.most_common())
        raise InputError(
            f"no pair in {count_things(counts.taken, 'record')} of {given}: {reasons}; nothing was written: expected"
            " records with two whole answers of different ratings"
        )


def _report_bench(bench: str, rows: Sequence[Row], kept: int, wanted: int) -> None:
    """Report the size of the bench, and the preferences with fewer instructions than wanted."""
    counts = Counter(str(row["preference"]) for row in rows)
    say(f"bench: {count_things(len(rows), 'instruction')} in {bench}, {kept:,} of them held out before")
    for preference, count in sorted(counts.items()):
        if count < wanted:
            say(f"bench: only {count_things(count, 'instruction')} of {preference}, of {wanted:,}")


def _report_skips(skips: Sequence[Skip], name: str) -> None:
    for skip in skips[:SHOWN_REASONS]:
        say(f"left out {name}, {skip}")
    if len(skips) > SHOWN_REASONS:
        say(f"left out {len(skips) - SHOWN_REASONS:,} more rows of {name}")


def _run_references(
    *,
    given: str,
    model: str | None,
    output: str | None,
    price: str | None,
    estimate: bool,
    yes: bool,
    as_json: bool,
    **drawn: Any,
) -> None:
    """Read the bench, report the estimate, and write the references."""
    from pkg.lab.datasets.bench_references import REFERENCES, request_references, write_references
    from pkg.lab.datasets.dataset_rows import Tally, draw
    from pkg.lab.datasets.request_runner import estimate_requests
    from pkg.models.usage import parse_price

    if model is None:
        raise UsageError(
            "no model; expected --model openai:NAME@URL, gguf:FILE or hf:FOLDER, PKG_MODEL, or model in pkg.toml"
        )
    cost, wanted, tally = None if price is None else parse_price(price), DatasetOptions(**drawn), Tally()
    rows = draw(read_bench_rows(given, "the bench of pkg data pairs"), wanted.limit, wanted.seed)
    found = estimate_requests(REFERENCES, request_references(rows, wanted), cost)
    if estimate:
        report_estimates([(model, found)], as_json)
        return
    agree_to_send(model, [found], yes)
    with open_runner(model, REFERENCES, found.requests, cost) as runner:
        write_output(write_references(rows, model, runner, wanted, tally.step(REFERENCES)), output)
    report_counts(tally)
