"""Supervise the process of one candidate: start it, read and watch it, end it and all that it started."""

from __future__ import annotations

import mmap
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pkg.sandbox.inside.candidate import Job, count_files, prepare_box, run_candidate
from pkg.sandbox.protocol import MAX_FILES, Kind, Limits

PATIENCE = 16  # times the wanted length that are read and thrown away before a run is ended for it


class Pipe:
    """One pipe from a candidate: what came through it, up to a length, and how much in all.

    The supervisor is forked for every candidate, so what it remembers of one the next could read: nothing that comes
    here becomes an object of Python, and the kernel takes the pages of the buffer back in the end.
    """

    def __init__(self, keep: int) -> None:
        self.descriptor, self.end = os.pipe()
        os.set_blocking(self.descriptor, False)
        self.buffer = mmap.mmap(-1, keep, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # costs what is written on it alone
        self.total = 0
        self.is_open = True

    @property
    def size(self) -> int:
        """Tell how many bytes were kept."""
        return min(self.total, len(self.buffer))

    @property
    def is_flooded(self) -> bool:
        """Tell whether far more came than anybody wants."""
        return self.total > PATIENCE * len(self.buffer)

    def read(self) -> None:
        """Take what is there."""
        while self.is_open and not self.is_flooded:
            try:
                self._read_once()
            except BlockingIOError:
                return

    def _read_once(self) -> None:
        room = len(self.buffer) - self.size
        with memoryview(self.buffer)[self.size :] if room else memoryview(bytearray(1 << 16)) as place:
            count = os.readv(self.descriptor, [place])
            if not room:
                place[:] = bytes(len(place))
        self.is_open = count > 0
        self.total += count

    def wipe(self) -> None:
        """Forget what came."""
        self.buffer.close()
        os.close(self.descriptor)


TICKS = os.sysconf("SC_CLK_TCK")
PAGE = resource.getpagesize()
MAX_MESSAGE = 64 << 10  # bytes that a socket takes at once


@dataclass(frozen=True, slots=True)
class Usage:
    """What the processes of a run use at one moment: CPU seconds, and bytes of memory that are not the supervisor's."""

    seconds: float = 0.0
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """What the kernel tells of one process."""

    seconds: float = 0.0
    resident: int = 0  # bytes
    touched: int = 0  # bytes of the pages that it was given when it first touched them, or wrote on shared ones
    swapped: int = 0  # bytes


class UsageMonitor:
    """Reads the /proc of the sandbox's own process namespace, in which this process is the first.

    Beside what processes hold, buffers of sockets are counted, each as full as it can be: they are the kernel's, and no
    process is seen to use them. The filter of system calls refuses the other ways to such memory.
    """

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._own = self._count("self").resident if processes >= 0 else 0
        self._sockets = self._count_sockets() if processes >= 0 else 0
        self._socket_bytes = _measure_buffer()

    def measure(self) -> Usage:
        """Add up all processes but the first, and the sockets that they opened."""
        if self._processes < 0:
            return Usage()
        found = [self._count(name) for name in os.listdir(self._processes) if name.isdigit() and name != "1"]
        sockets = max(0, self._count_sockets() - self._sockets) * self._socket_bytes
        return Usage(sum(each.seconds for each in found), sum(map(self._weigh, found)) + sockets)

    def _weigh(self, counts: Counts) -> int:
        """Count the memory of a process: it begins with the supervisor's pages, shared until it writes on them."""
        return max(0, counts.resident - self._own) + min(self._own, counts.touched) + counts.swapped

    def _count(self, name: str) -> Counts:
        """Read what one process uses; nothing of one that has just ended."""
        fields = self._read(f"{name}/stat").rpartition(b")")[2].split()
        if not fields:
            return Counts()
        swapped = self._read(f"{name}/status").partition(b"VmSwap:")[2].split()
        return Counts(
            seconds=(int(fields[11]) + int(fields[12])) / TICKS,
            resident=int(fields[21]) * PAGE,
            touched=int(fields[7]) * PAGE,
            swapped=int(swapped[0]) << 10 if swapped else 0,
        )

    def _count_sockets(self) -> int:
        """Count the sockets of the network namespace, those on their way in a message too."""
        used = self._read("self/net/sockstat").partition(b"sockets: used ")[2].split()
        return int(used[0]) if used else 0

    def _read(self, name: str) -> bytes:
        """Read a small file; nothing of one that is gone."""
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)
        except OSError:
            return b""
        try:
            return os.read(descriptor, 4096)
        except OSError:
            return b""
        finally:
            os.close(descriptor)


def _measure_buffer() -> int:
    """Ask how much a socket can hold; one message more than that may be under way."""
    one, other = socket.socketpair()
    with one, other:
        return one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) + MAX_MESSAGE


LOOK = 0.05  # seconds between two looks at what a run uses: a hostile one takes at most this much more
NO_PIDFD_LOOK = 0.002  # seconds, where the system cannot tell the end of a process as an event


class ClientGoneError(Exception):
    """Say that nobody waits for results any more."""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a process ended, as seen from outside."""

    cause: Kind | None  # why it was ended; None when it ended by itself
    reason: str
    status: int  # exit status, or the negative number of a signal
    seconds: float  # CPU, of the process and those that it waited for


@dataclass(frozen=True, slots=True)
class RunContext:
    """Where processes run and what may be done about them there."""

    box: str
    control: int  # the descriptor that ends when the client does
    is_first: bool  # of its process namespace: may signal all others, and nobody else lives there
    watch: UsageMonitor


def run_job(job: Job, pipes: Sequence[Pipe], place: RunContext) -> ProcessEnd:
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
    return ProcessEnd(cause, reason, status, seconds)


def _attend(process: int, pipes: Sequence[Pipe], limits: Limits, place: RunContext) -> tuple[Kind | None, str]:
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


def _judge_use(place: RunContext, limits: Limits) -> tuple[Kind, str] | None:
    """Look at what the processes of the run use together."""
    use = place.watch.measure()
    if use.seconds > limits.cpu_seconds:
        return Kind.TIMEOUT, f"used more than {limits.cpu_seconds:g} s of CPU"
    files, stored = count_files(place.box) if place.is_first else (0, 0)
    if use.memory + stored > limits.memory_bytes:
        return Kind.MEMORY, f"used more than {limits.memory_bytes >> 20} MiB in all"
    if files > MAX_FILES:
        return Kind.FORBIDDEN, f"made more than {MAX_FILES} files"
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
        """Wait up to some seconds for anything; tell whether the process has ended.

        ClientGoneError once nobody waits for it any more.
        """
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


def _end(process: int, place: RunContext) -> tuple[int, float]:
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


def _kill(process: int, place: RunContext) -> None:
    """Send a signal that cannot be caught: to all of the namespace, else to the session's group."""
    try:
        os.kill(-1 if place.is_first else process, signal.SIGKILL)
        if not place.is_first:
            os.killpg(process, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # ended already
