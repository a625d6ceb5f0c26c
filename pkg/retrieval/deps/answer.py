"""What may be asked about dependencies, and what an answer is made of: places, links, and how much was bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, get_args

from pkg.errors import UsageError, count_things
from pkg.model import Node, Stale
from pkg.retrieval.query_options import check_choice, check_least

QuestionKind = Literal["links", "path", "impact", "cycles", "unused", "imports"]
Direction = Literal["in", "out", "both"]
QUESTIONS: tuple[QuestionKind, ...] = get_args(QuestionKind)
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
RelationKind = Literal["calls", "imports", "inherits", "overrides", "unresolved"]
RELATION_KINDS: tuple[RelationKind, ...] = get_args(RelationKind)
READS = "READS"
"""The type of a link from what reads a constant to that: it is found when it is asked for, and no RelationType."""
HOLDS = "HOLDS"
"""The type of a link from a function to one that is defined inside it, which it may give away: no RelationType."""
ENTERS = "ENTERS"
"""The type of a link from who makes an object to a method of it that Python or a library calls: no RelationType."""
RUNS = "RUNS"
"""The type of a link from a test to code that its runner runs with it, such as its set-up: no RelationType."""
INCOMING = ("callers", "importers", "subclasses", "overridden by", "readers")
"""Relations whose links lead to the place that is asked about."""
LINK_DEPTH = 1
CHAIN_DEPTH = 10  # hops of a chain, steps of an impact: longer ones are rarely read, and the answer says when it stops
DEFAULT_LIMIT = 200  # lines of one kind: more than a person reads, and hubs have thousands

SHOWN_NAMES = 3  # of those inside a class, in a sentence about all of them
SHOWN_LINKS = 10  # of a relation beside a definition that is shown: who wants all of them asks for the dependencies

_WITH_NAME = ("links", "path", "impact")


@dataclass(frozen=True, slots=True)
class DepsOptions:
    """The settings of one question about dependencies."""

    question: QuestionKind = "links"
    to: str | None = None  # the end of a path
    source: str | None = None
    depth: int | None = None  # None for LINK_DEPTH or CHAIN_DEPTH
    direction: Direction = "both"
    limit: int = DEFAULT_LIMIT  # lines of one kind; 0 for no limit
    relations: tuple[RelationKind, ...] = ()  # the kinds of links to follow; () for all
    diff: str | None = None  # impact: a revision to compare with, or two as REV..REV, in the place of names
    staged: bool = False  # impact: compare what is staged, with HEAD without a diff
    entries: bool = False  # impact: find what enters the code that has changed or may break; reads all texts for it
    doubtful: bool = False  # unused: list also what may be used in a way that no link shows

    @property
    def has_diff(self) -> bool:
        """Tell whether a diff says what is asked about."""
        return self.staged or self.diff is not None

    @property
    def steps(self) -> int:
        """Give the depth that was asked for, or the one that fits the question."""
        if self.depth is not None:
            return self.depth
        return LINK_DEPTH if self.question == "links" else CHAIN_DEPTH


def check_options(name: str | None, options: DepsOptions) -> None:
    """Refuse what cannot be meant, with a UsageError."""
    _check_diff(name, options)
    check_choice("question", options.question, QUESTIONS)
    check_choice("direction", options.direction, DIRECTIONS)
    check_least("depth", options.steps, 1)
    check_least("limit", options.limit, 0)
    if options.doubtful and options.question != "unused":
        raise UsageError("doubtful uses are listed with what is unused; ask for that: --unused --doubtful")
    for relation in options.relations:
        check_choice("relation", relation, RELATION_KINDS)
    if options.relations and options.question not in ("links", "impact"):
        raise UsageError(f"relations narrow what is around a name, and its impact; {options.question} has its own")
    if options.diff is not None and not options.diff.strip():
        raise UsageError("the revision to compare with is empty; expected one such as HEAD, main or main...topic")
    if not name and options.question in _WITH_NAME and not options.has_diff:
        others = (
            "a git diff (--diff REV, --staged)"
            if options.question == "impact"
            else "pkg deps --cycles, --unused or --imports"
        )
        raise UsageError(
            "no name was given; expected a function, class, constant or file, such as Cart.total, shop/cart.py or"
            f" shop/cart.py:12, or {others}"
        )
    if (options.to is None) == (options.question == "path"):
        raise UsageError("a path has two ends, and no other question has a second name; write: --path A B")


def _check_diff(name: str | None, options: DepsOptions) -> None:
    if options.has_diff and options.question != "impact":
        raise UsageError(f"a diff is asked for its impact; {options.question} is about a name")
    if options.has_diff and name:
        raise UsageError(f"a diff says itself what has changed, and '{name}' is a name; give one of them")


def cut_limit(limit: int, count: int) -> int:
    """Give how many of so many are shown."""
    return min(limit, count) if limit else count


@dataclass(frozen=True, slots=True)
class Place:
    """One node as an answer names it."""

    id: str
    label: str
    source: str
    path: str  # "" for a library
    line: int  # first line of the definition; 0 for a file or a library
    qualname: str
    is_stale: bool = False  # whether its file is not what the graph was built from any more


@dataclass(frozen=True, slots=True)
class Link:
    """One dependency, from what needs to what is needed, with the lines where it stands in the file of the start."""

    type: str  # a RelationType, or READS, HOLDS, ENTERS or RUNS; RESOLVES_TO leads from a file to what it imports
    start: Place
    end: Place
    lines: tuple[int, ...] = ()
    rule: str | None = None  # for RESOLVES_TO the artifact type, for UNRESOLVED the reason
    confidence: str = "certain"
    text: str = ""  # the import statement


@dataclass(frozen=True, slots=True)
class NamedSites:
    """Where names stand in the code of a source, counted where no caller of what bears them is known."""

    names: tuple[str, ...]
    calls: int  # call expressions and decorators of the names, of a property reads too, whatever they are bound to
    elsewhere: int  # of these, on lines where a definition of the name is called for sure
    references: int  # uses that call nothing there: handed on, read, or written as a text, as for getattr
    first: tuple[str, ...]  # path:line of the first calls that are not bound, else of the first references
    is_cut: bool = False  # whether counting ended before the end of the source
    is_implicit: bool = False  # whether Python calls one of them by itself, which no expression shows
    unread: int = 0  # files of code whose text the store does not have, so that it was not searched
    first_unread: tuple[str, ...] = ()  # their first paths
    only_definitions: bool = False  # whether the store has no more of the code than definitions: of rows

    @property
    def is_none(self) -> bool:
        """Return whether nothing calls or uses any of the names in the code that was searched."""
        return not (self.calls or self.references or self.is_implicit)

    def say(self) -> str:
        """Return in words what the code of the source has of the names."""
        more = len(self.names) - SHOWN_NAMES
        names = ", ".join(self.names[:SHOWN_NAMES])
        names += f" and {more:,} more" if more > 0 else ""
        first = f", first at {', '.join(self.first)}" if self.first else ""
        place = "the definitions of the rows" if self.only_definitions else "the source"
        limits = "".join(f"; {each}" for each in self._list_limits())
        if self.is_cut and not self.calls:
            uses = f"the first {count_things(self.references, 'use')} of {names} in {place} are no calls"
            return f"no caller is known; {uses}{first}{limits}"
        if not self.calls:
            is_sure = self.is_none and not (self.unread or self.only_definitions)
            found = "no callers found" if is_sure else "no caller is known"
            used = f"; {count_things(self.references, 'reference')} without a call{first}" if self.references else ""
            return f"{found}: {self._name_searched()} no call expression of {names}{used}{limits}"
        least = "at least " if self.is_cut else ""
        loose = self.calls - self.elsewhere
        parts = [f"{self.elsewhere:,} bound elsewhere"] * bool(self.elsewhere)
        parts += [f"{loose:,} that could not be told apart{first}"] * bool(loose)
        counted = f"{least}{count_things(self.calls, 'call expression')} of {names} in {place}"
        return f"no caller is known; {counted}: {', '.join(parts)}{limits}"

    def _name_searched(self) -> str:
        """Return what was searched, with a verb."""
        if self.only_definitions:
            return "the definitions of the rows have"
        return "the searched files have" if self.unread else "the source has"

    def _list_limits(self) -> Iterator[str]:
        """Yield which calls the count cannot include, and why."""
        if self.is_implicit:
            yield "Python calls special methods by itself, which is not counted"
        if self.only_definitions:
            yield "code of rows outside of definitions is not stored and was not searched"
        if self.unread:
            more = self.unread - len(self.first_unread)
            paths = ", ".join(self.first_unread) + (f" and {more:,} more" if more else "")
            yield f"not searched, since no text is stored: {count_things(self.unread, 'file')} ({paths})"


@dataclass(frozen=True, slots=True)
class CallCoverage:
    """How many of the call sites in reach are bound: calls of one line by one rule count as one. Or of the reads."""

    scope: str  # what was counted, in words
    bound: int  # certain and likely
    possible: int
    unbound: int
    same_name: int | None = None  # unbound call sites of the source that bear the name; None without a name
    names: str = ""  # the name, or whose names, in words
    notes: tuple[str, ...] = ()
    reasons: tuple[tuple[str, int], ...] = ()  # why those of the same name are unbound, the commonest first
    what: str = "call sites"  # what was counted; reads of a constant are none
    stale: tuple[Stale, ...] = ()  # files of the answer that are not what the graph was built from any more
    named: NamedSites | None = None  # where the answer knows no caller of a function or class


@dataclass(frozen=True, slots=True)
class Dependency:
    """One line of a walk: a link, how many steps away, and the place that the step was made from."""

    relation: str  # the name of a Relation
    depth: int
    of: str  # id of the place one step nearer to the target
    link: Link
    inside: Place | None = None  # the definition inside of that place whose link it is; None where it is its own

    @property
    def is_incoming(self) -> bool:
        """Return whether the link leads to the place that was asked about."""
        return self.relation in INCOMING

    @property
    def place(self) -> Place:
        """Give the end of the link that the walk led to."""
        return self.link.start if self.is_incoming else self.link.end

    def say_inside(self) -> str:
        """Return which definition inside of the nearer place the link starts or ends at; "" for that place itself."""
        if self.inside is None:
            return ""
        return f"{'to' if self.is_incoming else 'from'} {self.inside.qualname} inside it"


@dataclass(frozen=True, slots=True)
class Entry:
    """One way in which a framework or runner enters a function or class, such as GET /x, and where that is said."""

    by: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What a function, class or file stands on, and what stands on it, or who reads a constant; the surest first."""

    target: Place
    direction: str
    found: tuple[Dependency, ...]
    left_out: tuple[tuple[str, int], ...]  # links over the limit, by relation
    coverage: CallCoverage
    entries: tuple[Entry, ...] = ()  # what enters it that is no code of the source


@dataclass(frozen=True, slots=True)
class Chains:
    """The shortest chains of calls between two places."""

    start: Place
    end: Place
    depth: int  # hops that a chain may have
    chains: tuple[tuple[Link, ...], ...]
    left_out: int
    coverage: CallCoverage


@dataclass(frozen=True, slots=True)
class Affected:
    """One place that may break: how far away, whether every link to it is bound, and the last link of the chain."""

    place: Place
    distance: int
    confidence: str  # certain or likely where a chain of such links leads to it, else possible
    is_test: bool
    link: Link


WHOLE_FILE = ("renamed", "does not parse", "did not parse", "cannot be read")
"""What may have become of a file of a diff that counts as changed as a whole."""


@dataclass(frozen=True, slots=True)
class Change:
    """One piece of code that a diff touches."""

    path: str
    qualname: str  # "" for module code
    how: str  # changed, added, deleted or uses a changed import; of a whole file one of WHOLE_FILE


@dataclass(frozen=True, slots=True)
class ReachedEntry:
    """One way in which a framework or runner enters what has changed or may break, with its place."""

    entry: Entry
    place: Place
    confidence: str  # of the chain to the place; certain where it is what has changed


@dataclass(frozen=True, slots=True)
class Impact:
    """What may break when places change, by distance; what only possible links lead to stands last."""

    targets: tuple[Place, ...]
    depth: int
    affected: tuple[Affected, ...]
    total: int  # with those over the limit
    tests: int  # of the total
    possible: int  # of the total, reached through possible links alone
    left_out: int
    changes: tuple[Change, ...]  # of a diff, also those that the graph has not
    coverage: CallCoverage
    entries: tuple[ReachedEntry, ...] = ()  # where asked: into targets and affected that are shown, but for tests


@dataclass(frozen=True, slots=True)
class Cycle:
    """Files that import each other, or functions that call each other, with one shortest way around."""

    kind: str  # import or call
    members: tuple[Place, ...]
    size: int  # members, with those over the limit
    around: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Cycles:
    """All cycles of imports and of bound calls, the largest first."""

    cycles: tuple[Cycle, ...]
    imports: int
    calls: int
    recursive: int  # functions that call themselves; they are no cycles of several
    left_out: int
    coverage: CallCoverage


@dataclass(frozen=True, slots=True)
class UnusedPlace:
    """A definition that nothing refers to, and what could make that wrong."""

    place: Place
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unused:
    """Definitions without a known use, those with the least doubt first."""

    found: tuple[UnusedPlace, ...]
    total: int
    spared: tuple[tuple[str, int], ...]  # that no link leads to and that are not of these, by what may use them
    definitions: int  # that were looked at
    left_out: int
    coverage: CallCoverage


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One row of the table of imports (Q-04)."""

    category: str  # library_import_direct, library_import_from, file_import_direct or file_import_from
    target_file: str | None
    library_name: str | None
    file_name: str
    artifact: str
    artifact_type: str  # function, class, variable, module or unknown
    line: int
    source: str


@dataclass(frozen=True, slots=True)
class ImportTable:
    """Every import of the files that were asked for, with totals by category and artifact type (Q-04)."""

    records: tuple[ImportRecord, ...]
    total: int
    files: int  # that import anything
    categories: tuple[tuple[str, int], ...]
    artifact_types: tuple[tuple[str, str, int], ...]  # category, artifact type, count
    left_out: int
    coverage: CallCoverage


Answer = Dependencies | Chains | Impact | Cycles | Unused | ImportTable


def make_place(node: Node) -> Place:
    """Name a node."""
    return Place(node.id, node.label.value, node.source, node.path, node.start_line, node.qualname)


def is_test(place: Place) -> bool:
    """Tell whether a place belongs to tests by the names that test runners look for."""
    path = PurePosixPath(place.path)
    names = place.qualname.split(".")
    return (
        any(part in ("test", "tests", "testing") for part in path.parts[:-1])
        or path.stem == "conftest"
        or path.stem.startswith("test_")
        or path.stem.endswith("_test")
        or (place.label in ("Function", "Class") and any(name.startswith(("test_", "Test")) for name in names))
    )
