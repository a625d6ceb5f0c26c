"""The files that exist inside a sandbox, besides those of the Python that runs there."""

from __future__ import annotations

BOX = "/box"
"""The one folder in which a run may write: in memory, and empty at the start of each run."""

BOX_ROOM = "size=64m,nr_inodes=1024"
"""Options of that folder's mount: all files of a run together."""

MOST_FILES = 4096
"""Files of a run where the folder's mount cannot bound them (bubblewrap's): more end the run."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
LIBRARIES = (
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
)
