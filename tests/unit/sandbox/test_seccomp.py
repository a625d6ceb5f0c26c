"""The system call filter is correct on both architectures; it is evaluated here on calls that are never made."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass

import pytest

from pkg.sandbox.inside.seccomp import (
    AARCH64,
    ALLOW,
    ANY_BIT,
    AT_LEAST,
    CHECKED,
    EQUAL,
    ERROR,
    KILL,
    LOAD,
    RETURN,
    X86_64,
    build_filter,
)

REFUSED, UNKNOWN = ERROR | errno.EPERM, ERROR | errno.ENOSYS
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
TABLES = {"x86_64": X86_64, "aarch64": AARCH64}
HARMFUL = {
    "execve": (59, 221),
    "execveat": (322, 281),
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "ptrace": (101, 117),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "setsockopt": (54, 208),
    "vmsplice": (278, 75),
    "memfd_secret": (447, 447),
    "mq_open": (240, 180),
    "open_by_handle_at": (304, 265),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "setuid": (105, 146),
    "capset": (126, 91),
    "prctl": (157, 167),
    "personality": (135, 92),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "mknodat": (259, 33),
}


@dataclass(frozen=True)
class Call:
    number: int
    arguments: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    architecture: int | None = None


def decide(machine: str, call: Call) -> int:
    """Evaluate the filter as the kernel does, on the lower halves of 64-bit arguments."""
    program = build_filter(machine)
    position, held = 0, 0
    while True:
        code, yes, no, value = program[position]
        position += 1
        if code == RETURN:
            return value
        if code == LOAD:
            held = {0: call.number, 4: call.architecture or ARCHITECTURES[machine]}.get(
                value, call.arguments[(value - 16) // 8] & 0xFFFFFFFF
            )
        else:
            holds = {EQUAL: held == value, AT_LEAST: held >= value, ANY_BIT: bool(held & value)}[code]
            position += yes if holds else no


@pytest.mark.parametrize("machine", TABLES)
def test_every_call_of_the_table_is_allowed(machine: str) -> None:
    refused = [
        name
        for name, number in TABLES[machine].items()
        if name not in CHECKED and decide(machine, Call(number)) != ALLOW
    ]
    assert refused == []


@pytest.mark.parametrize("machine", TABLES)
@pytest.mark.parametrize("name", HARMFUL)
def test_a_harmful_call_is_refused(machine: str, name: str) -> None:
    assert decide(machine, Call(HARMFUL[name][list(TABLES).index(machine)])) == REFUSED


@pytest.mark.parametrize("machine", TABLES)
def test_calls_of_another_architecture_end_the_process(machine: str) -> None:
    assert decide(machine, Call(0, architecture=0x40000003)) == KILL


def test_the_second_numbering_of_x86_64_is_refused() -> None:
    assert decide("x86_64", Call(0x40000000 + X86_64["read"])) == REFUSED


@pytest.mark.parametrize("machine", TABLES)
def test_calls_newer_than_the_table_do_not_exist(machine: str) -> None:
    assert decide(machine, Call(9999)) == UNKNOWN


@pytest.mark.parametrize("machine", TABLES)
@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("clone", (17,), ALLOW),  # a fork
        ("clone", (0x3D0F00,), ALLOW),  # a thread
        ("clone", (0x10000000,), REFUSED),  # a user namespace
        ("clone", (0x20000000 | 17,), REFUSED),  # a process namespace
        ("clone", (0x8000 | 17,), REFUSED),  # a child of the parent's
        ("clone3", (0,), UNKNOWN),
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1, 7), REFUSED),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), REFUSED),  # typing into a terminal
        ("socketpair", (socket.AF_UNIX,), ALLOW),
        ("socketpair", (socket.AF_INET,), REFUSED),
        ("mmap", (0, 4096, 3, 0x22), ALLOW),  # private memory
        ("mmap", (0, 4096, 3, 0x01), ALLOW),  # a file
        ("mmap", (0, 4096, 3, 0x21), REFUSED),  # shared memory, which stays when it is given up
        ("madvise", (0, 4096, 4), ALLOW),
        ("madvise", (0, 4096, 20), ERROR | errno.EINVAL),
        ("madvise", (0, 4096, 21), ERROR | errno.EINVAL),
        ("fcntl", (3, 1030), ALLOW),
        ("fcntl", (3, 1031), REFUSED),  # a larger pipe
    ],
)
def test_some_calls_are_allowed_by_their_arguments(
    machine: str, name: str, arguments: tuple[int, ...], answer: int
) -> None:
    filled = (*arguments, *(0,) * (6 - len(arguments)))
    assert decide(machine, Call(TABLES[machine][name], filled)) == answer
