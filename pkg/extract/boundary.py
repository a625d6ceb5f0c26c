"""How far links may lead: the one decision that discovery, reading, revisions and the watch ask for.

A repository that was cloned can hold a link to any file of its reader. What such a link leads to is not a part of the
source, and must not get into a graph that others read, or to a service that encodes it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from pkg.extract.files import print_path

_OPENED = "/proc/self/fd"  # where Linux tells what a descriptor leads to


@dataclass(frozen=True, slots=True)
class Boundary:
    """The folders that a real path may lie in: the source, and with --follow-links the user's home."""

    source: str  # real path
    home: str | None = None  # real path; None where links that lead out of the source are not followed

    def find_fault(self, place: str) -> str | None:
        """Tell why what a place leads to, through whatever links, must not be read; None when it may be."""
        return self._judge(os.path.realpath(place))

    def find_opened_fault(self, descriptor: int, place: str) -> str | None:
        """Tell the same of what was opened at a place, which may have become a link since it was found."""
        try:
            real = os.readlink(f"{_OPENED}/{descriptor}")
        except OSError:  # no Linux, or a sandbox without /proc
            real = os.path.realpath(place)
            if not os.path.samestat(os.fstat(descriptor), os.stat(real)):
                return "it was replaced while it was opened; run the build again"
        return self._judge(real)

    def _judge(self, real: str) -> str | None:
        if _holds(self.source, real) or (self.home is not None and _holds(self.home, real)):
            return None
        target = print_path(real)
        if self.home is None:
            return f"a link that leads out of the source (to {target}); --follow-links takes such links too"
        return f"a link that leads out of the source and of your home folder (to {target}), which no option takes"


def _holds(folder: str, real: str) -> bool:
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def draw_boundary(root: str, follow_links: bool) -> Boundary:
    """Draw the boundary of a folder, whatever links lead to it: who names a link as the root means what it leads to."""
    return Boundary(os.path.realpath(root), _find_home() if follow_links else None)


def _find_home() -> str | None:
    """Give the real path of the user's home; None for a user without one, to whom the root folder may be given."""
    home = os.path.expanduser("~")
    real = os.path.realpath(home)
    return real if os.path.isabs(home) and real != os.path.dirname(real) else None
