"""Ctrl-C before the command handles it: the process ends as usual, without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

INTERRUPTED_IMPORT = """
import os, signal, sys
sys.argv = [{!r}]

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "pkg.errors":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
signal.signal(signal.SIGINT, signal.default_int_handler)
import pkg
"""


@pytest.mark.parametrize("name", ["/usr/bin/pkg", "pkg", "C:/Scripts/pkg.exe"])
def test_the_command_ends_without_a_traceback(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_IMPORT.format(name)], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


def test_a_script_is_left_alone() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_IMPORT.format("script.py")], capture_output=True)
    assert b"KeyboardInterrupt" in done.stderr


@pytest.mark.parametrize(
    ("before", "meanwhile", "then"),
    [("default_int_handler", "SIG_DFL", "default_int_handler"), ("SIG_IGN", "SIG_IGN", "SIG_IGN")],
)
def test_the_command_listens_again_and_what_ignores_goes_on_ignoring(before: str, meanwhile: str, then: str) -> None:
    code = f"""
import signal, sys
sys.argv = ["pkg"]
signal.signal(signal.SIGINT, signal.{before})
import pkg._start
assert signal.getsignal(signal.SIGINT) == signal.{meanwhile}
pkg._start.listen_again()
assert signal.getsignal(signal.SIGINT) == signal.{then}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
