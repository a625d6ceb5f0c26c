"""Wait for changes on disk: the system tells of them, or every file is looked at again and again.

Both ways give True when something may have changed and has come to rest, and False when a moment passed without.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from pkg.errors import MissingExtraError, PathError

QUIET_MS = 200  # without news, a change has come to rest; people do not notice, and one save is often several writes
STORM_MS = 5_000  # longest wait for rest: a checkout of thousands of files is over by then
MOMENT_MS = 1_000
POLL_SECONDS = 1.0
POLL_SHARE = 10  # a look that takes long comes more rarely: it costs a tenth of one processor at most
UNSETTLED_LOOKS = 5  # in a row, until a tree that never rests is built all the same

Wakes = Iterator[bool]


def check_notices() -> None:
    """Raise MissingExtraError unless the package is installed that the system's notices come through."""
    if find_spec("watchfiles") is None:
        raise MissingExtraError("watchfiles", "watch", "--watch without --poll")


def await_notices(folder: str, keeps: Callable[[str], bool], *, is_recursive: bool) -> Wakes:
    """Wait for the system's notices of changes below a folder, and pass over those that are not kept.

    Raises PathError where the system gives none, such as beyond its limit or in a folder that may not be read.
    """
    from watchfiles import watch

    try:
        for changes in watch(
            folder,
            watch_filter=lambda _, place: keeps(place),
            debounce=STORM_MS,
            step=QUIET_MS,
            rust_timeout=MOMENT_MS,
            yield_on_timeout=True,
            poll_delay_ms=MOMENT_MS,  # where the system gives no notices at all
            recursive=is_recursive,
            ignore_permission_denied=False,  # True would hide that the rest of the tree is not watched, limits too
        ):
            yield bool(changes)
    except (OSError, RuntimeError) as fault:
        raise PathError(
            f"the system does not tell of changes in {folder} ({fault}), so every file is looked at every second, as"
            " with --poll; where its limit is reached, raise that:"
            " sysctl fs.inotify.max_user_watches=1000000 fs.inotify.max_user_instances=1000"
        ) from fault


def poll_files(
    look: Callable[[], str],
    nap: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Wakes:
    """Look every second; a change counts when two looks in a row see the same."""
    built = before = look()
    unsettled, cost = 0, 0.0
    while True:
        nap(max(POLL_SECONDS, POLL_SHARE * cost))
        start = clock()
        now = look()
        cost = clock() - start
        unsettled = 0 if now == before else unsettled + 1
        before = now
        is_due = now != built and unsettled in (0, UNSETTLED_LOOKS)
        if is_due:
            built, unsettled = now, 0
        yield is_due
