"""Compare the calls made by a command with those of the graph (`pkg verify --trace`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pkg.errors import InputError
from pkg.trace.call_comparison import TraceReport

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.trace.subject import Subject
    from pkg.trace.traced_run import TraceLog

STDERR = 2

__all__ = ["TraceReport", "trace_calls"]


def trace_calls(store: GraphStore, command: str, source: str | None = None, output: int = STDERR) -> TraceReport:
    """Run a command in the current folder, and compare the calls in a source with its CALLS edges.

    source: its name; by default the source whose root is the current folder or above it. output: the file descriptor
    for the output of the command. Raises what split_command, read_subject and run_traced raise, and InputError if no
    call was seen.
    """
    from pkg.trace.call_comparison import compare_calls
    from pkg.trace.subject import read_subject
    from pkg.trace.traced_run import run_traced, split_command

    split_command(command)  # report an invalid command before the store is read
    subject = read_subject(store, source, Path.cwd())
    log = run_traced(command, subject.plan(), output)
    _check_log(subject, log)
    return compare_calls(subject, log, command)


def _check_log(subject: Subject, log: TraceLog) -> None:
    """Raise InputError with the reason if no process or no call was traced."""
    ended = f"the command ended with exit code {log.exit_code}"
    if not log.processes:
        raise InputError(
            f"no Python process was traced, and {ended}; expected a command that starts Python without -I, -E or -S"
            " and with its PYTHONPATH as it is"
        )
    if not log.calls:
        ran = f" ({min(log.copies)} ran)" if log.copies else ""
        raise InputError(
            f"{log.processes} Python processes were traced, {ended}, and no call between functions below"
            f" {subject.source.root} was seen; expected a command that runs the code there, not an installed copy of"
            f" it{ran}"
        )
