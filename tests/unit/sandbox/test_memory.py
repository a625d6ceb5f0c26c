"""A run cannot exceed its memory limit, including memory that the kernel holds for it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hostile_code import HIDE, LIMITS, Case
from traces import find_family

from pkg.sandbox import Kind, Limits, Program, open_sandbox
from pkg.sandbox.worker_pool import WorkerPool

ROOM = 96 << 20  # bytes that a run may have beyond its limit before the supervisor looks
GROUPS = Path("/sys/fs/cgroup/memory")  # of version 1, which charges the buffers of sockets and pipes too


class Peak:
    """A control group of a sandbox's processes, which records their peak memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def reset(self) -> int:
        """Reset the peak, and return the memory in use."""
        (self._folder / "memory.max_usage_in_bytes").write_text("0")
        return int((self._folder / "memory.usage_in_bytes").read_text())

    def read(self) -> int:
        return int((self._folder / "memory.max_usage_in_bytes").read_text())


@pytest.fixture(scope="module")
def sandbox() -> Iterator[WorkerPool]:
    with open_sandbox("process", jobs=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def peak(sandbox: WorkerPool) -> Iterator[Peak]:
    folder = GROUPS / f"pkg-test-{os.getpid()}"
    try:
        folder.mkdir()
        others = find_family(1).processes - find_family(os.getpid()).processes
        for process in find_family(os.getpid(), others).processes:
            (folder / "cgroup.procs").write_text(str(process))
    except OSError as error:
        pytest.skip(f"no control group of memory can be made here ({error})")
    yield Peak(folder)
    sandbox.close()
    remove_group(folder)


def remove_group(folder: Path) -> None:
    """Move ending processes of a group to its parent until the group is empty and can be removed."""
    for _ in range(100):
        for process in (folder / "cgroup.procs").read_text().split():
            with suppress(OSError):  # it has ended meanwhile
                (GROUPS / "cgroup.procs").write_text(process)
        with suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.05)
    raise AssertionError(f"the group {folder.name} is never empty")


@pytest.mark.parametrize("case", HIDE, ids=lambda case: case.name)
def test_memory_that_no_process_is_seen_to_hold_stays_near_the_limit(
    sandbox: WorkerPool, peak: Peak, case: Case
) -> None:
    before = peak.reset()
    assert sandbox.run(Program(case.code), LIMITS).load.kind in case.kinds
    assert peak.read() - before < LIMITS.memory_bytes + ROOM


def test_the_pages_that_many_processes_write_on_count() -> None:
    code = "import gc, os, time\nfor _ in range(14):\n    if os.fork() == 0:\n        break\n"
    code += "gc.unfreeze()\nheld = [gc.get_referents(each) for each in gc.get_objects()]\ntime.sleep(60)"
    with open_sandbox("process", jobs=1) as sandbox:
        verdict = sandbox.run(Program(code), Limits(wall_seconds=3.0, memory_bytes=150 << 20)).load
    assert (verdict.kind, verdict.detail) == (Kind.MEMORY, "used more than 150 MiB in all")
