"""One worker: a process outside the candidates' reach that runs one of theirs at a time."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Any

from pkg.errors import SandboxError
from pkg.sandbox.ending import Ending
from pkg.sandbox.frames import HEAD, pack_frame
from pkg.sandbox.judge import judge_run
from pkg.sandbox.launch import Isolation, build_message
from pkg.sandbox.protocol import Kind, Limits, Step, Verdict
from pkg.sandbox.streams import Stream

START_SECONDS = 30.0  # a worker that is not ready by then never will be
GRACE = 5.0  # seconds beyond the limits of a run, before the worker itself is given up


class WorkerLostError(Exception):
    """Say that a worker ended or fell silent; the message tells which."""


class Worker:
    """Sends code to one worker process and reads what became of it."""

    def __init__(self, stream: Stream, isolation: Isolation) -> None:
        self._stream = stream
        self._received = bytearray()
        self.is_fit = True  # may run another one
        try:
            self._send(pack_frame(build_message(isolation)))
            hello = self._receive(time.monotonic() + START_SECONDS)
        except WorkerLostError as error:
            self.close()
            raise SandboxError(f"{error} while it started") from None
        except BaseException:
            self.close()
            raise
        if "failure" in hello:
            self.close()
            raise SandboxError(hello["failure"])
        self.layers: dict[str, object] = hello["layers"]

    def run(self, code: str, step: Step | None, limits: Limits) -> tuple[Verdict, Verdict | None]:
        """Run one process that loads the code and does the step, if any; give the verdicts on both.

        A worker that is lost over it gives a verdict too, and is not fit for another run.
        """
        task = json.dumps({"code": code, "step": asdict(step) if step else None}).encode("ascii")
        try:
            self._send(pack_frame({"limits": asdict(limits), "size": len(task)}) + task)
            ending = self._receive_ending(time.monotonic() + limits.wall_seconds + GRACE)
        except WorkerLostError as error:
            self.is_fit = False
            return Verdict(Kind.OTHER, str(error)), None
        except BaseException:  # an interrupt leaves an answer on its way, which the next run would be given
            self.is_fit = False
            raise
        return judge_run(ending, limits, step is not None)

    def _receive_ending(self, end: float) -> Ending:
        answer = self._receive(end)
        self.is_fit = answer["is_fit"]
        written = [self._take(size, end) for size in answer["sizes"]]
        cause = Kind(answer["cause"]) if answer["cause"] else None
        return Ending(cause, answer["reason"], answer["status"], answer["seconds"], *written)

    def close(self) -> None:
        """End the worker with everything that it runs."""
        self.is_fit = False
        self._stream.close()

    def _send(self, data: bytes) -> None:
        try:
            self._stream.write(data)
        except OSError as error:
            raise WorkerLostError(f"the worker of the sandbox is gone ({error})") from None

    def _receive(self, end: float) -> dict[str, Any]:
        """Read one message; the worker alone writes here, never a candidate."""
        size = int.from_bytes(self._take(HEAD, end), "big")
        message: dict[str, Any] = json.loads(self._take(size, end))
        return message

    def _take(self, size: int, end: float) -> bytes:
        """Read exactly as many bytes."""
        while len(self._received) < size:
            piece = self._stream.read(end - time.monotonic())
            if not piece:
                what = "fell silent" if piece is None else "ended"
                raise WorkerLostError(f"the worker of the sandbox {what}")
            self._received += piece
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken
