"""Options of questions about dependencies, and the parts of an answer: places, links, and coverage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, get_args

from pkg.errors import UsageError, count_things
from pkg.model import Node, Stale
from pkg.retrieval.query_options import check_choice, check_minimum

QuestionKind = Literal["links", "path", "impact", "cycles", "unused", "imports"]
Direction = Literal["in", "out", "both"]
QUESTIONS: tuple[QuestionKind, ...] = get_args(QuestionKind)
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
RelationKind = Literal["calls", "imports", "inherits", "overrides", "unresolved"]
RELATION_KINDS: tuple[RelationKind, ...] = get_args(RelationKind)
READS = "READS"
"""Type of a link from a reader of a constant to the constant: computed for each question, no RelationType."""
HOLDS = "HOLDS"
"""Type of a link from a function to one defined inside it, which it may pass on: no RelationType."""
ENTERS = "ENTERS"
"""Type of a link from a creator of an object to a method of it that Python or a library calls: no RelationType."""
RUNS = "RUNS"
"""Type of a link from a test to code that its runner runs with it, such as its set-up: no RelationType."""
INCOMING = ("callers", "importers", "subclasses", "overridden by", "readers")
"""Relations whose links lead to the target of the question."""
UNRESOLVED_CALLS = "unresolved calls"
"""Relation of a function to its calls that could not be resolved."""
LINK_DEPTH = 1
CHAIN_DEPTH = 10  # hops of a chain or an impact: longer ones are rarely read, and the answer reports the stop
DEFAULT_LIMIT = 200  # lines of one kind: more than a person reads, and hubs have thousands

SHOWN_NAMES = 3  # names inside a class, in a sentence about all of them
SHOWN_LINKS = 10  # of a relation beside a shown definition: pkg deps has the full list

_WITH_NAME = ("links", "path", "impact")


@dataclass(frozen=True, slots=True)
class DepsOptions:
    """Settings of one question about dependencies."""

    question: QuestionKind = "links"
    to: str | None = None  # end of a path
    source: str | None = None
    depth: int | None = None  # None for LINK_DEPTH or CHAIN_DEPTH
    direction: Direction = "both"
    limit: int = DEFAULT_LIMIT  # lines of one kind; 0 for no limit
    relations: tuple[RelationKind, ...] = ()  # kinds of links to follow; () for all
    diff: str | None = None  # impact: a revision to compare with, or two as REV..REV, instead of names
    staged: bool = False  # impact: compare staged changes, with HEAD if there is no diff
    entries: bool = False  # impact: find the entries into changed or affected code; reads all texts for that
    doubtful: bool = False  # unused: also list definitions that may be used in a way that no link shows

    @property
    def has_diff(self) -> bool:
        """Return whether a diff replaces the names."""
        return self.staged or self.diff is not None

    @property
    def steps(self) -> int:
        """Return the requested depth, or the default of the question."""
        if self.depth is not None:
            return self.depth
        return LINK_DEPTH if self.question == "links" else CHAIN_DEPTH


def check_options(name: str | None, options: DepsOptions) -> None:
    """Raise UsageError for invalid options."""
    _check_diff(name, options)
    check_choice("question", options.question, QUESTIONS)
    check_choice("direction", options.direction, DIRECTIONS)
    check_minimum("depth", options.steps, 1)
    check_minimum("limit", options.limit, 0)
    if options.doubtful and options.question != "unused":
        raise UsageError("doubtful uses are listed with unused definitions; use: --unused --doubtful")
    for relation in options.relations:
        check_choice("relation", relation, RELATION_KINDS)
    if options.relations and options.question not in ("links", "impact"):
        raise UsageError(f"relations restrict the links of a name, and its impact; {options.question} has its own")
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
        raise UsageError(f"a diff has only an impact; {options.question} needs a name")
    if options.has_diff and name:
        raise UsageError(f"expected a diff or a name, and got both: '{name}'; give one of them")


def apply_limit(limit: int, count: int) -> int:
    """Return how many of `count` items are shown."""
    return min(limit, count) if limit else count


@dataclass(frozen=True, slots=True)
class Place:
    """One node as named in an answer."""

    id: str
    label: str
    source: str
    path: str  # "" for a library
    line: int  # first line of the definition; 0 for a file or a library
    qualname: str
    is_stale: bool = False  # whether its file has changed since the build


@dataclass(frozen=True, slots=True)
class Link:
    """One dependency, from its user to what it uses, with its lines in the file of the start."""

    type: str  # a RelationType, or READS, HOLDS, ENTERS or RUNS; RESOLVES_TO leads from a file to what it imports
    start: Place
    end: Place
    lines: tuple[int, ...] = ()
    rule: str | None = None  # for RESOLVES_TO the artifact type, for UNRESOLVED the reason
    confidence: str = "certain"
    text: str = ""  # the import statement


@dataclass(frozen=True, slots=True)
class NamedSites:
    """Occurrences of names in the code of a source, counted if their definitions have no known caller."""

    names: tuple[str, ...]
    calls: int  # call expressions and decorators of the names, of a property reads too, whatever they are bound to
    elsewhere: int  # of these, on lines where a definition of the name is certainly called
    references: int  # uses without a call: passed on, read, or written as a text, as for getattr
    first: tuple[str, ...]  # path:line of the first unbound calls, else of the first references
    is_cut: bool = False  # whether counting ended before the end of the source
    is_implicit: bool = False  # whether Python calls one of them implicitly
    unread: int = 0  # code files without a stored text, which were not searched
    first_unread: tuple[str, ...] = ()  # their first paths
    only_definitions: bool = False  # whether only definitions were searched, as rows are not stored as a whole

    @property
    def is_none(self) -> bool:
        """Return whether the searched code neither calls nor uses any of the names."""
        return not (self.calls or self.references or self.is_implicit)

    def describe(self) -> str:
        """Return the counts in words."""
        more = len(self.names) - SHOWN_NAMES
        names = ", ".join(self.names[:SHOWN_NAMES])
        names += f" and {more:,} more" if more > 0 else ""
        first = f", first at {', '.join(self.first)}" if self.first else ""
        place = "the definitions of the rows" if self.only_definitions else "the source"
        limits = "".join(f"; {each}" for each in self._list_limits())
        if self.is_cut and not self.calls:
            uses = f"the first {count_things(self.references, 'use')} of {names} in {place} are not calls"
            return f"no caller is known; {uses}{first}{limits}"
        if not self.calls:
            is_sure = self.is_none and not (self.unread or self.only_definitions)
            found = "no callers found" if is_sure else "no caller is known"
            used = f"; {count_things(self.references, 'reference')} without a call{first}" if self.references else ""
            return f"{found}: {self._name_searched()} no call expression of {names}{used}{limits}"
        least = "at least " if self.is_cut else ""
        unresolved = self.calls - self.elsewhere
        parts = [f"{self.elsewhere:,} of another definition"] * bool(self.elsewhere)
        parts += [f"{unresolved:,} that could not be resolved{first}"] * bool(unresolved)
        counted = f"{least}{count_things(self.calls, 'call expression')} of {names} in {place}"
        return f"no caller is known; {counted}: {', '.join(parts)}{limits}"

    def _name_searched(self) -> str:
        """Return the searched code, with a verb."""
        if self.only_definitions:
            return "the definitions of the rows have"
        return "the searched files have" if self.unread else "the source has"

    def _list_limits(self) -> Iterator[str]:
        """Yield the calls that the count cannot include, with reasons."""
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
    """Call sites in reach by confidence, or reads of a constant; calls of one line by one rule count as one."""

    scope: str  # what was counted, in words
    bound: int  # certain and likely
    possible: int
    unbound: int
    same_name: int | None = None  # unbound call sites of the source with the same name; None without a name
    names: str = ""  # the name, or whose names, in words
    notes: tuple[str, ...] = ()
    reasons: tuple[tuple[str, int], ...] = ()  # reasons of those of the same name, the commonest first
    what: str = "call sites"  # what was counted: call sites, or reads of a constant
    stale: tuple[Stale, ...] = ()  # files of the answer that have changed since the build
    named: NamedSites | None = None  # if the answer has no caller of a function or class


@dataclass(frozen=True, slots=True)
class Dependency:
    """One line of a walk: a link, its distance, and the place before it."""

    relation: str  # name of a Relation
    depth: int
    of: str  # id of the place one step nearer to the target
    link: Link
    inside: Place | None = None  # the definition inside that place that has the link; None for the place itself

    @property
    def is_incoming(self) -> bool:
        """Return whether the link leads to the target of the question."""
        return self.relation in INCOMING

    @property
    def place(self) -> Place:
        """Return the end of the link that is farther from the target."""
        return self.link.start if self.is_incoming else self.link.end

    def describe_inside(self) -> str:
        """Return the definition inside the nearer place at which the link starts or ends; "" for the place itself."""
        if self.inside is None:
            return ""
        return f"{'to' if self.is_incoming else 'from'} {self.inside.qualname} inside it"


@dataclass(frozen=True, slots=True)
class Entry:
    """One way for a framework or runner to enter a function or class, such as GET /x, and its place in the code."""

    by: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Dependencies of a function, class or file in both directions, or readers of a constant, the surest first."""

    target: Place
    direction: str
    found: tuple[Dependency, ...]
    left_out: tuple[tuple[str, int], ...]  # links over the limit, by relation
    coverage: CallCoverage
    entries: tuple[Entry, ...] = ()  # entries from outside of the source's code


@dataclass(frozen=True, slots=True)
class Chains:
    """The shortest chains of calls between two places."""

    start: Place
    end: Place
    depth: int  # maximal hops of a chain
    chains: tuple[tuple[Link, ...], ...]
    left_out: int
    coverage: CallCoverage


@dataclass(frozen=True, slots=True)
class Affected:
    """One place that may break: its distance, the confidence of its chain, and the last link of that."""

    place: Place
    distance: int
    confidence: str  # certain or likely if a chain of such links leads to it, else possible
    is_test: bool
    link: Link


WHOLE_FILE = ("renamed", "does not parse", "did not parse", "cannot be read")
"""States of a file in a diff that make all of it count as changed."""


@dataclass(frozen=True, slots=True)
class Change:
    """One piece of code that a diff touches."""

    path: str
    qualname: str  # "" for module code
    how: str  # changed, added, deleted or uses a changed import; for a whole file one of WHOLE_FILE


@dataclass(frozen=True, slots=True)
class ReachedEntry:
    """One way for a framework or runner to enter changed or affected code, with its place."""

    entry: Entry
    place: Place
    confidence: str  # of the chain to the place; certain for changed code


@dataclass(frozen=True, slots=True)
class Impact:
    """Places that may break when others change, by distance; those reached only through possible links come last."""

    targets: tuple[Place, ...]
    depth: int
    affected: tuple[Affected, ...]
    total: int  # including those over the limit
    tests: int  # of the total
    possible: int  # of the total, reached only through possible links
    left_out: int
    changes: tuple[Change, ...]  # of a diff, including those missing from the graph
    coverage: CallCoverage
    entries: tuple[ReachedEntry, ...] = ()  # if requested: into targets and shown affected places, without tests


@dataclass(frozen=True, slots=True)
class Cycle:
    """Files that import each other, or functions that call each other, with one shortest path around."""

    kind: str  # import or call
    members: tuple[Place, ...]
    size: int  # members, including those over the limit
    around: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Cycles:
    """All cycles of imports and of bound calls, the largest first."""

    cycles: tuple[Cycle, ...]
    imports: int
    calls: int
    recursive: int  # functions that call themselves; they are not counted as cycles
    left_out: int
    coverage: CallCoverage


@dataclass(frozen=True, slots=True)
class UnusedPlace:
    """A definition without references, and reasons why it may be used nevertheless."""

    place: Place
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unused:
    """Definitions without a known use, those with the fewest doubts first."""

    found: tuple[UnusedPlace, ...]
    total: int
    spared: tuple[tuple[str, int], ...]  # definitions without links that are not listed, by their possible use
    definitions: int  # number of definitions examined
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
    """All imports of the requested files, with totals by category and artifact type (Q-04)."""

    records: tuple[ImportRecord, ...]
    total: int
    files: int  # files with imports
    categories: tuple[tuple[str, int], ...]
    artifact_types: tuple[tuple[str, str, int], ...]  # category, artifact type, count
    left_out: int
    coverage: CallCoverage


Answer = Dependencies | Chains | Impact | Cycles | Unused | ImportTable


def make_place(node: Node) -> Place:
    """Return the place of a node."""
    return Place(node.id, node.label.value, node.source, node.path, node.start_line, node.qualname)


def is_test(place: Place) -> bool:
    """Return whether a place belongs to tests, by the names that test runners look for."""
    path = PurePosixPath(place.path)
    names = place.qualname.split(".")
    return (
        any(part in ("test", "tests", "testing") for part in path.parts[:-1])
        or path.stem == "conftest"
        or path.stem.startswith("test_")
        or path.stem.endswith("_test")
        or (place.label in ("Function", "Class") and any(name.startswith(("test_", "Test")) for name in names))
    )
