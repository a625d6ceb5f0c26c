"""Give up every right before the first candidate comes; nothing that is given up here can be had back (Linux)."""

from __future__ import annotations

import ctypes
import os
import signal
import struct

from pkg.sandbox.inside.landlock import restrict_files
from pkg.sandbox.inside.libc import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, call_kernel, set_process
from pkg.sandbox.inside.seccomp import install_filter, is_filter_possible
from pkg.sandbox.places import BOX, DEVICES

_CAPABILITIES_3 = 0x20080522  # the version of the kernel's structure that has 64 bits


def become_nobody(user: int) -> None:
    """Become the inner user where root is the outer one, then drop all capabilities over the namespaces."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header, nothing = struct.pack("Ii", _CAPABILITIES_3, 0), bytes(24)
    call_kernel("capset", ctypes.c_char_p(header), ctypes.c_char_p(nothing))
    set_process(PR_SET_NO_NEW_PRIVS)
    set_process(PR_SET_DUMPABLE, 0)  # no process inside may trace this one or read its memory


def confine(readable: list[str], processes: int, dies_with_parent: bool) -> dict[str, object]:
    """Add Landlock and the filter of system calls to this process and its children; tell which of them hold."""
    folders: list[str | int] = [path for path in readable if os.path.exists(path)]
    folders += [processes] if processes >= 0 else []
    version = restrict_files(folders, [BOX], [path for path in DEVICES if os.path.exists(path)])
    if dies_with_parent:
        set_process(PR_SET_PDEATHSIG, signal.SIGKILL)
    if is_filter_possible():
        install_filter()
    return {"landlock": version, "seccomp": is_filter_possible(), "watch": processes >= 0}
