"""Begin: enter what the settings ask for, give up rights, and answer one request after the other.

Each request is one process that loads code and does at most one step (P-24, A-08).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import platform
import re
import signal
import site
import sys
from dataclasses import asdict, dataclass
from typing import Any

from pkg.sandbox.inside.candidate import Job, empty_box
from pkg.sandbox.inside.rights import confine, drop_privileges
from pkg.sandbox.inside.root import INNER, build_root, enter_namespaces
from pkg.sandbox.inside.runs import ClientGoneError, Pipe, RunContext, UsageMonitor, run_job
from pkg.sandbox.pipe_messages import pack_message, receive_message, send_bytes
from pkg.sandbox.protocol import LIBRARIES, Limits

REPORT_ROOM = 64 << 10  # bytes of a report besides the value


def serve(place: RunContext, answers: int, processes: int | None) -> None:
    """Answer requests until the client goes; then end at once, and with this process all others.

    processes: how many of the inner user's a limit on their number counts besides the candidate's; None for no limit.
    """
    gc.collect()
    gc.freeze()  # what is here already is shared with every run; marking it would copy it
    try:
        is_fit = True
        while is_fit and (request := receive_message(place.control)) is not None:
            is_fit = _answer(request, place, answers, processes)
    except (ClientGoneError, BrokenPipeError):
        return


def _answer(request: dict[str, Any], place: RunContext, answers: int, processes: int | None) -> bool:
    """Run one process and pass on what it wrote; tell whether this place is fit for another."""
    limits = Limits(**request["limits"])
    allowed = None if processes is None else processes + limits.processes
    job = Job(request["size"], limits, place.box, place.control, allowed)
    pipes = [Pipe(keep) for keep in _list_sizes(limits)]
    finish = run_job(job, pipes, place)
    is_fit = pipes[1].total > 0 and _clean(
        place
    )  # without a byte of report, the request lies in the control pipe still
    sizes = [pipe.size for pipe in pipes]
    send_bytes(answers, pack_message(asdict(finish) | {"sizes": sizes, "is_fit": is_fit}))
    for pipe in pipes:
        with memoryview(pipe.buffer)[: pipe.size] as written:
            send_bytes(answers, written)
        pipe.wipe()
    return is_fit


def _list_sizes(limits: Limits) -> tuple[int, int, int]:
    """Say how much to keep of what the load prints, of the report, and of what the step prints.

    A value is a text in a report: each sign of it may be escaped once more.
    """
    return limits.output_bytes, 2 * limits.output_bytes + REPORT_ROOM, limits.output_bytes


def _clean(place: RunContext) -> bool:
    """Remove what the run wrote; tell whether that was possible."""
    try:
        empty_box(place.box)
    except OSError:
        return False
    return True


WARM = (
    "abc array ast asyncio bisect calendar cmath collections contextlib copy dataclasses datetime decimal difflib enum"
    " fractions functools hashlib heapq inspect io itertools json math numbers operator pprint queue random re"
    " statistics string textwrap threading time types typing unicodedata unittest urllib.parse uuid"
)
"""What answers to programming questions import: read once here, so that no run pays for it."""

COUNTED_BY_NAMESPACE = (5, 14)  # since this kernel, processes of a user are counted for each user namespace


@dataclass(frozen=True, slots=True)
class Settings:
    """What the client wants of this worker."""

    enter: bool  # make namespaces and a private root; else they are there already, or not wanted
    confine: bool  # give up rights, restrict files and system calls
    count: bool  # limit the number of processes
    client: int  # the client's process
    box: str
    libraries: list[str]  # folders of Python's library, which a private root shows
    packages: list[str]  # folders of installed packages, which code may import from; those of this Python if none


def start(settings: Settings) -> None:
    """Prepare this process and serve; a reason why that is impossible goes to the client instead."""
    others = _count_others() if settings.count else None
    packages = settings.packages or site.getsitepackages()
    _warm_up(packages)
    try:
        processes, layers = _isolate(settings, packages)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        send_bytes(1, pack_message({"failure": f"{error.strerror}{place}"}))
        os._exit(1)
    control, answers = _move_control()
    send_bytes(answers, pack_message({"layers": layers}))
    serve(RunContext(settings.box, control, os.getpid() == 1, UsageMonitor(processes)), answers, others)
    os._exit(0)


def _isolate(settings: Settings, packages: list[str]) -> tuple[int, dict[str, object]]:
    """Go where the settings say; give an open folder of the processes there (-1 without) and what holds."""
    if settings.confine:
        _offer_to_die_first()
    if settings.enter:
        enter_namespaces(settings.client)
        processes = build_root([*settings.libraries, *packages])
    else:
        processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY) if settings.confine else -1
    if not settings.confine:
        return -1, {}
    drop_privileges(INNER)
    readable = [*LIBRARIES, *settings.libraries, *sys.path]
    return processes, confine(readable, processes, settings.enter)


def _offer_to_die_first() -> None:
    """When the machine runs out of memory, let the kernel take this process and its children before any other."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        return


def _count_others() -> int:
    """Count what a limit on the user's processes counts besides a candidate's: the supervisor and its keeper."""
    version = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
    if version >= COUNTED_BY_NAMESPACE or os.geteuid() == 0:
        return 2 if os.geteuid() else 1
    mine = [name for name in os.listdir("/proc") if name.isdigit() and _is_mine(name)]
    return 2 + sum(len(os.listdir(f"/proc/{name}/task")) for name in mine)


def _is_mine(name: str) -> bool:
    try:
        return os.stat(f"/proc/{name}").st_uid == os.getuid()
    except OSError:
        return False


def _warm_up(packages: list[str]) -> None:
    """Import what runs will, and forget what the caller's environment and arguments said."""
    sys.path[:] = [*(path for path in sys.path if path), *packages]
    sys.argv = [""]
    os.environ.clear()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy would start one for each core, beyond the limits of a run
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the first process of a namespace then cannot be interrupted
    for name in WARM.split():
        with contextlib.suppress(ImportError):  # a Python may come without parts of its library
            importlib.import_module(name)


def _move_control() -> tuple[int, int]:
    """Take the client's pipes away from the standard descriptors, which print and input use."""
    control, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.close(null)
    return control, answers
