"""Build the only files that exist inside: Python and its libraries, four devices, one small folder to write in."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pkg.sandbox.inside.libc import call, call_kernel
from pkg.sandbox.inside.namespaces import INNER
from pkg.sandbox.places import BOX, BOX_ROOM, DEVICES, LIBRARIES

READ_ONLY, NO_SUID, NO_DEVICES, NO_EXECUTION, REMOUNT = 1, 2, 4, 8, 32
NO_TIMES, NO_FOLDER_TIMES, BIND, RECURSIVE, PRIVATE, RELATIVE_TIMES = 1024, 2048, 4096, 16384, 1 << 18, 1 << 21
DETACH = 2

_FLAGS = {
    "nosuid": NO_SUID,
    "nodev": NO_DEVICES,
    "noexec": NO_EXECUTION,
    "noatime": NO_TIMES,
    "nodiratime": NO_FOLDER_TIMES,
    "relatime": RELATIVE_TIMES,
}


def build_root(folders: Iterable[str]) -> int:
    """Put a root of some folders, read-only, in the place of the machine's; give an open folder of the new /proc.

    /proc itself is taken away again: only who holds the open folder, which is the supervisor, can look at processes.
    Where the kernel refuses a new /proc (a container that hides parts of its own), -1 is given.
    """
    call("mount", None, b"/", None, RECURSIVE | PRIVATE, None)
    opened = [(folder, os.open(folder, os.O_PATH | os.O_CLOEXEC)) for folder in _list_sources(folders)]
    _mount("/tmp", "tmpfs", NO_SUID | NO_DEVICES, "mode=0755,size=1m")
    os.chdir("/tmp")
    for folder, descriptor in opened:
        _bind(folder, descriptor)
        os.close(descriptor)
    _link_libraries()
    os.mkdir("box")
    _mount("box", "tmpfs", NO_SUID | NO_DEVICES | NO_EXECUTION, f"mode=0700,uid={INNER},gid={INNER},{BOX_ROOM}")
    processes = _open_processes()
    _enter_root()
    if processes >= 0:
        call("umount2", b"/proc", DETACH)
    os.chdir(BOX)
    return processes


def _list_sources(folders: Iterable[str]) -> list[str]:
    """List what is to be seen, without what lies in another of them and without links to others."""
    wanted = [os.path.abspath(path) for path in (*LIBRARIES, *DEVICES, *folders) if os.path.exists(path)]
    kept: list[str] = []
    for path in sorted({path for path in wanted if not os.path.islink(path)}):
        if not any(path.startswith(f"{other}/") for other in kept):
            kept.append(path)
    return kept


def _bind(path: str, descriptor: int) -> None:
    """Show one folder or device of the machine at its own path below the current folder."""
    target = f".{path}"
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(f"/proc/self/fd/{descriptor}"):
        os.makedirs(target, exist_ok=True)
    else:
        open(target, "x").close()
    call("mount", f"/proc/self/fd/{descriptor}".encode(), os.fsencode(target), None, BIND | RECURSIVE, None)


def _link_libraries() -> None:
    """Repeat links such as /lib -> usr/lib, by which programs are told where their libraries lie."""
    for path in LIBRARIES:
        if os.path.islink(path) and not os.path.lexists(f".{path}"):
            os.makedirs(os.path.dirname(f".{path}"), exist_ok=True)
            os.symlink(os.readlink(path), f".{path}")


def _open_processes() -> int:
    """Mount the /proc of the new process namespace and open it."""
    os.mkdir("proc")
    try:
        _mount("proc", "proc", NO_SUID | NO_DEVICES | NO_EXECUTION, "")
    except OSError:
        return -1
    return os.open("proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _enter_root() -> None:
    """Make the current folder the root, let go of the old one, and make every mount but the box read-only.

    Flags that a mount brought from outside may not be dropped, so they are repeated.
    """
    machine = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    call_kernel("pivot_root", b".", b".")
    call("umount2", b".", DETACH)
    for path, options in _list_mounts(machine):
        if path not in (BOX.encode(), b"/proc"):
            flags = sum(_FLAGS.get(option, 0) for option in options.split(","))
            call("mount", None, path, None, REMOUNT | BIND | READ_ONLY | NO_SUID | flags, None)
    os.close(machine)


def _list_mounts(process: int) -> list[tuple[bytes, str]]:
    """List the mounts below the root with their options."""
    with open("mountinfo", "rb", opener=lambda name, flags: os.open(name, flags, dir_fd=process)) as file:
        fields = [line.split() for line in file]
    return [(row[4].decode("unicode_escape").encode("latin-1"), row[5].decode("ascii")) for row in fields]


def _mount(target: str, kind: str, flags: int, options: str) -> None:
    call("mount", kind.encode(), target.encode(), kind.encode(), flags, options.encode())
