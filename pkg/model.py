"""The nouns of the project that every layer shares, and nothing else: frozen, slotted dataclasses.

The pieces of a text are named tuples, which are made in half the time: a build makes hundreds of thousands.

Read this file first. Text offsets are byte offsets into the stored text of a unit (a file or a corpus row);
lines are 1-based; columns are 0-based byte columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal, NamedTuple, get_args


class Label(str, Enum):
    """The labels of nodes, in the order of an export."""

    SOURCE = "Source"
    FILE = "File"
    ROW = "Row"
    CLASS = "Class"
    FUNCTION = "Function"
    FUNCTION_NAME = "FunctionName"
    BLOCK = "Block"
    IMPORT = "Import"
    LIBRARY = "Library"
    CONSTANT = "Constant"
    MODULE = "Module"
    CHUNK = "Chunk"
    FACT = "Fact"
    CALL = "Call"


DECLARATION_LABELS = (Label.CLASS, Label.CONSTANT, Label.MODULE)
"""Labels that are searched beside functions and blocks; a search may take all three together."""
EMBEDDED_LABELS = (
    Label.FUNCTION,
    Label.BLOCK,
    Label.FUNCTION_NAME,
    Label.IMPORT,
    *DECLARATION_LABELS,
    Label.CHUNK,
    Label.FACT,
)
"""The labels whose nodes carry a vector (P-09)."""


def list_group(label: Label) -> tuple[Label, ...]:
    """Return the labels that share an index with a label."""
    return DECLARATION_LABELS if label in DECLARATION_LABELS else (label,)


BlockKind = Literal["body", "if", "for", "while", "with", "try", "match"]
BLOCK_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)
"""Kinds of blocks (P-04); ``body`` is the docstring-free body of a function (A-02)."""


class RelationType(str, Enum):
    """The types of relationships; NAMES, HAS_BODY and CHILD are the paper's (P-05)."""

    CONTAINS = "CONTAINS"
    NAMES = "NAMES"
    HAS_BODY = "HAS_BODY"
    CHILD = "CHILD"
    IMPORTS = "IMPORTS"
    RESOLVES_TO = "RESOLVES_TO"
    CALLS = "CALLS"
    INHERITS = "INHERITS"
    OVERRIDES = "OVERRIDES"
    UNRESOLVED = "UNRESOLVED"


class Status(str, Enum):
    """Outcome of parsing a unit."""

    OK = "ok"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Source:
    """One repository or corpus."""

    name: str
    kind: str  # "repository" or "corpus"
    root: str
    revision: str | None = None
    package: str = ""  # dotted name of the package that the root is the folder of


class Span(NamedTuple):
    """A piece of a unit's text: byte offsets [start, end) and the 1-based lines they lie on."""

    start: int
    end: int
    start_line: int
    end_line: int


class Class(NamedTuple):
    """One class definition, decorators included in its span."""

    name: str
    qualname: str
    span: Span
    parent: int | None  # index into CodeUnit.definitions
    bases: tuple[str, ...]
    decorators: tuple[str, ...]
    body: int  # byte offset of the first statement after the header
    docstring: Span | None


ConstantKind = Literal["constant", "field", "member"]
CONSTANT_KINDS: tuple[ConstantKind, ...] = get_args(ConstantKind)
"""A name assigned in a module, in a class, and in an enumeration."""


class Constant(NamedTuple):
    """One name that module or class code assigns or annotates; its span is that of the statement.

    Its documentation surrounds it: comments above and after it, a string below it.
    """

    name: str
    qualname: str
    span: Span
    parent: int | None  # index into CodeUnit.definitions; None in module code
    kind: ConstantKind
    value: tuple[int, int] | None  # byte offsets of the right side
    annotation: tuple[int, int] | None
    docstring: tuple[int, int] | None  # of a string that is the next statement


class Module(NamedTuple):
    """The code of a file outside of definitions and imports: from its first such statement to its last."""

    span: Span
    docstring: Span | None
    statements: tuple[tuple[int, int], ...]  # byte offsets of runs of such statements; a compound one may hold others


class Function(NamedTuple):
    """One function or method (P-03: the implementation node), decorators included in its span."""

    name: str
    qualname: str
    span: Span
    parent: int | None  # index into CodeUnit.definitions
    is_method: bool
    is_async: bool
    decorators: tuple[str, ...]
    docstring: Span | None


class Block(NamedTuple):
    """One compound statement of a function, or its docstring-free body (P-04, A-02)."""

    kind: str
    path: str  # position in the function, such as body/if[0]/for[1]
    span: Span
    depth: int  # 0 for the body
    function: int  # index into CodeUnit.definitions
    parent: int | None  # index into CodeUnit.blocks; None for the body


class Import(NamedTuple):
    """One alias of one import statement (A-11, Q-04)."""

    span: Span  # the whole statement
    module: str  # "" for `from . import x`
    name: str | None  # the imported name, "*" for a star import, None for `import module`
    alias: str | None
    level: int  # leading dots of a relative import

    @property
    def bound_name(self) -> str:
        """Return the name that it binds; * for a star import."""
        return self.alias or self.name or self.module.partition(".")[0]

    @property
    def statement(self) -> str:
        """Return the statement for this alias alone, which is encoded and identifies the import (A-06)."""
        alias = f" as {self.alias}" if self.alias else ""
        if self.name is None:
            return f"import {self.module}{alias}"
        return f"from {'.' * self.level}{self.module} import {self.name}{alias}"


HEADINGS = " > "
"""Separator of the headings in the qualified name of a chunk."""


class Chunk(NamedTuple):
    """One section of a text file, or a part of a long one, or several short ones."""

    name: str  # its last heading; the name of the file before the first one
    qualname: str  # all headings above it, such as Usage > Retries
    span: Span


FactKind = Literal["section", "text", "item", "term", "table", "row", "code", "value"]
FACT_KINDS: tuple[FactKind, ...] = get_args(FactKind)
"""Kinds of facts; a model writes sections (its objects), items (of its lists) and values."""


class Fact(NamedTuple):
    """One fact of a document (P-12): a key with a value, which is the text at its span."""

    name: str  # its key; equal ones of one parent are numbered
    qualname: str  # the chain of keys, such as Usage > Retries > [2]
    kind: FactKind
    span: Span
    parent: int | None  # index into DocumentUnit.facts
    value: str | None = None  # written by a model; None for the text at the span


class Call(NamedTuple):
    """One call site: the called expression, its line, and the function that contains it."""

    expression: str
    line: int
    function: int | None  # index into CodeUnit.definitions; None in module or class code


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring generated for a function without one, and its origin (P-07, A-13)."""

    text: str  # without quotes and indentation, as inspect.cleandoc gives it
    source: Literal["fim", "template"]  # written by a model, or built from the code
    model: str  # name of the text model, such as gguf:coder.gguf; template
    prompt: str  # prompt template and its version, such as hole/1
    date: str  # when it was written, such as 2026-01-31
    comments: tuple[str, ...] = ()  # written with it, each after the code line that it precedes (P-08)


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions that a function answers, written by a model for searches in everyday words, and their origin."""

    texts: tuple[str, ...]  # one line each
    model: str  # name of the text model, such as gguf:coder.gguf
    prompt: str  # prompt template and its version, such as questions/1
    date: str  # when they were written, such as 2026-01-31


@dataclass(frozen=True, slots=True)
class Generated:
    """The texts that were generated for a function; without any it equals NOT_GENERATED."""

    docstring: Docstring | None = None
    questions: Questions | None = None


NOT_GENERATED = Generated()


LeakKind = Literal["same_code", "same_name", "similar"]
LEAK_KINDS: tuple[LeakKind, ...] = get_args(LeakKind)
"""How a function leaks a solution: equal code up to local names, equal name and number of parameters, or most of its
tokens."""


class Leak(NamedTuple):
    """One task of a benchmark whose solution a function leaks (A-16)."""

    benchmark: str  # without white space
    task: str
    kind: LeakKind
    similarity: float  # shared part of both, from 0 to 1


@dataclass(frozen=True, slots=True)
class Audit:
    """A comparison of all functions of a graph with the solutions of a benchmark."""

    benchmark: str
    sha256: str  # of the tasks
    tasks: int
    leaked: int  # tasks that at least one function leaks
    functions: int  # that leak at least one task
    sources: Mapping[str, str]  # fingerprint of each source at that build


@dataclass(frozen=True, slots=True)
class CodeUnit:
    """Everything that extraction found in one file or row."""

    text: bytes
    language: str  # "python" or "python2"
    status: Status
    reason: str | None
    definitions: tuple[Class | Function, ...] = ()
    blocks: tuple[Block, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    summary: bytes = b""  # of the flow of values (pkg.extract.summary.file_summary)
    comments: tuple[tuple[int, int], ...] = ()  # byte offsets [start, end), ascending
    constants: tuple[Constant, ...] = ()
    module: Module | None = None  # None without code outside of definitions and imports


@dataclass(frozen=True, slots=True)
class TextUnit:
    """Everything that extraction found in one text file."""

    text: bytes
    language: str  # such as markdown (pkg.extract.text_files.text_kinds)
    status: Status
    reason: str | None
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentUnit:
    """Everything that a reader found in one document: its facts, parents first, and the code in them."""

    text: bytes  # UTF-8; of HTML and notebooks, their text in Markdown
    language: str  # such as markdown (pkg.extract.documents.document_kinds)
    status: Status
    reason: str | None
    facts: tuple[Fact, ...] = ()
    languages: tuple[str, ...] = ()  # of each fact; "" except for code
    code: CodeUnit | None = None  # definitions and blocks at their places in the text; None without any
    owners: tuple[int, ...] = ()  # the fact that contains each definition of the code


@dataclass(frozen=True, slots=True)
class Skip:
    """A file or row that was skipped, with the reason."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True, slots=True)
class LocalError:
    """An unexpected exception that cost one file, call site or other single item, and nothing else."""

    path: str
    line: int  # 0 where unknown
    stage: str  # extract, resolve, link or describe
    exception: str  # in one line, with its place in the code of PKG
    version: str = ""  # of PKG; another version retries
    trace: str = field(default="", compare=False, repr=False)  # for --debug; not stored

    @property
    def place(self) -> str:
        """Return the path, with the line where it is known."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def __str__(self) -> str:
        return f"{self.place}: {self.stage}: {self.exception}"


@dataclass(frozen=True, slots=True)
class Node:
    """One node as a store returns it, with its content cut from the stored text.

    ``start`` and ``end`` are byte offsets into the unit's text and ``start_col`` the byte column of the first
    byte; nodes without a position in a text (Source, FunctionName, Library) have 0 there.
    """

    id: str
    label: Label
    source: str
    path: str
    name: str
    qualname: str
    kind: str | None
    start: int
    end: int
    start_line: int
    end_line: int
    start_col: int
    content: str
    content_hash: str
    properties: Mapping[str, object] = field(default_factory=dict)


class Outline(NamedTuple):
    """A function, block or declaration as ranking reads it: its cosine, and the node without its text.

    Name and qualname of a block are its path in its function.
    """

    id: str
    label: Label
    source: str
    path: str
    name: str
    qualname: str
    kind: str | None
    lines: int
    content_hash: str
    owner: str  # id of the function that contains a block; else the node's own
    cosine: float  # with the vector of the query (P-14)
    has_questions: bool = False  # whether a model wrote questions for a function


class Edge(NamedTuple):
    """One relationship: its type, both ends, and its properties (line, rule, confidence)."""

    type: RelationType
    start: str
    end: str
    line: int | None = None
    rule: str | None = None
    confidence: str | None = None  # certain, likely or possible


class Nested(NamedTuple):
    """A block in a function or block, without its text: byte offsets in that node, lines of the unit."""

    id: str
    kind: str
    start: int
    end: int
    start_line: int
    end_line: int


class Unfolded(NamedTuple):
    """A function, block or declaration with the blocks and links that a hit needs."""

    node: Node
    blocks: tuple[Nested, ...]  # in a function or block, without bodies, in text order
    links: tuple[Edge, ...]  # of its function or class, of UNFOLDED_TYPES


UNFOLDED_TYPES = (RelationType.CONTAINS, RelationType.CALLS, RelationType.UNRESOLVED)


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Restrictions of a search before ranking: by source, path and block kind."""

    source: str | None = None
    paths: tuple[str, ...] = ()  # globs on the path of the file or row; the last match decides, ! excludes
    kinds: frozenset[str] | None = None  # block kinds; None allows all
    tests: bool | None = None  # only test files, or no test files; None allows both

    @property
    def narrows_paths(self) -> bool:
        """Return whether the path of a file or row matters."""
        return bool(self.paths) or self.tests is not None


class Match(NamedTuple):
    """One result of a search: a node id, its score, and the number of collapsed duplicates."""

    id: str
    score: float
    same_content: int = 0  # other nodes of equal content, collapsed into this one


@dataclass(frozen=True, slots=True)
class Matches:
    """The best matches of one search, with counts of the nodes that were considered."""

    matches: tuple[Match, ...]
    searched: int  # nodes of the label
    filtered: int  # excluded by the filter before ranking
    folded: int  # duplicates of a better match
    is_approximate: bool = False  # whether an approximate index was used instead of a full scan


def leave_out(found: Matches, others: int) -> Matches:
    """Return the matches without counting nodes of other labels that share the index."""
    return replace(found, searched=found.searched - others, filtered=found.filtered - others)


@dataclass(frozen=True, slots=True)
class Cut:
    """One branch that pruning removed (P-18), in lines of the unit, with the cosines around the cut."""

    block_id: str
    kind: str
    start_line: int
    end_line: int
    score_before: float
    score_after: float


@dataclass(frozen=True, slots=True)
class Stale:
    """A file of an answer that changed since the build; without a path, its whole source did."""

    source: str
    root: str
    path: str
    state: str  # changed, gone, unreadable, or added: not in the graph yet


@dataclass(frozen=True, slots=True)
class Helper:
    """Code added because a hit calls it (P-06), or because it calls the hit, with the reason for the choice."""

    id: str
    path: str
    qualname: str
    start_line: int
    end_line: int
    content: str
    reason: str
    imports: tuple[str, ...] = ()  # import statements of its module that it uses
    role: str = "callee"  # callee, caller, or wrapped: the hit only calls it
    is_folded: bool = False  # whether its docstring or its body is collapsed
    is_stale: bool = False  # whether its file changed since the build


@dataclass(frozen=True, slots=True)
class FunctionPlace:
    """A function that represents its file: position, score, signature and first sentence of its docstring."""

    id: str
    qualname: str
    start_line: int
    end_line: int
    score: float
    signature: str | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer of a query: a node, its rank, and its text after pruning.

    Hits are sorted by descending score. The scores of the linear ranker lie between 0 and 1.
    """

    rank: int
    label: str
    id: str
    source: str
    path: str
    qualname: str
    kind: str | None
    start_line: int
    end_line: int
    score: float
    score_pruned: float  # the score with the cosine that the text has after pruning
    content: str
    pruned_content: str
    pruned: tuple[Cut, ...] = ()
    helpers: tuple[Helper, ...] = ()
    same_content: int = 0  # nodes of equal content, collapsed into this one
    cosine: float = 0.0  # of the whole text with the question (P-14)
    docstring: str | None = None  # of a function; a generated one is not part of its content
    docstring_source: str | None = None  # of a function: human, fim, template or none
    signature: str | None = None  # header of the function that it is or belongs to, as written
    class_header: str | None = None  # of the class around that function
    summary: str | None = None  # first sentence of the docstring of that function
    has_code: bool = True  # False where the token budget left no room; both contents are then empty
    same_function: int = 0  # other good blocks of its function, collapsed into this one
    twins: tuple[str, ...] = ()  # variants, such as its async form, collapsed into this one: path::qualname
    functions: tuple[FunctionPlace, ...] = ()  # of a file: the best ones; the first of them make its score
    is_stale: bool = False  # whether its file changed since the build
    start_col: int = 0  # byte column of the first character of the content in its file


@dataclass(frozen=True, slots=True)
class Coverage:
    """Counts of the nodes that a query considered, by outcome."""

    searched: int
    filtered: int
    folded: int
    shown: int
    over_budget: int = 0
    notes: tuple[str, ...] = ()
    calls_bound: int = 0  # call sites of the hits: certain or likely
    calls_possible: int = 0
    calls_unbound: int = 0
    without_code: int = 0  # hits whose code did not fit the token budget
    same_function: int = 0  # blocks collapsed into a better one of their function
    fits: bool | None = None  # whether anything matches the question; None where not judged
    stale: tuple[Stale, ...] = ()  # files of the hits that changed since the build


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The hits of one query, best first, with counts of searched, filtered and collapsed nodes."""

    text: str
    mode: str
    hits: tuple[Hit, ...]
    coverage: Coverage
    explain: tuple[str, ...] = ()  # every decision in words: duplicates, cuts kept and refused, helpers, budget


CERTAIN, LIKELY, POSSIBLE = "certain", "likely", "possible"
BOUND = (CERTAIN, LIKELY)
"""A call site with such a link counts as bound."""
CONFIDENCES = (*BOUND, POSSIBLE)
"""Surest first."""


def rank_confidence(confidence: str | None) -> int:
    """Return the sort key of a confidence, the surest first; a link without one is a fact."""
    return CONFIDENCES.index(confidence or CERTAIN)


def is_bound(confidence: str | None) -> bool:
    """Return whether a link is certain or likely."""
    return confidence != POSSIBLE


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check: ok, missing (an optional part) or broken (a required part)."""

    name: str
    state: str
    detail: str
    advice: str = ""
