"""Refuse every system call that is not in the table, by a filter that the kernel applies and nobody can take off.

A refused call fails with EPERM, which Python raises as PermissionError: the run is told what was forbidden instead of
being killed without a word. Calls of another architecture end the process.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import socket
import struct

from pkg.sandbox.inside.libc import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, set_process
from pkg.sandbox.inside.syscalls import AARCH64, CHECKED, NEWEST, X86_64

_TABLES = {"x86_64": (0xC000003E, X86_64), "aarch64": (0xC00000B7, AARCH64)}

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
KILL, ERROR, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
REFUSE, UNKNOWN = ERROR | errno.EPERM, ERROR | errno.ENOSYS
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in the description of a call
X32 = 0x40000000  # second numbering of x86_64, which would walk around the table

# New namespaces; a child of the supervisor's instead of one's own; one that is traced.
CLONE_REFUSED = 0x7E020000 | 0x00008000 | 0x00002000
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what Python asks of descriptors that it opens.
IOCTL_ALLOWED = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)

Instruction = tuple[int, int, int, int]


def is_filter_possible() -> bool:
    """Tell whether there is a table for this machine's architecture."""
    return platform.machine() in _TABLES


def install_filter() -> None:
    """Put the filter on this process and all that it will start; it stays for ever."""
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in build_filter(platform.machine()))
    instructions = ctypes.create_string_buffer(program)
    description = struct.pack("HP", len(program) // 8, ctypes.addressof(instructions))
    set_process(PR_SET_NO_NEW_PRIVS)
    set_process(PR_SET_SECCOMP, 2, ctypes.c_char_p(description))


def build_filter(machine: str) -> list[Instruction]:
    """Write the filter for an architecture: (code, jump if true, jump if false, value)."""
    architecture, table = _TABLES[machine]
    program = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    program += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, REFUSE)]
    for name, number in table.items():
        answer = _check_arguments(name) if name in CHECKED else [(RETURN, 0, 0, ALLOW)]
        program += [(EQUAL, 0, len(answer), number), *answer]
    return [*program, (AT_LEAST, 0, 1, NEWEST + 1), (RETURN, 0, 0, UNKNOWN), (RETURN, 0, 0, REFUSE)]


def _check_arguments(name: str) -> list[Instruction]:
    """Write what decides over a call that is allowed with some arguments only."""
    if name == "clone3":  # its flags lie in memory, where a filter cannot look: the C library then calls clone
        return [(RETURN, 0, 0, UNKNOWN)]
    if name == "clone":
        return [_load_argument(0), (ANY_BIT, 0, 1, CLONE_REFUSED), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    if name == "prlimit64":  # only one's own limits, not the supervisor's
        return _allow_values(0, (0,))
    if name == "ioctl":
        return _allow_values(1, IOCTL_ALLOWED)
    return _allow_values(0, (socket.AF_UNIX,))  # socketpair: what asyncio wakes itself with


def _allow_values(position: int, values: tuple[int, ...]) -> list[Instruction]:
    """Allow a call whose argument is one of some values."""
    tests = [(EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [_load_argument(position), *tests, (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]


def _load_argument(position: int) -> Instruction:
    return (LOAD, 0, 0, ARGUMENTS + 8 * position)
