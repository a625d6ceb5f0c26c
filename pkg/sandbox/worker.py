"""One worker: a process outside the candidates' reach that runs one of theirs at a time.

A run is decided from what was seen from outside, and only then from what the process said of itself.
"""

from __future__ import annotations

import json
import signal
import time
from dataclasses import asdict, replace
from typing import Any

from pkg.errors import SandboxError
from pkg.sandbox.claims import parse_claims
from pkg.sandbox.launch import Isolation, Stream, build_message
from pkg.sandbox.pipe_messages import HEAD, pack_message
from pkg.sandbox.protocol import NO_MEMORY, NO_START, Kind, Limits, RunOutcome, Step, Verdict

CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)


def judge_run(ending: RunOutcome, limits: Limits, has_step: bool) -> tuple[Verdict, Verdict | None]:
    """Give the verdict on the load and, if the process says that it loaded well and had a step to do, on that."""
    claims = parse_claims(ending.report, limits)
    against = _find_contrary(ending, limits)
    loaded = bool(claims) and claims[0].kind is Kind.OK
    load_output, step_output = (_decode_output(data) for data in (ending.load_output, ending.step_output))
    if loaded and has_step:
        step = _conclude(claims[1:], against)
        spent = min(claims[0].seconds, ending.seconds)
        load = replace(claims[0], seconds=spent, value=None, output=load_output)
        return load, replace(step, seconds=ending.seconds - spent, output=step_output)
    return replace(_conclude(claims, against), seconds=ending.seconds, output=load_output), None


def _decode_output(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _conclude(claims: list[Verdict], against: tuple[Kind, str] | None) -> Verdict:
    """Choose between what the process claims and what was seen."""
    if against is None and claims:
        return claims[0]
    return Verdict(*(against or (Kind.EXIT, "ended before it had answered")))


def _find_contrary(ending: RunOutcome, limits: Limits) -> tuple[Kind, str] | None:
    """Name what speaks against any claim: a limit, a signal, an exit status."""
    if ending.cause is not None:
        return ending.cause, ending.reason
    if ending.seconds > limits.cpu_seconds or ending.status == -signal.SIGXCPU:
        return Kind.TIMEOUT, f"used more than {limits.cpu_seconds:g} s of CPU"
    if ending.status == NO_MEMORY:
        return Kind.MEMORY, "no memory was left to report in"
    if ending.status == NO_START:
        return Kind.EXIT, "ended before it had answered (exit status 70)"
    if ending.status > 0:
        return Kind.EXIT, f"ended itself with exit status {ending.status}"
    if ending.status < 0:
        name = signal.Signals(-ending.status).name if -ending.status in set(signal.Signals) else str(-ending.status)
        return (Kind.OTHER, f"crashed: {name}") if -ending.status in CRASHES else (Kind.EXIT, f"ended by {name}")
    return None


START_SECONDS = 30.0  # a worker that is not ready by then never will be
GRACE = 5.0  # seconds beyond the limits of a run, before the worker itself is given up
GARBLED = "the worker of the sandbox sent what is no answer"


class WorkerLostError(Exception):
    """Say that a worker ended or fell silent; the message tells which."""


class Worker:
    """Sends code to one worker process and reads what became of it."""

    def __init__(self, stream: Stream, isolation: Isolation) -> None:
        self._stream = stream
        self._received = bytearray()
        self.is_fit = True  # may run another one
        try:
            self._send(pack_message(build_message(isolation)))
            hello = self._receive(time.monotonic() + START_SECONDS)
        except WorkerLostError as error:
            self.close()
            raise SandboxError(f"{error} while it started") from None
        except BaseException:
            self.close()
            raise
        if "failure" in hello:
            self.close()
            raise SandboxError(str(hello["failure"]))
        self.layers: dict[str, object] = hello.get("layers", {})

    def run(self, code: str, step: Step | None, limits: Limits) -> tuple[Verdict, Verdict | None]:
        """Run one process that loads the code and does the step, if any; give the verdicts on both.

        A worker that is lost over it gives a verdict too, and is not fit for another run.
        """
        task = json.dumps({"code": code, "step": asdict(step) if step else None}).encode("ascii")
        try:
            self._send(pack_message({"limits": asdict(limits), "size": len(task)}) + task)
            ending = self._receive_ending(time.monotonic() + limits.wall_seconds + GRACE)
        except WorkerLostError as error:
            self.is_fit = False
            return Verdict(Kind.OTHER, str(error)), None
        except BaseException:  # an interrupt leaves an answer on its way, which the next run would be given
            self.is_fit = False
            raise
        return judge_run(ending, limits, step is not None)

    def _receive_ending(self, end: float) -> RunOutcome:
        answer = self._receive(end)
        try:
            cause = Kind(answer["cause"]) if answer["cause"] else None
            load, report, step = (self._take(size, end) for size in answer["sizes"])
            self.is_fit = answer["is_fit"] is True
            return RunOutcome(
                cause, str(answer["reason"]), int(answer["status"]), float(answer["seconds"]), load, report, step
            )
        except (KeyError, TypeError, ValueError):
            raise WorkerLostError(GARBLED) from None

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
        """Read one message; where there are walls the worker alone writes here, never a candidate."""
        size = int.from_bytes(self._take(HEAD, end), "big")
        try:
            message: Any = json.loads(self._take(size, end))
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise WorkerLostError(GARBLED)
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
