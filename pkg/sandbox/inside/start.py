"""Begin: enter what the settings ask for, give up rights, and serve."""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import re
import signal
import site
import sys
from dataclasses import dataclass

from pkg.sandbox.frames import pack_frame, send_bytes
from pkg.sandbox.inside.namespaces import INNER, enter_namespaces
from pkg.sandbox.inside.rights import become_nobody, confine
from pkg.sandbox.inside.root import build_root
from pkg.sandbox.inside.runs import Place
from pkg.sandbox.inside.serve import serve
from pkg.sandbox.inside.watch import Watch
from pkg.sandbox.places import LIBRARIES

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
        send_bytes(1, pack_frame({"failure": f"{error.strerror}{place}"}))
        os._exit(1)
    control, answers = _move_control()
    send_bytes(answers, pack_frame({"layers": layers}))
    serve(Place(settings.box, control, os.getpid() == 1, Watch(processes)), answers, others)
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
    become_nobody(INNER)
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
