"""`pkg rate`: serve the page, report each rating, and write a summary at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.console.options import json_option
from pkg.console.page_opening import open_page
from pkg.console.progress import say
from pkg.console.settings import decode_option, decode_options
from pkg.console.streams import emit, style_words
from pkg.console.tables import make_table
from pkg.errors import PathError, UsageError, count_things, refuse_file
from pkg.lab.evaluation.report.answers_page import write_answers_page
from pkg.lab.judge.items import read_items
from pkg.lab.judge.judgements import read_judgements
from pkg.lab.judge.ratings import parse_rating
from pkg.lab.rating.rated_items import Mode, RatedFile, read_rated_file
from pkg.lab.rating.rating_app import ServeOptions, serve_ratings
from pkg.lab.rating.rating_form import read_name
from pkg.lab.rating.rating_task import RatingOptions, RatingTask
from pkg.lab.rating.ratings_file import WRITTEN, RatingsFile, Row, summarise_ratings
from pkg.service.web.web_server import is_loopback

if TYPE_CHECKING:
    from rich.console import RenderableType


NAMED = 5  # skipped rows that are named; the others are counted

SHOWN = 20  # rejected pairs in the table; the JSON output has all


@click.command(epilog="Example:  pkg rate questions.jsonl --open   or   pkg rate answers.jsonl --raters 3 --overlap 2")
@click.argument("path", metavar="FILE", callback=decode_option)
@click.option(
    "--create", "is_created", is_flag=True,
    help="Write questions and answers about the code of each row instead of ratings.",
)  # fmt: skip
@click.option(
    "--mode", type=click.Choice(("rate", "grade", "pairwise")),
    help="Rate pairs, grade each answer, or compare two answers. Default: by the fields of each row.",
)  # fmt: skip
@click.option(
    "--rater", multiple=True, callback=decode_options, metavar="NAME",
    help="Name of a rater, who gets an address. Repeatable. Default: the page asks.",
)  # fmt: skip
@click.option("--raters", type=click.IntRange(1), metavar="N", help="Number of raters, named rater-1 to rater-N.")
@click.option(
    "--overlap", type=click.IntRange(1), metavar="M",
    help="Number of raters of each item, with equal loads. Default: all.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the assignment of items and sides.")
@click.option(
    "--output", "-o", callback=decode_option, metavar="OUT.jsonl",
    help="File to append ratings to. Default: FILE's name with .ratings.jsonl (--create: .created.jsonl) in the current"
    " folder.",
)  # fmt: skip
@click.option(
    "--participants", callback=decode_option, metavar="FILE",
    help="Ask raters for degree, semesters, skill and field, all optional, and store the answers in this file.",
)  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8719, show_default=True, help="Port; 0 for a free one.")
@click.option("--open", "is_opened", is_flag=True, help="Open the first address in the system's browser.")
@click.option("--stay", is_flag=True, help="Keep serving after all is rated, until Ctrl-C.")
@click.option("--summary", "is_summary", is_flag=True, help="Summarise the ratings so far, and serve nothing.")
@click.option(
    "--html", "page", callback=decode_option, metavar="PAGE",
    help="Write a page at the end: each question, its answers side by side, and their ratings.",
)  # fmt: skip
@click.option(
    "--judgements", callback=decode_option, metavar="FILE",
    help="With --html: also show the judgements in a file of pkg judge --out.",
)  # fmt: skip
@json_option
def rate(path: str, as_json: bool, **options: Any) -> None:
    """Serve a page where people rate or write answers.

    FILE has JSON lines: pairs of question and answer get two sliders, answers of one or several systems one slider
    each, answers of two systems a blind choice. The page is served only on this machine, at an address for one browser.
    A rating is on disk when the page confirms it. The command ends when all is rated, or with Ctrl-C.
    """
    run_rate(path, as_json, options)


def run_rate(path: str, as_json: bool, given: dict[str, Any]) -> None:
    """Serve the rating of a file, or summarise its ratings.

    Raises UsageError for options that exclude each other, or another PkgError for failures to read, write or serve.
    """
    if given["judgements"] is not None and given["page"] is None:
        raise UsageError("--judgements is for the page of --html; add it, or leave this out")
    mode: Mode | None = "create" if given["is_created"] else given["mode"]
    file = read_rated_file(Path(path), mode)
    ratings = RatingsFile(_choose_output(file, mode, given["output"]))
    task = RatingTask(file, ratings, _make_options(given))
    _tell_left_out(file, ratings)
    if not given["is_summary"]:
        try:
            _serve(task, given)
        except KeyboardInterrupt:
            _emit_summary(task, as_json)
            raise
    _emit_summary(task, as_json)
    if given["page"] is not None:
        _write_page(task, Path(given["page"]), given["judgements"])


def _write_page(task: RatingTask, page: Path, judgements: str | None) -> None:
    lines = task.file.path.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    ratings = [parse_rating(row) for row in task.list_rows() if row["kind"] != WRITTEN]
    judged = read_judgements(Path(judgements)) if judgements is not None else ()
    text = write_answers_page(read_items(lines).items, judged, ratings)
    try:
        page.write_text(text, encoding="utf-8", errors="replace")
    except OSError as fault:
        raise refuse_file(page, fault) from fault


def _choose_output(file: RatedFile, mode: str | None, output: str | None) -> Path:
    """Return the file of the ratings, by default in the current folder; raises UsageError or PathError if unusable."""
    kind = "created" if mode == "create" else "ratings"
    path = Path(output) if output is not None else Path(f"{file.path.name.partition('.')[0]}.{kind}.jsonl")
    if path.resolve() == file.path.resolve():
        raise UsageError(f"--output {path} is the rated file; give another file")
    if not path.parent.is_dir():
        raise PathError(f"cannot write {path}: no folder {path.parent}; expected a file in a folder that exists")
    return path


def _make_options(given: dict[str, Any]) -> RatingOptions:
    named, count = tuple(map(read_name, given["rater"])), given["raters"]
    if named and count is not None:
        raise UsageError("--rater names the raters, --raters counts them; give one of both")
    if len(set(named)) < len(named):
        raise UsageError(f"--rater twice with one name: {', '.join(named)}")
    raters = named or tuple(f"rater-{number}" for number in range(1, (count or 0) + 1))
    if given["overlap"] is not None and not raters:
        raise UsageError("--overlap shares work among known raters; give --raters N, or --rater NAME for each")
    participants = given["participants"]
    return RatingOptions(raters, given["overlap"], given["seed"], Path(participants) if participants else None)


def _tell_left_out(file: RatedFile, ratings: RatingsFile) -> None:
    for skip in file.skipped[:NAMED]:
        say(f"left out {skip}")
    if len(file.skipped) > NAMED:
        say(f"left out {len(file.skipped) - NAMED:,} more rows of {file.name}")
    if file.replaced:
        say(f"{count_things(file.replaced, 'row')} replaced by a later one of the same id")
    ratings.read_latest()
    for reason in ratings.unreadable[:NAMED]:
        say(f"not read: {ratings.path}, {reason}")


def _serve(task: RatingTask, given: dict[str, Any]) -> None:
    options = ServeOptions(given["host"], given["port"], given["stay"])
    if task.is_done() and not options.stay:
        say("all is rated; --stay serves the page nevertheless, to change ratings")
        return
    if not is_loopback(options.host):
        say(
            "warning: the page is served to other machines without encryption; names and ratings can be read on the way"
        )
    opened = list[str]()

    def tell(rater: str | None, address: str) -> None:
        say(f"{'open' if rater is None else f'{rater}, open'} {address}")
        if given["is_opened"] and not opened:
            open_page(address)
        opened.append(address)

    task.listen = lambda row: say(_tell_progress(task, row))
    say(f"{count_things(len(task.file.items), 'item')} of {task.file.name}; what is rated goes to {task.ratings.path}")
    serve_ratings(task, options, tell)
    say("all is rated")


def _tell_progress(task: RatingTask, row: Row) -> str:
    rater = str(row["rater"])
    done = task.list_done(rater)
    return f"{rater}: {sum(done):,} of {len(done):,}, {row['id']}"


def _emit_summary(task: RatingTask, as_json: bool) -> None:
    lines = list(summarise_ratings(task.list_rows()))
    emit(as_json, lines, lambda: view_summary(lines, task.ratings.path))


def view_summary(lines: list[dict[str, Any]], path: Path) -> Iterator[RenderableType]:
    """Yield the summary of ratings, by system and by pair."""
    head = lines[0]
    raters = ", ".join(f"{name} {count:,}" for name, count in head["raters"].items())
    yield style_words(f"{count_things(head['ratings'], 'rating')} in {path}, {head['minutes']} minutes", "bold")
    if raters:
        yield style_words(f"raters: {raters}")
    if head["decisions"]:
        decided = ", ".join(f"{name} {count:,}" for name, count in sorted(head["decisions"].items()))
        means = ", ".join(f"{name} {value}" for name, value in head["means"].items())
        yield style_words(f"pairs: {decided}; means: {means or 'none'}")
    systems = [
        (each["system"], f"{each['ratings']:,}", str(each.get("overall", ""))) for each in _pick(lines, "system")
    ]
    if systems:
        yield make_table(("system", "ratings", "mean"), systems, right=("ratings", "mean"))
    for each in _pick(lines, "pairwise"):
        chosen = ", ".join(f"{system} {count:,}" for system, count in each["chosen"].items())
        rest = f"ties {each['ties']:,}, both wrong {each['both_wrong']:,}; left side {each['left']:,}"
        yield style_words(f"chosen of {each['ratings']:,}: {chosen}, {rest}")
    lost = [each for each in _pick(lines, "pair") if each["decision"] != "keep"]
    if lost:
        rows = [(each["id"], str(each["score"]), each["decision"]) for each in lost[:SHOWN]]
        yield make_table(("pair", "score", "decision"), rows, right=("score",))
    if len(lost) > SHOWN:
        yield style_words(f"and {len(lost) - SHOWN:,} more; --json lists all", "dim")


def _pick(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == kind]
