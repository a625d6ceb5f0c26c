"""`pkg build`: build once or on every file change, and print a report of each build."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.api import Listener, build_graph, estimate_documents, open_graph, remove_source, restore_graph, watch_graph
from pkg.commands.enhance import _ENHANCE, ENHANCE_NAMES, check_model, run_writing
from pkg.console.options import json_option, store_options
from pkg.console.progress import listen_to_build
from pkg.console.settings import combine, decode_option, is_typed, jobs_setting, setting, source_setting
from pkg.console.streams import decode_word, emit, style_words
from pkg.console.tables import SHOWN_SKIPS, escape_markup
from pkg.errors import LocalErrorsFound, UsageError, count_things
from pkg.extract.input_options import READERS
from pkg.quoting.hidden_characters import spell_hidden, spell_line
from pkg.service.mcp.served_source import choose_source
from pkg.service.operations import answer_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.errors import PkgError
    from pkg.graph.store import StoreStats
    from pkg.indexing.report import BuildReport


READER_CHOICES = (*READERS, "none")

CONTENTS = {
    "Function": ("function", "functions"), "Class": ("class", "classes"), "Constant": ("constant", "constants"),
    "Chunk": ("section of text", "sections of text"), "Fact": ("fact", "facts"), "File": ("file", "files"),
    "Row": ("row", "rows"),
}  # fmt: skip
"""Singular and plural of the labels in the summary of a build; pkg stats counts all."""
SHOWN_ERRORS = 5  # internal errors of a build


@click.command(epilog="Example:  pkg build ~/src/django   or   pkg build ~/src/django@4.2 --source django-4.2")
@click.argument("path")
@store_options
@source_setting(help="Name of the source. Default: the name of the folder or file.")
@setting("--field", callback=decode_option, help="Field with the code in rows of a corpus, such as output.")
@setting(
    "--encoder",
    metavar="NAME",
    help="Encoder of the vectors: static, minilm[:FOLDER], st:NAME, voyage:NAME or openai:NAME@URL. Default: that of"
    " the graph. A new encoder encodes the whole graph again.",
)
@click.option(
    "--yes",
    is_flag=True,
    help="Send code to the service of --encoder or --model without asking, at any cost.",
)
@jobs_setting(help="Worker processes; 0 for one per processor if there is enough work.")
@click.option(
    "--cluster",
    metavar="FOLDER",
    help="Keep what the workers make in FOLDER, which all of them reach, and use what it holds.",
)
@click.option(
    "--ray", metavar="ADDRESS", help="With --cluster: use the workers of a Ray cluster; local starts one here."
)
@click.option(
    "--members",
    type=click.IntRange(1),
    help="Number of stores of a new set, --store sqlite-set:///FOLDER, which takes rows. Default: 8.",
)
@setting("--max-file-size", type=click.IntRange(1), help="Skip larger files, in bytes.")
@setting(
    "--text/--no-text",
    default=True,
    help="Read text files too, such as README.md, docs/*.rst and pyproject.toml; --no-text reads only code.",
)
@setting(
    "--reader",
    type=click.Choice(READER_CHOICES),
    help="Make facts of documents (Markdown, reStructuredText, HTML, notebooks, rows of texts): by their structure, by"
    " the nested JSON that --model writes of each, or none. Default: structure for rows of texts, else none.",
)
@setting(
    "--follow-links/--no-follow-links",
    default=False,
    help="Follow symbolic links out of PATH, within your home folder. Default: skip them.",
)
@click.option(
    "--strict",
    "is_strict",
    is_flag=True,
    help="Exit with code 1 if an internal error has lost a file or a call site; everything else is stored.",
)
@click.option("--watch", "is_watched", is_flag=True, help="Build again whenever files change, until Ctrl-C.")
@click.option(
    "--poll",
    is_flag=True,
    help="With --watch: check the files every second, for file systems that do not report changes.",
)
@click.option("--from-export", is_flag=True, help="Build the sources of PATH, a file written by pkg export.")
@click.option("--remove", is_flag=True, help="Remove the source named PATH from the graph.")
@click.option(
    "--estimate", "is_estimated", is_flag=True, help="With --reader model: estimate the requests, and build nothing."
)
@click.option("--enhance", "is_enhanced", is_flag=True, help="Write docstrings after the build, as pkg enhance does.")
@combine(*_ENHANCE)
@json_option
def build(
    path: str,
    store: str,
    is_watched: bool,
    poll: bool,
    from_export: bool,
    remove: bool,
    is_enhanced: bool,
    is_estimated: bool,
    is_strict: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Build or update the graph of PATH; --remove forgets it.

    PATH is a folder, a Python file, an archive (.zip, .whl, .tar.gz), a git revision (FOLDER@REV), a corpus of rows
    (.jsonl, .json, .csv, each also .gz, or .parquet), or - for JSON lines on standard input. A corpus of several files
    is a pattern in quotes, such as 'rows/*.parquet', or the address of a bucket, such as s3://bucket/rows. Only files
    changed since the last build are read again.
    """
    check_build_options(is_watched, poll, from_export, remove, is_enhanced, is_strict)
    check_cluster_options(options, is_watched or from_export or remove)
    wanted = {name: options.pop(name) for name in ENHANCE_NAMES}
    if options["reader"] == "model":
        from pkg.indexing.model_reader import require_model

        options["model"] = require_model(wanted["model"])
    if is_estimated:
        show_estimate(path, as_json, options)
        return
    if is_watched:
        run_watch(path, store, poll, as_json, options)
    else:
        run_build(path, store, from_export, remove, is_strict, as_json, options, wanted if is_enhanced else None)


def show_estimate(path: str, as_json: bool, options: dict[str, Any]) -> None:
    """Print what reading the documents of PATH by a model would ask; raises UsageError for another reader."""
    if options["reader"] != "model":
        raise UsageError("--estimate counts the requests of --reader model; give both")
    names = "source", "field", "max_file_size", "follow_links"
    found = estimate_documents(path, **{name: options[name] for name in names})
    emit(as_json, [{"type": "estimate", "model": options["model"], **asdict(found)}], lambda: [found.describe()])


def run_build(
    path: str,
    store: str,
    from_export: bool,
    remove: bool,
    is_strict: bool,
    as_json: bool,
    options: dict[str, Any],
    enhancement: dict[str, Any] | None = None,
) -> None:
    """Build or remove once and print the report; then write docstrings like `pkg enhance` if requested."""
    is_agreed = options["yes"]
    if enhancement is not None:
        check_model(enhancement)
    with listen_to_build(options.pop("yes")) as (listener, close_bar):
        if remove:
            reports = [remove_source(decode_word(path), store=store, ask=listener.ask)]
        elif from_export:
            chosen = {name: options[name] for name in ("encoder", "jobs")}
            reports = restore_graph(path, store=store, listener=listener, **chosen)
        else:
            reports = [build_graph(path, store=store, listener=listener, **options)]
        close_bar()
        for report in reports:
            _show_report(report, store, as_json, listener)
    if enhancement is not None:
        for report in reports:
            run_writing(store, as_json, enhancement | {"source": report.source, "yes": is_agreed})
    if is_strict:
        _check_errors(reports)


def _check_errors(reports: Iterable[BuildReport]) -> None:
    """Raise LocalErrorsFound if a build has local errors."""
    count = sum(len(report.errors) for report in reports)
    if count:
        raise LocalErrorsFound(
            f"{count_things(count, 'internal error')}, and --strict was given; everything else is stored,"
            " pkg stats lists the errors, and --debug shows their traces"
        )


def run_watch(path: str, store: str, poll: bool, as_json: bool, options: dict[str, Any]) -> None:
    """Build now and after each change; print a report of each round that changes anything."""
    with listen_to_build(options.pop("yes")) as (listener, close_bar):

        def say_fault(fault: PkgError) -> None:
            close_bar()
            click.echo(f"pkg: {spell_hidden(str(fault))} (still watching)", err=True)

        for report in watch_graph(path, store=store, poll=poll, on_fault=say_fault, listener=listener, **options):
            close_bar()
            _show_report(report, store, as_json, listener)


def _show_report(report: BuildReport, store: str, as_json: bool, listener: Listener) -> None:
    emit(as_json, [answer_lines.build_line(report)], partial(_view_report, report, store, listener))
    if click.get_current_context().find_root().params.get("debug"):
        for error in report.errors:
            if error.trace:
                click.echo(spell_hidden(f"{error}\n{error.trace}"), err=True)


def _view_report(report: BuildReport, store: str, listener: Listener) -> Iterator[Any]:
    """Render a report with the current contents of the graph, which output to a pipe omits."""
    with open_graph(store, ask=listener.ask) as graph:
        stats = graph.stats()
    yield from view_build(report, stats)
    if report.written and not report.unchanged and not report.removed:  # as in the first build of a source
        where = f" --store {shlex.quote(report.store)}" if is_typed(click.get_current_context(), "store") else ""
        if len(stats.sources) > 1 and choose_source(stats.sources, Path.cwd()) != report.source:
            where += f" --source {shlex.quote(report.source)}"
        yield style_words(f'next: pkg query "what you look for"{spell_line(where)}', "dim")


def check_build_options(
    is_watched: bool, poll: bool, from_export: bool, remove: bool, is_enhanced: bool, is_strict: bool
) -> None:
    """Reject options of `pkg build` that exclude each other.

    Raises UsageError, which names the two.
    """
    if remove and from_export:
        raise UsageError("--remove and --from-export exclude each other; give one of them")
    if is_watched and (remove or from_export):
        raise UsageError("--watch excludes --remove and --from-export; it follows a folder or file that changes")
    if is_enhanced and (is_watched or remove):
        raise UsageError("--enhance excludes --watch and --remove; run pkg enhance whenever docstrings are wanted")
    if is_strict and is_watched:
        raise UsageError("--strict excludes --watch, which continues after errors; leave out one of them")
    if poll and not is_watched:
        raise UsageError("--poll is a mode of --watch; give both, or neither")


def check_cluster_options(options: dict[str, Any], is_other: bool) -> None:
    """Remove the options of workers and sets from those of another kind of build, which has none.

    Raises UsageError for --ray without --cluster, and for one of them with another kind of build.
    """
    if options["ray"] is not None and options["cluster"] is None:
        raise UsageError("--ray needs a folder that its workers share; give it with --cluster FOLDER")
    for name in ("cluster", "ray", "members") if is_other else ():
        if options.pop(name) is not None:
            raise UsageError(f"--{name} excludes --watch, --from-export and --remove; run it for a build of PATH")


def view_build(report: BuildReport, stats: StoreStats) -> Iterator[RenderableType]:
    """Render a summary of a build and of the contents of the graph."""
    seconds = sum(report.stages.values())
    yield style_words(
        spell_line(report.describe())
        + (f", {count_things(len(report.errors), 'internal error')}" if report.errors else "")
        + (f" ({seconds:.1f} CPU-seconds)" if seconds else "")
    )
    if report.reencoded:
        yield f"  {report.reencoded:,} nodes of the graph re-encoded with {escape_markup(stats.encoder)}"
    for skip in report.skipped[:SHOWN_SKIPS]:
        yield f"  left out {escape_markup(skip.path)}: {escape_markup(skip.reason)}"
    if len(report.skipped) > SHOWN_SKIPS:
        yield f"  and {len(report.skipped) - SHOWN_SKIPS:,} more left out; pkg stats lists all"
    for error in report.errors[:SHOWN_ERRORS]:
        yield f"  [yellow]internal error[/] {escape_markup(str(error))}"
    if len(report.errors) > SHOWN_ERRORS:
        yield f"  and {len(report.errors) - SHOWN_ERRORS:,} more internal errors; pkg stats lists all"
    yield style_words(spell_line(f"graph {report.store}: {_describe_contents(stats)}"), "dim")


def _describe_contents(stats: StoreStats) -> str:
    found = {label: stats.nodes.get(label, 0) for label in CONTENTS}
    counts = [f"{count:,} {CONTENTS[label][count > 1]}" for label, count in found.items() if count]
    if stats.repeated > 0:
        counts.append(f"{stats.repeated:,} repeated definitions stored once")
    return ", ".join(counts) or "empty"
