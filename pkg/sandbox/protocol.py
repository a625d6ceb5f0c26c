"""What a sandbox is asked and what it answers (P-24, A-08, U-09).

A `Program` is code and the steps to do afterwards in its namespace. A `Result` is one `Verdict` for the load of the
code and one for each step. Expected values are no part of a program: a step gives the value that the code came to as
text, and whoever asked compares it outside, where the code cannot reach. A step of several calls gives the list of
their answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

BOX = "/box"
"""The one folder in which a run may write: in memory, and empty at the start of each run."""

BOX_ROOM = "size=64m,nr_inodes=1024"
"""Options of that folder's mount: all files of a run together."""

MAX_FILES = 4096
"""Files of a run where the folder's mount cannot bound them (bubblewrap's): more end the run."""

DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")  # /dev/zero would give memory that nobody can count
LIBRARIES = (
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
)


NO_MEMORY, NO_START = 71, 70  # exit statuses of a process that cannot even report
STARTED = b"\x01"  # the first byte of a report: the process has read what it is to run


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What was seen from outside, and what the process wrote."""

    cause: Kind | None  # why the supervisor ended it; None when it ended by itself
    reason: str
    status: int  # exit status, or the negative number of a signal
    seconds: float  # CPU, of the process and those that it waited for
    load_output: bytes
    report: bytes
    step_output: bytes


class Kind(str, Enum):
    """Name the ways in which a run can end."""

    OK = "ok"
    SYNTAX = "syntax"
    INDENTATION = "indentation"
    NAME = "name"
    TYPE = "type"
    ASSERTION = "assertion"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    EXIT = "exit"  # the process ended itself before it had answered
    FORBIDDEN = "forbidden"  # it asked for what the sandbox refuses: network, files outside, more room or processes
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bound what one process may use: it loads the code and does one step, and each step has a process of its own."""

    cpu_seconds: float = 5.0
    wall_seconds: float = 10.0
    memory_bytes: int = 512 << 20  # address space of each process; pages, files and socket buffers of all together
    output_bytes: int = 64 << 10  # kept of the standard output, and of a value; 16 times as much ends the run
    file_bytes: int = 16 << 20  # one file; all files of a run together have 64 MiB
    processes: int = 16  # processes and threads at one time


DEFAULT = Limits()
"""Enough for the answers of a benchmark many times over; little enough that a hostile one costs seconds."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do in the namespace that the code left behind."""

    source: str  # an expression whose value is wanted, or statements (such as an assert)
    is_expression: bool
    stdin: str = ""
    calls: str | None = None  # JSON, see inside.candidate_calls: done one after another once `source` has run


@dataclass(frozen=True, slots=True)
class Program:
    """The code of one candidate and what to do when it has run; each step loads it anew and sees no other step."""

    code: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Tell how one load or one step ended.

    ``ok`` and ``value`` are what the candidate's process claims, with nothing seen from outside that says otherwise;
    every other kind is either seen from outside or a claim that harms nobody but the candidate itself.
    """

    kind: Kind
    detail: str = ""  # one line: the exception and its message, or the limit that was reached
    seconds: float = 0.0  # CPU seconds of the process and those that it waited for
    value: str | None = None  # of an expression: canonical text, see pkg.sandbox.values
    output: str = ""  # standard output, cut at Limits.output_bytes
    bases: tuple[str, ...] = ()  # names of the classes above that of an exception, as the process gave them


@dataclass(frozen=True, slots=True)
class Result:
    """Tell how the load and each step ended; when the load failed, each step has its kind and detail."""

    load: Verdict
    steps: tuple[Verdict, ...] = ()


class Sandbox(Protocol):
    """A place where code of unknown intent runs without harm to the machine."""

    @property
    def name(self) -> str:
        """Name the backend: process, docker or none."""

    def run(self, program: Program, limits: Limits = DEFAULT) -> Result:
        """Run one program; whatever it does, a result comes back within the limits."""

    def run_all(self, programs: Iterable[Program], limits: Limits = DEFAULT) -> Iterator[Result]:
        """Run programs on all workers at once and give their results in the order of the programs."""

    def close(self) -> None:
        """End every process, mount and container that the sandbox holds."""
