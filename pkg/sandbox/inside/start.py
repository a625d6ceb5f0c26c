"""Start a worker: set up its isolation, drop privileges, and serve requests.

Each request is one process that loads code and runs at most one step (P-24, A-08).
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
from pkg.sandbox.inside.root import INNER_USER, build_root, enter_namespaces
from pkg.sandbox.inside.runs import ClientGoneError, Pipe, RunContext, UsageMonitor, run_job
from pkg.sandbox.pipe_messages import pack_message, receive_message, send_bytes
from pkg.sandbox.protocol import LIBRARIES, Limits

REPORT_ROOM = 64 << 10  # bytes of a report besides the value


def serve(place: RunContext, answers: int, processes: int | None) -> None:
    """Serve requests until the client ends; the end of this process ends all others.

    processes: number of processes of the inner user that its limit counts besides the candidate's; None for no limit.
    """
    gc.collect()
    gc.freeze()  # existing objects are shared with every run; a collection would copy their pages
    try:
        is_fit = True
        while is_fit and (request := receive_message(place.control)) is not None:
            is_fit = _answer(request, place, answers, processes)
    except (ClientGoneError, BrokenPipeError):
        return


def _answer(request: dict[str, Any], place: RunContext, answers: int, processes: int | None) -> bool:
    """Run one process and send its output; return whether this worker can run another."""
    limits = Limits(**request["limits"])
    allowed = None if processes is None else processes + limits.processes
    job = Job(request["size"], limits, place.box, place.control, allowed)
    pipes = [Pipe(keep) for keep in _list_sizes(limits)]
    finish = run_job(job, pipes, place)
    is_fit = pipes[1].total > 0 and _clean(place)  # without any report, the request is still in the control pipe
    sizes = [pipe.size for pipe in pipes]
    send_bytes(answers, pack_message(asdict(finish) | {"sizes": sizes, "is_fit": is_fit}))
    for pipe in pipes:
        with memoryview(pipe.buffer)[: pipe.size] as written:
            send_bytes(answers, written)
        pipe.wipe()
    return is_fit


def _list_sizes(limits: Limits) -> tuple[int, int, int]:
    """Return the bytes to keep of the output of the load, of the report, and of the output of the step.

    A value is text in a report, where each character may be escaped.
    """
    return limits.output_bytes, 2 * limits.output_bytes + REPORT_ROOM, limits.output_bytes


def _clean(place: RunContext) -> bool:
    """Remove the files of the run; return whether that succeeded."""
    try:
        empty_box(place.box)
    except OSError:
        return False
    return True


PRELOADED = (
    "abc array ast asyncio bisect calendar cmath collections contextlib copy dataclasses datetime decimal difflib enum"
    " fractions functools hashlib heapq inspect io itertools json math numbers operator pprint queue random re"
    " statistics string textwrap threading time types typing unicodedata unittest urllib.parse uuid"
)
"""Modules that answers often import: loaded once here, so that runs share them."""

COUNTED_BY_NAMESPACE = (5, 14)  # kernel version since which processes of a user are counted per user namespace


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a worker."""

    enter: bool  # create namespaces and a private root; otherwise they exist already, or are not required
    confine: bool  # drop privileges, restrict files and system calls
    count: bool  # limit the number of processes
    client: int  # process id of the client
    box: str
    libraries: list[str]  # folders of Python's library, mounted in a private root
    packages: list[str]  # folders of installed packages that code may import; if empty, those of this Python


def start(settings: Settings) -> None:
    """Prepare this process and serve requests, or send the client the reason why that is impossible."""
    others = _count_others() if settings.count else None
    packages = settings.packages or site.getsitepackages()
    _preload(packages)
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
    """Set up the isolation; return a descriptor of /proc (-1 for none) and the active layers."""
    if settings.confine:
        _prefer_oom_kill()
    if settings.enter:
        enter_namespaces(settings.client)
        processes = build_root([*settings.libraries, *packages])
    else:
        processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY) if settings.confine else -1
    if not settings.confine:
        return -1, {}
    drop_privileges(INNER_USER)
    readable = [*LIBRARIES, *settings.libraries, *sys.path]
    return processes, confine(readable, processes, settings.enter)


def _prefer_oom_kill() -> None:
    """Prefer this process and its children as victims when the system runs out of memory."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        return


def _count_others() -> int:
    """Return the number of other processes that the limit of the user counts: the supervisor and its parent."""
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


def _preload(packages: list[str]) -> None:
    """Import common modules, and clear the environment and arguments of the caller."""
    sys.path[:] = [*(path for path in sys.path if path), *packages]
    sys.argv = [""]
    os.environ.clear()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy would start one per core, beyond the limits of a run
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the first process of a namespace then cannot be interrupted
    for name in PRELOADED.split():
        with contextlib.suppress(ImportError):  # parts of the standard library may be missing
            importlib.import_module(name)


def _move_control() -> tuple[int, int]:
    """Move the client's pipes away from the standard descriptors, which print and input use."""
    control, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.close(null)
    return control, answers
