"""Call C library functions and system calls that Python lacks: mounts, namespaces, capabilities (Linux)."""

from __future__ import annotations

import ctypes
import os
import platform

LIBRARY = ctypes.CDLL(None, use_errno=True)

_NUMBERS = {
    "x86_64": {"capset": 126, "pivot_root": 155},
    "aarch64": {"capset": 91, "pivot_root": 41},
}
_COMMON = {"pidfd_open": 434, "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446}

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38


def call(name: str, *arguments: object) -> int:
    """Call a function of the C library; raises an OSError with its name if it fails."""
    return _check(name, getattr(LIBRARY, name)(*arguments))


def call_kernel(name: str, *arguments: object) -> int:
    """Make a system call for which the C library may lack a function."""
    number = _COMMON.get(name) or _NUMBERS[platform.machine()][name]
    return _check(name, LIBRARY.syscall(ctypes.c_long(number), *arguments))


def set_process(option: int, value: object = 1, more: object = 0) -> None:
    """Set one attribute of this process (prctl)."""
    call("prctl", option, value, more, 0, 0)


def _check(name: str, result: int) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
