"""The use case that keeps a graph fresh: build, wait for a change on disk, build again, until somebody ends it.

The system tells of changes, or every file is looked at again and again. Waiting holds nothing open. Each round is an
ordinary build, which finds out itself what changed; so a notice that was lost costs time, never truth.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pkg.errors import MissingExtraError, PathError, PkgError, UsageError, conceal_address
from pkg.extract.discovery import ARCHIVE_SUFFIXES
from pkg.extract.files import SUFFIXES, print_path
from pkg.indexing.build import build_input
from pkg.indexing.build_plan import DEFAULT_OPTIONS, BuildOptions
from pkg.indexing.report import BuildReport, StageClock
from pkg.indexing.watch_filter import WatchFilter, is_editor_lock

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.indexing.inputs import Input
    from pkg.model import Skip


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


RETRY_SECONDS = 5.0  # after a build that failed: another writer has mostly ended by then
RECHECK_SECONDS = 60.0
"""The system does not tell of everything: what links lead to, rules above PATH, folders beyond its limit of watches."""

Say = Callable[[PkgError], None]


def watch(
    path: str,
    store: str,
    options: BuildOptions = DEFAULT_OPTIONS,
    *,
    source: str | None = None,
    field: str | None = None,
    max_file_size: int | None = None,
    follow_links: bool = False,
    text: bool = True,
    poll: bool = False,
    say: Say = lambda fault: None,
    open_target: Callable[[str], GraphStore] | None = None,
) -> Iterator[BuildReport]:
    """Build a folder, a Python file or a corpus, then again whenever it changes; give the report of each round.

    A round that finds nothing new gives none. The first build raises what build() raises; of a later one that fails
    `say` is told, once for each new message, and it is tried again. Ends by a PathError when the folder is gone.
    Where the system gives no notices, `say` is told why and the files are looked at as with poll.
    poll: look at the files every second instead of asking the system for notices.
    open_target: opens the store at its address; called for each round, so that a server may be restarted in between.
    """
    _check_path(path)
    _check_store(store)
    if not poll:
        check_notices()
    from pkg.graph.opening import open_store
    from pkg.indexing.inputs import find_input

    find = partial(find_input, path, source, field, max_file_size, follow_links, text)
    judge = partial(WatchFilter, follow_links=follow_links, text=text)
    rounds = _Rounds(find, partial(open_target or partial(open_store, create=True), store), options, say, judge)
    place = _Place(path)
    yield rounds.build_first()
    wakes = poll_files(rounds.look) if poll else _await_changes(place, rounds, say)
    yield from rounds.build_on(place, wakes)


def _await_changes(place: _Place, rounds: _Rounds, say: Say) -> Wakes:
    """Wait for notices; where the system has none to give, say so and look instead."""
    try:
        yield from place.await_notices(rounds.keeps)
    except PathError as fault:
        place.check()
        say(fault)
    yield True
    yield from poll_files(rounds.look)


def _check_path(path: str) -> None:
    """Refuse what cannot change under its own name: archives, git revisions, standard input."""
    kind = ""
    if path == "-":
        kind = "standard input"
    elif os.path.isfile(path) and path.lower().endswith(ARCHIVE_SUFFIXES):
        kind = "an archive"
    elif "@" in path and not os.path.lexists(path):
        kind = "a git revision"
    if kind:
        raise UsageError(
            f"--watch follows a folder, a Python file or a corpus on disk, and {print_path(path)} is {kind};"
            " name a folder, or leave out --watch"
        )


def _check_store(address: str) -> None:
    """Refuse a store that would be taken for a Python file and then change with every build of itself."""
    if address.endswith(SUFFIXES):
        shown = conceal_address(address)
        raise UsageError(f"the store {shown} has the name of a Python file; expected another, such as graph.db")


class _Place:
    """Where changes are waited for: the folder, or that of the one file; editors put a new file in place of an old."""

    def __init__(self, path: str) -> None:
        self.real = os.path.realpath(path)
        self.is_folder = os.path.isdir(self.real)
        self.folder = self.real if self.is_folder else os.path.dirname(self.real)
        self._identity = self._identify()

    def await_notices(self, keeps: Callable[[str, str], bool]) -> Wakes:
        """Wait for notices of the folder's tree, or of the one file."""
        if self.is_folder:
            return await_notices(self.folder, partial(keeps, self.folder), is_recursive=True)
        return await_notices(self.folder, lambda place: place == self.real, is_recursive=False)

    def check(self) -> None:
        """Raise PathError when the folder is not the one any more that the watch began with."""
        if self._identify() != self._identity:
            raise PathError(
                f"{print_path(self.folder)} was deleted, moved or replaced, so there is nothing left to watch;"
                " the graph keeps what it held; run the command again where the folder is now"
            )

    def _identify(self) -> tuple[int, int] | None:
        try:
            info = os.stat(self.folder)
        except OSError:
            return None
        return info.st_dev, info.st_ino


class _Rounds:
    """The builds of one watch, and what they leave for the next: what was seen, what was said, when to try again."""

    def __init__(
        self,
        find: Callable[[], Input],
        open_target: Callable[[], GraphStore],
        options: BuildOptions,
        say: Say,
        judge: Callable[[str, list[str]], WatchFilter] = WatchFilter,
    ) -> None:
        self._find, self._open_target, self._options, self._say = find, open_target, options, say
        self._judge = judge
        self._filter: WatchFilter | None = None
        self._known: list[str] = []
        self._skipped: frozenset[Skip] = frozenset()
        self._has_new_skips = False
        self._said = ""

    def look(self) -> str:
        """Tell what is there by a word that changes with it."""
        try:
            return self._find().fingerprint
        except PkgError as fault:
            return str(fault)

    def keeps(self, root: str, place: str) -> bool:
        """Tell whether a change is worth a build."""
        if self._filter is None:
            self._filter = self._judge(root, self._known)
        return self._filter.keeps(place)

    def build_first(self) -> BuildReport:
        """Catch up with what changed while nobody watched; a failure is the caller's."""
        return self._build()

    def build_on(self, place: _Place, wakes: Wakes) -> Iterator[BuildReport]:
        """Build at each wake and when it is time to; give the reports that tell something new."""
        due = 0.0  # at once: files may have changed between the first build and the start of the watch
        for is_woken in wakes:
            place.check()
            if not is_woken and time.monotonic() < due:
                continue
            report = self._try_build(place)
            due = time.monotonic() + (RETRY_SECONDS if report is None else RECHECK_SECONDS)
            if report is not None and (report.changed or self._has_new_skips):
                yield report

    def _try_build(self, place: _Place) -> BuildReport | None:
        try:
            report = self._build()
        except PkgError as fault:
            place.check()  # a folder that is gone is no failure of the build
            if str(fault) != self._said:
                self._say(fault)
            self._said = str(fault)
            return None
        self._said = ""
        return report

    def _build(self) -> BuildReport:
        clock = StageClock()
        self._filter = None
        with clock.stage("discover"):
            found = self._find()
        self._remember(found)
        with closing(self._open_target()) as store:
            return build_input(found, store, self._options, clock)

    def _remember(self, found: Input) -> None:
        """Keep what the next change is judged by, and whether something is left out that was not before."""
        self._known = [unit.path for unit in found.entries or ()] + [skip.path for skip in found.skipped]
        skipped = frozenset(skip for skip in found.skipped if not is_editor_lock(skip.path))
        self._has_new_skips = not skipped <= self._skipped
        self._skipped = skipped
