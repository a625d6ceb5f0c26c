"""Drop all privileges irrevocably before the first candidate runs, and restrict files by Landlock (Linux)."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from collections.abc import Iterable

from pkg.sandbox.inside.libc import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, call_kernel, set_process
from pkg.sandbox.inside.seccomp import install_filter, is_filter_possible
from pkg.sandbox.protocol import BOX, DEVICES

WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
FOLDERS = 0x1FF0  # create and remove files and folders of every kind: bits 4 to 12
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
EXECUTE = 1 << 0
TCP = 0b11  # bind and connect
SCOPES = 0b11  # abstract sockets of other processes, signals to them

READ = READ_FILE | READ_DIR
WRITE = READ | WRITE_FILE | (FOLDERS & ~(1 << 6 | 1 << 9 | 1 << 11)) | REFER | TRUNCATE  # no devices, no sockets


def find_landlock_version() -> int:
    """Return the Landlock version of the kernel; 0 if it is missing or disabled."""
    try:
        return call_kernel("landlock_create_ruleset", None, ctypes.c_size_t(0), 1)
    except OSError:
        return 0


def restrict_files(readable: Iterable[str | int], writable: Iterable[str | int], devices: Iterable[str]) -> int:
    """Restrict this process and its children to some files (paths or open folders), and forbid to execute any.

    Returns the Landlock version used, 0 for none.
    """
    version = find_landlock_version()
    if not version:
        return 0
    handled = _list_handled(version)
    attributes = struct.pack("QQQ", handled, TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = call_kernel("landlock_create_ruleset", ctypes.c_char_p(attributes), ctypes.c_size_t(size), 0)
    for rights, places in ((READ, readable), (WRITE, writable), (READ_FILE | WRITE_FILE, devices)):
        for place in places:
            _allow(rules, place, rights & handled)
    set_process(PR_SET_NO_NEW_PRIVS)
    call_kernel("landlock_restrict_self", rules, 0)
    os.close(rules)
    return version


def _list_handled(version: int) -> int:
    """Return the rights that a version supports; each is refused except where a rule allows it."""
    handled = EXECUTE | WRITE_FILE | READ | FOLDERS
    handled |= REFER if version >= 2 else 0
    handled |= TRUNCATE if version >= 3 else 0
    return handled | (IOCTL_DEVICE if version >= 5 else 0)


def _allow(rules: int, place: str | int, rights: int) -> None:
    """Allow rights in a folder, or on one file."""
    opened = os.open(place, os.O_PATH | os.O_CLOEXEC) if isinstance(place, str) else place
    try:
        rule = struct.pack("=Qi", rights, opened)
        call_kernel("landlock_add_rule", rules, 1, ctypes.c_char_p(rule), 0)
    finally:
        if isinstance(place, str):
            os.close(opened)


_CAPABILITIES_3 = 0x20080522  # version of the kernel's 64-bit structure


def drop_privileges(user: int) -> None:
    """Switch to the inner user if this is root, then drop all capabilities in the namespaces."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header, nothing = struct.pack("Ii", _CAPABILITIES_3, 0), bytes(24)
    call_kernel("capset", ctypes.c_char_p(header), ctypes.c_char_p(nothing))
    set_process(PR_SET_NO_NEW_PRIVS)
    set_process(PR_SET_DUMPABLE, 0)  # no process inside may trace this one or read its memory


def confine(readable: list[str], processes: int, dies_with_parent: bool) -> dict[str, object]:
    """Apply Landlock and the system call filter to this process and its children; return which are active."""
    folders: list[str | int] = [path for path in readable if os.path.exists(path)]
    folders += [processes] if processes >= 0 else []
    version = restrict_files(folders, [BOX], [path for path in DEVICES if os.path.exists(path)])
    if dies_with_parent:
        set_process(PR_SET_PDEATHSIG, signal.SIGKILL)
    if is_filter_possible():
        install_filter()
    return {"landlock": version, "seccomp": is_filter_possible(), "watch": processes >= 0}
