"""Start the process of a worker: a bare Python that is given the inner modules as text.

Sent as text, the modules need no place inside the sandbox: one way serves namespaces, containers and a plain process.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PACKAGE = "pkg.sandbox"
MODULES = (
    "protocol places ending frames values inside inside.libc inside.syscalls inside.seccomp inside.landlock"
    " inside.namespaces inside.root inside.rights inside.faults inside.box inside.candidate inside.pipes inside.watch"
    " inside.runs inside.serve inside.start"
)
"""What is sent, each after what it imports."""

BOOT = """
import json, os, sys, types
def take(size):
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data
message = json.loads(take(int.from_bytes(take(4), "big")))
for name, text in message["modules"]:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
start = sys.modules["pkg.sandbox.inside.start"]
start.start(start.Settings(**message["settings"]))
"""
"""Run by the bare Python: takes modules and settings from its standard input and begins."""

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",  # sets have the same order in each run
    "PYTHONDONTWRITEBYTECODE": "1",
    "MALLOC_ARENA_MAX": "1",  # each thread would reserve 128 MiB of the address space that a run may have
    "LC_ALL": "C.UTF-8",
}


@dataclass(frozen=True, slots=True)
class Isolation:
    """What the inner side is to do about its surroundings: see pkg.sandbox.inside.start.Settings."""

    enter: bool
    confine: bool
    count: bool
    box: str
    libraries: Sequence[str] = ()
    packages: Sequence[str] = ()


def build_command(python: str) -> list[str]:
    """Write the command of a bare Python: without site, user folders and the current folder."""
    return [python, "-s", "-S", "-c", BOOT]


def build_message(isolation: Isolation) -> dict[str, object]:
    """Put modules and settings into the first message."""
    modules = [(f"{PACKAGE}.{name}", _read_module(name)) for name in MODULES.split()]
    return {"modules": modules, "settings": asdict(isolation) | {"client": os.getpid()}}


def _read_module(name: str) -> str:
    place = FOLDER.joinpath(*name.split("."))
    return (place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text(encoding="utf-8")


def find_libraries() -> list[str]:
    """List the folders of the running Python's own library."""
    return sorted({_base_path("stdlib"), _base_path("platstdlib"), os.path.join(sys.base_prefix, "lib")})


def _base_path(name: str) -> str:
    return sysconfig.get_path(name, vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})


def find_packages() -> list[str]:
    """List the folders of packages that are installed beside this one."""
    return sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
