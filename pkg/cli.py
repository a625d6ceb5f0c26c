"""The command line: the group of all commands, with its errors and exit codes; pkg/commands has one module each."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

if __name__ == "cli":  # imported through the link at the root: every class of the package would exist twice
    raise ImportError("cli is a link to pkg/cli.py for readers; write: import pkg.cli")

# One thread for linear algebra: the products are small, and idle threads that spin would cost more than they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click

from pkg import __version__
from pkg._start import listen_again
from pkg.config import Settings, read_settings
from pkg.console.command_table import CommandGroup
from pkg.console.settings import (
    keep_settings,
    name_origin,
)
from pkg.console.streams import (
    OUTPUT_FAULTS,
    discard_output,
    keep_interrupts,
    plain_warnings,
    prepare_streams,
)
from pkg.errors import BuildInterrupted, PkgError, UsageError
from pkg.quoting.hidden_characters import spell_hidden

INTERRUPTED = 130  # exit code of a program that Ctrl-C ended
_KEPT = {
    "build": "; the graph is whole, as it was before or as it is after this build",
    "data": "; what a model has written is kept, and the same command goes on where it stopped",
    "enhance": "; what was written is kept, and the same command goes on where it stopped",
    "judge": "; with --out every judgement that was made is kept, and the same command goes on where it stopped",
    "rate": "; what was saved is kept, and the same command goes on where it stopped",
    "tune": "; the checkpoints are kept, and the same command resumes from the last one",
    "rerank": "; every line that was written is whole; with --resume FILE the same command goes on where it stopped",
}
"""Work that an interrupted command keeps, in words."""


def _describe_kept(interrupt: KeyboardInterrupt, command: str) -> str:
    if isinstance(interrupt, BuildInterrupted):
        if interrupt.is_stored:
            return "; the graph is as the build has left it"
        kept = f"; {interrupt.kept:,} files or rows are prepared, and the same command goes on from there"
        return f"; the graph is as it was before{kept if interrupt.kept else ''}"
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
            click.echo(f"pkg: interrupted{_describe_kept(interrupt, str(ctx.invoked_subcommand))}", err=True)
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
    Start with:  pkg build PATH     then:  pkg query "retry after a timeout"
    """
    keep_settings(ctx, _read_settings())


def _read_settings() -> Settings:
    try:
        folder = Path.cwd()
    except FileNotFoundError:  # the folder was deleted and has no parents
        return Settings()
    return read_settings(folder)


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
