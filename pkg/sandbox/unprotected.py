"""The backend without walls, for those who ask for it by name: limits on time and memory, and nothing else.

Code here can read and write what you can, use the network, signal your processes and start others that outlive it. Its
folder stays behind when the process that uses it is killed.
"""

from __future__ import annotations

import os
import sys

from pkg.errors import SandboxError
from pkg.sandbox.launch import Isolation, build_command, find_packages
from pkg.sandbox.streams import ProcessStream, make_folder
from pkg.sandbox.worker import Worker


def start_unprotected_worker() -> Worker:
    """Start a worker that is a plain process."""
    if not hasattr(os, "fork"):
        raise SandboxError(f"code cannot be run without a sandbox on {sys.platform}, which has no fork; install Docker")
    folder = make_folder()
    isolation = Isolation(False, False, False, os.path.join(folder, "box"), packages=find_packages())
    return Worker(ProcessStream(build_command(sys.executable), folder), isolation)
