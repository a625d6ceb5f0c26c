"""`pkg judge`: read answers, judge them, check the judge, and summarise."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from pkg.console.options import json_option
from pkg.console.progress import ProgressBar, say
from pkg.console.settings import combine, decode_option, decode_options, model_setting, setting, split_names
from pkg.console.streams import emit, read_text, style_words
from pkg.console.tables import make_table
from pkg.errors import InputError, PathError, UsageError, count_things
from pkg.lab.evaluation.judgement_report import report_judgements
from pkg.lab.evaluation.model_labels import find_model, label_models
from pkg.lab.evaluation.share_statistics import OUTCOMES
from pkg.lab.judge.items import JudgedItem, read_items
from pkg.lab.judge.judge_check import describe_check, list_planted_tasks, plant_cases
from pkg.lab.judge.judge_tasks import JudgeOptions, JudgeTask, Orders, make_tasks
from pkg.lab.judge.judgements import Judgement, JudgementFile, make_records, read_judgements, write_records
from pkg.lab.judge.judging import (
    Judge,
    ModelJudge,
    find_check,
    judge_tasks,
    open_judge,
    plan_check,
    run_check,
    write_check,
)
from pkg.lab.judge.ratings import Rating, read_ratings
from pkg.models.usage import parse_price

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.correctness_split import RatingSplit
    from pkg.lab.evaluation.judgement_report import JudgementReport, SystemReport
    from pkg.lab.evaluation.share_statistics import WinRate
    from pkg.lab.judge.judge_check import JudgeCheck
    from pkg.lab.judge.judge_tasks import Kind
    from pkg.lab.judge.judging import JudgeEstimate
    from pkg.model import Skip


JUDGE = JudgeOptions()

_baseline_option = click.option(
    "--baseline", default="", callback=decode_option, metavar="SYSTEM", help="System to compare all others with."
)

_zero_option = click.option(
    "--unparsed-as-zero", is_flag=True, help="Count unparsable ratings as 0. Default: leave them out."
)

judge_options = combine(
    model_setting(
        help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER; or none (default), which counts instead."
    ),
    click.option(
        "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
        help="Append each judgement to FILE at once; the same command resumes after the last one.",
    ),
    _baseline_option,
    click.option(
        "--runs", type=click.IntRange(1), default=JUDGE.runs, show_default=True,
        help="Number of runs, each with its own seed; 3 in the paper.",
    ),
    click.option(
        "--temperature", type=click.FloatRange(0), default=JUDGE.temperature, show_default=True,
        help="Temperature of the judge.",
    ),
    click.option(
        "--top-p", type=click.FloatRange(0, 1, min_open=True), default=JUDGE.top_p, show_default=True,
        help="Probability mass of nucleus sampling.",
    ),
    click.option(
        "--max-tokens", type=click.IntRange(1), default=JUDGE.max_tokens, show_default=True,
        help="Token limit of a judgement; 2,500 in the paper.",
    ),
    click.option("--seed", type=int, default=JUDGE.seed, show_default=True, help="Seed of sampling."),
    click.option("--limit", type=click.IntRange(1), help="Number of rows, from the first of FILE."),
    click.option("--batch", type=click.IntRange(0), default=JUDGE.batch, help="Prompts between writes to --out."),
    click.option("--estimate", is_flag=True, help="Report the requests and tokens of judging, and judge nothing."),
    setting("--price", metavar="IN/OUT", help="Price of a million input and output tokens, such as 0.15/0.60."),
    click.option(
        "--check", "is_checked", is_flag=True,
        help="Measure the judge itself, on the rows of FILE and on planted cases.",
    ),
    click.option(
        "--human", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
        help="With --check: ratings of people, as pkg rate writes them, to compare with.",
    ),
    click.option("--tolerance", type=click.FloatRange(0), help="With --human: largest difference of agreeing ratings."),
    _zero_option,
)  # fmt: skip
"""The common options of all kinds of judgements."""

orders_option = click.option(
    "--orders", type=click.Choice(get_args(Orders)), default=JUDGE.orders, show_default=True,
    help="Show each pair of answers in both orders, or in random order as in the paper.",
)  # fmt: skip

preference_option = click.option(
    "--preference", "preferences", multiple=True, callback=split_names, metavar="NAME,...",
    help="Preferences: instruction-following, explanation, complexity, readability, style, overall.",
)  # fmt: skip

SHOWN_ROWS = 5  # answers that instruct their judge; the JSON output has all

OPTION_NAMES = ("baseline", "runs", "orders", "preferences", "temperature", "top_p", "max_tokens", "seed", "batch")

SHOWN_REASONS = 3  # skipped rows named in a message
COLUMNS = ("items", "ours %", "base %", *OUTCOMES[2:])


@click.group()
def judge() -> None:
    """Judge the answers of systems to questions.

    FILE has JSON lines {"id", "question", "reference", "answers": {SYSTEM: TEXT}}, or records with "instruction" and
    "responses"; - reads standard input. Without --model, the judge counts shared words, citations that lead to the
    evidence, and passing tests.
    """


@judge.command(
    "pairwise", epilog="Example:  pkg judge pairwise answers.jsonl --model gguf:coder.gguf --out judged.jsonl"
)
@click.argument("path", metavar="FILE", callback=decode_option)
@orders_option
@judge_options
@json_option
def judge_pairwise(path: str, as_json: bool, **options: Any) -> None:
    """Compare the answers of every two systems.

    A verdict is: the first is better, the second, both are good, or neither. The summary has the share of each outcome
    in all judgements, with its deviation over --runs.
    """
    run_judge("pairwise", path, as_json, options)


@judge.command("grade", epilog="Example:  pkg judge grade answers.jsonl --model gguf:coder.gguf --baseline plain")
@click.argument("path", metavar="FILE", callback=decode_option)
@preference_option
@judge_options
@json_option
def judge_grade(path: str, as_json: bool, **options: Any) -> None:
    """Grade each answer from 1 to 10 by the reference."""
    run_judge("grade", path, as_json, options)


@judge.command(
    "annotate", epilog="Example:  pkg judge annotate answers.jsonl --model gguf:coder.gguf --preference style"
)
@click.argument("path", metavar="FILE", callback=decode_option)
@preference_option
@judge_options
@click.option(
    "--records", callback=decode_option, metavar="FILE", help="File of annotation records, one for each item."
)
@json_option
def judge_annotate(path: str, as_json: bool, **options: Any) -> None:
    """Rate all answers to a question in one prompt, from 1 to 5."""
    run_judge("annotate", path, as_json, options)


@judge.command("correctness", epilog="Example:  pkg judge correctness answers.jsonl --model gguf:coder.gguf")
@click.argument("path", metavar="FILE", callback=decode_option)
@judge_options
@json_option
def judge_correctness(path: str, as_json: bool, **options: Any) -> None:
    """Judge code from 1 to 10 by its tests, without running them."""
    run_judge("correctness", path, as_json, options)


@judge.command("report", epilog="Example:  pkg judge report judged.jsonl --baseline plain")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, callback=decode_options)
@_baseline_option
@_zero_option
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--figures", callback=decode_option, metavar="FOLDER", help="Write the figures as PNG and SVG.")
@click.option(
    "--verdicts", multiple=True, callback=decode_options, metavar="FOLDER",
    help="Run of pkg eval: split ratings of correctness by whether the answer passes. Repeatable.",
)  # fmt: skip
@json_option
def judge_report(paths: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Summarise judgements stored with --out, without a model."""
    run_report(paths, as_json, options)


def run_judge(kind: Kind, path: str, as_json: bool, given: dict[str, Any]) -> None:
    """Judge the answers of a file, or report the estimate.

    Raises InputError if there is nothing to judge, UsageError for options that exclude each other.
    """
    options = JudgeOptions(kind, **{name: given.pop(name) for name in OPTION_NAMES if name in given})
    is_checked = given["is_checked"]
    if (given["human"] or given["tolerance"] is not None) and not is_checked:
        raise UsageError("--human and --tolerance are for the check of a judge; add --check")
    if is_checked:
        options = plan_check(options)
    ratings = _read_human(given["human"]) if given["human"] else None
    items = _read_items(path, given["limit"])
    tasks, left_out = make_tasks(items, options)
    _tell_left_out(left_out, "row")
    if not tasks:
        first = f"; the first: {left_out[0]}" if left_out else ""
        raise InputError(f"nothing in {path} can be judged so{first}")
    judged = [item for item in items if item.id not in {each.path for each in left_out}]
    kept = JudgementFile(given["out"])
    with open_judge(given["model"], options, kept, any(item.tests for item in judged)) as judge:
        if given["estimate"]:
            planted = list_planted_tasks(plant_cases(judged), kind) if is_checked else []
            _tell_estimate(judge, [*tasks, *planted], as_json, given["price"])
            return
        judgements = _judge(judge, tasks, as_json)
        check = None
        if is_checked:
            with closing(ProgressBar()) as bar:
                check = run_check(judge, options, judged, judgements, ratings, given["tolerance"],
                                  lambda done, total: _show(bar, "judging planted cases", done, total))  # fmt: skip
            if given["out"] is not None:
                write_check(given["out"], check)
    if given.get("records"):
        count = write_records(Path(given["records"]), make_records(judged, judgements))
        say(f"{count_things(count, 'record')} written to {given['records']}")
    beside = None if path == "-" else Path(path)
    known = check.to_json() if check else find_check(judge.name, kind, given["out"], beside)
    if check is not None:
        emit(as_json, [check.to_json()], lambda: view_check(check))
    baseline = _find_baseline(judgements, options.baseline)
    _sum_up(judgements, as_json, baseline, given["unparsed_as_zero"], options.seed, known)


def run_report(paths: Sequence[str], as_json: bool, given: dict[str, Any]) -> None:
    """Summarise judgements of files, by kind and judge; raises InputError if there are none."""
    found: dict[tuple[object, ...], Judgement] = {}
    for path in paths:
        found |= {(each.judge, each.place): each for each in read_judgements(Path(path)) if not each.case}
    if not found:
        raise InputError(f"no judgements in {', '.join(paths)}; expected files that pkg judge has written")
    ordered = sorted(found.values(), key=lambda each: (each.kind, each.judge))
    for (kind, judge), group in groupby(ordered, key=lambda each: (each.kind, each.judge)):
        check = find_check(judge, kind, *map(Path, paths))
        own = list(group)
        baseline = _find_baseline(own, given["baseline"])
        report = _sum_up(own, as_json, baseline, given["unparsed_as_zero"], given["seed"], check)
        if given["figures"]:
            _draw(report, baseline, Path(given["figures"]))
    if given["verdicts"]:
        _split_by_verdict(list(found.values()), [Path(each) for each in given["verdicts"]], as_json, given["figures"])


def _draw(report: JudgementReport, baseline: str, folder: Path) -> None:
    """Write the figures of judgements, and report which."""
    from pkg.lab.evaluation.report.rating_pictures import list_rating_pictures
    from pkg.lab.evaluation.report.report_format import save_picture

    pictures = list(list_rating_pictures(report, baseline))
    for picture in pictures:
        save_picture(picture, folder)
    names = ", ".join(picture.name for picture in pictures) or "none, because there are no ratings to show"
    say(f"figures of {report.judge} in {folder}: {names}")


def _split_by_verdict(
    judgements: Sequence[Judgement], runs: Sequence[Path], as_json: bool, figures: str | None
) -> None:
    """Write the ratings of correctness of answers that pass, and of those that fail."""
    from pkg.lab.evaluation.correctness_split import split_ratings
    from pkg.lab.evaluation.report.rating_pictures import list_split_pictures
    from pkg.lab.evaluation.report.report_format import save_picture

    found = split_ratings(judgements, runs)
    lines = [{"type": "verdicts", **asdict(each), "welch": each.welch and each.welch._asdict()} for each in found]
    emit(as_json, lines, lambda: view_splits(found))
    for picture in list_split_pictures(found) if figures else ():
        save_picture(picture, Path(str(figures)))


def view_splits(splits: Sequence[RatingSplit]) -> Iterator[RenderableType]:
    """Yield the ratings of each judge, by whether the answer passes its tests."""
    scores = [str(score) for score in splits[0].passed]
    rows = [
        (each.judge, name, str(sum(counts.values())), _number(mean), *map(str, counts.values()))
        for each in splits
        for name, counts, mean in (("pass", each.passed, each.mean_passed), ("fail", each.failed, each.mean_failed))
    ]
    yield make_table(("judge", "tests", "ratings", "mean", *scores), rows, right=("ratings", "mean", *scores))
    for each in splits:
        told = "undefined" if each.separation is None else f"{each.separation:.2f} (p {each.p_value:.3f})"
        yield style_words(
            f"{each.judge}: a passing answer is rated above a failing one with probability {told}, .5 is chance;"
            f" {each.unread:,} unread, {each.unknown:,} not in the runs", "dim"
        )  # fmt: skip


def _read_items(path: str, limit: int | None) -> list[JudgedItem]:
    found = read_items(_read_lines(path))
    _tell_left_out(found.bad, "row", f" of {path}")
    if not found.items:
        raise InputError(
            f"no row of {path} can be judged{f'; the first: {found.bad[0]}' if found.bad else ''};"
            " expected JSON lines with id, question, reference and answers by system"
        )
    return list(found.items[:limit])


def _read_human(path: Path) -> list[Rating]:
    found = read_ratings(_read_lines(str(path)))
    _tell_left_out(found.bad, "rating", f" of {path}")
    if not found.items:
        raise InputError(f"no ratings in {path}; expected JSON lines with id, rater, kind, and ratings or verdict")
    return list(found.items)


def _read_lines(path: str) -> list[str]:
    if path == "-":
        return read_text(path).removeprefix("\ufeff").split("\n")
    try:
        return Path(path).read_bytes().decode("utf-8-sig", "replace").split("\n")
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}; expected a file of JSON lines, or -") from None


def _tell_left_out(left_out: Sequence[Skip], what: str, of: str = "") -> None:
    if left_out:
        first = "; ".join(map(str, left_out[:SHOWN_REASONS]))
        more = f"; and {len(left_out) - SHOWN_REASONS:,} more" if len(left_out) > SHOWN_REASONS else ""
        say(f"left out {count_things(len(left_out), what)}{of}: {first}{more}")


def _tell_estimate(judge: Judge, tasks: Sequence[JudgeTask], as_json: bool, price: str | None) -> None:
    if not isinstance(judge, ModelJudge):
        say(f"{judge.name} asks no model: {count_things(len(tasks), 'judgement')} cost nothing")
        emit(as_json, [{"type": "estimate", "judge": judge.name, "tasks": len(tasks), "cost": 0.0}], tuple)
        return
    found = judge.estimate(tasks, parse_price(price) if price else None)
    emit(as_json, [{"type": "estimate", **asdict(found)}], lambda: view_estimate(found))


def _judge(judge: Judge, tasks: Sequence[JudgeTask], as_json: bool) -> list[Judgement]:
    """Run the judge; each judgement is written at once to a pipe."""
    found: list[Judgement] = []

    def listen() -> Iterator[dict[str, Any]]:
        for each in _follow(judge, tasks):
            found.append(each)
            yield each.to_json()

    if as_json:
        emit(True, listen(), tuple)
    else:
        found += _follow(judge, tasks)
    return found


def _follow(judge: Judge, tasks: Sequence[JudgeTask]) -> Iterable[Judgement]:
    with closing(ProgressBar()) as bar:
        yield from judge_tasks(judge, tasks, lambda done, total: _show(bar, "judging", done, total))


def _show(bar: ProgressBar, what: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        bar.count(what, done, total)


def _sum_up(
    judgements: Sequence[Judgement],
    as_json: bool,
    baseline: str,
    unparsed_as_zero: bool,
    seed: int,
    check: dict[str, Any] | None,
) -> JudgementReport:
    """Write the summary of judgements by one judge, and return it."""
    report = report_judgements(judgements, baseline, unparsed_as_zero, seed)
    told = describe_check(check)
    emit(as_json, [report_line(report, check, told)], lambda: view_report(report))
    say(f"judged by {report.judge}: {told}")
    return report


def _find_baseline(judgements: Sequence[Judgement], name: str) -> str:
    """Return the system of a name; raises UsageError if there is none."""
    return name and find_model(label_models(sorted({system for each in judgements for system in each.systems})), name)


def view_estimate(found: JudgeEstimate) -> Iterator[RenderableType]:
    """Yield the estimate of a run of the judge."""
    cost = "" if found.cost is None else f", at a price of {found.cost:,.2f}"
    yield style_words(
        f"{count_things(found.tasks, 'judgement')} by {found.judge}, {found.known:,} of them known already: about"
        f" {found.prompt_tokens:,} tokens to read and {found.completion_tokens:,} to write"
        f" ({found.most_completion_tokens:,} at most){cost}"
    )
    if found.shortened or found.unfit:
        yield style_words(f"too long: {found.shortened:,} would be shortened, {found.unfit:,} not judged", "yellow")


def view_check(check: JudgeCheck) -> Iterator[RenderableType]:
    """Yield the results of the check of a judge."""
    rows = [
        ("another winner in the other order", _share(check.flip_rate), f"of {check.both_orders:,} comparisons"),
        ("wins of the answer that stands first", _share(check.first_share), "of all wins; .5 is even"),
        ("the same said twice", _share(check.self_agreement), f"of {check.repeated:,} pairs of runs"),
        ("correlation with the length of answers", _number(check.length_correlation), "Spearman"),
        ("without a value", f"{check.without_value:,}", f"of {check.judgements:,} judgements"),
    ]
    rows += [
        (f"planted, {each.case}: right", f"{each.right:,} of {each.judged + each.unread:,}", f"{each.unread:,} unread")
        for each in check.cases
    ]
    if check.human is not None:
        human = check.human
        rows += [
            (f"kappa of {each.one} and {each.other}", _number(each.kappa), f"{each.shared:,} items of both")
            for each in human.pairs
        ]
        rows.append(("alpha of all raters", _number(human.alpha), f"{count_things(human.raters, 'person')}"))
        if human.strangers:
            rows.append(("ratings of other items", f"{human.strangers:,}", "left out"))
    yield make_table((f"check of {check.judge}, {check.kind}", "", ""), rows, right=("",))
    for item, system, words in check.ordering[:SHOWN_ROWS]:
        yield style_words(f"the answer of {system} to {item} orders the judge: {words}", "yellow")
    if len(check.ordering) > SHOWN_ROWS:
        yield style_words(f"and {len(check.ordering) - SHOWN_ROWS:,} more; --json lists all", "yellow")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def report_line(report: JudgementReport, check: dict[str, Any] | None, told: str) -> dict[str, Any]:
    """Return the summary as one line, with the check of its judge."""
    line = {"type": "summary", **asdict(report), "judge_check": told, "check": check}
    line["pairs"] = [
        {**asdict(each), "outcomes": {name: rate._asdict() for name, rate in each.outcomes.items()}}
        for each in report.pairs
    ]
    line["systems"] = [
        asdict(each)
        | {name: (found := getattr(each, name)) and found._asdict() for name in ("welch", "wins", "extremes")}
        for each in report.systems
    ]
    if report.ranking is not None:
        line["ranking"] = report.ranking._asdict()
    for name, spread in (("best_lengths", report.best_lengths), ("worst_lengths", report.worst_lengths)):
        line[name] = spread and spread._asdict()
    return {name: value for name, value in line.items() if value not in ((), [], None) or name == "check"}


def view_report(report: JudgementReport) -> Iterator[RenderableType]:
    """Yield tables of outcomes or mean ratings, and counts of unparsed judgements."""
    counts = [count_things(report.judgements, "judgement"), f"{report.without_value:,} without a value"]
    counts += [f"{report.not_judged:,} not judged"] if report.not_judged else []
    counts += [f"{report.shortened:,} of shortened answers"] if report.shortened else []
    yield style_words(f"{report.kind}: {', '.join(counts)}", "bold")
    for oddity, count in report.oddities.items():
        yield style_words(f"{oddity}: {count:,}", "dim")
    if report.pairs:
        yield from _view_pairs(report)
    if report.systems:
        yield from _view_systems(report)


def _view_pairs(report: JudgementReport) -> Iterator[RenderableType]:
    rows = [
        (each.ours, each.base, each.type, str(each.items), *(_say_rate(each.outcomes[name]) for name in OUTCOMES))
        for each in report.pairs
    ]
    yield make_table(("ours", "base", "questions", *COLUMNS), rows, right=COLUMNS)
    yield style_words("% of all judgements, ± the deviation over runs", "dim")
    ranking = report.ranking
    if ranking is not None and len(ranking.strengths) + len(ranking.apart) > 2:
        ranked = [(system, f"{strength:+.2f}") for system, strength in ranking.strengths.items()]
        yield make_table(("system", "strength (Bradley-Terry)"), [*ranked, *ranking.apart.items()])


def _say_rate(rate: WinRate) -> str:
    return f"{rate.mean:.1f}" if rate.deviation is None else f"{rate.mean:.1f}±{rate.deviation:.1f}"


def _view_systems(report: JudgementReport) -> Iterator[RenderableType]:
    columns = ("mean", "95 %", "ratings", "unread", "win", "tie", "lose", "best %", "worst %")
    labels = label_models(list(dict.fromkeys(each.system for each in report.systems)))
    rows = [(labels[each.system], each.preference, *_list_cells(each)) for each in report.systems]
    yield make_table(("system", "preference", *columns), rows, right=columns)
    scores = [str(score) for score in report.systems[0].scores]
    spread = [(labels[each.system], each.preference, *map(str, each.scores.values())) for each in report.systems]
    yield make_table(("ratings of", "preference", *scores), spread, right=scores)
    best, worst = report.best_lengths, report.worst_lengths
    if best is not None and worst is not None:
        yield style_words(f"characters of best answers {best.mean:,.0f}, of worst {worst.mean:,.0f}, on average", "dim")
    if any(each.welch for each in report.systems):
        yield style_words("against the baseline: * p < .05, † p < .01, ‡ p < .001 (Welch)", "dim")


def _list_cells(each: SystemReport) -> list[str]:
    mark = each.welch.mark if each.welch else ""
    mean = "-" if each.mean is None else f"{each.mean:.2f}{mark}"
    interval = "" if each.interval is None else f"{each.interval.low:.1f}-{each.interval.high:.1f}"
    wins = ["", "", ""] if each.wins is None else [str(count) for count in each.wins]
    extremes = ["", ""]
    if each.extremes is not None and each.extremes.samples:
        best, worst, samples = each.extremes
        extremes = [f"{100 * best / samples:.0f}", f"{100 * worst / samples:.0f}"]
    return [mean, interval, str(each.ratings), str(each.unread), *wins, *extremes]
