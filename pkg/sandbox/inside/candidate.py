"""Run one candidate in its own process, from the fork to its end, in the only writable folder.

The candidate controls this process as soon as its code runs: it can change every function here and write to every open
descriptor. So nothing here decides anything; the supervisor does, from outside.
"""

from __future__ import annotations

import fcntl
import gc
import json
import math
import os
import random
import resource
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pkg.sandbox.inside.call_answers import CALL_FUNCTIONS
from pkg.sandbox.inside.candidate_calls import answer_calls
from pkg.sandbox.inside.fault_kinds import CODE, classify_fault, describe_fault
from pkg.sandbox.pipe_messages import pack_message, receive_bytes, send_bytes
from pkg.sandbox.protocol import NO_MEMORY, NO_START, STARTED, Kind, Limits, Step
from pkg.sandbox.values import render_value


def empty_box(path: str) -> None:
    """Remove everything in the folder; raises an OSError if that fails."""
    os.chmod(path, 0o700)
    with os.scandir(path) as entries:
        found = list(entries)
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            empty_box(entry.path)
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)


def count_files(path: str) -> tuple[int, int]:
    """Return the number of files in the mount of the folder, and their bytes, which are in memory."""
    state = os.statvfs(path)
    return state.f_files - state.f_ffree, (state.f_blocks - state.f_bfree) * state.f_frsize


def prepare_box(path: str) -> None:
    """Create the folder again if it was removed, which is possible if it is not a mount."""
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            return
        os.unlink(path)
    except FileNotFoundError:
        pass
    os.mkdir(path, 0o700)


def open_input(path: str, text: str) -> int:
    """Open the standard input of a step, as an unnamed file, and return its descriptor."""
    if not text:
        return os.open(os.devnull, os.O_RDONLY)
    with tempfile.TemporaryFile(dir=path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.seek(0)
        return os.dup(file.fileno())


REPORT, STEP_OUTPUT = 3, 4  # descriptors of the report and of the output of the step
OPEN_FILES = 64
STACK = 8 << 20  # bytes; limits recursion in C
STEP = "<step>"
CALL_SHARE = 0.9  # share of the CPU time of a run for all calls, which leaves time to report


@dataclass(frozen=True, slots=True)
class Job:
    """Task of one process with its limits; the code and the step are still in the control pipe."""

    size: int  # bytes to read there
    limits: Limits
    box: str
    control: int
    processes: int | None  # limit to set, including running processes; None if it cannot be set


def run_candidate(job: Job, output: int, report: int, step_output: int) -> None:
    """Run the candidate in this forked process and exit; does not return.

    The process reads the code and the step itself, so that the supervisor, from which the next candidate is forked,
    never has them in memory.
    """
    try:
        task = json.loads(receive_bytes(job.control, job.size) or b"")
        os.write(report, STARTED)
        os.chdir(job.box)
        _leave_supervisor(
            open_input(job.box, task["step"]["stdin"] if task["step"] else ""), output, report, step_output
        )
        set_limits(job)
        _run_task(task["code"], Step(**task["step"]) if task["step"] else None, job.limits)
    except MemoryError:  # not enough memory for a report
        os._exit(NO_MEMORY)
    except BaseException:
        os._exit(NO_START)
    os._exit(0)


def _leave_supervisor(stdin: int, output: int, report: int, step_output: int) -> None:
    """Start a new session, keep five descriptors and drop the state of the supervisor."""
    os.setsid()
    given = (stdin, output, os.open(os.devnull, os.O_WRONLY), report, step_output)
    for target, source in enumerate([fcntl.fcntl(descriptor, fcntl.F_DUPFD, 64) for descriptor in given]):
        os.dup2(source, target)
    os.closerange(STEP_OUTPUT + 1, 256)
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGPIPE, signal.SIG_IGN),
        (signal.SIGXFSZ, signal.SIG_IGN),
    ):
        signal.signal(number, handler)
    for name in [name for name in sys.modules if name.partition(".")[0] == "pkg"]:
        del sys.modules[name]
    sys.breakpointhook = _refuse_breakpoint
    random.seed(0)  # makes runs reproducible
    gc.enable()


def _refuse_breakpoint(*_: object, **__: object) -> None:
    raise PermissionError("breakpoint() is not available")


def set_limits(job: Job) -> None:
    """Set the kernel's limits for this process and its children; they cannot be raised again."""
    limits = job.limits
    seconds = math.ceil(limits.cpu_seconds) + 1  # a fallback: the supervisor measures more precisely
    bounds = {
        "RLIMIT_CPU": seconds,
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_STACK": STACK,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
    } | ({} if job.processes is None else {"RLIMIT_NPROC": job.processes})
    for name, bound in bounds.items():
        if hasattr(resource, name):
            _lower(getattr(resource, name), bound)


def _lower(kind: int, bound: int) -> None:
    """Set a limit, or keep the limit of the system if that is lower."""
    _, most = resource.getrlimit(kind)
    bound = bound if most == resource.RLIM_INFINITY else min(bound, most)
    try:
        resource.setrlimit(kind, (bound, bound))
    except (ValueError, OSError):
        if sys.platform == "linux":  # other systems do not support some kinds
            raise


def _run_task(code: str, step: Step | None, limits: Limits) -> None:
    """Load the code, then run the step; report after each."""
    module = ModuleType("candidate")
    sys.modules["candidate"] = module
    if _attempt(lambda: _load(code, module.__dict__)) and step is not None:
        os.dup2(STEP_OUTPUT, 1)
        _attempt(lambda: _run_step(step, module.__dict__, limits))


def _load(code: str, names: dict[str, Any]) -> str | None:
    """Run the code as a module other than `__main__` (A-08: its definitions)."""
    try:
        program = compile(code, CODE, "exec", dont_inherit=True)
    except (UnicodeError, ValueError, RecursionError) as error:  # lone surrogates, NUL bytes, too deep
        raise SyntaxError(f"{type(error).__name__}: {error}"[:200]) from None
    exec(program, names)
    return None


def _run_step(step: Step, names: dict[str, Any], limits: Limits) -> str | None:
    """Run one step; return the text of the value of an expression, or of the answers of calls."""
    if step.calls is not None:
        return answer_calls(names, step.source, step.calls, CALL_SHARE * limits.cpu_seconds, limits.output_bytes)
    names |= CALL_FUNCTIONS
    if step.is_expression:
        return render_value(eval(compile(step.source, STEP, "eval", dont_inherit=True), names), limits.output_bytes)
    exec(compile(step.source, STEP, "exec", dont_inherit=True), names)
    return None


def _attempt(act: Callable[[], str | None]) -> bool:
    """Call a function, report the result, and return whether it succeeded."""
    start = time.process_time()
    kind, detail, value = Kind.OK, "", None
    try:
        value = act()
    except BaseException as error:
        kind, detail = _explain(error)
    _flush()
    seconds = max(0.0, time.process_time() - start)  # less than 0 if the code forked and this is the child
    send_bytes(REPORT, pack_message({"kind": kind.value, "detail": detail, "seconds": seconds, "value": value}))
    return kind is Kind.OK


def _explain(error: BaseException) -> tuple[Kind, str]:
    """Return the kind and description of an exception, even if memory or stack are exhausted."""
    if isinstance(error, MemoryError):
        error.__traceback__ = None  # releases memory
    try:
        return classify_fault(error), describe_fault(error)
    except BaseException:
        return Kind.OTHER, "an exception that cannot be described"


def _flush() -> None:
    """Flush the standard output, which the code may have replaced by anything."""
    try:
        sys.stdout.flush()
    except BaseException:
        return
