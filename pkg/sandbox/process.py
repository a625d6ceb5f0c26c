"""Linux backend: namespaces, a private root, Landlock and a filter of system calls, without any service.

It is not a virtual machine: code inside uses the kernel of the host, whose faults may allow an escape. See
docs/security.md.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from pkg.errors import SandboxError
from pkg.sandbox.interpreter import Interpreter, find_interpreter
from pkg.sandbox.launch import ENVIRONMENT, Isolation, ProcessStream, build_command
from pkg.sandbox.protocol import BOX, DEVICES, LIBRARIES
from pkg.sandbox.worker import Worker

BOX_BYTES = 64 << 20

_SWITCHES = (
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or install bubblewrap with its AppArmor profile",
    ),
)
"""Kernel settings that forbid namespaces to ordinary users: file, forbidding value, and remedy."""


def start_process_worker(interpreter: Interpreter | None = None) -> Worker:
    """Start a worker in namespaces, through bubblewrap if it is installed.

    interpreter: runs the code, by default the running one. Workers of root never use bubblewrap, which can only map
    root to root, whose processes the kernel does not count. Raises a SandboxError if the system lacks something.
    """
    if sys.platform != "linux":
        raise SandboxError(
            f"the process sandbox needs Linux, this is {sys.platform}; install Docker for the docker one"
        )
    bubblewrap = shutil.which("bwrap") if os.geteuid() else None
    if bubblewrap:
        try:
            return start_bubblewrap_worker(bubblewrap, interpreter)
        except SandboxError:
            return start_own_worker(interpreter)  # bubblewrap may be too old, or not allowed to use namespaces
    return start_own_worker(interpreter)


def start_own_worker(interpreter: Interpreter | None = None) -> Worker:
    """Start a worker that creates its namespaces itself; raises a SandboxError with the setting that forbids them."""
    python = interpreter or find_interpreter()
    isolation = Isolation(True, True, True, BOX, python.libraries, python.packages)
    try:
        return Worker(ProcessStream(build_command(python.path)), isolation)
    except SandboxError as error:
        raise SandboxError(f"no sandbox of namespaces here ({error}); {_suggest_switch()}") from None


def start_bubblewrap_worker(bubblewrap: str, interpreter: Interpreter | None = None) -> Worker:
    """Start a worker in namespaces created by bubblewrap."""
    python = interpreter or find_interpreter()
    isolation = Isolation(False, True, True, BOX, python.libraries, python.packages)
    command = _build_bubblewrap_command(bubblewrap, isolation, os.path.realpath(python.path))
    return Worker(ProcessStream(command), isolation)


def _build_bubblewrap_command(bubblewrap: str, isolation: Isolation, python: str) -> list[str]:
    """Return the command, with the same private root as pkg.sandbox.inside.root builds."""
    command = [bubblewrap, "--unshare-all", "--unshare-user", "--disable-userns", "--new-session", "--as-pid-1"]
    command += ["--cap-drop", "ALL", "--uid", "1", "--gid", "1", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    for path in (*LIBRARIES, *isolation.libraries, *isolation.packages, python):
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            command += ["--ro-bind", path, path]
    for path in DEVICES:
        command += ["--dev-bind", path, path]
    command += ["--proc", "/proc", "--perms", "0700", "--size", str(BOX_BYTES), "--tmpfs", BOX]
    return [*command, "--remount-ro", "/", "--chdir", BOX, *build_command(python)]


def _suggest_switch() -> str:
    """Return advice on the kernel setting that forbids namespaces to this user."""
    for path, closed, remedy in _SWITCHES:
        try:
            if Path(path).read_text(encoding="ascii").strip() == closed:
                return f"{path} is {closed}; ask your administrator for: {remedy}"
        except OSError:
            continue
    return (
        "expected a kernel and a container that allow namespaces to this user (Linux 5.3 or newer);"
        " choose the docker sandbox, or run only the static stages"
    )
