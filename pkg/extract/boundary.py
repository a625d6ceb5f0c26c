"""The policy on links, shared by discovery, reading, revisions and the watch.

A cloned repository can contain a link to any file of its reader. The target is not part of the source, and must not
get into a graph that others read, or to a service that encodes it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from pkg.extract.files import print_path

_OPENED = "/proc/self/fd"  # links to the files of open descriptors, on Linux


@dataclass(frozen=True, slots=True)
class Boundary:
    """The folders that a real path may lie in: the source, and with --follow-links the user's home."""

    source: str  # real path
    home: str | None = None  # real path; None if links out of the source are not followed

    def find_violation(self, place: str) -> str | None:
        """Return why the target of a place must not be read; None if it may."""
        return self._judge(os.path.realpath(place))

    def find_opened_violation(self, descriptor: int, place: str) -> str | None:
        """Return the same for an open descriptor; the place may have become a link since it was found."""
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


def make_boundary(root: str, follow_links: bool) -> Boundary:
    """Return the boundary of a folder; a root that is a link stands for its target."""
    return Boundary(os.path.realpath(root), _find_home() if follow_links else None)


def _find_home() -> str | None:
    """Return the real path of the user's home; None for a user without one, whose home may be the root folder."""
    home = os.path.expanduser("~")
    real = os.path.realpath(home)
    return real if os.path.isabs(home) and real != os.path.dirname(real) else None
