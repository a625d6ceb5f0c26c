"""Kill a process that runs code in a sandbox at any moment, and find its surviving processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from traces import find_family, wait_for_end

ROOT = Path(__file__).resolve().parents[1]
LIFE = 0.6  # seconds: imports end after about 0.15, workers stand after 0.25, then candidates run

CLIENT = """
import itertools, sys
from pkg.sandbox import Limits, Program, open_sandbox
CODE = (
    "x = 1",
    "import time\\ntime.sleep(0.2)",
    "while True: pass",
    "import os, time\\nfor _ in range(3):\\n    if os.fork() == 0:\\n        os.setsid()\\ntime.sleep(60)",
    "import threading, time\\nthreading.Thread(target=time.sleep, args=(60,)).start()",
)
with open_sandbox(sys.argv[1], jobs=2) as sandbox:
    for result in sandbox.run_all(map(Program, itertools.cycle(CODE)), Limits(wall_seconds=0.3)):
        pass
"""
"""Runs code in an endless loop."""


def kill_client(backend: str, seconds: float) -> set[int]:
    """Start a client, kill it after some seconds, and return the processes that survive a few seconds longer.

    It is stopped first, so that its processes can be listed while none of them is being started.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    client = subprocess.Popen([sys.executable, "-c", CLIENT, backend], env=environment, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    client.send_signal(signal.SIGSTOP)
    family = find_family(client.pid)
    client.kill()
    client.wait()
    return wait_for_end(family)
