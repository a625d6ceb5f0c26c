"""Supervise the process of one candidate: start it, look after it, end it and all that it started."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pkg.sandbox.inside.box import count_files, prepare_box
from pkg.sandbox.inside.candidate import Job, run_candidate
from pkg.sandbox.inside.pipes import Pipe
from pkg.sandbox.inside.watch import Watch
from pkg.sandbox.places import MOST_FILES
from pkg.sandbox.protocol import Kind, Limits

LOOK = 0.05  # seconds between two looks at what a run uses: a hostile one takes at most this much more
NO_PIDFD_LOOK = 0.002  # seconds, where the system cannot tell the end of a process as an event


class ClientGoneError(Exception):
    """Say that nobody waits for results any more."""


@dataclass(frozen=True, slots=True)
class Finish:
    """How a process ended, as seen from outside."""

    cause: Kind | None  # why it was ended; None when it ended by itself
    reason: str
    status: int  # exit status, or the negative number of a signal
    seconds: float  # CPU, of the process and those that it waited for


@dataclass(frozen=True, slots=True)
class Place:
    """Where processes run and what may be done about them there."""

    box: str
    control: int  # the descriptor that ends when the client does
    is_first: bool  # of its process namespace: may signal all others, and nobody else lives there
    watch: Watch


def run_job(job: Job, pipes: Sequence[Pipe], place: Place) -> Finish:
    """Run one process from start to end; afterwards no process of it is left.

    pipes: for what the load prints, for the report, for what the step prints.
    """
    prepare_box(place.box)
    process = os.fork()
    if process == 0:
        run_candidate(job, *(pipe.end for pipe in pipes))
    for pipe in pipes:
        os.close(pipe.end)
    try:
        cause, reason = _attend(process, pipes, job.limits, place)
    finally:  # even where nobody waits for the result any more
        status, seconds = _end(process, place)
    for pipe in pipes:
        pipe.read()
    return Finish(cause, reason, status, seconds)


def _attend(process: int, pipes: Sequence[Pipe], limits: Limits, place: Place) -> tuple[Kind | None, str]:
    """Wait until the process ends or a limit is reached; say which, None when it ended by itself."""
    end = time.monotonic() + limits.wall_seconds
    next_look = time.monotonic() + LOOK
    with _Waiting(process, pipes, place.control) as waiting:
        while not waiting.wait(min(end, next_look) - time.monotonic()):
            now = time.monotonic()
            if any(pipe.is_flooded for pipe in pipes):
                return Kind.FORBIDDEN, f"wrote far more than {limits.output_bytes} bytes"
            if now >= end:
                return Kind.TIMEOUT, f"ran longer than {limits.wall_seconds:g} s"
            if now >= next_look:
                next_look = now + LOOK
                found = _judge_use(place, limits)
                if found:
                    return found
    return None, ""


def _judge_use(place: Place, limits: Limits) -> tuple[Kind, str] | None:
    """Look at what the processes of the run use together."""
    use = place.watch.measure()
    if use.seconds > limits.cpu_seconds:
        return Kind.TIMEOUT, f"used more than {limits.cpu_seconds:g} s of CPU"
    if use.memory > limits.memory_bytes:
        return Kind.MEMORY, f"used more than {limits.memory_bytes >> 20} MiB in all"
    if place.is_first and count_files(place.box) > MOST_FILES:
        return Kind.FORBIDDEN, f"made more than {MOST_FILES} files"
    return None


class _Waiting:
    """Waits for the end of a process while its pipes are read."""

    def __init__(self, process: int, pipes: Sequence[Pipe], control: int) -> None:
        self._process = process
        self._pipes = {pipe.descriptor: pipe for pipe in pipes}
        self._control = control
        self._poll = select.poll()
        self._event = _open_event(process)
        for descriptor in (*self._pipes, *([self._event] if self._event >= 0 else [])):
            self._poll.register(descriptor, select.POLLIN)
        self._poll.register(control, 0)  # only its end: the next program may lie there already

    def __enter__(self) -> _Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        if self._event >= 0:
            os.close(self._event)

    def wait(self, seconds: float) -> bool:
        """Wait up to some seconds for anything; tell whether the process has ended."""
        if self._event < 0:
            seconds = min(seconds, NO_PIDFD_LOOK)
        for descriptor, _ in self._poll.poll(max(0.0, seconds) * 1000):
            if descriptor == self._control:
                raise ClientGoneError
            if descriptor == self._event:
                return True
            self._read(self._pipes[descriptor])
        return self._event < 0 and os.waitid(os.P_PID, self._process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _read(self, pipe: Pipe) -> None:
        pipe.read()
        if not pipe.is_open or pipe.is_flooded:
            self._poll.unregister(pipe.descriptor)


def _open_event(process: int) -> int:
    """Open a descriptor that tells the end of a process; -1 where the system has none."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(process)
    except OSError:
        return -1


def _end(process: int, place: Place) -> tuple[int, float]:
    """Kill the process and all that it started, and wait until each is gone; give its status and CPU seconds."""
    _kill(process, place)
    _, status, usage = os.wait4(process, 0)
    while place.is_first:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                _kill(process, place)
                time.sleep(0.0005)
        except ChildProcessError:
            break
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def _kill(process: int, place: Place) -> None:
    """Send a signal that cannot be caught: to all of the namespace, else to the session's group."""
    try:
        os.kill(-1 if place.is_first else process, signal.SIGKILL)
        if not place.is_first:
            os.killpg(process, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # ended already
