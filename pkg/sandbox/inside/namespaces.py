"""Leave the machine behind: new user, mount, process, network, message and host-name namespaces (Linux)."""

from __future__ import annotations

import os
import select
import signal

from pkg.sandbox.inside.libc import call, call_kernel

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

INNER = 1  # the user and group that everything inside belongs to
NOBODY = 65534  # who that is outside when root starts a sandbox: nobody that owns a file


def enter_namespaces(client: int) -> None:
    """Return in a new process that is the first one of new namespaces, with every right over them and none outside.

    The calling process stays outside and waits: when the client's process ends, or it is killed itself, the first
    process is killed, and with that one the kernel ends every process of the namespace.
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
    """Start a process that stays outside and, on a sign, says who is who in the namespace of this process."""
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
    """Map the inner user to the caller, or to nobody where root calls, for whom limits and files know no bounds."""
    if user:
        _write(target, "setgroups", "deny")
    _write(target, "gid_map", f"{INNER} {group} 1\n" if user else f"0 0 1\n{INNER} {NOBODY} 1\n")
    _write(target, "uid_map", f"{INNER} {user} 1\n" if user else f"0 0 1\n{INNER} {NOBODY} 1\n")


def _write(target: int, name: str, text: str) -> None:
    with open(f"/proc/{target}/{name}", "w", encoding="ascii") as file:
        file.write(text)


def _keep(first: int, client: int) -> None:
    """Wait for the end of the first process or of the client's; leave nothing behind either way."""
    os.close(0)  # the client sees the end of the first process by its pipe, which must not be held here
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
