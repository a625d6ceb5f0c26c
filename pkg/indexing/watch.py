"""The use case that keeps a graph fresh: build, wait for a change on disk, build again, until interrupted.

The system notifies of changes, or files are polled. Nothing is held open while waiting. Each round is an ordinary
build, which finds the changes itself, so a lost notification delays an update but loses nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pkg.errors import MissingExtraError, PathError, PkgError, UsageError, conceal_address
from pkg.extract.boundary import make_boundary
from pkg.extract.discovery import ARCHIVE_SUFFIXES
from pkg.extract.files import SUFFIXES, FileChoice, print_path, read_file
from pkg.extract.ignore import (
    IGNORE_FILES,
    MAX_IGNORE_FILE_SIZE,
    PROJECT_FILES,
    VENV_FILE,
    IgnoreRules,
    is_build_output,
    is_left_out,
    is_other_work_tree,
    load_outer_rules,
)
from pkg.extract.records import is_corpus
from pkg.extract.row_files import is_address, is_many
from pkg.extract.text_files.text_kinds import MAX_TEXT_SIZE
from pkg.indexing.build import build_input
from pkg.indexing.build_plan import DEFAULT_OPTIONS, BuildOptions
from pkg.indexing.report import BuildReport, StageClock

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.indexing.inputs import Input
    from pkg.model import Skip


_RULE_FILES = frozenset(IGNORE_FILES) | PROJECT_FILES | {VENV_FILE}


class WatchFilter:
    """Judge changes below a folder by the result and the rules of its last discovery.

    In doubt it accepts a change: discovery decides, and a build without changes costs little. A filter caches the rules
    of folders, so each discovery needs a new one.
    """

    def __init__(
        self,
        root: str,
        known: Iterable[str],
        follow_links: bool = False,
        text: bool = False,
        has_documents: bool = False,
    ) -> None:
        """Take the real path of the folder, and the printable paths that were found there or skipped by name.

        text: whether text files count; has_documents: whether HTML pages and notebooks count as well.
        """
        self._choice = FileChoice(max_text_size=MAX_TEXT_SIZE if text else None, has_documents=text and has_documents)
        self._root = root
        self._prefix = root.rstrip(os.sep) + os.sep
        self._boundary = make_boundary(root, follow_links)
        self._known = _add_folders(known)
        self._is_venv = os.path.lexists(os.path.join(root, VENV_FILE))
        self._markers = [name for name in PROJECT_FILES if os.path.lexists(os.path.join(root, name))]
        self._rules: dict[str, IgnoreRules | None] = {}  # None: the folder is excluded

    def keeps(self, place: str) -> bool:
        """Return whether a change at a place, which may no longer exist, may need a build."""
        if not place.startswith(self._prefix):
            return True  # the folder itself, or another spelling of it
        path = place[len(self._prefix) :].replace(os.sep, "/")
        name = os.path.basename(path)
        if print_path(path) in self._known:
            return True
        if name in _RULE_FILES:
            return self._find_rules(_name_folder(path)) is not None
        if os.path.isdir(place):
            return self._find_rules(path + "/") is not None
        is_read = self._choice.find_limit(name) is not None
        return is_read and os.path.lexists(place) and self._holds_file(path)

    def _holds_file(self, path: str) -> bool:
        if is_editor_lock(path):
            return False
        rules = self._find_rules(_name_folder(path))
        return rules is not None and not rules.ignores(path)

    def _find_rules(self, folder: str) -> IgnoreRules | None:
        """Return the rules of a folder ("" or "a/b/"), or None if a build does not enter it."""
        unknown = []
        while folder and folder not in self._rules:
            unknown.append(folder)
            folder = _name_folder(folder[:-1])
        rules = self._rules[folder] if folder in self._rules else self._begin_rules()
        for inner in reversed(unknown):
            rules = self._rules[inner] = None if rules is None else self._enter(inner, rules)
        return rules

    def _begin_rules(self) -> IgnoreRules:
        # As in discovery: a virtual environment named as the root is read, whatever its .gitignore says.
        rules = IgnoreRules() if self._is_venv else self._add_rules("", load_outer_rules(self._root))
        self._rules[""] = rules
        return rules

    def _enter(self, folder: str, rules: IgnoreRules) -> IgnoreRules | None:
        if self._is_venv:
            return rules
        if is_left_out(os.path.basename(folder[:-1])) or rules.ignores(folder):
            return None
        if self._boundary.find_violation(self._prefix + folder) is not None:
            return None
        if is_build_output(folder, self._markers) or os.path.lexists(self._prefix + folder + VENV_FILE):
            return None
        if is_other_work_tree(self._prefix + folder, self._root):
            return None
        return self._add_rules(folder, rules)

    def _add_rules(self, folder: str, rules: IgnoreRules) -> IgnoreRules:
        for name in IGNORE_FILES:
            place = self._prefix + folder + name
            if not os.path.isfile(place) or os.path.islink(place):
                continue
            try:
                rules = rules.add(folder, name, read_file(place, MAX_IGNORE_FILE_SIZE))
            except PathError:  # the build reports it
                continue
        return rules


def is_editor_lock(path: str) -> bool:
    """Return whether a path is a lock of Emacs, a dangling link beside a file that is being edited."""
    return os.path.basename(path).startswith(".#")


def _name_folder(path: str) -> str:
    """Return the folder of a path, with a trailing slash; "" for the top."""
    return path[: path.rfind("/") + 1]


def _add_folders(paths: Iterable[str]) -> Collection[str]:
    """Add the parent folders of paths, without trailing slashes."""
    known = set(paths)
    for path in tuple(known):
        while (path := _name_folder(path)[:-1]) and path not in known:
            known.add(path)
    return known


QUIET_MS = 200  # a change without further events for this long is complete; one save is often several writes
STORM_MS = 5_000  # longest wait for a quiet moment: enough for a checkout of thousands of files
MOMENT_MS = 1_000
POLL_SECONDS = 1.0
POLL_SHARE = 10  # slow polls become rarer: they take at most a tenth of one processor
UNSETTLED_LOOKS = 5  # polls in a row after which a tree that keeps changing is built anyway

Wakes = Iterator[bool]


def check_notices() -> None:
    """Raise MissingExtraError unless the package for file notifications is installed."""
    if find_spec("watchfiles") is None:
        raise MissingExtraError("watchfiles", "watch", "--watch without --poll")


def await_notices(folder: str, keeps: Callable[[str], bool], *, is_recursive: bool) -> Wakes:
    """Wait for notifications of changes below a folder, ignoring those that `keeps` rejects.

    Raises PathError if the system sends none, such as beyond its limit or in a folder that may not be read.
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
            poll_delay_ms=MOMENT_MS,  # if the system has no notifications
            recursive=is_recursive,
            ignore_permission_denied=False,  # True would hide that the rest of the tree is not watched
        ):
            yield bool(changes)
    except (OSError, RuntimeError) as fault:
        raise PathError(
            f"the system does not notify of changes in {folder} ({fault}), so files are polled every second, as"
            " with --poll; if its limit is reached, raise it:"
            " sysctl fs.inotify.max_user_watches=1000000 fs.inotify.max_user_instances=1000"
        ) from fault


def poll_files(
    look: Callable[[], str],
    nap: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Wakes:
    """Poll every second; a change counts when two polls in a row agree."""
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


RETRY_SECONDS = 5.0  # after a failed build: by then another writer has usually finished
RECHECK_SECONDS = 60.0
"""The system does not notify of everything: targets of links, rules above PATH, folders beyond its limit of watches."""

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
    reader: str | None = None,
    model: str | None = None,
    poll: bool = False,
    say: Say = lambda fault: None,
    open_target: Callable[[str], GraphStore] | None = None,
) -> Iterator[BuildReport]:
    """Build a folder, a Python file or a corpus, and again after each change; yield the report of each round.

    A round without changes yields none. The first build raises what build() raises; later failures are reported to
    `say`, once per message, and retried. Raises PathError when the folder is gone, and
    UsageError for the reader `model`. If the system sends no
    notifications, `say` is told the reason and the files are polled.
    poll: poll the files every second instead of using notifications.
    open_target: opens the store at its address; called for each round, so that a server may be restarted in between.
    """
    _check_path(path)
    _check_store(store)
    if reader == "model":
        raise UsageError("the reader 'model' does not follow changes; use 'structure', or build again when it matters")
    if not poll:
        check_notices()
    from pkg.extract.input_options import READERS
    from pkg.graph.opening import open_store
    from pkg.indexing.inputs import find_input

    find = partial(find_input, path, source, field, max_file_size, follow_links, text, reader, model)
    judge = partial(WatchFilter, follow_links=follow_links, text=text, has_documents=reader in READERS)
    rounds = _WatchLoop(find, partial(open_target or partial(open_store, create=True), store), options, say, judge)
    place = _WatchedPath(path)
    yield rounds.build_first()
    wakes = poll_files(rounds.read_fingerprint) if poll else _await_changes(place, rounds, say)
    yield from rounds.build_on(place, wakes)


def _await_changes(place: _WatchedPath, rounds: _WatchLoop, say: Say) -> Wakes:
    """Wait for notifications; if the system has none, report that and poll."""
    try:
        yield from place.await_notices(rounds.keeps)
    except PathError as fault:
        place.check()
        say(fault)
    yield True
    yield from poll_files(rounds.read_fingerprint)


def _check_path(path: str) -> None:
    """Raise UsageError for inputs that are not followed: archives, revisions, standard input, several files of rows."""
    kind = ""
    if path == "-":
        kind = "standard input"
    elif os.path.isfile(path) and path.lower().endswith(ARCHIVE_SUFFIXES):
        kind = "an archive"
    elif "@" in path and not os.path.lexists(path):
        kind = "a git revision"
    elif is_many(path) and (is_corpus(path) or is_address(path)):
        kind = "several files of rows"
    if kind:
        raise UsageError(
            f"--watch follows a folder, a Python file or a corpus on disk, and {print_path(path)} is {kind};"
            " name a folder, or leave out --watch"
        )


def _check_store(address: str) -> None:
    """Raise UsageError for a store with the name of a Python file, which every build would change."""
    if address.endswith(SUFFIXES):
        shown = conceal_address(address)
        raise UsageError(f"the store {shown} has the name of a Python file; expected another, such as graph.db")


class _WatchedPath:
    """The watched folder, or the folder of the watched file, because editors replace files."""

    def __init__(self, path: str) -> None:
        self.real = os.path.realpath(path)
        self.is_folder = os.path.isdir(self.real)
        self.folder = self.real if self.is_folder else os.path.dirname(self.real)
        self._identity = self._identify()

    def await_notices(self, keeps: Callable[[str, str], bool]) -> Wakes:
        """Wait for notifications of the folder's tree, or of the one file."""
        if self.is_folder:
            return await_notices(self.folder, partial(keeps, self.folder), is_recursive=True)
        return await_notices(self.folder, lambda place: place == self.real, is_recursive=False)

    def check(self) -> None:
        """Raise PathError if the folder is not the one that the watch began with."""
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


class _WatchLoop:
    """The builds of one watch, and the state between them: known files, last message, time of the next attempt."""

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

    def read_fingerprint(self) -> str:
        """Return the fingerprint of the input, or the message of its error."""
        try:
            return self._find().fingerprint
        except PkgError as fault:
            return str(fault)

    def keeps(self, root: str, place: str) -> bool:
        """Return whether a change may need a build."""
        if self._filter is None:
            self._filter = self._judge(root, self._known)
        return self._filter.keeps(place)

    def build_first(self) -> BuildReport:
        """Build the changes since the last build; errors are raised."""
        return self._build()

    def build_on(self, place: _WatchedPath, wakes: Wakes) -> Iterator[BuildReport]:
        """Build at each wake-up and when a build is due; yield the reports with changes."""
        due = 0.0  # now: files may have changed between the first build and the start of the watch
        for is_woken in wakes:
            place.check()
            if not is_woken and time.monotonic() < due:
                continue
            report = self._try_build(place)
            due = time.monotonic() + (RETRY_SECONDS if report is None else RECHECK_SECONDS)
            if report is not None and (report.changed or self._has_new_skips):
                yield report

    def _try_build(self, place: _WatchedPath) -> BuildReport | None:
        try:
            report = self._build()
        except PkgError as fault:
            place.check()  # a deleted folder is no failure of the build
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
        """Keep the known files for the filter, and whether the input has new skips."""
        self._known = [unit.path for unit in found.entries or ()] + [skip.path for skip in found.skipped]
        skipped = frozenset(skip for skip in found.skipped if not is_editor_lock(skip.path))
        self._has_new_skips = not skipped <= self._skipped
        self._skipped = skipped
