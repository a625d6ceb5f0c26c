"""Decide over a run from what was seen from outside, and only then from what the process said of itself.

A report can be anything: whoever runs in the process can write one. So it is believed where it can only harm its own
candidate, it never outweighs a signal, an exit status or a limit, and ``ok`` means that nothing spoke against it.
"""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Any

from pkg.sandbox.ending import NO_MEMORY, NO_START, STARTED, Ending
from pkg.sandbox.frames import split_frames
from pkg.sandbox.protocol import Kind, Limits, Verdict

LONGEST_DETAIL = 600
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)
CLAIMS = frozenset(kind.value for kind in Kind) - {Kind.TIMEOUT.value}  # this one only a clock can say


def judge_run(ending: Ending, limits: Limits, has_step: bool) -> tuple[Verdict, Verdict | None]:
    """Give the verdict on the load and, if the process says that it loaded well and had a step to do, on that."""
    claims = _read_claims(ending, limits)
    against = _find_contrary(ending, limits)
    loaded = bool(claims) and claims[0].kind is Kind.OK
    load_output, step_output = (_read_output(data) for data in (ending.load_output, ending.step_output))
    if loaded and has_step:
        step = _conclude(claims[1:], against)
        seconds = max(0.0, ending.seconds - claims[0].seconds)
        return replace(claims[0], output=load_output), replace(step, seconds=seconds, output=step_output)
    return replace(_conclude(claims, against), seconds=ending.seconds, output=load_output), None


def _read_output(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _conclude(claims: list[Verdict], against: tuple[Kind, str] | None) -> Verdict:
    """Choose between what the process claims and what was seen."""
    if against is None and claims:
        return claims[0]
    return Verdict(*(against or (Kind.EXIT, "ended before it had answered")))


def _find_contrary(ending: Ending, limits: Limits) -> tuple[Kind, str] | None:
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


def _read_claims(ending: Ending, limits: Limits) -> list[Verdict]:
    """Read what the process said, at most of the load and one step; stop at the first that makes no sense."""
    claims: list[Verdict] = []
    for message in split_frames(ending.report.removeprefix(STARTED))[:2]:
        claim = _read_claim(message, ending, limits)
        if claim is None:
            break
        claims.append(claim)
    return claims


def _read_claim(message: Any, ending: Ending, limits: Limits) -> Verdict | None:
    """Read one report, each part within its bounds."""
    if not isinstance(message, dict) or message.get("kind") not in CLAIMS:
        return None
    detail, value, seconds = message.get("detail"), message.get("value"), message.get("seconds")
    if not isinstance(detail, str) or not isinstance(seconds, (int, float)):
        return None
    text = value if isinstance(value, str) and len(value) <= limits.output_bytes else None
    used = min(max(0.0, seconds), ending.seconds) if seconds == seconds else 0.0
    return Verdict(Kind(message["kind"]), " ".join(detail.split())[:LONGEST_DETAIL], used, text)
