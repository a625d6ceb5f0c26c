"""The command line: each command is a thin wrapper of a Python function; only this module prints and exits."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if __name__ == "cli":  # imported through the link at the root: every class of the package would exist twice
    raise ImportError("cli is a link to pkg/cli.py for readers; write: import pkg.cli")

# One thread for linear algebra: the products are small, and idle threads that spin would cost more than they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click

from pkg import __version__
from pkg._start import listen_again
from pkg.config import Settings, read_settings
from pkg.console.command_table import CommandGroup
from pkg.console.mcp_options import mcp_options
from pkg.console.options import (
    ENHANCE_NAMES,
    ask_options,
    browser_options,
    build_options,
    check_build_options,
    check_failing,
    check_page_options,
    choose_question,
    corpus_options,
    deps_options,
    diff_options,
    enhance_options,
    explore_options,
    export_options,
    generate_options,
    impact_options,
    json_option,
    map_options,
    name_side,
    open_output,
    outline_options,
    query_options,
    rerank_options,
    serve_options,
    show_options,
    store_options,
    trust_options,
    verify_options,
)
from pkg.console.settings import (
    SETTINGS,
    decode_option,
    decode_options,
    is_by_default,
    is_typed,
    keep_settings,
    name_origin,
    spread_settings,
)
from pkg.console.streams import (
    OUTPUT_FAULTS,
    choose_ask,
    discard_output,
    emit,
    keep_interrupts,
    plain_warnings,
    prepare_streams,
    read_text,
)
from pkg.errors import BuildInterrupted, PkgError, UnknownWordsError, UsageError, count_things
from pkg.quoting.hidden_characters import spell_hidden

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.retrieval.deps.answer import Answer, CallCoverage

INTERRUPTED = 130  # exit code of a program that Ctrl-C ended
NOTHING_FOUND = 3  # exit code with --exit-code; 1 and 2 are for errors
_KEPT = {
    "build": "; the graph is whole, as it was before or as it is after this build",
    "data": "; what a model has written is kept, and the same command goes on where it stopped",
    "enhance": "; what was written is kept, and the same command goes on where it stopped",
    "judge": "; with --out every judgement that was made is kept, and the same command goes on where it stopped",
    "rate": "; what was saved is kept, and the same command goes on where it stopped",
    "rerank": "; every line that was written is whole; with --resume FILE the same command goes on where it stopped",
}
"""Work that an interrupted command keeps, in words."""


def _tell_kept(interrupt: KeyboardInterrupt, command: str) -> str:
    if isinstance(interrupt, BuildInterrupted):
        return "; the graph is as the build has left it" if interrupt.is_stored else "; the graph is as it was before"
    return _KEPT.get(command, "")


class _Group(CommandGroup):
    """Prints expected PKG errors as one line, and sets the exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run with usable streams; an output that accepts no more data is a failure."""
        prepare_streams()
        try:
            with plain_warnings(lambda text: click.echo(f"pkg: warning: {text}", err=True)):
                return super().main(*args, **extra)
        except OSError as fault:
            if fault.errno not in OUTPUT_FAULTS:
                raise
            discard_output()
            click.echo(f"pkg: cannot write the output: {fault.strerror}; free some space, or write elsewhere", err=True)
            sys.exit(1)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; exit with 1 on failure, 2 on wrong usage, 130 on Ctrl-C."""
        try:
            with keep_interrupts():
                return super().invoke(ctx)
        except PkgError as fault:
            if ctx.params.get("debug"):
                raise
            click.echo(f"pkg: {spell_hidden(str(fault))}", err=True)
            ctx.exit(2 if isinstance(fault, UsageError) else 1)
        except click.BadParameter as fault:
            fault.param_hint = name_origin(fault) or fault.param_hint
            raise
        except KeyboardInterrupt as interrupt:
            click.echo(f"pkg: interrupted{_tell_kept(interrupt, str(ctx.invoked_subcommand))}", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:  # the reader closed the pipe
            discard_output()
            ctx.exit(0)


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, "--version", prog_name="pkg", help="Show the version and exit.")
@click.option("--debug", is_flag=True, help="Show the trace of an error.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Build a graph of Python code and ask it questions.

    \b
    Start with:  pkg build PATH     then:  pkg query "what you look for"
    """
    settings = _read_settings()
    keep_settings(ctx, settings)
    name = str(ctx.invoked_subcommand)
    ctx.default_map = dict(spread_settings({name: main.commands[name]}, settings.values))


def _read_settings() -> Settings:
    try:
        folder = Path.cwd()
    except FileNotFoundError:  # the folder was deleted and has no parents
        return Settings()
    return read_settings(folder, SETTINGS)


@main.command(epilog="Example:  pkg build ~/src/django   or   pkg build ~/src/django@4.2 --source django-4.2")
@click.argument("path")
@store_options
@build_options
@json_option
def build(
    path: str,
    store: str,
    is_watched: bool,
    poll: bool,
    from_export: bool,
    remove: bool,
    is_enhanced: bool,
    is_strict: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Build or update the graph of PATH.

    PATH is a folder, a Python file, an archive (.zip, .whl, .tar.gz), a git revision (FOLDER@REV), a corpus of rows
    (.jsonl, .json, .csv, each also .gz, or .parquet), or - for JSON lines on standard input. Only what changed since
    the last build is read again.
    """
    from pkg.console.build_command import run_build, run_watch

    check_build_options(is_watched, poll, from_export, remove, is_enhanced, is_strict)
    wanted = {name: options.pop(name) for name in ENHANCE_NAMES}
    if is_watched:
        run_watch(path, store, poll, as_json, options)
    else:
        run_build(path, store, from_export, remove, is_strict, as_json, options, wanted if is_enhanced else None)


@main.command(
    epilog='Example:  pkg query "retry a request after a timeout" --mode function --top-k 3   or, for an answer:'
    "  pkg query - --generate --model gguf:coder.gguf < task.py"
)
@click.argument("text", callback=decode_option)
@store_options
@query_options
@generate_options
@json_option
def query(
    text: str,
    store: str,
    fresh: bool,
    explain: bool,
    prompt: bool,
    exit_code: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the code that helps with TEXT; - reads the question from standard input.

    With --generate a text model writes an answer. Where TEXT shows examples, such as asserts or a session of doctest,
    what is found cannot make it worse: an answer with context counts only if every example holds.
    """
    from pkg.console import tables
    from pkg.console.freshness_notes import open_answering, say_stale
    from pkg.console.generate_command import run_generate, split_options
    from pkg.retrieval.query_options import PROMPT_HITS
    from pkg.service.operations import answer_lines

    text = read_text(text)
    asked = split_options(options, prompt)
    ctx = click.get_current_context()
    if (prompt or asked is not None) and is_by_default(ctx, "top_k"):
        options["top_k"] = PROMPT_HITS
    if asked is not None and is_by_default(ctx, "helpers"):
        options["helpers"] = "all"  # as in the benchmarks; an answer may use any helper
    if asked is not None:
        if exit_code:
            raise UsageError("--exit-code is about what is found, and --generate writes an answer whatever that is")
        run_generate(text, store, options, asked, as_json, fresh)
        return
    with open_answering(store, fresh, options["source"]) as (graph, options["source"]):
        try:
            result = graph.query(text, **options)
        except UnknownWordsError as fault:
            if not exit_code:
                raise
            click.echo(f"pkg: {spell_hidden(str(fault))}", err=True)
            sys.exit(NOTHING_FOUND)
        say_stale(result.coverage.stale)
        fits = result.coverage.fits is not False
        if prompt:
            answer = graph.prompt(result)
            click.echo(answer)
            if not fits:
                click.echo(f"pkg: the prompt shows no code: {result.coverage.notes[0]}", err=True)
        else:
            emit(as_json, answer_lines.query_lines(result, explain), lambda: tables.view_query(result, explain))
    if exit_code and not (fits and result.hits):
        sys.exit(NOTHING_FOUND)


@main.command(epilog='Example:  pkg explore "how is the width of a table column decided"')
@click.argument("text", callback=decode_option)
@store_options
@explore_options
@json_option
def explore(text: str, store: str, fresh: bool, as_json: bool, **options: Any) -> None:
    """Show how something works: the code that matters to TEXT, and how it hangs together.

    Functions, classes and constants with their places, the calls between them, who calls them and what they use, in one
    text within a budget of tokens; - reads TEXT from standard input.
    """
    from pkg.console import explore_view
    from pkg.console.freshness_notes import open_answering, say_stale
    from pkg.service.operations import answer_lines

    text = read_text(text)
    with open_answering(store, fresh, options["source"]) as (graph, options["source"]):
        found = graph.explore(text, budget=options.pop("tokens"), **options)
        say_stale(found.stale)
    emit(as_json, answer_lines.explore_lines(found), lambda: explore_view.view_exploration(found))


@main.command(epilog="Example:  pkg ask 'where is the retry decided, and what calls it?' --model gguf:coder.gguf")
@click.argument("text", required=False, callback=decode_option)
@store_options
@ask_options
@json_option
def ask(text: str | None, store: str, as_json: bool, exit_code: bool, **options: Any) -> None:
    """Answer a question about the code and its documents in words, with places that can be opened.

    Each statement cites evidence, and each citation is checked; where nothing fits, the answer is that. Without a model
    the evidence itself is shown. - reads TEXT from standard input.
    """
    from pkg.console.ask_command import run_ask

    if not run_ask(text, store, as_json, options) and exit_code:
        sys.exit(NOTHING_FOUND)


@main.command(epilog="Example:  pkg enhance --model gguf:coder.gguf --limit 200   or   pkg enhance --model template")
@store_options
@enhance_options
@json_option
def enhance(store: str, as_json: bool, **options: Any) -> None:
    """Write docstrings for the functions that have none, into the graph alone.

    The most called functions come first. What is written is kept by the code that it is for: a second run writes
    nothing twice, and a function that moves keeps it. Docstrings of people and your files are never touched.
    """
    from pkg.console.enhance_command import run_enhance

    run_enhance(store, as_json, options)


@main.command(epilog="Example:  pkg stats --json")
@store_options
@json_option
def stats(store: str, as_json: bool) -> None:
    """Count nodes and relationships, and list what was left out and what each stage cost."""
    from pkg.api import open_graph
    from pkg.console import tables
    from pkg.retrieval.deps.unbound import list_overflows
    from pkg.service.operations import answer_lines

    with open_graph(store, ask=choose_ask()) as graph:
        found = replace(graph.stats(), overflows=list_overflows(graph.store))
    emit(as_json, [answer_lines.stats_line(found)], lambda: tables.view_stats(found))


@main.command(epilog="Example:  pkg export > graph.jsonl   and back:  pkg build graph.jsonl --from-export")
@store_options
@export_options
def export(store: str, vectors: bool, output: str | None, bulk: str | None) -> None:
    """Write the whole graph as sorted JSON lines; the same graph gives the same bytes."""
    from pkg.api import open_graph

    if bulk is not None:
        if vectors or output:
            raise UsageError("--neo4j-admin excludes --vectors and --output; its files always hold the vectors")
        _export_bulk(store, bulk)
        return
    with open_graph(store, ask=choose_ask()) as graph, open_output(output, graph.store.address) as file:
        for line in graph.export(vectors=vectors):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
        file.flush()


def _export_bulk(store: str, folder: str) -> None:
    from pkg.api import open_graph

    with open_graph(store, ask=choose_ask()) as graph:
        report = graph.export_bulk(folder, jobs=0)
    nodes, relations = sum(report.nodes.values()), sum(report.relations.values())
    click.echo(f"{nodes:,} nodes, {relations:,} relationships; next: {Path(folder, 'README.md')}", err=True)


@main.command(epilog="Example:  pkg verify --store sqlite:///graph.db --store neo4j://host")
@verify_options
@json_option
def verify(stores: tuple[str, ...], vectors: bool, command: str | None, source: str | None, as_json: bool) -> None:
    """Compare two stores node by node and relationship by relationship.

    Exits 1 when they differ, and names the first differences; graphs of the same input are equal in every store.

    With --trace, run a command in the current folder instead, such as the tests of a source that was built, and compare
    the calls that really happened with the CALLS relationships of one store:  pkg verify --trace "python -m pytest -q"
    """
    from pkg.api import verify_stores
    from pkg.console import tables

    if command is not None:
        _trace(stores[0], command, source, as_json)
        return
    a, b = stores
    found = verify_stores(a, b, vectors=vectors, ask=choose_ask())
    emit(as_json, tables.verification_lines(found), lambda: tables.view_verification(found))
    if not found.is_equal:
        raise SystemExit(1)


def _trace(store: str, command: str, source: str | None, as_json: bool) -> None:
    from pkg.api import open_graph
    from pkg.console import tables as trace_tables

    with open_graph(store, ask=choose_ask()) as graph:
        found = graph.trace(command, source=source)
    emit(as_json, trace_tables.trace_lines(found), lambda: trace_tables.view_trace(found))


@main.command(epilog="Example:  pkg diff HEAD~1 HEAD   or   pkg diff ~/src/shop@v1.2 ~/src/shop")
@click.argument("a", callback=decode_option)
@click.argument("b", callback=decode_option)
@diff_options
@json_option
def diff(a: str, b: str, sources: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Show how code differs from A to B: functions, classes and constants added, removed, changed and moved, and links.

    A and B are git revisions of the current folder, what pkg build reads (FOLDER@REV, a folder, an archive), or the
    addresses of graphs. What is no graph yet is built for the moment, outside of your folders.
    """
    from pkg.api import diff_graphs
    from pkg.console import diff_view
    from pkg.console.build_command import listen_to_build

    chosen = (sources[0], sources[-1]) if sources else (None, None)
    with listen_to_build(False) as (listener, close_bar):
        found = diff_graphs(name_side(a), name_side(b), source=chosen, listener=listener)
        close_bar()
    emit(as_json, diff_view.diff_lines(found), lambda: diff_view.view_diff(found, limit))


@main.command(epilog="Example:  pkg doctor")
@store_options
@json_option
def doctor(store: str, as_json: bool) -> None:
    """Check the environment, the store and the optional tools; say how to get what is missing.

    Exits 1 when something that PKG needs is broken; missing optional tools are only told.
    """
    from pkg.console import tables
    from pkg.doctor import examine

    findings = examine(store, choose_ask())
    emit(as_json, map(asdict, findings), lambda: [tables.view_findings(findings)])
    if any(finding.state == "broken" for finding in findings):
        raise SystemExit(1)


@main.command(epilog="Example:  pkg browser --store neo4j://localhost --open   or   pkg browser --export guide")
@store_options
@browser_options
@json_option
def browser(store: str, http: str | None, is_opened: bool, folder: Path | None, as_json: bool) -> None:
    """Tell where the Neo4j Browser shows the graph, with saved queries and colours for it."""
    from pkg.graph.neo4j import guide

    if folder is not None:
        files = guide.export_guide(folder)
        emit(as_json, ({"type": "file", "path": str(file)} for file in files), lambda: _as_text(*map(str, files)))
        return
    found = guide.read_guide(store, http)
    emit(as_json, guide.render_lines(found), lambda: _as_text(guide.render_text(found)))
    if is_opened:
        guide.open_page(found.start)


def _as_text(*lines: str) -> list[RenderableType]:
    from rich.text import Text

    return [Text(line) for line in lines]


@main.command(epilog="Example:  pkg trust ~/src/shop   or   pkg trust --list")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@trust_options
@json_option
def trust(folder: Path | None, encoder: str | None, is_list: bool, remove: bool, as_json: bool) -> None:
    """Let the settings file of FOLDER decide where code and credentials go; default: the current folder.

    A file that came with code may set what is found and shown, and nothing else, until you trust it. What you trust is
    its content: a file that changes asks again. Look at the file before you do.
    """
    from pkg.console.trust_command import run_trust

    run_trust(folder, encoder, is_list, remove, as_json)


@main.command(epilog="Example:  pkg completion bash >> ~/.bashrc")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Write the script that teaches a shell to complete pkg commands and options."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise UsageError(f"no completion for '{shell}'; expected bash, zsh or fish")
    click.echo(found(main, {}, "pkg", "_PKG_COMPLETE").source())


@main.command(epilog="Example:  pkg deps Cart.total --direction in --depth 2   or   pkg deps --path main Cart.total")
@click.argument("name", required=False, callback=decode_option)
@store_options
@deps_options
@json_option
def deps(
    name: str | None,
    store: str,
    fresh: bool,
    ends: tuple[str, str] | None,
    form: str | None,
    page: Path | None,
    as_json: bool,
    fail: bool,
    known: str | None,
    **options: Any,
) -> None:
    """Show what depends on what: callers, callees, imports, importers, bases, subclasses, overrides, readers.

    NAME is a function, class, constant or file: path:line, a path, path::Class.method, a dotted module, a qualified
    name or a bare one. Each line tells its place, the rule that found it, and how sure that is; the last one tells how
    many of the call sites in reach are bound.
    """
    from pkg.console.freshness_notes import open_answering, say_stale

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
        _emit_deps(answer, form, as_json)


def _fail_on_cycles(answer: Answer, known: str | None, form: str | None, as_json: bool) -> None:
    """Print the unknown import cycles, name each on standard error, and exit with 1 if there are any."""
    from pkg.retrieval.deps.answer import Cycles
    from pkg.retrieval.deps.known_cycles import format_cycle, keep_new_imports, read_known_cycles

    assert isinstance(answer, Cycles)
    new = keep_new_imports(answer, read_known_cycles(known) if known else ())
    _emit_deps(new, form, as_json)
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
    from pkg.console.freshness_notes import open_answering, say_stale
    from pkg.service.page.page_file import write_page
    from pkg.service.page.written_views import render_symbol_page

    if name is None or question not in ("links", "impact") or form is not None:
        raise UsageError("--html writes the page around a name; give a NAME, perhaps --impact, and no --format")
    check_page_options(click.get_current_context())
    with open_answering(store, fresh, source) as (graph, source):
        written = render_symbol_page(graph, name, source, "impact" if question == "impact" else "graph")
        say_stale(written.stale)
    _emit_page(write_page(page, written.text), as_json)


def _emit_page(page: Path, as_json: bool) -> None:
    emit(as_json, [{"type": "file", "path": str(page)}], lambda: _as_text(str(page)))


@main.command("map", epilog="Example:  pkg map   or   pkg map shop --files   or   pkg map --html map.html")
@click.argument("path", required=False, callback=decode_option)
@store_options
@map_options
@json_option
def show_map(
    path: str | None, store: str, fresh: bool, source: str | None, with_files: bool, page: Path | None, as_json: bool
) -> None:
    """Map PATH, or all of a source: which folder imports which others, and the cycles that they form.

    A number in the column of cycles marks folders that all import each other on some way around; what is imported
    within a cycle has a star.
    """
    from pkg.console.freshness_notes import open_answering, say_stale
    from pkg.console.map_view import view_map
    from pkg.service.operations.map_lines import map_lines
    from pkg.service.page.page_file import write_page
    from pkg.service.page.written_views import render_map_page

    with open_answering(store, fresh, source) as (graph, source):
        if page is not None:
            written = render_map_page(graph, path, source)
            say_stale(written.stale)
            _emit_page(write_page(page, written.text), as_json)
            return
        found = graph.map(path, source=source)
        say_stale(found.stale)
    emit(as_json, map_lines(found, with_files), lambda: view_map(found, with_files))


def _emit_deps(answer: Answer, form: str | None, as_json: bool) -> None:
    from pkg.console import streams, trees
    from pkg.service.operations.deps_lines import deps_lines

    if form not in (None, "json") and as_json and is_typed(click.get_current_context(), "as_json"):
        raise UsageError(f"--json and --format {form} are different forms; give one of them")
    if form in (None, "json"):
        emit(as_json or form == "json", deps_lines(answer), lambda: trees.view_deps(answer))
    elif form == "tree":
        streams.show(trees.view_deps(answer))
    else:
        from pkg.console.drawings import draw_deps

        click.echo(draw_deps(answer, form).encode("utf-8", "replace"), nl=False)


@main.command(epilog="Example:  pkg impact Cart.total shop/prices.py   or   pkg impact --diff main --tests")
@click.argument("names", nargs=-1, metavar="[NAME]...", callback=decode_options)
@store_options
@impact_options
@json_option
def impact(
    names: tuple[str, ...],
    store: str,
    fresh: bool,
    only_tests: bool,
    form: str | None,
    link: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what may break when code changes, file by file, and which tests reach it.

    NAME is a function, class, constant or file, as for pkg deps; several are asked about together. With --diff or
    --staged it is what a git diff touches: functions, classes, constants and module code that differ by more than
    comments, docstrings and blank lines.
    """
    from pkg.console.freshness_notes import open_answering, say_stale
    from pkg.retrieval.deps.reached_tests import list_tests

    asks_json = as_json and is_typed(click.get_current_context(), "as_json")
    if only_tests and (asks_json or form is not None):
        raise UsageError("--tests writes names for pytest; it excludes --json and --format")
    is_markdown = form == "markdown"
    if is_markdown and asks_json:
        raise UsageError("--json and --format markdown are different forms; give one of them")
    if link is not None and not is_markdown:
        raise UsageError("--link makes links of the places of --format markdown; give both, or neither")
    if is_markdown:
        options["entries"] = True
    needs_all = only_tests or is_markdown
    with open_answering(store, fresh, options["source"]) as (graph, options["source"]):
        answer = graph.impact(*names, **(options | {"limit": 0} if needs_all else options))
        say_stale(answer.coverage.stale)
    if is_markdown:
        from pkg.console.impact_markdown import write_impact_markdown

        click.echo(write_impact_markdown(answer, options["limit"], link), nl=False)
        return
    if not only_tests:
        _emit_deps(answer, form, as_json)
        return
    tests = list_tests(answer)
    for name in tests:
        click.echo(spell_hidden(name))
    if not tests:
        click.echo("pkg: no test reaches it", err=True)
    for note in (*answer.coverage.notes, *(_list_doubts(answer.coverage) if not tests else ())):
        click.echo(f"pkg: {spell_hidden(note)}", err=True)


def _list_doubts(coverage: CallCoverage) -> Iterator[str]:
    """Yield reasons why tests beyond the listed ones may reach the change."""
    if coverage.named is not None:
        yield coverage.named.describe()
    elif coverage.same_name:
        unbound = count_things(coverage.same_name, "unbound call site")
        yield f"{unbound} of {coverage.names} may reach it, from tests too"


@main.command(epilog="Example:  pkg show Cart.total   or   pkg show shop/cart.py:12 --limit 0")
@click.argument("name", callback=decode_option)
@store_options
@show_options
@json_option
def show(name: str, store: str, fresh: bool, source: str | None, limit: int, as_json: bool) -> None:
    """Show the source of NAME with its place, signature and docstring, and in short what calls it and what it calls.

    NAME is what pkg deps takes: path:line, path::Class.method, a dotted module, a qualified name or a bare one.
    """
    from pkg.console import code_views
    from pkg.console.freshness_notes import open_answering, say_stale
    from pkg.service.operations import answer_lines

    with open_answering(store, fresh, source) as (graph, source):
        shown = graph.show(name, source=source, limit=limit)
        say_stale(shown.links.coverage.stale)
    emit(as_json, answer_lines.show_lines(shown), lambda: code_views.view_show(shown))


@main.command(epilog="Example:  pkg outline   or   pkg outline shop/cart.py   or   pkg outline shop --budget 500")
@click.argument("path", required=False, callback=decode_option)
@store_options
@outline_options
@json_option
def outline(path: str | None, store: str, fresh: bool, source: str | None, budget: int, as_json: bool) -> None:
    """Outline PATH: the files, classes and functions of a file or folder, or of all of a source without PATH.

    What the most other files import comes first, and of each file what is called most, within a budget of tokens.
    """
    from pkg.console import code_views
    from pkg.console.freshness_notes import open_answering, say_stale
    from pkg.service.operations import answer_lines

    with open_answering(store, fresh, source) as (graph, source):
        found = graph.outline(path, source=source, budget=budget)
        say_stale(found.stale)
    emit(as_json, answer_lines.outline_lines(found), lambda: code_views.view_outline(found))


@main.command(epilog='Example:  pkg rerank answers.jsonl   or   pkg rerank a.py b.py --query "add(1, 2) returns 3"')
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, callback=decode_options)
@rerank_options
@json_option
def rerank(paths: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Choose the best of several answers to each query of FILE, and say why.

    FILE holds JSON lines {"query": ..., "candidates": [...]}; - reads standard input. Files of another kind, such as
    a.py and b.py, are the candidates themselves, for one --query. Candidates run in a sandbox, and count by the
    examples that the query shows, by their agreement with each other, and by their likeness to the query.
    """
    from pkg.console.rerank_command import run_rerank

    run_rerank(paths, as_json, options)


@main.command(epilog="Example:  pkg corpus click rich wheels/ -o helpers.jsonl   and then:  pkg build helpers.jsonl")
@click.argument("paths", metavar="FILE|FOLDER|NAME...", nargs=-1, required=True, callback=decode_options)
@corpus_options
@json_option
def corpus(paths: tuple[str, ...], output: str, as_json: bool, **options: Any) -> None:
    """Make a corpus for pkg build of rows and of packages, with source and licence of each row.

    A file of rows (.jsonl, .json, .csv, each also .gz, or .parquet), as those of PythonAlpaca with instruction, input
    and output, loses what holds no Python. A wheel, a source distribution, a folder of such or of code, or the NAME of
    an installed package gives a row for each function, if its licence is permissive. Equal answers are written once.
    """
    from pkg.console.corpus_command import run_corpus

    run_corpus(paths, output, as_json, options)


@main.command(epilog="Example:  pkg mcp   or   pkg mcp --install claude-code --write")
@store_options
@mcp_options
@json_option
def mcp(store: str, as_json: bool, **options: Any) -> None:
    """Serve the graph to agents that write code, by the Model Context Protocol over standard input and output.

    Five tools with short answers: explore, show, deps, rerank, and more for the rest. The agent starts this command;
    --install shows what it has to be told. With --http it is an address of this machine, for several agents at once.
    """
    from pkg.console.mcp_command import run_mcp

    run_mcp(store, as_json, options)


@main.command(epilog="Example:  pkg serve --open   or   PKG_SERVE_TOKEN=... pkg serve --host 192.168.1.20 --watch")
@store_options
@serve_options
def serve(store: str, **options: Any) -> None:
    """Serve the graph over HTTP until Ctrl-C: questions as JSON, described by OpenAPI.

    The address is that of this machine alone, unless --host names another one; then a token is needed. Nothing is
    changed by a caller without --allow-build. What can be asked stands in /openapi.json, how it is in /health and
    /metrics.
    """
    from pkg.console.serve_command import run_serve

    run_serve(store, options)


def run() -> NoReturn:
    """Run the command in its own process and exit immediately.

    Freeing the objects of a build one by one would take 3 % of its time; all files are closed before.
    """
    code: object = 1
    listen_again()
    try:
        main()
    except SystemExit as end:
        code = end.code
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    run()
