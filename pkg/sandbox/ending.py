"""How the process of a candidate ended, as the supervisor saw it."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.sandbox.protocol import Kind

NO_MEMORY, NO_START = 71, 70  # exit statuses of a process that cannot even report
STARTED = b"\x01"  # the first byte of a report: the process has read what it is to run


@dataclass(frozen=True, slots=True)
class Ending:
    """What was seen from outside, and what the process wrote."""

    cause: Kind | None  # why the supervisor ended it; None when it ended by itself
    reason: str
    status: int  # exit status, or the negative number of a signal
    seconds: float  # CPU, of the process and those that it waited for
    load_output: bytes
    report: bytes
    step_output: bytes
