"""Client of one worker: a process that runs one candidate at a time and that candidates cannot access.

The verdict on a run depends on observations from outside first, and only then on the report of the process.
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
from pkg.sandbox.pipe_messages import HEADER_BYTES, pack_message
from pkg.sandbox.protocol import NO_MEMORY, NO_START, Kind, Limits, RunOutcome, Step, Verdict

CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)


def judge_run(ending: RunOutcome, limits: Limits, has_step: bool) -> tuple[Verdict, Verdict | None]:
    """Return the verdict on the load, and on the step if there was one and the load succeeded."""
    claims = parse_claims(ending.report, limits)
    override = _find_override(ending, limits)
    loaded = bool(claims) and claims[0].kind is Kind.OK
    load_output, step_output = (data.decode("utf-8", "replace") for data in (ending.load_output, ending.step_output))
    if loaded and has_step:
        step = _conclude(claims[1:], override)
        spent = min(claims[0].seconds, ending.seconds)
        load = replace(claims[0], seconds=spent, value=None, output=load_output)
        return load, replace(step, seconds=ending.seconds - spent, output=step_output)
    return replace(_conclude(claims, override), seconds=ending.seconds, output=load_output), None


def _conclude(claims: list[Verdict], override: tuple[Kind, str] | None) -> Verdict:
    """Return the observed verdict if there is one, else the claim of the process."""
    if override is None and claims:
        return claims[0]
    return Verdict(*(override or (Kind.EXIT, "ended before it reported")))


def _find_override(ending: RunOutcome, limits: Limits) -> tuple[Kind, str] | None:
    """Return the verdict that overrides any claim: an exceeded limit, a signal, an exit status."""
    if ending.cause is not None:
        return ending.cause, ending.reason
    if ending.seconds > limits.cpu_seconds or ending.status == -signal.SIGXCPU:
        return Kind.TIMEOUT, f"used more than {limits.cpu_seconds:g} s of CPU"
    if ending.status == NO_MEMORY:
        return Kind.MEMORY, "ran out of memory"
    if ending.status == NO_START:
        return Kind.EXIT, "ended before it reported (exit status 70)"
    if ending.status > 0:
        return Kind.EXIT, f"ended itself with exit status {ending.status}"
    if ending.status < 0:
        name = signal.Signals(-ending.status).name if -ending.status in set(signal.Signals) else str(-ending.status)
        return (Kind.OTHER, f"crashed: {name}") if -ending.status in CRASHES else (Kind.EXIT, f"ended by {name}")
    return None


START_SECONDS = 30.0  # timeout to start a worker
GRACE = 5.0  # seconds beyond the limits of a run until the worker is given up
MALFORMED = "the worker of the sandbox sent a malformed answer"


class WorkerLostError(Exception):
    """Raised when a worker ended or does not respond."""


class Worker:
    """Sends code to one worker process and receives the results."""

    def __init__(self, stream: Stream, isolation: Isolation) -> None:
        self._stream = stream
        self._received = bytearray()
        self.is_fit = True  # can run another program
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
        """Run one process that loads the code and runs the step, if any; return the verdicts on both.

        If the worker is lost, that is the verdict, and the worker is not fit for another run.
        """
        task = json.dumps({"code": code, "step": asdict(step) if step else None}).encode("ascii")
        try:
            self._send(pack_message({"limits": asdict(limits), "size": len(task)}) + task)
            ending = self._receive_ending(time.monotonic() + limits.wall_seconds + GRACE)
        except WorkerLostError as error:
            self.is_fit = False
            return Verdict(Kind.OTHER, str(error)), None
        except BaseException:  # after an interrupt, the next run would receive the pending answer
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
                cause=cause,
                reason=str(answer["reason"]),
                status=int(answer["status"]),
                seconds=float(answer["seconds"]),
                load_output=load,
                report=report,
                step_output=step,
            )
        except (KeyError, TypeError, ValueError):
            raise WorkerLostError(MALFORMED) from None

    def close(self) -> None:
        """End the worker with all of its processes."""
        self.is_fit = False
        self._stream.close()

    def _send(self, data: bytes) -> None:
        try:
            self._stream.write(data)
        except OSError as error:
            raise WorkerLostError(f"the worker of the sandbox has ended ({error})") from None

    def _receive(self, end: float) -> dict[str, Any]:
        """Receive one message; with isolation only the worker can write here, never a candidate."""
        size = int.from_bytes(self._take(HEADER_BYTES, end), "big")
        try:
            message: Any = json.loads(self._take(size, end))
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise WorkerLostError(MALFORMED)
        return message

    def _take(self, size: int, end: float) -> bytes:
        """Receive exactly that many bytes."""
        while len(self._received) < size:
            piece = self._stream.read(end - time.monotonic())
            if not piece:
                fault = "does not respond" if piece is None else "ended"
                raise WorkerLostError(f"the worker of the sandbox {fault}")
            self._received += piece
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken
