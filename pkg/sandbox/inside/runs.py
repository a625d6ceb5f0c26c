"""Supervise the process of one candidate: start it, read its output, check its usage, and end it with its children."""

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

FLOOD_FACTOR = 16  # multiple of the kept output that a run may write before it is ended


class Pipe:
    """A pipe from a candidate, with its output up to a length, and the total length.

    The supervisor is forked for every candidate, so a later candidate could read what it keeps of an earlier one. The
    output thus never becomes a Python object, and the pages of the buffer are returned to the kernel.
    """

    def __init__(self, keep: int) -> None:
        self.descriptor, self.end = os.pipe()
        os.set_blocking(self.descriptor, False)
        self.buffer = mmap.mmap(-1, keep, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # only written pages use memory
        self.total = 0
        self.is_open = True

    @property
    def size(self) -> int:
        """Return the number of bytes kept."""
        return min(self.total, len(self.buffer))

    @property
    def is_flooded(self) -> bool:
        """Return whether the output exceeds FLOOD_FACTOR times the kept length."""
        return self.total > FLOOD_FACTOR * len(self.buffer)

    def read(self) -> None:
        """Read the available output."""
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
        """Release the buffer and close the pipe."""
        self.buffer.close()
        os.close(self.descriptor)


TICKS = os.sysconf("SC_CLK_TCK")
PAGE = resource.getpagesize()
MAX_MESSAGE = 64 << 10  # bytes that a socket accepts at once


@dataclass(frozen=True, slots=True)
class Usage:
    """Current usage of the processes of a run: CPU seconds, and bytes of memory not shared with the supervisor."""

    seconds: float = 0.0
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """Counters of the kernel for one process."""

    seconds: float = 0.0
    resident: int = 0  # bytes
    touched: int = 0  # bytes of pages that it touched first, or copied on write
    swapped: int = 0  # bytes


class UsageMonitor:
    """Measures usage in the /proc of the sandbox's process namespace, in which this process is the first.

    Buffers of sockets are counted as full, because they belong to the kernel and not to a process. The system call
    filter refuses the other ways to allocate such memory.
    """

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._own = self._count("self").resident if processes >= 0 else 0
        self._sockets = self._count_sockets() if processes >= 0 else 0
        self._socket_bytes = _measure_buffer()

    def measure(self) -> Usage:
        """Return the usage of all processes except the first, and of the sockets that they opened."""
        if self._processes < 0:
            return Usage()
        found = [self._count(name) for name in os.listdir(self._processes) if name.isdigit() and name != "1"]
        sockets = max(0, self._count_sockets() - self._sockets) * self._socket_bytes
        return Usage(sum(each.seconds for each in found), sum(map(self._weigh, found)) + sockets)

    def _weigh(self, counts: Counts) -> int:
        """Return the memory of a process without pages that it still shares with the supervisor."""
        return max(0, counts.resident - self._own) + min(self._own, counts.touched) + counts.swapped

    def _count(self, name: str) -> Counts:
        """Read the counters of one process; all 0 if it has ended."""
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
        """Count the sockets of the network namespace, including those in messages in transit."""
        used = self._read("self/net/sockstat").partition(b"sockets: used ")[2].split()
        return int(used[0]) if used else 0

    def _read(self, name: str) -> bytes:
        """Read a small file; b"" if it no longer exists."""
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
    """Return the number of bytes that a socket can buffer, with one more message in transit."""
    one, other = socket.socketpair()
    with one, other:
        return one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) + MAX_MESSAGE


CHECK_SECONDS = 0.05  # between two checks of the usage of a run, by which it can exceed its limits
POLL_SECONDS = 0.002  # between polls for the end of a process on systems without pidfd


class ClientGoneError(Exception):
    """Raised when the client has ended."""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """Outcome of a process as seen from outside."""

    cause: Kind | None  # reason why it was ended; None if it ended by itself
    reason: str
    status: int  # exit status, or negative signal number
    seconds: float  # CPU, of the process and its children that it waited for


@dataclass(frozen=True, slots=True)
class RunContext:
    """Environment of the runs of a worker."""

    box: str
    control: int  # descriptor that is closed when the client ends
    is_first: bool  # first process of its namespace, so that it can signal all processes of a run and no others
    watch: UsageMonitor


def run_job(job: Job, pipes: Sequence[Pipe], place: RunContext) -> ProcessEnd:
    """Run one process from start to end, and end all of its children.

    pipes: for the output of the load, for the report, and for the output of the step.
    """
    prepare_box(place.box)
    process = os.fork()
    if process == 0:
        run_candidate(job, *(pipe.end for pipe in pipes))
    for pipe in pipes:
        os.close(pipe.end)
    try:
        cause, reason = _supervise(process, pipes, job.limits, place)
    finally:  # even if the client has ended
        status, seconds = _end(process, place)
    for pipe in pipes:
        pipe.read()
    return ProcessEnd(cause, reason, status, seconds)


def _supervise(process: int, pipes: Sequence[Pipe], limits: Limits, place: RunContext) -> tuple[Kind | None, str]:
    """Wait until the process ends or exceeds a limit; return the limit, None if it ended by itself."""
    end = time.monotonic() + limits.wall_seconds
    next_check = time.monotonic() + CHECK_SECONDS
    with _ProcessWaiter(process, pipes, place.control) as waiting:
        while not waiting.wait(min(end, next_check) - time.monotonic()):
            now = time.monotonic()
            if any(pipe.is_flooded for pipe in pipes):
                return Kind.FORBIDDEN, f"wrote far more than {limits.output_bytes} bytes"
            if now >= end:
                return Kind.TIMEOUT, f"ran longer than {limits.wall_seconds:g} s"
            if now >= next_check:
                next_check = now + CHECK_SECONDS
                found = _check_usage(place, limits)
                if found:
                    return found
    return None, ""


def _check_usage(place: RunContext, limits: Limits) -> tuple[Kind, str] | None:
    """Return the limit that the processes of the run exceed together; None if there is none."""
    use = place.watch.measure()
    if use.seconds > limits.cpu_seconds:
        return Kind.TIMEOUT, f"used more than {limits.cpu_seconds:g} s of CPU"
    files, stored = count_files(place.box) if place.is_first else (0, 0)
    if use.memory + stored > limits.memory_bytes:
        return Kind.MEMORY, f"used more than {limits.memory_bytes >> 20} MiB in all"
    if files > MAX_FILES:
        return Kind.FORBIDDEN, f"made more than {MAX_FILES} files"
    return None


class _ProcessWaiter:
    """Waits for the end of a process and reads its pipes."""

    def __init__(self, process: int, pipes: Sequence[Pipe], control: int) -> None:
        self._process = process
        self._pipes = {pipe.descriptor: pipe for pipe in pipes}
        self._control = control
        self._poll = select.poll()
        self._event = _open_event(process)
        for descriptor in (*self._pipes, *([self._event] if self._event >= 0 else [])):
            self._poll.register(descriptor, select.POLLIN)
        self._poll.register(control, 0)  # only its end: the next request may be there already

    def __enter__(self) -> _ProcessWaiter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._event >= 0:
            os.close(self._event)

    def wait(self, seconds: float) -> bool:
        """Wait up to some seconds for an event, and return whether the process has ended.

        Raises a ClientGoneError if the client has ended.
        """
        if self._event < 0:
            seconds = min(seconds, POLL_SECONDS)
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
    """Open a descriptor that is readable when a process has ended; -1 if the system does not support it."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(process)
    except OSError:
        return -1


def _end(process: int, place: RunContext) -> tuple[int, float]:
    """Kill the process and its children, wait until all have ended, and return its status and CPU seconds."""
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
    """Kill all processes of the namespace, or else the process and its group."""
    try:
        os.kill(-1 if place.is_first else process, signal.SIGKILL)
        if not place.is_first:
            os.killpg(process, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # ended already
