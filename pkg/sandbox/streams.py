"""The two directions between client and worker, whatever lies between them."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Protocol

from pkg.sandbox.frames import send_bytes
from pkg.sandbox.launch import ENVIRONMENT

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
