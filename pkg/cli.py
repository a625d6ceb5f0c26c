"""The command line: each command is a thin shell over a Python function; only here is anything printed or exited."""

from __future__ import annotations

import json
import os
import sys
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

# One thread for linear algebra: the products are small, and idle threads that spin would cost more than they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click

from pkg import __version__
from pkg.config import read_settings
from pkg.errors import PathError, PkgError, UsageError
from pkg.options import json_option, store_options, two_stores_options
from pkg.progress import ProgressBar
from pkg.terminal import (
    OUTPUT_FAULTS,
    ask_password,
    can_ask,
    decode_word,
    discard_output,
    plain_warnings,
    prepare_streams,
    show_controls,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import RenderableType

    from pkg.build import BuildReport, Progress
    from pkg.graph.store import GraphStore

INTERRUPTED = 130  # exit code of a program that Ctrl-C ended


class _Group(click.Group):
    """Print errors that PKG foresees as one line, and set the exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run with streams that can be used; an output that takes no more is a failure."""
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
        """Run the command; failure is 1, wrong use 2, Ctrl-C 130."""
        try:
            return super().invoke(ctx)
        except PkgError as fault:
            if ctx.params.get("debug"):
                raise
            click.echo(f"pkg: {show_controls(str(fault))}", err=True)
            ctx.exit(2 if isinstance(fault, UsageError) else 1)
        except KeyboardInterrupt:
            click.echo("pkg: interrupted; the graph is whole, as it was before or as it is after this build", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:  # the reader of a pipe has seen enough
            discard_output()
            ctx.exit(0)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, "--version", prog_name="pkg", help="Show the version and exit.")
@click.option("--debug", is_flag=True, help="Show the trace of an error.")
@click.pass_context
def main(ctx: click.Context, debug: bool) -> None:
    """Build a graph of Python code and ask it questions.

    \b
    Start with:  pkg build PATH     then:  pkg query "what you look for"
    """
    ctx.default_map = dict.fromkeys(main.commands, _read_settings())


def _read_settings() -> dict[str, Any]:
    try:
        folder = Path.cwd()
    except FileNotFoundError:  # it was deleted; there is nothing above it
        return {}
    return read_settings(folder)


def _decode(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return value if value is None else decode_word(value)


def _emit(as_json: bool, lines: Iterable[dict[str, Any]], view: Callable[[], Iterable[RenderableType]]) -> None:
    """Write JSON lines into a pipe or when asked to, and a view for a person into a terminal."""
    if as_json or not sys.stdout.isatty():
        for line in lines:
            click.echo(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace"))
        return
    from rich.console import Console

    console = Console(soft_wrap=True, highlight=False)
    for part in view():
        console.print(part)


def _open_output(output: str | None, store: str) -> AbstractContextManager[IO[Any]]:
    """Open the file to export to; the store itself would be lost before it is read."""
    scheme, _, place = store.partition(":///")
    if output and scheme == "sqlite" and _is_same_file(Path(output), Path(place)):
        raise UsageError(f"{output} is the store {store} itself; expected another file to export to")
    try:
        return click.open_file(output or "-", "w", encoding="utf-8", atomic=output is not None)
    except OSError as fault:
        raise PathError(f"cannot write {output}: {fault.strerror}; expected a file in a folder that exists") from fault


def _is_same_file(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _choose_ask() -> Callable[[str], str] | None:
    """Choose how a server's password is got that the environment lacks: from the person, when one is there."""
    return ask_password if can_ask() else None


@main.command(epilog="Example:  pkg build ~/src/django   or   pkg build ~/src/django@4.2 --source django-4.2")
@click.argument("path")
@click.option(
    "--source", envvar="PKG_SOURCE", callback=_decode,
    help="Name of the source; default: the name of the folder or file.",
)  # fmt: skip
@store_options
@click.option(
    "--field", envvar="PKG_FIELD", callback=_decode, help="Field of a corpus row that holds code, such as output."
)
@click.option("--encoder", envvar="PKG_ENCODER", default="hashing", show_default=True, help="Encoder of the vectors.")
@click.option(
    "--jobs", envvar="PKG_JOBS", type=click.IntRange(0), default=0, show_default=True,
    help="Worker processes; 0 takes one for each processor when there is enough to do.",
)  # fmt: skip
@click.option(
    "--max-file-size", envvar="PKG_MAX_FILE_SIZE", type=click.IntRange(1), help="Bytes above which a file is left out."
)
@click.option("--from-export", is_flag=True, help="PATH is a file that pkg export wrote; its sources are built again.")
@click.option("--remove", is_flag=True, help="Remove the source named PATH from the graph instead.")
@json_option
def build(path: str, store: str, from_export: bool, remove: bool, as_json: bool, **options: Any) -> None:
    """Build or update the graph of PATH.

    PATH is a folder, a Python file, an archive (.zip, .whl, .tar.gz), a git revision (FOLDER@REV), a corpus of rows
    (.jsonl, .json, .csv, each also .gz, or .parquet), or - for JSON lines on standard input. Only what changed since
    the last build is read again.
    """
    from pkg import render
    from pkg.api import Graph
    from pkg.graph.stores import open_store

    if remove and from_export:
        raise UsageError("--remove and --from-export exclude each other; give one of them")
    with closing(ProgressBar()) as bar:
        progress, watch = (bar.read, bar.watch) if sys.stderr.isatty() else (None, None)
        with Graph(open_store(store, create=not remove, ask=_choose_ask(), watch=watch)) as graph:
            if remove:
                reports = [_remove(graph.store, decode_word(path))]
            else:
                reports = _build(path, graph.store, from_export, progress, options)
            bar.close()
            for report in reports:
                _emit(as_json, [render.build_line(report)], lambda: render.view_build(report, graph.stats()))  # noqa: B023


def _remove(store: GraphStore, source: str) -> BuildReport:
    from pkg.build import remove_source

    return remove_source(store, source)


def _build(
    path: str, store: GraphStore, from_export: bool, progress: Progress | None, options: dict[str, Any]
) -> list[BuildReport]:
    from pkg.build import BuildOptions, build_export
    from pkg.build import build as run_build

    chosen = BuildOptions(options.pop("encoder"), options.pop("jobs"), progress)
    return build_export(path, store, chosen) if from_export else [run_build(path, store, chosen, **options)]


@main.command(epilog='Example:  pkg query "retry a request after a timeout" --mode function --top-k 3')
@click.argument("text", callback=_decode)
@store_options
@click.option(
    "--mode", envvar="PKG_MODE", type=click.Choice(["block", "function", "both"]), default="block", show_default=True,
    help="Look for blocks, whole functions, or both.",
)  # fmt: skip
@click.option(
    "--top-k", "-k", envvar="PKG_TOP_K", type=click.IntRange(1), default=1, show_default=True, help="Hits to return."
)
@click.option(
    "--blocks", envvar="PKG_BLOCKS", type=click.Choice(["all", "inner", "body"]), default="all", show_default=True,
    help="All blocks, only compound statements, or only function bodies.",
)  # fmt: skip
@click.option("--source", envvar="PKG_SOURCE", callback=_decode, help="Search one source only.")
@click.option("--path", callback=_decode, help="Search only files whose path matches, such as 'tests/*'.")
@click.option(
    "--kind",
    type=click.Choice(["body", "if", "for", "while", "with", "try", "match"]),
    help="Search one kind of block.",
)
@click.option(
    "--budget", envvar="PKG_BUDGET", type=click.IntRange(0), default=8000, show_default=True,
    help="Tokens that all code together may take; 0 for no limit.",
)  # fmt: skip
@click.option("--prune/--no-prune", default=True, help="Cut branches that do not help (default), or show code whole.")
@click.option(
    "--prune-steps",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Branches that may be cut one after another.",
)
@click.option(
    "--hops",
    envvar="PKG_HOPS",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Follow calls this far for helpers.",
)
@click.option("--explain", is_flag=True, help="Tell every decision: scores, cuts, folds, helpers, budget.")
@click.option("--prompt", is_flag=True, help="Write the augmented prompt for a model instead.")
@json_option
def query(text: str, store: str, explain: bool, prompt: bool, as_json: bool, **options: Any) -> None:
    """Find the code that helps with TEXT; - reads the question from standard input."""
    from pkg import render
    from pkg.api import open_graph

    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    with open_graph(store, ask=_choose_ask()) as graph:
        result = graph.query(text, **options)
        if prompt:
            answer = graph.prompt(result)
            click.echo(show_controls(answer) if sys.stdout.isatty() else answer)
        else:
            _emit(as_json, render.query_lines(result, explain), lambda: render.view_query(result, explain))


@main.command(epilog="Example:  pkg stats --json")
@store_options
@json_option
def stats(store: str, as_json: bool) -> None:
    """Count nodes and relationships, and list what was left out and what each stage cost."""
    from pkg import render
    from pkg.api import open_graph

    with open_graph(store, ask=_choose_ask()) as graph:
        found = graph.stats()
    _emit(as_json, [render.stats_line(found)], lambda: render.view_stats(found))


@main.command(epilog="Example:  pkg export > graph.jsonl   and back:  pkg build graph.jsonl --from-export")
@store_options
@click.option("--vectors", is_flag=True, help="Write the vectors too.")
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="File to write; default: standard output.")
@click.option(
    "--neo4j-admin", "bulk", type=click.Path(file_okay=False), metavar="DIR",
    help="Write CSV files for neo4j-admin database import into a new or empty folder instead.",
)  # fmt: skip
def export(store: str, vectors: bool, output: str | None, bulk: str | None) -> None:
    """Write the whole graph as sorted JSON lines; the same graph gives the same bytes."""
    from pkg.api import open_graph

    if bulk is not None:
        if vectors or output:
            raise UsageError("--neo4j-admin excludes --vectors and --output; its files always hold the vectors")
        _export_bulk(store, bulk)
        return
    with open_graph(store, ask=_choose_ask()) as graph, _open_output(output, graph.store.address) as file:
        for line in graph.export(vectors):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
        file.flush()


def _export_bulk(store: str, folder: str) -> None:
    from pkg.api import open_graph
    from pkg.build.bulk import export_bulk

    with open_graph(store, ask=_choose_ask()) as graph:
        report = export_bulk(graph.store, folder, jobs=0)
    nodes, relations = sum(report.nodes.values()), sum(report.relations.values())
    click.echo(f"{nodes:,} nodes, {relations:,} relationships; next: {Path(folder, 'README.md')}", err=True)


@main.command(epilog="Example:  pkg verify --store sqlite:///graph.db --store neo4j://host")
@two_stores_options
@click.option("--vectors", is_flag=True, help="Compare the vectors too.")
@json_option
def verify(stores: tuple[str, str], vectors: bool, as_json: bool) -> None:
    """Compare two stores node by node and relationship by relationship.

    Exits 1 when they differ, and names the first differences; graphs of the same input are equal in every store.
    """
    from pkg import render
    from pkg.api import verify as run_verify

    found = run_verify(*stores, vectors=vectors, ask=_choose_ask())
    _emit(as_json, render.verification_lines(found), lambda: render.view_verification(found))
    if not found.is_equal:
        raise SystemExit(1)


@main.command(epilog="Example:  pkg doctor")
@store_options
@json_option
def doctor(store: str, as_json: bool) -> None:
    """Check the environment, the store and the optional tools; say how to get what is missing.

    Exits 1 when something that PKG needs is broken; missing optional tools are only told.
    """
    from pkg import render
    from pkg.doctor import examine

    findings = examine(store, _choose_ask())
    _emit(as_json, map(asdict, findings), lambda: [render.view_findings(findings)])
    if any(finding.state == "broken" for finding in findings):
        raise SystemExit(1)


@main.command(epilog="Example:  pkg browser --store neo4j://localhost --open   or   pkg browser --export guide")
@store_options
@click.option("--http", metavar="PORT", help="Port or address of the page; default: port 7474 of the graph's server.")
@click.option("--open", "is_opened", is_flag=True, help="Open the page in the system's browser, first query filled in.")
@click.option(
    "--export", "folder", type=click.Path(path_type=Path), metavar="DIR",
    help="Write the saved queries and the style sheet into a folder instead; needs no store.",
)  # fmt: skip
@json_option
def browser(store: str, http: str | None, is_opened: bool, folder: Path | None, as_json: bool) -> None:
    """Tell where the Neo4j Browser shows the graph, with saved queries and colours for it."""
    from pkg.graph.neo4j import guide

    if folder is not None:
        files = guide.export_guide(folder)
        _emit(as_json, ({"type": "file", "path": str(file)} for file in files), lambda: _as_text(*map(str, files)))
        return
    found = guide.read_guide(store, http)
    _emit(as_json, guide.render_lines(found), lambda: _as_text(guide.render_text(found)))
    if is_opened:
        guide.open_page(found.start)


def _as_text(*lines: str) -> list[RenderableType]:
    from rich.text import Text

    return [Text(line) for line in lines]


@main.command(epilog="Example:  pkg completion bash >> ~/.bashrc")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Write the script that teaches a shell to complete pkg commands and options."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise UsageError(f"no completion for '{shell}'; expected bash, zsh or fish")
    click.echo(found(main, {}, "pkg", "_PKG_COMPLETE").source())


def run() -> NoReturn:
    """Run the command in a process of its own and leave at once.

    Taking what a build has made apart, object by object, would cost 3 % of its time; files are closed by then.
    """
    code: object = 1
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
