"""Run `pkg judge`: read answers, judge them, check the judge, and summarise."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkg.console.progress import ProgressBar, say
from pkg.console.streams import emit, read_text
from pkg.errors import InputError, PathError, UsageError, count_things
from pkg.lab.console import judge_tables
from pkg.lab.evaluation.judgement_report import report_judgements
from pkg.lab.judge.annotation_records import make_records, write_records
from pkg.lab.judge.items import JudgedItem, read_items
from pkg.lab.judge.judge_check import describe_check
from pkg.lab.judge.judge_tasks import JudgeOptions, JudgeTask, make_tasks
from pkg.lab.judge.judgements import Judgement, JudgementFile, read_judgements
from pkg.lab.judge.judging import find_check, judge_tasks, open_judge, plan_check, run_check, write_check
from pkg.lab.judge.model_judge import Judge, ModelJudge
from pkg.lab.judge.planted_cases import list_planted_tasks, plant_cases
from pkg.lab.judge.ratings import Rating, read_ratings
from pkg.models.usage import parse_price

if TYPE_CHECKING:
    from pkg.lab.judge.templates import Kind
    from pkg.model import Skip

OPTION_NAMES = ("baseline", "runs", "orders", "preferences", "temperature", "top_p", "max_tokens", "seed", "batch")
SHOWN = 3  # skipped rows named in a message


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
        raise InputError(_explain_nothing(left_out, path))
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
    known = check.to_json() if check else find_check(judge.name, kind, given["out"], _name_file(path))
    if check is not None:
        emit(as_json, [check.to_json()], lambda: judge_tables.view_check(check))
    _sum_up(judgements, as_json, options.baseline, given["unparsed_as_zero"], options.seed, known)


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
        _sum_up(list(group), as_json, given["baseline"], given["unparsed_as_zero"], given["seed"], check)


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
    if not found.ratings:
        raise InputError(f"no ratings in {path}; expected JSON lines with id, rater, kind, and ratings or verdict")
    return list(found.ratings)


def _read_lines(path: str) -> list[str]:
    if path == "-":
        return read_text(path).removeprefix("\ufeff").split("\n")
    try:
        return Path(path).read_bytes().decode("utf-8-sig", "replace").split("\n")
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}; expected a file of JSON lines, or -") from None


def _name_file(path: str) -> Path | None:
    return None if path == "-" else Path(path)


def _tell_left_out(left_out: Sequence[Skip], what: str, of: str = "") -> None:
    if left_out:
        first = "; ".join(map(str, left_out[:SHOWN]))
        more = f"; and {len(left_out) - SHOWN:,} more" if len(left_out) > SHOWN else ""
        say(f"left out {count_things(len(left_out), what)}{of}: {first}{more}")


def _explain_nothing(left_out: Sequence[Skip], path: str) -> str:
    first = f"; the first: {left_out[0]}" if left_out else ""
    return f"nothing in {path} can be judged so{first}"


def _tell_estimate(judge: Judge, tasks: Sequence[JudgeTask], as_json: bool, price: str | None) -> None:
    if not isinstance(judge, ModelJudge):
        say(f"{judge.name} asks no model: {count_things(len(tasks), 'judgement')} cost nothing")
        emit(as_json, [{"type": "estimate", "judge": judge.name, "tasks": len(tasks), "cost": 0.0}], tuple)
        return
    found = judge.estimate(tasks, parse_price(price) if price else None)
    emit(as_json, [{"type": "estimate", **asdict(found)}], lambda: judge_tables.view_estimate(found))


def _judge(judge: Judge, tasks: Sequence[JudgeTask], as_json: bool) -> list[Judgement]:
    """Run the judge; in a pipe each judgement is written as soon as it is there."""
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
) -> None:
    systems = {system for each in judgements for system in each.systems}
    if baseline and baseline not in systems:
        raise UsageError(f"no system is called '{baseline}'; found {', '.join(sorted(systems))}")
    report = report_judgements(judgements, baseline, unparsed_as_zero, seed)
    told = describe_check(check)
    emit(as_json, [judge_tables.report_line(report, check, told)], lambda: judge_tables.view_report(report))
    say(f"judged by {report.judge}: {told}")
