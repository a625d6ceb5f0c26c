"""`pkg deps`: show dependencies, chains of calls, cycles, unused code or imports."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.console.drawings import emit_deps
from pkg.console.freshness_notes import open_answering, say_stale
from pkg.console.link_options import limit_option, relation_option
from pkg.console.options import (
    explain_option,
    fresh_option,
    json_option,
    make_format_option,
    page_option,
    store_options,
)
from pkg.console.settings import decode_option, source_setting
from pkg.console.streams import decode_word, emit_page
from pkg.errors import UsageError
from pkg.quoting.hidden_characters import spell_hidden
from pkg.retrieval.deps.answer import DIRECTIONS, DepsOptions, QuestionKind

if TYPE_CHECKING:
    from pkg.retrieval.deps.answer import Answer


DEPS = DepsOptions()

_BEYOND_PAGE = ("depth", "direction", "relations", "limit", "doubtful")


@click.command(epilog="Example:  pkg deps Cart.total --direction in --depth 2   or   pkg deps --path main Cart.total")
@click.argument("name", required=False, callback=decode_option)
@store_options
@source_setting(help="Search only this source.")
@fresh_option
@click.option(
    "--depth",
    type=click.IntRange(1),
    help="Maximum number of steps. Default: 1; 10 with --path or --impact.",
)
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default=DEPS.direction,
    show_default=True,
    help="Show what depends on NAME, what NAME depends on, or both.",
)
@click.option("--path", "ends", nargs=2, metavar="A B", help="Show the shortest chains of calls from A to B.")
@click.option(
    "--impact",
    is_flag=True,
    help="Same as pkg impact NAME.",
    deprecated="Run pkg impact NAME; version 0.4 will not have it",
)
@click.option(
    "--cycles", is_flag=True, help="Show cycles of imports and of calls, through NAME or in the whole source."
)
@click.option("--unused", is_flag=True, help="Show unused functions and classes, and reasons to doubt it.")
@click.option("--doubtful", is_flag=True, help="With --unused: also list definitions that may be used without a link.")
@click.option("--imports", is_flag=True, help="Show the table of imports, of NAME's file or of all files.")
@relation_option
@limit_option
@make_format_option()
@click.option("--fail", is_flag=True, help="With --cycles: exit with code 1 if files import each other.")
@click.option(
    "--known",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="With --fail: ignore the cycles in FILE, JSON lines of --cycles.",
)
@page_option
@explain_option
@json_option
def deps(
    name: str | None,
    store: str,
    fresh: bool,
    ends: tuple[str, str] | None,
    form: str | None,
    page: Path | None,
    explain: bool,
    as_json: bool,
    fail: bool,
    known: str | None,
    **options: Any,
) -> None:
    """Show callers, callees, subclasses, call paths, unused code.

    NAME is a function, class, constant or file: path:line, a path, path::Class.method, a dotted module, a qualified
    name or a bare one. Each line has a place, the rule that found the link, and its confidence; the last line says
    whether unresolved calls may be missing.
    """
    question, name, end = choose_question(name, ends, options)
    check_failing(question, fail, known)
    if page is not None:
        _write_symbol_page(name, store, fresh, page, question, form, as_json, options["source"])
        return
    with open_answering(store, fresh, options["source"]) as (graph, options["source"]):
        answer = graph.deps(name, question=question, to=end, **(options | {"limit": 0} if fail else options))
        say_stale(answer.coverage.stale)
    if fail:
        _fail_on_cycles(answer, known, form, as_json)
    else:
        emit_deps(answer, form, as_json, explain)


def _fail_on_cycles(answer: Answer, known: str | None, form: str | None, as_json: bool) -> None:
    """Print the unknown import cycles, name each on standard error, and exit with 1 if there are any."""
    from pkg.retrieval.deps.answer import Cycles
    from pkg.retrieval.deps.cycles import format_cycle, keep_new_imports, read_known_cycles

    assert isinstance(answer, Cycles)
    new = keep_new_imports(answer, read_known_cycles(known) if known else ())
    emit_deps(new, form, as_json)
    for cycle in new.cycles:
        click.echo(f"pkg: cycle of imports: {spell_hidden(format_cycle(cycle))}", err=True)
    if new.cycles:
        sys.exit(1)


def _write_symbol_page(
    name: str | None,
    store: str,
    fresh: bool,
    page: Path,
    question: str,
    form: str | None,
    as_json: bool,
    source: str | None,
) -> None:
    from pkg.service.page.page_file import render_symbol_page, write_page

    if name is None or question not in ("links", "impact") or form is not None:
        raise UsageError("--html writes the page around a name; give a NAME, perhaps --impact, and no --format")
    check_page_options(click.get_current_context())
    with open_answering(store, fresh, source) as (graph, source):
        written = render_symbol_page(graph, name, source, "impact" if question == "impact" else "graph")
        say_stale(written.stale)
    emit_page(write_page(page, written.text), as_json)


def choose_question(
    name: str | None, ends: tuple[str, str] | None, options: dict[str, Any]
) -> tuple[QuestionKind, str | None, str | None]:
    """Return the requested question, its subject, and the end of a path.

    Raises UsageError for several questions, or for a path with a third name.
    """
    flags: tuple[QuestionKind, ...] = ("impact", "cycles", "unused", "imports")
    asked: list[QuestionKind] = [each for each in flags if options.pop(each)]
    asked += ["path"] if ends else []
    if len(asked) > 1:
        raise UsageError(f"--{' and --'.join(asked)} are different questions; ask one at a time")
    if not ends:
        return asked[0] if asked else "links", name, None
    if name:
        raise UsageError(f"--path names both ends, and '{name}' is a third name; write: pkg deps --path A B")
    return "path", decode_word(ends[0]), decode_word(ends[1])


def check_failing(question: QuestionKind, fail: bool, known: str | None) -> None:
    """Reject --fail and --known without the question they apply to; raises UsageError."""
    if fail and question != "cycles":
        raise UsageError("--fail needs --cycles; write: pkg deps --cycles --fail")
    if known is not None and not fail:
        raise UsageError(
            "--known lists cycles at which --fail does not fail; write: pkg deps --cycles --fail --known FILE"
        )


def check_page_options(ctx: click.Context) -> None:
    """Reject options of `pkg deps` that its page does not use; raises UsageError."""
    given = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name in _BEYOND_PAGE
        and ctx.get_parameter_source(parameter.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise UsageError(f"--html writes all that its page shows, and does not use {', '.join(given)}; leave that out")
