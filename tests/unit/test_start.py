"""Ctrl-C before the command handles it: the process ends as usual, without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from trees import write_tree

import pkg

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


def test_a_build_of_unchanged_files_imports_no_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most builds read nothing; readers of code and documents take a tenth of their time to import."""
    write_tree(tmp_path / "shop", {"cart.py": "def total():\n    return 1\n", "README.md": "# Shop\n\nIt sells.\n"})
    store = f"sqlite:///{tmp_path}/graph.db"
    monkeypatch.setattr("pkg.extract.files.CLOCK_TICK_NS", 0)  # files of this moment are read again otherwise
    pkg.build_graph(tmp_path / "shop", store=store)
    code = f"""
import sys, pkg
pkg.build_graph({str(tmp_path / "shop")!r}, store={store!r})
readers = ("html.parser", "pkg.extract.python", "pkg.extract.documents.document_reader")
print([name for name in readers if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
