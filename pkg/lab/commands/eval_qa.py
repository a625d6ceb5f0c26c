"""`pkg eval qa`: ask the questions with a progress bar, judge the answers, and write the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from pkg.api import Graph, open_graph
from pkg.console.answer_options import answer_tokens_option, evidence_budget_option
from pkg.console.options import json_option, store_options
from pkg.console.progress import ProgressBar, say
from pkg.console.settings import decode_option, models_setting, source_setting, split_names
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import make_table
from pkg.errors import InputError, PathError, UsageError
from pkg.lab.commands.report_output import report_options, view_sections, write_files
from pkg.lab.datasets.dataset_rows import draw
from pkg.lab.evaluation.model_labels import label_models
from pkg.lab.evaluation.questions.qa_records import (
    DEPTHS,
    TUNED,
    QaFigures,
    QaFolder,
    QaItem,
    QaOptions,
    QaReport,
    make_judged,
    name_system,
    read_questions,
    report_questions,
)
from pkg.lab.judge.judge_tasks import JudgeOptions, Orders
from pkg.lab.judge.judging import check_judge_name, find_check, judge_tasks, open_judge
from pkg.lab.lab_api import evaluate_questions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.judgement_report import JudgementReport
    from pkg.lab.evaluation.report.report_format import Section
    from pkg.lab.judge.items import JudgedItem
    from pkg.lab.judge.judgements import Judgement


SHOWN = 3  # invalid rows named in a message

ORACLE = "ORACLE FILE"  # in all output of a run that searches only the right file

_NAMES = ("systems", "source", "oracle_file", "batch", "seed")


@click.command(
    "qa", epilog="Example:  pkg eval qa spydercodeqa.jsonl   or with answers:  --model gguf:coder.gguf --judge none"
)
@click.argument("path", metavar="FILE", callback=decode_option)
@store_options
@click.option(
    "--systems", multiple=True, callback=split_names, metavar="NAME,...",
    help="Systems to compare: graph, chunks, both, and with --model none, which answers from memory. Default: all,"
    " or with several models none, graph and chunks.",
)  # fmt: skip
@models_setting(
    help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER. Repeatable: the base first, then tuned ones."
    " Default: none, which measures only the search."
)
@click.option(
    "--judge", metavar="MODEL", callback=decode_option,
    help="Judge of the answers: a model as for --model, or none for a judge that counts.",
)  # fmt: skip
@click.option(
    "--baseline", default="", callback=decode_option, metavar="SYSTEM",
    help="System to compare all others with, such as graph or none@coder. Default: none of the first model if it is"
    " among the systems, else every two.",
)  # fmt: skip
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Number of runs of the judge.")
@click.option(
    "--orders", type=click.Choice(get_args(Orders)), default="random", show_default=True,
    help="Show each pair of answers to the judge in random order, as in the paper, or in both orders.",
)  # fmt: skip
@source_setting(help="Search only this source.")
@evidence_budget_option
@click.option(
    "--oracle-file", is_flag=True, help="Search only the right file, as in the paper; all output says so.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(1), help="Number of questions, sampled by --seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of questions and orders.")
@answer_tokens_option
@click.option(
    "--batch", type=click.IntRange(0), default=0, help="Answers per batch; 0 for the size that suits the model."
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Store answers, judgements and a page in FOLDER; the same command resumes the run.",
)  # fmt: skip
@report_options
@json_option
def qa(path: str, store: str, as_json: bool, **options: Any) -> None:
    """Compare systems by the questions of FILE about the graph.

    FILE has the format of SpyderCodeQA. Reports how often the right file is among the first pieces of evidence, by kind
    of question; with --model also the citations of the answers; with --judge also the better system, over several runs.
    Several models are each combined with each system, as graph@MODEL.
    """
    run_questions(path, store, as_json, options)


def run_questions(path: str, store: str, as_json: bool, given: dict[str, Any]) -> None:
    """Evaluate the questions of a file; raises InputError if it has none, UsageError for conflicting options."""
    taken = {name: given[name] for name in _NAMES}
    options = QaOptions(budget=given["tokens"], max_tokens=given["answer_tokens"], **taken)
    models, out, judge = label_models(list(dict.fromkeys(given["models"]))), given["out"], given["judge"]
    is_several = len(models) > 1
    sources = options.choose_systems(bool(models)) if not is_several else options.systems or TUNED
    options = replace(options, systems=sources)
    labels = list(models.values()) if is_several else [""]
    systems = [name_system(source, label) for label in labels for source in sources]
    if judge is not None and (not models or len(systems) < 2):
        raise UsageError("--judge compares answers of a model by two systems or more; give --model, and the systems")
    if judge is None and (given["page"] or given["figures"]):
        raise UsageError("--html and --figures show win rates, which need a judge; add --judge")
    check_judge_name(judge)
    items = draw(_read_items(path), given["limit"], options.seed)
    with open_graph(store, ask=choose_ask()) as graph:
        if is_several:
            folder = _answer_by_each(graph, items, models, options, systems, out)
        else:
            folder = _answer(graph, items, next(iter(models), None), options, out)
    judged = make_judged(items, folder.records, systems)
    baseline = given["baseline"] or _find_baseline(systems, labels[0])
    judgements, report, told = _judge(judged, judge, baseline, given) if judge is not None else ([], None, "")
    found = report_questions(folder.records.values(), systems, options.oracle_file, report, told)
    if out is not None and models:
        _write_page(out, judged, judgements)
    sections = _list_sections(report, told) if is_several or given["page"] or given["figures"] else []
    write_files("Answers about a repository", sections, given["page"], given["figures"])
    emit(as_json, report_lines(found), lambda: chain(view_report(found), view_sections(sections)))


def _describe_run(graph: Graph, items: Sequence[QaItem], options: QaOptions, **more: Any) -> dict[str, Any]:
    """Return the head of the folder of a run."""
    head = {**asdict(options), "items": [each.item.id for each in items], "encoder": graph.store.encoder()[0], **more}
    return {name: value for name, value in head.items() if name != "batch"}


def _answer(graph: Graph, items: Sequence[QaItem], model: str | None, options: QaOptions, out: Path | None) -> QaFolder:
    """Answer the questions by one model, or without one."""
    from pkg.models.registry import use_model

    with use_model(model) as opened, closing(ProgressBar()) as bar:
        head = _describe_run(graph, items, options, systems=list(options.systems), model=opened.name if opened else "")
        folder = QaFolder(out, head)
        evaluate_questions(graph, items, folder, options, opened, listen=bar.count)
    return folder


def _answer_by_each(
    graph: Graph,
    items: Sequence[QaItem],
    models: Mapping[str, str],
    options: QaOptions,
    systems: Sequence[str],
    out: Path | None,
) -> QaFolder:
    """Answer the questions by several models, one after another; a model without missing answers is not opened."""
    from pkg.models.registry import use_model

    folder = QaFolder(out, _describe_run(graph, items, options, systems=list(systems), model="", models=list(models)))
    for model, label in models.items():
        names = [name_system(source, label) for source in options.systems]
        if all((name, each.item.id) in folder.records for name in names for each in items):
            continue
        with use_model(model) as opened, closing(ProgressBar()) as bar:
            folder.check_model(label, opened.identity)
            evaluate_questions(graph, items, folder, options, opened, label=label, listen=bar.count)
    return folder


def _find_baseline(systems: Sequence[str], label: str) -> str:
    """Return the first model without evidence, if it is among the systems, or ""."""
    name = name_system("none", label)
    return name if name in systems else ""


def _list_sections(report: JudgementReport | None, told: str) -> list[Section]:
    """Return the comparison as sections with the figures of the paper; none without judgements."""
    from pkg.lab.evaluation.report.win_rate_tables import list_win_rate_sections

    return [] if report is None else list(list_win_rate_sections(report.pairs, f"{report.judge}: {told}"))


def _read_items(path: str) -> tuple[QaItem, ...]:
    try:
        lines = Path(path).read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}; expected a file of JSON lines") from None
    found = read_questions(lines)
    for skip in found.bad[:SHOWN]:
        say(f"left out: {skip}")
    if len(found.bad) > SHOWN:
        say(f"left out: {len(found.bad) - SHOWN:,} more rows")
    if not found.items:
        raise InputError(f"no question in {path}; expected JSON lines with question, answer, type and path")
    return found.items


def _judge(
    items: list[JudgedItem], judge: str, baseline: str, given: dict[str, Any]
) -> tuple[list[Judgement], JudgementReport | None, str]:
    """Compare the answers of all systems with those of the baseline, or with each other."""
    from pkg.lab.evaluation.judgement_report import report_judgements
    from pkg.lab.evaluation.questions.qa_records import JUDGEMENTS
    from pkg.lab.judge.judge_check import describe_check
    from pkg.lab.judge.judge_tasks import make_tasks
    from pkg.lab.judge.judgements import JudgementFile

    options = JudgeOptions(
        "pairwise", runs=given["runs"], orders=given["orders"], baseline=baseline, seed=given["seed"]
    )
    tasks, left_out = make_tasks(items, options)
    if left_out:
        say(f"not judged: {len(left_out):,} questions, the first: {left_out[0]}")
    if not tasks:
        return [], None, ""
    path = None if given["out"] is None else given["out"] / JUDGEMENTS
    with open_judge(judge, options, JudgementFile(path), False) as opened, closing(ProgressBar()) as bar:
        judgements = list(judge_tasks(opened, tasks, lambda done, total: bar.count("judging", done, total)))
        told = describe_check(find_check(opened.name, "pairwise", path))
    return judgements, report_judgements(judgements, baseline), told


def _write_page(out: Path, judged: list[JudgedItem], judgements: list[Judgement]) -> None:
    from pkg.lab.evaluation.questions.qa_records import PAGE
    from pkg.lab.evaluation.report.answers_page import write_answers_page

    (out / PAGE).write_text(write_answers_page(judged, judgements), encoding="utf-8", errors="replace")
    say(f"answers side by side: {out / PAGE}")


def report_lines(report: QaReport) -> Iterator[dict[str, Any]]:
    """Yield a line for each system and type of question, then one for the judgements."""
    oracle = {"oracle_file": ORACLE} if report.oracle_file else {}
    for each in report.figures:
        row = asdict(each)
        row["hits"] = {str(depth): count for depth, count in each.hits.items()}
        row["intervals"] = {str(depth): interval._asdict() for depth, interval in each.intervals.items()}
        yield {"type": "questions", **oracle, "kind": row.pop("type"), **row}
    if report.judged is not None:
        from pkg.lab.commands.judge import report_line

        yield report_line(report.judged, None, report.judge_check)


def view_report(report: QaReport) -> Iterator[RenderableType]:
    """Yield tables of retrieval, answers and judgements."""
    if report.oracle_file:
        yield style_words(f"{ORACLE}: the right file alone was searched; this measures no retrieval", "red")
    hits = tuple(f"hit@{depth}" for depth in DEPTHS)
    names = ("system", "questions", "count", "in the graph", *hits)
    rows = [
        (
            each.system,
            each.type,
            str(each.questions),
            str(each.with_gold),
            *(_say_hits(each, depth) for depth in DEPTHS),
        )
        for each in report.figures
    ]
    yield make_table(names, rows, right=names[2:])
    if report.has_answers:
        names = (
            "system", "questions", "answered", "refused", "supported", "wrong citations", "right file cited", "tokens"
        )  # fmt: skip
        yield make_table(names, [_make_row(each) for each in report.figures], right=names[2:])
        yield style_words(
            "supported: of the statements, those that evidence says; wrong: of the model's citations", "dim"
        )
    if report.judged is not None:
        from pkg.lab.commands.judge import view_report as view_judgements

        yield from view_judgements(report.judged)
        yield style_words(f"judged by {report.judged.judge}: {report.judge_check}", "dim")


def _say_hits(each: QaFigures, depth: int) -> str:
    interval = each.intervals[depth]
    share = each.hits[depth] / each.questions if each.questions else 0.0
    return f"{share:.3f} ({interval.low:.2f}-{interval.high:.2f})"


def _make_row(each: QaFigures) -> tuple[str, ...]:
    return (
        each.system, each.type, str(each.answered), str(each.refused), _share(each.supported, each.statements),
        f"{each.wrong} of {each.citations}", _share(each.cites_gold, each.questions), f"{each.tokens:,}",
    )  # fmt: skip


def _share(count: int, total: int) -> str:
    return f"{count / total:.3f}" if total else "-"
