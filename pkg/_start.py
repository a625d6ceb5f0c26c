"""The first moment of the command: until it listens itself, Ctrl-C ends it as it ends any program, without a trace.

Imported before all else, for the imports take a fifth of a second. pkg.cli.run takes over; a script that imports PKG is
left alone.
"""

from __future__ import annotations

import signal
import sys
from pathlib import PurePath

COMMAND = "pkg"  # the name of the script that is installed


def is_command(words: list[str]) -> bool:
    """Tell whether this process is the installed command."""
    return bool(words) and PurePath(words[0]).stem == COMMAND


def end_quietly() -> None:
    """Let Ctrl-C end the process at once, unless somebody has said otherwise, such as nohup."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def listen_again() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, where it was let end the process."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if is_command(getattr(sys, "argv", [])):
    end_quietly()
