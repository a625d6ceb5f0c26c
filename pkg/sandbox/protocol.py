"""Requests to a sandbox and its results (P-24, A-08, U-09).

A `Program` is code, and steps to run afterwards in its namespace. A `Result` has one `Verdict` for the load of the code
and one for each step. Expected values are not part of a program: a step returns its value as text, and the caller
compares it outside the sandbox. A step with several calls returns the list of their answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

BOX = "/box"
"""The only writable folder of a run: in memory, and empty at the start of each run."""

BOX_ROOM = "size=64m,nr_inodes=1024"
"""Mount options of that folder, which limit all files of a run together."""

MAX_FILES = 4096
"""Maximum number of files of a run if the mount cannot limit them (under bubblewrap); more end the run."""

DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")  # not /dev/zero, whose mappings are memory that is not counted
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


NO_MEMORY, NO_START = 71, 70  # exit statuses of a process that cannot report
STARTED = b"\x01"  # first byte of a report: the process has read its task


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Outcome of a process as seen from outside, and its output."""

    cause: Kind | None  # reason why the supervisor ended it; None if it ended by itself
    reason: str
    status: int  # exit status, or negative signal number
    seconds: float  # CPU, of the process and those that it waited for
    load_output: bytes
    report: bytes
    step_output: bytes


class Kind(str, Enum):
    """Ways in which a run can end."""

    OK = "ok"
    SYNTAX = "syntax"
    INDENTATION = "indentation"
    NAME = "name"
    TYPE = "type"
    ASSERTION = "assertion"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    EXIT = "exit"  # the process ended itself before it reported
    FORBIDDEN = "forbidden"  # the sandbox refused something: network, files outside, more space or processes
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one process, which loads the code and runs one step; each step has its own process."""

    cpu_seconds: float = 5.0
    wall_seconds: float = 10.0
    memory_bytes: int = 512 << 20  # address space of each process; pages, files and socket buffers of all together
    output_bytes: int = 64 << 10  # of the standard output, and of a value; 16 times as much ends the run
    file_bytes: int = 16 << 20  # of one file; all files of a run have 64 MiB together
    processes: int = 16  # concurrent processes and threads


DEFAULT = Limits()
"""Far more than answers to benchmarks need, but a hostile answer costs only seconds."""


@dataclass(frozen=True, slots=True)
class Step:
    """Code to run in the namespace of the loaded code."""

    source: str  # an expression, or statements
    is_expression: bool
    stdin: str = ""
    calls: str | None = None  # JSON, see inside.candidate_calls; they run after `source`


@dataclass(frozen=True, slots=True)
class Program:
    """Code of a candidate and the steps to run after it; each step loads the code again, isolated from other steps."""

    code: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of one load or one step.

    ``ok`` and ``value`` are claims of the candidate's process that no observation from outside contradicts; every other
    kind is observed from outside, or a claim to the disadvantage of the candidate.
    """

    kind: Kind
    detail: str = ""  # one line: the exception and its message, or the exceeded limit
    seconds: float = 0.0  # CPU seconds of the process and its children that it waited for
    value: str | None = None  # of an expression: canonical text, see pkg.sandbox.values
    output: str = ""  # standard output, truncated to Limits.output_bytes
    bases: tuple[str, ...] = ()  # names of the base classes of an exception, as reported by the process


@dataclass(frozen=True, slots=True)
class Result:
    """Results of the load and of each step; after a failed load, each step has its kind and detail."""

    load: Verdict
    steps: tuple[Verdict, ...] = ()


class Sandbox(Protocol):
    """Runs untrusted code isolated from the host."""

    @property
    def name(self) -> str:
        """Return the name of the backend: process, docker or none."""

    def run(self, program: Program, limits: Limits = DEFAULT) -> Result:
        """Run one program and return its result within the limits."""

    def run_all(self, programs: Iterable[Program], limits: Limits = DEFAULT) -> Iterator[Result]:
        """Run programs in parallel, and yield their results in the order of the programs."""

    def close(self) -> None:
        """End all processes, mounts and containers of the sandbox."""
