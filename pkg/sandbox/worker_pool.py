"""Choose and open a sandbox: a pool of workers on a backend of this machine.

The backend `none` has no isolation, only limits on time and memory, and must be requested by name. Code there has the
rights of the user: it can access files and the network, signal processes and start others that outlive it. Its folder
remains if the process that uses it is killed.
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
    """Sandbox that runs programs on workers, which are started on demand and replaced when they are lost."""

    def __init__(self, name: str, start_worker: Callable[[], Worker], jobs: int) -> None:
        self.name = name  # of the backend
        self._start_worker = start_worker
        self._jobs = jobs or count_cores()
        self._free = threading.Semaphore(self._jobs)
        self._lock = threading.Lock()
        self._is_closed = False
        self._idle = [start_worker()]  # fails immediately if something is missing
        self.layers = self._idle[0].layers

    def run(self, program: Program, limits: Limits = DEFAULT) -> Result:
        """Run one program: the load with the first step, then each other step in a process that loads the code again.

        Raises a SandboxError after the pool is closed.
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
        """Run programs in parallel, and yield their results in the order of the programs."""
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="sandbox") as threads:
            try:
                yield from map_ahead(lambda program: threads.submit(self.run, program, limits), programs, self._jobs)
            finally:
                threads.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        """End all workers; a busy one ends after its program."""
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
                raise SandboxError("the sandbox is closed; open another one")
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
    """Start a worker that is a plain process; raises a SandboxError on a system without fork."""
    python = interpreter or find_interpreter()
    if not hasattr(os, "fork"):
        raise SandboxError(f"code cannot be run without a sandbox on {sys.platform}, which has no fork; install Docker")
    folder = make_folder()
    isolation = Isolation(False, False, False, os.path.join(folder, "box"), packages=python.packages)
    return Worker(ProcessStream(build_command(python.path), folder), isolation)


BACKENDS = ("process", "docker", "none")


def choose_backend() -> str:
    """Return the default backend of this platform: process on Linux, docker elsewhere."""
    return "process" if sys.platform == "linux" else "docker"


def open_sandbox(
    backend: str | None = None, jobs: int = 0, image: str | None = None, interpreter: Interpreter | None = None
) -> WorkerPool:
    """Open a sandbox with a number of workers, by default one per core; the first one is started immediately.

    backend: process, docker or none, by default that of the platform. image: of the docker backend, which also provides
    its Python. interpreter: of the other backends, by default the running one. Raises a SandboxError or a
    MissingExtraError if something is missing, and a UsageError for an unknown backend.
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
    raise UsageError(f"unknown sandbox {name!r}; expected one of: {', '.join(BACKENDS)}")
