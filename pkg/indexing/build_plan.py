"""The plan of a build, and the session that carries it out.

The known units of a source are kept on disk, so that memory does not grow with the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.errors import CorpusError
from pkg.extract.documents.document_kinds import is_prose
from pkg.extract.files import ONLY_OUTLINE
from pkg.extract.input_options import parse_fingerprint
from pkg.indexing.report import BuildReport
from pkg.local_errors import INTERNAL, LocalErrors, find_version, list_outdated
from pkg.model import Label, LocalError, Skip, Status
from pkg.resources import open_scratch

if TYPE_CHECKING:
    from pkg.extract.files import Entry
    from pkg.graph.store import GraphStore, StoreWriter
    from pkg.indexing.inputs import Input, LoadedUnit
    from pkg.indexing.partitions import Cluster
    from pkg.indexing.written_docstrings import GeneratedTexts
    from pkg.units import UnitGraph, UnitText


RESOLVING = ("resolve", "link")  # stages whose errors every resolution reports again
_CREATE = "CREATE TABLE unit (path TEXT PRIMARY KEY, fingerprint TEXT, content TEXT, is_seen INTEGER) WITHOUT ROWID"
_PUT = "INSERT INTO unit VALUES (?, ?, ?, 0)"
_GET = "SELECT fingerprint, content FROM unit WHERE path = ?"
_COUNT = "SELECT count(*) FROM unit"
_FORGET = "UPDATE unit SET fingerprint = '', content = '' WHERE path = ?"
_SEE = "UPDATE unit SET is_seen = 1 WHERE path = ?"
_SEEN = "SELECT path FROM unit WHERE is_seen ORDER BY path"
_UNSEEN = "SELECT path FROM unit WHERE NOT is_seen ORDER BY path"


class KnownUnits:
    """The units that the store has of a source, and which of them the input still has."""

    def __init__(self, units: Iterable[tuple[str, str, str]]) -> None:
        """Store (path, fingerprint, content hash) of each unit in a temporary file."""
        self._connection = open_scratch(_CREATE)
        self._connection.executemany(_PUT, units)

    def forget_content(self, paths: Iterable[str]) -> None:
        """Forget fingerprint and content hash of some units, which are then read again."""
        self._connection.executemany(_FORGET, ((path,) for path in paths))

    def find(self, path: str) -> tuple[str, str]:
        """Return fingerprint and content hash of the unit at a path; two empty strings if it is unknown."""
        row: tuple[str, str] | None = self._connection.execute(_GET, (path,)).fetchone()
        return row or ("", "")

    def count(self) -> int:
        """Return the number of units."""
        return int(self._connection.execute(_COUNT).fetchone()[0])

    def mark_seen(self, path: str) -> None:
        """Mark a unit as present in the input."""
        self._connection.execute(_SEE, (path,))

    def list_seen(self) -> Iterator[str]:
        """Iterate over the paths that the input still has, sorted."""
        return (path for (path,) in self._connection.execute(_SEEN))

    def list_unseen(self) -> Iterator[str]:
        """Iterate over the paths that the input no longer has, sorted."""
        return (path for (path,) in self._connection.execute(_UNSEEN))

    def close(self) -> None:
        """Delete the temporary file."""
        self._connection.close()


Progress = Callable[[int, int], None]  # bytes done, bytes in total (0 if unknown)


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options of a build that do not depend on the input."""

    encoder: str | None = None  # None: that of the store, or the default for a new store
    jobs: int = 1  # worker processes; 0: one per processor if there is enough to do
    progress: Progress | None = None
    say: Callable[[str], None] = lambda text: None  # called before slow steps
    agree: Callable[[str], bool] | None = None  # asked for consent before code is sent to a service
    enter: Callable[[str], None] = lambda stage: None  # called at the start of each stage after reading
    read_documents: Callable[[Iterable[LoadedUnit]], Iterable[LoadedUnit]] | None = None  # by a model
    cluster: Cluster | None = None  # workers and their folder, instead of worker processes that send what they make


DEFAULT_OPTIONS = BuildOptions()


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """The work of a build for one source."""

    units: Iterable[Entry | LoadedUnit | Skip]
    known: KnownUnits  # units in the store; unchanged ones are marked as seen
    size: int  # bytes to read; 0 if unknown
    is_moved: bool = False  # the root belongs to another package than before
    is_resumed: bool = False  # an interrupted first build has stored the known units, and not resolved all
    errors: Sequence[LocalError] = ()  # of the last build


def is_current(found: Input, store: GraphStore) -> bool:
    """Return whether the last build of the source read this input at this revision."""
    name = found.source.name
    before = store.source_fingerprint(name)
    is_same = bool(before) and before == found.fingerprint and found.source in store.sources()
    return is_same and not list_outdated(store.errors(name))  # an outdated error may not occur in this version


def list_reread(found: Input, store: GraphStore) -> list[str]:
    """Return the paths of a source whose documents another reader made before."""
    before, now = (
        parse_fingerprint(each)[1] for each in (store.source_fingerprint(found.source.name) or "", found.fingerprint)
    )
    if (before.reader, before.model) == (now.reader, now.model):
        return []
    is_corpus = found.source.kind == "corpus"
    return [path for path, _, _ in store.fingerprints(found.source.name) if is_corpus or is_prose(path)]


def describe_making(found: Input, encoder: str) -> str:
    """Return everything besides the texts of a source that decides its nodes, as one line."""
    from pkg.extract.text_files.text_kinds import TEXT_VERSION
    from pkg.resolution.record_version import VERSION

    _, options = parse_fingerprint(found.fingerprint)
    generated = sorted((hashed, repr(texts)) for hashed, texts in found.generated.items())
    versions = find_version(), VERSION, TEXT_VERSION
    return repr((versions, encoder, found.source, options, generated))


def describe_resumption(found: Input, plan: BuildPlan) -> str:
    """Return how much of a first build an interrupted one has done."""
    if found.entries is None:
        return f"resumes: {plan.known.count():,} rows were prepared before"
    return f"resumes: {found.count - len(tuple(plan.units)):,} of {found.count:,} files were prepared before"


def list_lost(store: GraphStore, source: str) -> Iterator[str]:
    """Yield the paths of the units of a source that lost something by an internal error."""
    for unit in store.nodes((Label.FILE, Label.ROW), source):
        if str(unit.properties.get("reason", "")).startswith(INTERNAL):
            yield unit.path


def load_generated(found: Input, store: GraphStore) -> GeneratedTexts:
    """Return the known generated texts of a source: those in the store and in the export that it is built from."""
    return dict(store.generated_texts(found.source.name)) | dict(found.generated)


def compare(found: Input, known: KnownUnits) -> BuildPlan:
    """Return the plan for an input: units with a new fingerprint are read."""
    if found.entries is None:
        return BuildPlan(found.stream(), known, 0)
    fresh = []
    for unit in found.entries:
        if known.find(unit.path)[0] == unit.fingerprint:
            known.mark_seen(unit.path)
        else:
            fresh.append(unit)
    return BuildPlan(fresh, known, sum(unit.size for unit in fresh))


@dataclass(frozen=True, slots=True)
class Change:
    """The changes that a build makes to a repository."""

    fresh: Mapping[str, UnitText]  # files that were stored
    before: Mapping[str, bytes]  # previous texts of replaced or removed files
    unchanged: Sequence[str]  # paths of unchanged files
    package: str = ""  # package of the root of the repository
    is_moved: bool = False  # the package has changed, so every import may lead elsewhere


class BuildSession:
    """Load units, store them, and count the outcomes."""

    def __init__(
        self, found: Input, plan: BuildPlan, store: GraphStore, writer: StoreWriter, progress: Progress | None
    ) -> None:
        """Begin a build; local errors of the last one remain until their files are read again."""
        from pkg.indexing.spool import UnitSpool

        self._found, self._plan, self._store, self._writer, self._progress = found, plan, store, writer, progress
        self._source = found.source.name
        self._has_units = self._has_changed = False
        self._done = 0
        self._written = self._removed = self._partial = self._same = 0
        self.skipped = list(found.skipped)
        self.errors = LocalErrors()
        self._faulty = {error.path for error in plan.errors}  # files that were neither read again nor removed
        self._long: list[Skip] = []  # files over the token budget; stored as partial
        self._fresh = UnitSpool(self._source)
        self._before: dict[str, bytes] = {}

    def load(self) -> Iterator[LoadedUnit]:
        """Yield the units of the plan with new content; count and report those that cannot be read."""
        from pkg.indexing.inputs import LoadedUnit

        for unit in self._plan.units:
            loaded = unit if isinstance(unit, LoadedUnit | Skip) else self._load_file(unit)
            if self._progress is not None:
                self._done += 0 if isinstance(unit, Skip) else unit.size
                self._progress(self._done, self._plan.size)
            if isinstance(loaded, Skip):
                self.skipped.append(loaded)
                continue
            self._has_units = True
            self._plan.known.mark_seen(loaded.path)
            fingerprint, content_hash = self._plan.known.find(loaded.path)
            if content_hash != loaded.content_hash:
                yield loaded
                continue
            self._same += 1
            if fingerprint != loaded.fingerprint:
                self._writer.put_fingerprint(self._source, loaded.path, loaded.fingerprint)

    def _load_file(self, entry: Entry) -> LoadedUnit | Skip:
        from pkg.indexing.inputs import load_file

        try:
            return load_file(entry, self._found.reader)
        except Exception as fault:
            self.errors.note(fault, "extract", entry.path)
            self._faulty.discard(entry.path)
            return Skip(entry.path, "internal error: it could not be read")

    def put(self, unit: UnitGraph) -> None:
        """Store one prepared unit."""
        self.errors.add(unit.errors)
        self._keep(unit.path)
        self._writer.replace_file(unit)
        if unit.code is not None:
            self._fresh[unit.path] = unit.code
        self._written += 1
        self._partial += unit.status is not Status.OK
        if unit.reason is not None and unit.reason.endswith(ONLY_OUTLINE):
            self._long.append(Skip(unit.path, unit.reason))

    def collect_errors(self, is_resolved: bool) -> list[LocalError]:
        """Return the local errors of the source: those of this build, and remaining ones of earlier builds.

        is_resolved: whether calls were resolved again, which reports all errors of resolution again.
        """
        self.errors.add(
            error
            for error in self._plan.errors
            if error.path in self._faulty and not (is_resolved and error.stage in RESOLVING)
        )
        return self.errors.sorted()

    def remove_unseen(self) -> None:
        """Delete the units that the input no longer has; raise CorpusError if no row of a corpus could be read."""
        if not self._has_units and self._found.entries is None and self._found.source.kind == "corpus":
            first = f"; first: {self.skipped[0]}" if self.skipped else ""
            raise CorpusError(
                f"no row of {self._found.source.root} can be read ({len(self.skipped)} left out{first});"
                " expected one JSON object a line, with code in one of its fields"
            )
        for path in self._plan.known.list_unseen():
            self._keep(path)
            self._writer.delete_file(self._source, path)
            self._removed += 1

    def _keep(self, path: str) -> None:
        """Remember the text of a file that is about to change: its definitions decide what is resolved again."""
        self._faulty.discard(path)
        if self._found.source.kind != "corpus" and not is_prose(path):
            self._has_changed = True
            self._before.update(self._store.texts(self._source, [path]))

    @property
    def has_changed(self) -> bool:
        """Return whether a code file was stored or removed, or all files are to be resolved again."""
        return self._has_changed or self._plan.is_moved or (self._plan.is_resumed and bool(self.change().unchanged))

    def change(self) -> Change:
        """Return the changes for resolution, which ignores text files."""
        code = (path for path in self._plan.known.list_seen() if not is_prose(path))
        unchanged = [path for path in code if path not in self._fresh]
        return Change(self._fresh, self._before, unchanged, self._found.source.package, self._plan.is_moved)

    def report(self, store: GraphStore, stages: dict[str, float]) -> BuildReport:
        """Return the report of the build."""
        untouched = self._found.count - len(self._plan.units) if isinstance(self._plan.units, list) else 0
        return BuildReport(
            source=self._source,
            store=store.address,
            generation=store.generation(),
            written=self._written,
            unchanged=untouched + self._same,
            removed=self._removed,
            partial=self._partial,
            skipped=(*self.skipped, *self._long),
            stages=stages,
            errors=tuple(self.errors.sorted()),
        )
