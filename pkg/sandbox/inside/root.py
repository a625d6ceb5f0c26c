"""Enter new namespaces, and a private root with Python, three devices and one small folder (Linux)."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable

from pkg.sandbox.inside.libc import call, call_kernel
from pkg.sandbox.protocol import BOX, BOX_ROOM, DEVICES, LIBRARIES

MOUNT, CGROUP, HOST_NAME, MESSAGES, USER, PROCESS, NETWORK = (
    0x00020000,
    0x02000000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
ALL = MOUNT | CGROUP | HOST_NAME | MESSAGES | USER | PROCESS | NETWORK

INNER_USER = 1  # user and group id inside
OVERFLOW_USER = 65534  # its id outside if root starts the sandbox: it owns no files


def enter_namespaces(client: int) -> None:
    """Return in a new process, the first one of new namespaces, with all rights inside and none outside.

    The calling process stays outside and waits: when it or the client's process ends, the first process is killed, upon
    which the kernel ends all processes of the namespace. Raises an OSError if the system refuses a namespace.
    """
    go, gone = os.pipe()
    writer = _start_map_writer(go, gone)
    call("unshare", ALL)
    os.close(go)
    os.write(gone, b"!")
    os.close(gone)
    _, status = os.waitpid(writer, 0)
    if status:
        raise OSError(os.waitstatus_to_exitcode(status), "the user of the new namespace could not be set")
    first = os.fork()
    if first:
        _keep(first, client)


def _start_map_writer(go: int, gone: int) -> int:
    """Start a process that stays outside and, on a signal through a pipe, writes the user maps of this process."""
    target, user, group = os.getpid(), os.geteuid(), os.getegid()
    writer = os.fork()
    if writer:
        return writer
    failure = 0
    try:
        os.close(gone)
        if os.read(go, 1):
            _write_maps(target, user, group)
    except OSError as error:
        failure = error.errno or 1
    os._exit(failure)


def _write_maps(target: int, user: int, group: int) -> None:
    """Map the inner user to the caller, or to OVERFLOW_USER if that is root, who is exempt from limits."""
    if user:
        _write(target, "setgroups", "deny")
    _write(target, "gid_map", f"{INNER_USER} {group} 1\n" if user else f"0 0 1\n{INNER_USER} {OVERFLOW_USER} 1\n")
    _write(target, "uid_map", f"{INNER_USER} {user} 1\n" if user else f"0 0 1\n{INNER_USER} {OVERFLOW_USER} 1\n")


def _write(target: int, name: str, text: str) -> None:
    with open(f"/proc/{target}/{name}", "w", encoding="ascii") as file:
        file.write(text)


def _keep(first: int, client: int) -> None:
    """Wait until the first process or the client's process ends, then kill the first process and exit."""
    os.close(0)  # the client detects the end of the first process by its pipe, which must not stay open here
    os.close(1)
    os.chdir("/")
    waiting = select.poll()
    waiting.register(call_kernel("pidfd_open", first, 0), select.POLLIN)
    try:
        waiting.register(call_kernel("pidfd_open", client, 0), select.POLLIN)
        alive = os.getppid() == client
    except OSError:
        alive = False
    if alive:
        waiting.poll()
    os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)
    os._exit(0)


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
    """Replace the root by a read-only one with some folders; return a descriptor of the new /proc.

    /proc is unmounted again, so only the supervisor, which has the descriptor, can read it. Returns -1 if the kernel
    refuses a new /proc, as in a container that hides parts of its own. Raises an OSError if another mount fails.
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
    _mount(
        "box", "tmpfs", NO_SUID | NO_DEVICES | NO_EXECUTION, f"mode=0700,uid={INNER_USER},gid={INNER_USER},{BOX_ROOM}"
    )
    processes = _open_processes()
    _enter_root()
    if processes >= 0:
        call("umount2", b"/proc", DETACH)
    os.chdir(BOX)
    return processes


def _list_sources(folders: Iterable[str]) -> list[str]:
    """List the paths to mount, without those inside others and without links."""
    wanted = [os.path.abspath(path) for path in (*LIBRARIES, *DEVICES, *folders) if os.path.exists(path)]
    kept: list[str] = []
    for path in sorted({path for path in wanted if not os.path.islink(path)}):
        if not any(path.startswith(f"{other}/") for other in kept):
            kept.append(path)
    return kept


def _bind(path: str, descriptor: int) -> None:
    """Mount one folder or device of the host at its path below the current folder."""
    target = f".{path}"
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(f"/proc/self/fd/{descriptor}"):
        os.makedirs(target, exist_ok=True)
    else:
        open(target, "x").close()
    call("mount", f"/proc/self/fd/{descriptor}".encode(), os.fsencode(target), None, BIND | RECURSIVE, None)


def _link_libraries() -> None:
    """Create links such as /lib -> usr/lib, which programs use to find their libraries."""
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
    """Make the current folder the root, unmount the old one, and make every mount except the box read-only.

    The flags that a mount had outside must be repeated, because they cannot be removed.
    """
    own_process = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    call_kernel("pivot_root", b".", b".")
    call("umount2", b".", DETACH)
    for path, options in _list_mounts(own_process):
        if path not in (BOX.encode(), b"/proc"):
            flags = sum(_FLAGS.get(option, 0) for option in options.split(","))
            call("mount", None, path, None, REMOUNT | BIND | READ_ONLY | NO_SUID | flags, None)
    os.close(own_process)


def _list_mounts(process: int) -> list[tuple[bytes, str]]:
    """List the mounts below the root with their options."""
    with open("mountinfo", "rb", opener=lambda name, flags: os.open(name, flags, dir_fd=process)) as file:
        fields = [line.split() for line in file]
    return [(row[4].decode("unicode_escape").encode("latin-1"), row[5].decode("ascii")) for row in fields]


def _mount(target: str, kind: str, flags: int, options: str) -> None:
    call("mount", kind.encode(), target.encode(), kind.encode(), flags, options.encode())
