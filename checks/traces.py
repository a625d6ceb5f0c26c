"""Find what a sandbox leaves on the machine: processes by session and namespace, mounts, files, parent state."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

DEAD = ("Z", "X", "")  # a zombie; being removed; gone


@dataclass(frozen=True, slots=True)
class Family:
    """The descendants of a process, and the sessions and namespaces that identify others."""

    processes: frozenset[int]
    sessions: frozenset[int]
    namespaces: frozenset[int]


def find_family(ancestor: int, others: Collection[int] = ()) -> Family:
    """Return the descendants of a process with their sessions and process namespaces, except its own.

    Descendants that existed before are passed as `others`; they and their descendants are excluded.
    """
    parents = {number: parent for number in _list_processes() if (parent := _read_parent(number)) is not None}
    parents = {number: parent for number, parent in parents.items() if number not in others}
    found: set[int] = set()
    fresh = {ancestor}
    while fresh:
        fresh = {number for number, parent in parents.items() if parent in fresh} - found
        found |= fresh
    namespaces = {_read_namespace(number) for number in found} - {_read_namespace(os.getpid()), 0}
    sessions = {_read_session(number) for number in found} - {_read_session(ancestor), 0}
    return Family(frozenset(found), frozenset(sessions), frozenset(namespaces))


def find_remains(family: Family) -> set[int]:
    """Return the living processes of the family, and others in its sessions and namespaces."""
    return {number for number in _list_processes() if _is_of(number, family) and _read_state(number) not in DEAD}


def _is_of(number: int, family: Family) -> bool:
    known = number in family.processes or _read_session(number) in family.sessions
    return known or _read_namespace(number) in family.namespaces


def wait_for_end(family: Family, seconds: float = 5.0) -> set[int]:
    """Wait until no process of a family is left; return those left after that time."""
    end = time.monotonic() + seconds
    while (remains := find_remains(family)) and time.monotonic() < end:
        time.sleep(0.01)
    return remains


@dataclass(frozen=True, slots=True)
class Machine:
    """State that must be the same before and after: mounts, temporary files, and the parent's own state."""

    mounts: str
    files: tuple[str, ...]
    limits: tuple[tuple[int, int], ...]
    handlers: tuple[str, ...]
    descriptors: int
    folder: str


def describe_machine(*folders: Path) -> Machine:
    """Record the mounts, all files below some folders, and the state of this process."""
    return Machine(
        _read_mounts(),
        tuple(sorted(f"{path} {path.stat().st_size}" for folder in folders for path in folder.rglob("*"))),
        tuple(resource.getrlimit(kind) for kind in range(resource.RLIMIT_RTPRIO + 1)),
        tuple(str(signal.getsignal(number)) for number in sorted(signal.valid_signals())),
        len(os.listdir("/proc/self/fd")),
        os.getcwd(),
    )


def _read_mounts() -> str:
    """Return the mounts without those that a Docker daemon beside a test makes and removes at any time.

    These are the mounts of its containers, and the folder that checks/with_docker.sh gives it.
    """
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return "\n".join(
        line
        for line in lines
        if line.rpartition(" - ")[2].split()[0] not in ("overlay", "nsfs") and "/docker-check." not in line
    )


def _list_processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read_fields(number: int) -> list[str]:
    """Return the fields after the name of a process: state, parent, group, session and more; none if it is gone."""
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _read_state(number: int) -> str:
    return next(iter(_read_fields(number)), "")


def _read_parent(number: int) -> int | None:
    fields = _read_fields(number)
    return int(fields[1]) if fields else None


def _read_session(number: int) -> int:
    fields = _read_fields(number)
    return int(fields[3]) if fields else 0


def _read_namespace(number: int) -> int:
    try:
        return os.stat(f"/proc/{number}/ns/pid").st_ino
    except OSError:
        return 0
