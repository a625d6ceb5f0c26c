"""Make Ctrl-C end the command without a traceback while its imports run.

Imported before everything else, because the imports take a fifth of a second; pkg.cli.run takes over. Scripts that
import pkg are not affected.
"""

from __future__ import annotations

import signal
import sys
from pathlib import PurePath

COMMAND = "pkg"  # the name of the installed script


def is_command(words: list[str]) -> bool:
    """Return whether this process is the installed command."""
    return bool(words) and PurePath(words[0]).stem == COMMAND


def end_quietly() -> None:
    """Make Ctrl-C end the process at once, unless the signal is ignored, as under nohup."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def listen_again() -> None:
    """Make Ctrl-C raise KeyboardInterrupt again after end_quietly."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if is_command(getattr(sys, "argv", [])):
    end_quietly()
