"""Start the process of a worker, a bare Python that is given the inner modules as text, and talk to it.

Sent as text, the modules need no place inside the sandbox: one way serves namespaces, containers and a plain process.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from pkg.sandbox.pipe_messages import send_bytes

FOLDER = Path(__file__).resolve().parent
PACKAGE = "pkg.sandbox"
MODULES = (
    "protocol pipe_messages values inside inside.libc inside.seccomp inside.rights inside.root inside.fault_kinds"
    " inside.call_answers inside.candidate_calls inside.candidate inside.runs inside.start"
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


END_SECONDS = 3.0  # a worker whose client has gone ends in milliseconds; after this it is killed


class Stream(Protocol):
    """Bytes to a worker and back."""

    def write(self, data: bytes) -> None:
        """Send all of it; an OSError says that the worker is gone."""

    def read(self, seconds: float) -> bytes | None:
        """Take what has come: nothing at the end, None when the time is over."""

    def close(self) -> None:
        """End the worker and everything that it started."""


class ProcessStream:
    """The pipes of a worker that is a process of this machine."""

    def __init__(self, command: Sequence[str], folder: str | None = None) -> None:
        self._folder = folder  # made for the worker alone, removed with it
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            bufsize=0,
            start_new_session=True,  # an interrupt at the terminal is the client's to handle
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)

    def write(self, data: bytes) -> None:
        """Send all of it; an OSError says that the worker is gone."""
        send_bytes(self._input.fileno(), data)

    def read(self, seconds: float) -> bytes | None:
        """Take what has come: nothing at the end, None when the time is over."""
        if not self._poll.poll(max(0.0, seconds) * 1000):
            return None
        return os.read(self._output.fileno(), 1 << 20)

    def close(self) -> None:
        """Hang up, by which the worker ends what runs; kill it if it does not."""
        self._input.close()
        self._output.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def make_folder() -> str:
    """Make a folder for a worker that has no private root."""
    return tempfile.mkdtemp(prefix="pkg-sandbox-")
