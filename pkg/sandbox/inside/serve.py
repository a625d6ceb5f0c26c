"""Answer one request after the other: each is one process that loads code and does at most one step (P-24, A-08).

Only the limits of a run are read here. The code, the step and what comes of them pass through without being looked at:
every candidate is forked from this process, and could read in its memory whatever it remembers.
"""

from __future__ import annotations

import gc
from dataclasses import asdict
from typing import Any

from pkg.sandbox.frames import pack_frame, receive_frame, send_bytes
from pkg.sandbox.inside.box import empty_box
from pkg.sandbox.inside.candidate import Job
from pkg.sandbox.inside.pipes import Pipe
from pkg.sandbox.inside.runs import ClientGoneError, Place, run_job
from pkg.sandbox.protocol import Limits

REPORT_ROOM = 64 << 10  # bytes of a report besides the value


def serve(place: Place, answers: int, processes: int | None) -> None:
    """Answer requests until the client goes; then end at once, and with this process all others.

    processes: how many of the inner user's a limit on their number counts besides the candidate's; None for no limit.
    """
    gc.collect()
    gc.freeze()  # what is here already is shared with every run; marking it would copy it
    try:
        is_fit = True
        while is_fit and (request := receive_frame(place.control)) is not None:
            is_fit = _answer(request, place, answers, processes)
    except (ClientGoneError, BrokenPipeError):
        return


def _answer(request: dict[str, Any], place: Place, answers: int, processes: int | None) -> bool:
    """Run one process and pass on what it wrote; tell whether this place is fit for another."""
    limits = Limits(**request["limits"])
    allowed = None if processes is None else processes + limits.processes
    job = Job(request["size"], limits, place.box, place.control, allowed)
    pipes = [Pipe(keep) for keep in _list_sizes(limits)]
    finish = run_job(job, pipes, place)
    is_fit = pipes[1].total > 0 and _clean(
        place
    )  # without a byte of report, the request lies in the control pipe still
    sizes = [pipe.size for pipe in pipes]
    send_bytes(answers, pack_frame(asdict(finish) | {"sizes": sizes, "is_fit": is_fit}))
    for pipe in pipes:
        with memoryview(pipe.buffer)[: pipe.size] as written:
            send_bytes(answers, written)
        pipe.wipe()
    return is_fit


def _list_sizes(limits: Limits) -> tuple[int, int, int]:
    """Say how much to keep of what the load prints, of the report, and of what the step prints."""
    return limits.output_bytes, limits.output_bytes + REPORT_ROOM, limits.output_bytes


def _clean(place: Place) -> bool:
    """Remove what the run wrote; tell whether that was possible."""
    try:
        empty_box(place.box)
    except OSError:
        return False
    return True
