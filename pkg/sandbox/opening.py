"""Choose and open a sandbox."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pkg.errors import UsageError

if TYPE_CHECKING:
    from pkg.sandbox.pool import Pool

BACKENDS = ("process", "docker", "none")


def choose_backend() -> str:
    """Name the default of this platform: process on Linux, docker elsewhere; never none."""
    return "process" if sys.platform == "linux" else "docker"


def open_sandbox(backend: str | None = None, jobs: int = 0, image: str | None = None) -> Pool:
    """Open a sandbox with a number of workers, one for each core by default; the first one is started at once.

    backend: process, docker or none; the platform's default if None. image: of the docker backend. A SandboxError or a
    MissingExtraError says what is missing.
    """
    from pkg.sandbox.pool import Pool  # threads and processes: only those who open a sandbox pay for them

    name = backend or choose_backend()
    if name == "process":
        from pkg.sandbox.process import start_process_worker

        return Pool(name, start_process_worker, jobs)
    if name == "docker":
        from pkg.sandbox.docker import connect_docker

        return Pool(name, connect_docker(image), jobs)
    if name == "none":
        from pkg.sandbox.unprotected import start_unprotected_worker

        return Pool(name, start_unprotected_worker, jobs)
    raise UsageError(f"no sandbox is called {name!r}, expected one of: {', '.join(BACKENDS)}")
