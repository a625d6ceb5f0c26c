"""`pkg eval preferences`: answer a bench by several models, grade the answers, and write the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.console.options import json_option
from pkg.console.progress import ProgressBar, say
from pkg.console.settings import decode_option, models_setting
from pkg.console.streams import emit
from pkg.errors import UsageError, count_things
from pkg.lab.commands.data_requests import DEFAULTS, open_runner, read_bench_rows, report_estimates
from pkg.lab.commands.report_output import report_options, view_sections, write_files
from pkg.lab.evaluation.model_labels import find_model, label_models, shorten_model
from pkg.lab.judge.judge_tasks import JudgeOptions
from pkg.lab.lab_options import DatasetOptions

if TYPE_CHECKING:
    from pkg.lab.datasets.dataset_rows import Row
    from pkg.lab.evaluation.preferences.preference_bench import Grading, PreferenceFolder
    from pkg.lab.evaluation.preferences.preference_report import PreferenceReport
    from pkg.lab.judge.items import JudgedItem
    from pkg.lab.judge.judgements import Judgement

JUDGE = JudgeOptions("grade")


@click.command(
    "preferences",
    epilog="Example:  pkg eval preferences bench.jsonl --model gguf:base.gguf --model gguf:tuned.gguf"
    " --judge gguf:judge.gguf --references references.jsonl --out run",
)
@click.argument("bench", metavar="BENCH", callback=decode_option)
@models_setting(
    help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER. Repeatable: the base first, then tuned ones."
)
@click.option(
    "--judge", metavar="MODEL", required=True, callback=decode_option,
    help="Judge of the answers: a model as for --model, or none for a judge that counts words.",
)  # fmt: skip
@click.option(
    "--references", metavar="FILE", callback=decode_option,
    help="Output of pkg data references. Default: the references in BENCH.",
)  # fmt: skip
@click.option(
    "--baseline", default="", callback=decode_option, metavar="MODEL",
    help="Model to compare all others with, by its name here or in the tables. Default: the first.",
)  # fmt: skip
@click.option(
    "--max-tokens", type=click.IntRange(1), default=DEFAULTS.max_tokens, show_default=True,
    help="Token limit of an answer.",
)  # fmt: skip
@click.option(
    "--temperature", type=click.FloatRange(0), default=0.0, show_default=True, help="Temperature of the answers."
)
@click.option(
    "--runs", type=click.IntRange(1), default=JUDGE.runs, show_default=True, help="Number of runs of the judge."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Number of rows, sampled by --seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of sampling.")
@click.option("--estimate", is_flag=True, help="Report the requests and tokens of the answers, and send nothing.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Store answers and judgements in FOLDER; the same command resumes the run, also with more models.",
)  # fmt: skip
@report_options
@json_option
def preferences(bench: str, as_json: bool, **options: Any) -> None:
    """Grade the answers of models to a bench, by preference.

    BENCH is the output of pkg data pairs --bench. A judge grades each answer from 1 to 10 by the preference of its row,
    with a reference. The report has means by preference, and wins, ties and losses against a baseline, with those of
    the paper.
    """
    run_preferences(bench, as_json, options)


def run_preferences(bench: str, as_json: bool, given: dict[str, Any]) -> None:
    """Answer and grade a bench, or report the estimate; raises UsageError without a model, InputError for bad rows."""
    from pkg.lab.evaluation.preferences.preference_bench import PreferenceFolder, make_graded_items
    from pkg.lab.evaluation.preferences.preference_report import list_earlier, report_grading
    from pkg.lab.evaluation.report.preference_tables import TITLE, list_preference_sections
    from pkg.lab.judge.judging import check_judge_name

    models = label_models(list(dict.fromkeys(given["models"])))
    if not models:
        raise UsageError("no model; expected --model openai:NAME@URL, gguf:FILE or hf:FOLDER, once or several times")
    systems, out = list(models.values()), given["out"]
    check_judge_name(given["judge"])
    baseline = models[find_model(models, given["baseline"] or next(iter(models)))]
    rows, graded, references = _read_rows(bench, given)
    options = DatasetOptions(seed=given["seed"], max_tokens=given["max_tokens"], temperature=given["temperature"])
    folder = PreferenceFolder(None if given["estimate"] else out, rows, options)
    if given["estimate"]:
        _report_estimate(rows, models, options, as_json)
        return
    _answer(rows, models, options, folder)
    _report_missing(rows, systems, folder)
    grading = folder.open_grading(_name_judge(given["judge"]), references)
    items = make_graded_items(graded, folder.answers, systems)
    judgements = _grade(items, grading, given)
    report = report_grading(grading, judgements, folder, systems, len(graded), baseline, given["seed"])
    earlier = list(list_earlier(out, folder, grading, systems, len(graded)))
    sections = list(list_preference_sections(report, earlier))
    write_files(TITLE, sections, given["page"], given["figures"])
    emit(as_json, report_lines(report), lambda: view_sections(sections))


def _read_rows(bench: str, given: dict[str, Any]) -> tuple[list[Row], list[Row], str]:
    """Read the rows of the bench, those of them with a reference, and the name of the references."""
    from pkg.lab.datasets.dataset_rows import draw
    from pkg.lab.evaluation.preferences.preference_bench import join_references

    whole = read_bench_rows(bench, "the bench of pkg data pairs")
    rows = draw(whole, given["limit"], given["seed"])
    name = given["references"] or bench
    known = read_bench_rows(name, "the output of pkg data references") if given["references"] else whole
    joined, missing = join_references(rows, known, name)
    if missing:
        say(f"not graded: {count_things(missing, 'row')} of {bench} without a reference in {name}")
    models = sorted({shorten_model(str(row.get("reference_model"))) for row in known} - {"None"})
    return rows, joined, " and ".join(models) or Path(name).stem


def _report_estimate(rows: Sequence[Row], models: Mapping[str, str], options: DatasetOptions, as_json: bool) -> None:
    from pkg.lab.datasets.bench_references import request_references
    from pkg.lab.datasets.request_runner import estimate_requests

    estimate = estimate_requests("answers", request_references(rows, options), None)
    report_estimates([(model, estimate) for model in models], as_json)


def _answer(rows: Sequence[Row], models: Mapping[str, str], options: DatasetOptions, folder: PreferenceFolder) -> None:
    """Answer the missing rows by each model, one after another; a model without any is not opened."""
    from pkg.lab.evaluation.preferences.preference_bench import answer_bench, list_missing

    for model, label in models.items():
        missing = list_missing(rows, label, folder.answers)
        if not missing:
            continue
        with open_runner(model, f"answering, {label}", len(missing), None) as runner:
            folder.check_model(label, runner.model.identity)
            for answer in answer_bench(missing, label, runner, options):
                folder.add(answer)


def _report_missing(rows: Sequence[Row], systems: Sequence[str], folder: PreferenceFolder) -> None:
    """Report the rows that a model has not answered, with the first reason."""
    for system in systems:
        empty = [found for row in rows if not (found := folder.answers[system, str(row["id"])]).text]
        if empty:
            say(f"{system}: {count_things(len(empty), 'row')} without an answer; the first: {empty[0].reason}")


def _name_judge(judge: str) -> str:
    from pkg.lab.judge.judging import NAME, NO_MODEL

    return NAME if judge == NO_MODEL else shorten_model(judge)


def _grade(items: list[JudgedItem], grading: Grading, given: dict[str, Any]) -> list[Judgement]:
    """Grade the answers; each judgement is stored at once."""
    from pkg.lab.judge.judge_check import describe_check
    from pkg.lab.judge.judge_tasks import make_tasks
    from pkg.lab.judge.judgements import JudgementFile
    from pkg.lab.judge.judging import find_check, judge_tasks, open_judge

    path = None if given["out"] is None else given["out"] / grading.file
    options = JudgeOptions("grade", runs=given["runs"], seed=given["seed"])
    tasks, _ = make_tasks(items, options)
    if not tasks:
        raise UsageError("no model has written an answer; see the reasons above, or give another --model")
    with open_judge(given["judge"], options, JudgementFile(path), False) as judge, closing(ProgressBar()) as bar:
        found = list(judge_tasks(judge, tasks, lambda done, total: bar.count("grading", done, total)))
        say(f"graded by {judge.name}: {describe_check(find_check(judge.name, 'grade', path))}")
    return found


def report_lines(report: PreferenceReport) -> Iterator[dict[str, Any]]:
    """Yield a line for each model, and then the summary of the judgements."""
    from pkg.lab.commands.judge import report_line

    head = {"judge": report.judge, "references": report.references, "baseline": report.baseline, "rows": report.rows}
    for each in report.grades:
        row = asdict(each) | {"wins": each.wins and each.wins._asdict()}
        yield {"type": "preferences", **head, **row}
    yield report_line(report.judged, None, "")
