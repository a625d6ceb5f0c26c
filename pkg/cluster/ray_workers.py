"""Run tasks on the workers of a Ray cluster, or of a Ray that is started on this machine; extra ``cluster``.

Nothing but names of files and small settings goes through Ray. It runs a task again whose worker or machine has died.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from pkg.cluster.engine import ATTEMPTS
from pkg.errors import InputError, MissingExtraError, PkgError, StoreError
from pkg.resources import ITEMS_PER_WORKER

T = TypeVar("T")
R = TypeVar("R")

LOCAL = "local"
"""Address of a Ray that is started for this build and ends with it."""


class RayWorkers:
    """Workers of a Ray cluster; PKG must be installed on its machines in the same version."""

    def __init__(self, address: str = LOCAL, workers: int = 0) -> None:
        """Connect to a cluster, such as ray://host:10001 or auto, or start one on this machine.

        workers: tasks at a time; 0 for one on each processor of the cluster. Raises MissingExtraError without Ray,
        StoreError where the cluster cannot be reached.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray reports its use to its makers otherwise
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # hide no GPU from tasks; Ray warns otherwise
        try:
            import ray
        except ImportError as fault:
            raise MissingExtraError("ray", "cluster", "--ray") from fault
        self._ray = ray
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address == LOCAL:
            options |= {"include_dashboard": False, "num_cpus": workers or None}
        try:
            ray.init(address, **options)
        except (ConnectionError, OSError, ValueError, RuntimeError) as fault:
            raise StoreError(
                f"no Ray cluster answers at {address} ({fault}); expected local, auto or an address such as"
                " ray://host:10001"
            ) from fault
        self._workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def map(self, task: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the result of a task for each item, in order; raises InputError where workers keep dying."""
        ray = self._ray
        run = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(_run)
        shared = ray.put(task)
        waiting: deque[tuple[T, Any]] = deque()
        try:
            for item in items:
                waiting.append((item, run.remote(shared, item)))
                if len(waiting) > ITEMS_PER_WORKER * self._workers:
                    yield self._get(*waiting.popleft())
            while waiting:
                yield self._get(*waiting.popleft())
        finally:  # an interrupt, or reading has failed: the results in work are not needed
            for _, reference in waiting:
                ray.cancel(reference, force=True)

    def _get(self, item: object, reference: Any) -> Any:
        from ray.exceptions import RayError, RayTaskError

        try:
            return self._ray.get(reference)
        except PkgError:  # what Ray raises is of the class of the cause, too
            raise
        except RayTaskError as fault:
            raise fault.cause if isinstance(fault.cause, Exception) else fault from fault
        except RayError as fault:
            raise InputError(
                f"Ray gave up after {ATTEMPTS} attempts at {item} ({type(fault).__name__}: out of memory?); run again:"
                " what is done is kept"
            ) from fault

    def close(self) -> None:
        """End the workers, or leave the cluster."""
        self._ray.shutdown()


def _run(task: Callable[[Any], Any], item: Any) -> Any:
    return task(item)
