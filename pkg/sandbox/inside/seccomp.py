"""Refuse every system call that is not in the table, by a kernel filter that cannot be removed.

A refused call fails with EPERM, a PermissionError in Python, so the run can report it. Calls of another architecture
end the process.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import socket
import struct

from pkg.sandbox.inside.libc import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, set_process

CHECKED = ("clone", "clone3", "prlimit64", "ioctl", "socketpair", "mmap", "madvise", "fcntl")
"""System calls that are allowed with some arguments only, see `_check_arguments`."""

# fmt: off
X86_64 = {
    "read": 0, "write": 1, "readv": 19, "writev": 20, "pread64": 17, "pwrite64": 18, "preadv": 295, "pwritev": 296,
    "open": 2, "openat": 257, "creat": 85, "close": 3, "close_range": 436, "stat": 4, "fstat": 5, "lstat": 6,
    "newfstatat": 262, "statx": 332, "access": 21, "faccessat": 269, "faccessat2": 439, "readlink": 89,
    "readlinkat": 267, "lseek": 8, "getcwd": 79, "chdir": 80, "fchdir": 81, "getdents": 78, "getdents64": 217,
    "mkdir": 83, "mkdirat": 258, "rmdir": 84, "unlink": 87, "unlinkat": 263, "rename": 82, "renameat": 264,
    "renameat2": 316, "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "chmod": 90, "fchmod": 91,
    "fchmodat": 268, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "truncate": 76, "ftruncate": 77,
    "fallocate": 285, "fsync": 74, "fdatasync": 75, "flock": 73, "fcntl": 72, "umask": 95, "copy_file_range": 326,
    "sendfile": 40, "statfs": 137, "fstatfs": 138, "fadvise64": 221, "pipe": 22, "pipe2": 293, "dup": 32, "dup2": 33,
    "dup3": 292, "poll": 7, "ppoll": 271, "select": 23, "pselect6": 270, "epoll_create": 213, "epoll_create1": 291,
    "epoll_ctl": 233, "epoll_wait": 232, "epoll_pwait": 281, "epoll_pwait2": 441, "eventfd": 284, "eventfd2": 290,
    "timerfd_create": 283, "timerfd_settime": 286, "timerfd_gettime": 287, "sendto": 44, "recvfrom": 45, "sendmsg": 46,
    "recvmsg": 47, "shutdown": 48, "getsockopt": 55, "getsockname": 51, "getpeername": 52, "mmap": 9,
    "mprotect": 10, "munmap": 11, "mremap": 25, "madvise": 28, "brk": 12, "mincore": 27, "msync": 26,
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "rt_sigsuspend": 130, "rt_sigpending": 127,
    "rt_sigtimedwait": 128, "sigaltstack": 131, "signalfd": 282, "signalfd4": 289, "kill": 62, "tkill": 200,
    "tgkill": 234, "pause": 34, "restart_syscall": 219, "nanosleep": 35, "clock_nanosleep": 230, "clock_gettime": 228,
    "clock_getres": 229, "gettimeofday": 96, "time": 201, "times": 100, "alarm": 37, "getitimer": 36, "setitimer": 38,
    "timer_create": 222, "timer_settime": 223, "timer_gettime": 224, "timer_getoverrun": 225, "timer_delete": 226,
    "fork": 57, "vfork": 58, "exit": 60, "exit_group": 231, "wait4": 61, "waitid": 247, "pidfd_open": 434, "getpid": 39,
    "gettid": 186, "getppid": 110, "getuid": 102, "geteuid": 107, "getgid": 104, "getegid": 108, "getresuid": 118,
    "getresgid": 120, "getgroups": 115, "getpgid": 121, "getpgrp": 111, "getsid": 124, "setsid": 112, "setpgid": 109,
    "uname": 63, "sysinfo": 99, "getrusage": 98, "getrlimit": 97, "setrlimit": 160, "getcpu": 309, "getpriority": 140,
    "sched_yield": 24, "sched_getaffinity": 204, "arch_prctl": 158, "getrandom": 318, "futex": 202, "futex_waitv": 449,
    "set_robust_list": 273, "get_robust_list": 274, "set_tid_address": 218, "rseq": 334, "membarrier": 324, "clone": 56,
    "clone3": 435, "prlimit64": 302, "ioctl": 16, "socketpair": 53,
}

AARCH64 = {
    "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67, "pwrite64": 68, "preadv": 69, "pwritev": 70,
    "openat": 56, "close": 57, "close_range": 436, "statx": 291, "faccessat": 48, "faccessat2": 439, "readlinkat": 78,
    "getcwd": 17, "chdir": 49, "fchdir": 50, "getdents64": 61, "mkdirat": 34, "unlinkat": 35, "renameat": 38,
    "renameat2": 276, "linkat": 37, "symlinkat": 36, "fchmod": 52, "fchmodat": 53, "utimensat": 88, "fallocate": 47,
    "fsync": 82, "fdatasync": 83, "flock": 32, "umask": 166, "copy_file_range": 285, "pipe2": 59, "dup": 23, "dup3": 24,
    "ppoll": 73, "pselect6": 72, "epoll_create1": 20, "epoll_ctl": 21, "epoll_pwait": 22, "epoll_pwait2": 441,
    "eventfd2": 19, "timerfd_create": 85, "timerfd_settime": 86, "timerfd_gettime": 87, "sendto": 206, "recvfrom": 207,
    "sendmsg": 211, "recvmsg": 212, "shutdown": 210, "getsockopt": 209, "getsockname": 204,
    "getpeername": 205, "mprotect": 226, "munmap": 215, "mremap": 216, "madvise": 233, "brk": 214, "mincore": 232,
    "msync": 227, "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "rt_sigsuspend": 133,
    "rt_sigpending": 136, "rt_sigtimedwait": 137, "sigaltstack": 132, "signalfd4": 74, "kill": 129, "tkill": 130,
    "tgkill": 131, "restart_syscall": 128, "nanosleep": 101, "clock_nanosleep": 115, "clock_gettime": 113,
    "clock_getres": 114, "gettimeofday": 169, "times": 153, "getitimer": 102, "setitimer": 103, "timer_create": 107,
    "timer_settime": 110, "timer_gettime": 108, "timer_getoverrun": 109, "timer_delete": 111, "exit": 93,
    "exit_group": 94, "wait4": 260, "waitid": 95, "pidfd_open": 434, "getpid": 172, "gettid": 178, "getppid": 173,
    "getuid": 174, "geteuid": 175, "getgid": 176, "getegid": 177, "getresuid": 148, "getresgid": 150, "getgroups": 158,
    "getpgid": 155, "getsid": 156, "setsid": 157, "setpgid": 154, "uname": 160, "sysinfo": 179, "getrusage": 165,
    "getrlimit": 163, "setrlimit": 164, "getcpu": 168, "getpriority": 141, "sched_yield": 124, "sched_getaffinity": 123,
    "getrandom": 278, "futex": 98, "futex_waitv": 449, "set_robust_list": 99, "get_robust_list": 100,
    "set_tid_address": 96, "rseq": 293, "membarrier": 283, "clone": 220, "clone3": 435, "prlimit64": 261, "ioctl": 29,
    "socketpair": 199, "truncate": 45, "ftruncate": 46, "lseek": 62, "sendfile": 71, "statfs": 43, "fstatfs": 44,
    "fcntl": 25, "fadvise64": 223, "newfstatat": 79, "fstat": 80, "mmap": 222,
}
# fmt: on

NEWEST = 462
"""Highest number when the table was written; later calls fail as on an old kernel."""


_TABLES = {"x86_64": (0xC000003E, X86_64), "aarch64": (0xC00000B7, AARCH64)}

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
KILL, ERROR, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
REFUSE, UNKNOWN = ERROR | errno.EPERM, ERROR | errno.ENOSYS
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in the description of a call
X32 = 0x40000000  # second numbering of x86_64, which would bypass the table

# New namespaces; CLONE_PARENT, which creates a child of the supervisor; CLONE_PTRACE.
CLONE_REFUSED = 0x7E020000 | 0x00008000 | 0x00002000
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: used by Python on descriptors that it opens.
IOCTL_ALLOWED = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)

MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
"""Together: memory that outlives processes and is not counted for any."""

MADV_COLD, MADV_PAGEOUT = 20, 21  # reduce the measured memory of a process
F_SETPIPE_SZ = 1031  # would allow pipes of 1 MiB instead of 64 KiB

Instruction = tuple[int, int, int, int]


def is_filter_possible() -> bool:
    """Return whether there is a table for this architecture."""
    return platform.machine() in _TABLES


def install_filter() -> None:
    """Install the filter irrevocably for this process and its future children."""
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in build_filter(platform.machine()))
    instructions = ctypes.create_string_buffer(program)
    description = struct.pack("HP", len(program) // 8, ctypes.addressof(instructions))
    set_process(PR_SET_NO_NEW_PRIVS)
    set_process(PR_SET_SECCOMP, 2, ctypes.c_char_p(description))


def build_filter(machine: str) -> list[Instruction]:
    """Return the filter for an architecture: (code, jump if true, jump if false, value)."""
    architecture, table = _TABLES[machine]
    program = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    program += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, REFUSE)]
    for name, number in table.items():
        answer = _check_arguments(name) if name in CHECKED else [(RETURN, 0, 0, ALLOW)]
        program += [(EQUAL, 0, len(answer), number), *answer]
    return [*program, (AT_LEAST, 0, 1, NEWEST + 1), (RETURN, 0, 0, UNKNOWN), (RETURN, 0, 0, REFUSE)]


def _check_arguments(name: str) -> list[Instruction]:
    """Return the instructions for a call that is allowed with some arguments only."""
    if name == "clone3":  # a filter cannot read its flags, which are in memory; the C library falls back to clone
        return [(RETURN, 0, 0, UNKNOWN)]
    if name == "clone":
        return [_load_argument(0), (ANY_BIT, 0, 1, CLONE_REFUSED), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    if name == "prlimit64":  # only of the calling process, not of the supervisor
        return _allow_values(0, (0,))
    if name == "ioctl":
        return _allow_values(1, IOCTL_ALLOWED)
    if name == "mmap":
        tests = [(ANY_BIT, 0, 2, MAP_SHARED), (ANY_BIT, 0, 1, MAP_ANONYMOUS)]
        return [_load_argument(3), *tests, (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    if name == "madvise":  # fails as on a kernel without this advice
        return _refuse_values(2, (MADV_COLD, MADV_PAGEOUT), ERROR | errno.EINVAL)
    if name == "fcntl":
        return _refuse_values(1, (F_SETPIPE_SZ,), REFUSE)
    return _allow_values(0, (socket.AF_UNIX,))  # socketpair, used by asyncio


def _allow_values(position: int, values: tuple[int, ...]) -> list[Instruction]:
    """Allow a call whose argument is one of some values."""
    tests = [(EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [_load_argument(position), *tests, (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]


def _refuse_values(position: int, values: tuple[int, ...], answer: int) -> list[Instruction]:
    """Refuse a call whose argument is one of some values."""
    tests = [(EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
    return [_load_argument(position), *tests, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, answer)]


def _load_argument(position: int) -> Instruction:
    return (LOAD, 0, 0, ARGUMENTS + 8 * position)
