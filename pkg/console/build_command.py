"""Run `pkg build`: build once or on every file change, and print a report of each build."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

from pkg.api import Listener, build_graph, open_graph, remove_source, restore_graph, watch_graph
from pkg.console import tables
from pkg.console.progress import Consent, ProgressBar, say
from pkg.console.streams import choose_ask, decode_word, emit
from pkg.errors import LocalErrorsFound, count_things
from pkg.quoting.hidden_characters import spell_hidden
from pkg.service.operations import answer_lines

if TYPE_CHECKING:
    from pkg.errors import PkgError
    from pkg.indexing.report import BuildReport


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
        from pkg.console.enhance_command import check_model

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
            _show(report, store, as_json, listener)
    if enhancement is not None:
        from pkg.console.enhance_command import run_writing

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
            _show(report, store, as_json, listener)


@contextmanager
def listen_to_build(is_agreed: bool) -> Iterator[tuple[Listener, Callable[[], None]]]:
    """Yield the build listener of this terminal and a function that removes its progress bar."""
    choose = choose_ask()
    ask = cache(choose) if choose else None  # the store may be opened several times; a password is asked for once
    with closing(ProgressBar()) as bar:
        listener = Listener(say=say, agree=Consent(is_agreed), ask=ask)
        if sys.stderr.isatty():
            listener = replace(listener, progress=bar.read, index_progress=bar.watch, enter=bar.enter)
        yield listener, bar.close


def _show(report: BuildReport, store: str, as_json: bool, listener: Listener) -> None:
    emit(as_json, [answer_lines.build_line(report)], partial(_view, report, store, listener))
    if click.get_current_context().find_root().params.get("debug"):
        for error in report.errors:
            if error.trace:
                click.echo(spell_hidden(f"{error}\n{error.trace}"), err=True)


def _view(report: BuildReport, store: str, listener: Listener) -> Iterator[Any]:
    """Render a report with the current contents of the graph, which output to a pipe omits."""
    with open_graph(store, ask=listener.ask) as graph:
        yield from tables.view_build(report, graph.stats())
