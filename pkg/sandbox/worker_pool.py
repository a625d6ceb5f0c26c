"""Choose and open a sandbox: several warm workers on a backend of this machine.

The backend `none` has no walls, only limits on time and memory, for those who ask for it by name. Code there can read
and write what you can, use the network, signal your processes and start others that outlive it. Its folder stays
behind when the process that uses it is killed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from pkg.errors import SandboxError, UsageError
from pkg.resources import count_cores, map_ahead
from pkg.sandbox.interpreter import Interpreter, find_interpreter
from pkg.sandbox.launch import Isolation, ProcessStream, build_command, make_folder
from pkg.sandbox.protocol import DEFAULT, Kind, Limits, Program, Result, Step, Verdict
from pkg.sandbox.worker import Worker


class WorkerPool:
    """Runs programs on workers that are started when first needed and replaced when they are spent."""

    def __init__(self, name: str, start_worker: Callable[[], Worker], jobs: int) -> None:
        self._name = name
        self._start_worker = start_worker
        self._jobs = jobs or count_cores()
        self._free = threading.Semaphore(self._jobs)
        self._lock = threading.Lock()
        self._is_closed = False
        self._idle = [start_worker()]  # so that what is missing is said at once
        self.layers = self._idle[0].layers

    @property
    def name(self) -> str:
        """Name the backend."""
        return self._name

    def run(self, program: Program, limits: Limits = DEFAULT) -> Result:
        """Run one program: the load with the first step, then each other step in a process that loads the code anew.

        SandboxError once the pool is closed.
        """
        steps: list[Step | None] = [*program.steps] or [None]
        with self._free:
            load, taken = self._run_once(program.code, steps[0], limits)
            if load.kind is not Kind.OK:
                return Result(load, (replace(load, seconds=0.0, output=""),) * len(program.steps))
            verdicts = [] if taken is None else [taken]
            for step in steps[1:]:
                loaded, taken = self._run_once(program.code, step, limits)
                verdicts.append(taken or loaded)
        return Result(load, tuple(verdicts))

    def _run_once(self, code: str, step: Step | None, limits: Limits) -> tuple[Verdict, Verdict | None]:
        """Run one process on an idle worker."""
        worker = self._take()
        try:
            return worker.run(code, step, limits)
        finally:
            self._give_back(worker)

    def run_all(self, programs: Iterable[Program], limits: Limits = DEFAULT) -> Iterator[Result]:
        """Run programs on all workers at once and give their results in the order of the programs."""
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="sandbox") as threads:
            try:
                yield from map_ahead(lambda program: threads.submit(self.run, program, limits), programs, self._jobs)
            finally:
                threads.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        """End every worker; one that still runs a program ends with it."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self) -> Worker:
        with self._lock:
            if self._is_closed:
                raise SandboxError("the sandbox was closed; open another one")
            if self._idle:
                return self._idle.pop()
        return self._start_worker()

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if worker.is_fit and not self._is_closed:
                self._idle.append(worker)
                return
        worker.close()


def start_unprotected_worker(interpreter: Interpreter | None = None) -> Worker:
    """Start a worker that is a plain process; SandboxError on a system without fork."""
    python = interpreter or find_interpreter()
    if not hasattr(os, "fork"):
        raise SandboxError(f"code cannot be run without a sandbox on {sys.platform}, which has no fork; install Docker")
    folder = make_folder()
    isolation = Isolation(False, False, False, os.path.join(folder, "box"), packages=python.packages)
    return Worker(ProcessStream(build_command(python.path), folder), isolation)


BACKENDS = ("process", "docker", "none")


def choose_backend() -> str:
    """Name the default of this platform: process on Linux, docker elsewhere; never none."""
    return "process" if sys.platform == "linux" else "docker"


def open_sandbox(
    backend: str | None = None, jobs: int = 0, image: str | None = None, interpreter: Interpreter | None = None
) -> WorkerPool:
    """Open a sandbox with a number of workers, one for each core by default; the first one is started at once.

    backend: process, docker or none; the platform's default if None. image: of the docker backend, whose Python is that
    of the image. interpreter: the Python of the others; the running one if None. A SandboxError or a MissingExtraError
    says what is missing, a UsageError that there is no such backend.
    """
    name = backend or choose_backend()
    if name == "process":
        from pkg.sandbox.process import start_process_worker

        return WorkerPool(name, partial(start_process_worker, interpreter), jobs)
    if name == "docker":
        from pkg.sandbox.docker import connect_docker

        return WorkerPool(name, connect_docker(image), jobs)
    if name == "none":
        return WorkerPool(name, partial(start_unprotected_worker, interpreter), jobs)
    raise UsageError(f"no sandbox is called {name!r}, expected one of: {', '.join(BACKENDS)}")
