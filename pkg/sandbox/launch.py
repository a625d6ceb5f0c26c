"""Start the process of a worker, a bare Python that receives the inner modules as text, and communicate with it.

Modules sent as text need no files inside the sandbox, so namespaces, containers and plain processes work alike.
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
"""Modules to send, in order of their dependencies."""

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
"""Code of the bare Python: reads modules and settings from its standard input, and starts the worker."""

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",  # the order of sets is the same in each run
    "PYTHONDONTWRITEBYTECODE": "1",
    "MALLOC_ARENA_MAX": "1",  # otherwise each thread reserves 128 MiB of the limited address space
    "LC_ALL": "C.UTF-8",
}


@dataclass(frozen=True, slots=True)
class Isolation:
    """Isolation that the worker sets up, see pkg.sandbox.inside.start.Settings."""

    enter: bool
    confine: bool
    count: bool
    box: str
    libraries: Sequence[str] = ()
    packages: Sequence[str] = ()


def build_command(python: str) -> list[str]:
    """Return the command of a bare Python, without site, user folders and the current folder."""
    return [python, "-s", "-S", "-c", BOOT]


def build_message(isolation: Isolation) -> dict[str, object]:
    """Return the first message: modules and settings."""
    modules = [(f"{PACKAGE}.{name}", _read_module(name)) for name in MODULES.split()]
    return {"modules": modules, "settings": asdict(isolation) | {"client": os.getpid()}}


def _read_module(name: str) -> str:
    place = FOLDER.joinpath(*name.split("."))
    return (place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text(encoding="utf-8")


def find_libraries() -> list[str]:
    """List the folders of the library of the running Python."""
    return sorted({_base_path("stdlib"), _base_path("platstdlib"), os.path.join(sys.base_prefix, "lib")})


def _base_path(name: str) -> str:
    return sysconfig.get_path(name, vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})


def find_packages() -> list[str]:
    """List the folders of the installed packages."""
    return sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


END_SECONDS = 3.0  # until a worker is killed; it usually ends milliseconds after its client


class Stream(Protocol):
    """Byte stream to and from a worker."""

    def write(self, data: bytes) -> None:
        """Send all data; raises an OSError if the worker has ended."""

    def read(self, seconds: float) -> bytes | None:
        """Return received bytes: b"" at the end, None after a timeout."""

    def close(self) -> None:
        """End the worker and all of its processes."""


class ProcessStream:
    """Pipes to a worker that is a local process."""

    def __init__(self, command: Sequence[str], folder: str | None = None) -> None:
        self._folder = folder  # created for this worker, removed with it
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            bufsize=0,
            start_new_session=True,  # the client handles interrupts at the terminal
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)

    def write(self, data: bytes) -> None:
        """Send all data; raises an OSError if the worker has ended."""
        send_bytes(self._input.fileno(), data)

    def read(self, seconds: float) -> bytes | None:
        """Return received bytes: b"" at the end, None after a timeout."""
        if not self._poll.poll(max(0.0, seconds) * 1000):
            return None
        return os.read(self._output.fileno(), 1 << 20)

    def close(self) -> None:
        """Close the pipes, upon which the worker ends; kill it if it does not."""
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
    """Create a temporary folder for a worker without a private root."""
    return tempfile.mkdtemp(prefix="pkg-sandbox-")
