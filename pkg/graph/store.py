"""The store contract: what every graph store does, whatever database is behind it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pkg.graph.omissions import Omission
from pkg.lazy_module import LazyModule
from pkg.model import (
    Audit,
    Call,
    Docstring,
    Edge,
    Label,
    Leak,
    LocalError,
    Matches,
    Node,
    NodeFilter,
    Outline,
    RelationType,
    Skip,
    Source,
    Unfolded,
)
from pkg.units import DocstringChange, StoredFragment, UnitGraph, UnitLinks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pkg.terms import inverted_index
else:
    np, npt = LazyModule("numpy"), LazyModule("numpy.typing")
    inverted_index = LazyModule("pkg.terms.inverted_index")


class Overflow(NamedTuple):
    """A parameter, field or the like with more values than are told apart."""

    variable: str
    calls: int  # that could not be bound for it


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What a store holds: counts per label and relationship, units that were not fully read, sizes and times."""

    generation: int
    encoder: str
    dimension: int
    sources: tuple[Source, ...]
    nodes: Mapping[str, int]
    relations: Mapping[str, int]
    partial: tuple[Skip, ...]
    skipped: tuple[Skip, ...]
    errors: tuple[LocalError, ...] = ()
    stages: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # the last build of each source
    parts: Mapping[str, int] = field(default_factory=dict)  # bytes of texts, call sites, vectors, terms (P-36)
    bytes: Mapping[str, int] = field(default_factory=dict)  # per file of the store
    audits: tuple[Audit, ...] = ()  # the latest of each benchmark
    outdated_audits: tuple[str, ...] = ()  # benchmarks that the graph was not compared with as it is now
    overflows: tuple[Overflow, ...] = ()  # the most costly first; listed where they are asked for alone


class StoreWriter(Protocol):
    """One write transaction; nothing of it is seen before it ends, and all of it afterwards."""

    def put_source(
        self,
        source: Source,
        fingerprint: str = "",
        skipped: Sequence[Omission] = (),
        stages: Mapping[str, float] | None = None,
    ) -> None:
        """Add or update a source: the fingerprint of its input, what was left out, CPU seconds of each build stage."""

    def put_fingerprint(self, source: str, path: str, fingerprint: str) -> None:
        """Note that a file was touched though its content is the same; this alone makes no new generation."""

    def replace_file(self, unit: UnitGraph) -> None:
        """Put one file or row in the place of what the source held at its path."""

    def flush(self) -> None:
        """Send the database what is still collected in memory."""

    def delete_file(self, source: str, path: str) -> None:
        """Remove one file or row and all that only it contains."""

    def delete_source(self, source: str) -> None:
        """Remove a source with everything in it."""

    def put_names(self, source: str, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Add the FunctionName nodes that are missing, with their vectors: float16 [dimension] by name."""

    def missing_names(self, source: str, first: str = "", limit: int = 4096) -> list[str]:
        """List function names of a source, from `first` on, that have no FunctionName node yet, in their order."""

    def put_links(self, source: str, links: Iterable[UnitLinks]) -> None:
        """Put what units refer to in the place of what was resolved for them before; all ends exist by the end."""

    def put_notes(self, source: str, notes: Mapping[str, bytes]) -> None:
        """Put notes of units whose links were put before and stay as they are; this alone makes no new generation."""

    def put_docstrings(self, source: str, changes: Iterable[DocstringChange]) -> None:
        """Let functions have docstrings that were written for them, or none any more; their ids and links stay.

        With them go the vectors of the functions and the terms of their fragments. What is there already makes no new
        generation. A StoreError names a fragment or a function that the store does not have.
        """

    def put_audit(self, audit: Audit, marks: Mapping[str, Collection[Leak]]) -> None:
        """Mark what shows leaked code, by id, in the place of all marks of the benchmark that was audited (A-16).

        What is there already makes no new generation. A StoreError names a node that the store does not have.
        """


class EncoderWriter(StoreWriter, Protocol):
    """A write transaction that can also change the encoder of the graph."""

    def put_encoder(self, encoder: str, dimension: int) -> None:
        """Name another encoder; by the end of the write every node with a vector must get one of it.

        What an unfinished first load has left is removed: nobody sees it, and its vectors are of the old encoder.
        """

    def put_vectors(self, label: Label, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Put the vectors of nodes of a label, float16 [dimension] by id, in the place of those that they have."""


class GraphStore(Protocol):
    """A place where graphs live."""

    @property
    def address(self) -> str:
        """Name the place, such as sqlite:///path."""

    def ensure_schema(self, encoder: str, dimension: int) -> None:
        """Create what is missing; an EncoderMismatchError for a store made with another encoder or dimension."""

    def encoder(self) -> tuple[str, int]:
        """Give the name and dimension of the encoder that made the vectors; ("", 0) before the first build."""

    def generation(self) -> int:
        """Count the writes that have ended; 0 for a store that holds nothing."""

    def stamp(self) -> str:
        """Name this generation of this store, as no other generation and no other store is named; "" for none."""

    def fingerprints(self, source: str, paths: Collection[str] | None = None) -> Iterator[tuple[str, str, str]]:
        """Give (path, fingerprint, content hash) of every unit of a source, or of those at some paths."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one generation in the block: it is held still, or StoreChangedError at the end says that it is gone."""

    def link_notes(self, source: str) -> Iterator[tuple[str, bytes]]:
        """Give (path, notes) of every unit of a source whose links were put."""

    def texts(self, source: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Give (path, text) of those of the files that the source has; only of files, whose text is one piece."""

    def docstrings(self, source: str) -> Iterator[tuple[int, Docstring]]:
        """Give (content hash, docstring) of each function of a source that a docstring was written for (P-07).

        Cheap where there is none: every build of what has changed asks.
        """

    def audits(self) -> tuple[Audit, ...]:
        """List the latest audit of each benchmark, by name."""

    def leaks(self) -> Iterator[tuple[str, tuple[Leak, ...]]]:
        """Give (id, leaks) of every node that an audit has marked; cheap where there is none."""

    def fragments(self, ids: Sequence[str]) -> Iterator[StoredFragment]:
        """Give the fragments that some functions or declarations stand in, each once; unknown ids are left out.

        Inside a write that has put nothing yet, it is what the write will change.
        """

    def sources(self) -> tuple[Source, ...]:
        """List the sources by name."""

    def source_fingerprint(self, source: str) -> str | None:
        """Give the fingerprint of a source's input at its last build; None for an unknown source."""

    def errors(self, source: str) -> tuple[LocalError, ...]:
        """Return the local errors that the last build of a source left; none for an unknown source."""

    def write(self) -> AbstractContextManager[EncoderWriter]:
        """Open the one write transaction; leaving it by an exception undoes all of it.

        Raises StoreLockedError while another process writes, and StoreFullError where the store cannot be written.
        """

    def vector_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        k: int,
        where: NodeFilter | None = None,
        floor: float = -1.0,
    ) -> Matches:
        """Find the k nodes of a label with the highest cosine, equal content folded, ties by id (P-14, P-17).

        vector: float32 [dimension]; an EncoderMismatchError where the graph's have another dimension.
        Nodes of a cosine below the floor are left out: a server finds the few above a high one sooner than k.
        """

    def text_search(self, label: Label, terms: Mapping[str, float], k: int, where: NodeFilter | None = None) -> Matches:
        """Find up to k nodes of a label that hold any of the terms, best first, equal content folded, ties by id.

        terms: stemmed words with their weights, as pkg.terms.term_weights.weigh_terms gives them for a question. Scores
        are the same in every store (pkg.terms.inverted_index).
        """

    def hybrid_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        terms: Mapping[str, float],
        k: int,
        where: NodeFilter | None = None,
    ) -> tuple[Matches, Matches]:
        """Search a label by a vector, and functions by terms: at once, where the vectors are compared elsewhere.

        vector: float32 [dimension], as for vector_search.
        Kinds of blocks narrow the first search alone; without terms the second finds nothing.
        """

    def search_declarations(
        self, vector: npt.NDArray[np.float32], terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, Matches]:
        """Search classes, constants and modules together, each once, by a vector and by terms.

        vector: float32 [dimension], as for vector_search. Kinds of blocks narrow nothing; without terms the second
        search finds nothing.
        """

    def text_parts(
        self, ids: Sequence[str], terms: Mapping[str, float], label: Label = Label.FUNCTION
    ) -> inverted_index.TermScores:
        """Tell what each term adds to the lexical score of each of some functions, and how rare it is.

        With the label of a declaration the ids are of declarations, and the terms as rare as they are in all of these.
        An unknown id is a NodeNotFoundError.
        """

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of that bare name, ordered by path and line."""

    def find_names(self, names: Sequence[str], source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of several bare names at once, ordered by path and line."""

    def get(self, ids: Sequence[str]) -> list[Node]:
        """Fetch nodes in the order of their ids; an unknown id is a NodeNotFoundError."""

    def outlines(
        self, ids: Sequence[str], vector: npt.NDArray[np.float32], blocks_of: Sequence[str] = ()
    ) -> dict[str, Outline]:
        """Give outlines of functions, blocks and declarations, and of the blocks of some functions; cheaper than nodes.

        Each has its true cosine with a vector, float32 [dimension]. The functions that the blocks stand in come with
        them. Unknown ids are left out, and so are the blocks of functions inside those functions.
        """

    def unfold(self, ids: Sequence[str]) -> list[Unfolded]:
        """Fetch functions, blocks and declarations in the order of their ids, with their blocks and links.

        Cheaper than get, subtree and neighbours one after the other; an unknown id is a NodeNotFoundError.
        """

    def subtree(self, node_id: str) -> list[Node]:
        """List what a node contains at any depth (classes, constants, functions, blocks), in the order of the text."""

    def calls(self, node_id: str) -> list[Call]:
        """List the call sites on the lines of a node, in the order of the text."""

    def imports(self, names: Mapping[str, Collection[str]]) -> dict[str, list[Node]]:
        """Fetch for each file or row its imports that bind any of the names given with it, ordered by line and id.

        Cheaper than to follow IMPORTS: a file may have a hundred imports, of which a text uses three.
        """

    def neighbours(
        self, ids: Sequence[str], types: Iterable[RelationType] | None = None, direction: str = "both", depth: int = 1
    ) -> list[Edge]:
        """List the relationships within depth steps of any of the nodes, each once; direction is out, in or both."""

    def stats(self, source: str | None = None) -> StoreStats:
        """Count what the store, or one of its sources, holds; sizes are those of the store."""

    def check(self) -> list[str]:
        """Look for damage and contradictions; an empty list says that all is well."""

    def repair_copies(self) -> list[str]:
        """Make anew what is kept outside of the database as a copy, where its bytes have changed; a line for each."""

    def exposed_files(self) -> list[Path]:
        """List the files of the store that others on this machine may read or write."""

    def export(self, vectors: bool = False) -> Iterator[dict[str, Any]]:
        """Give the whole graph as JSON-ready lines: header, nodes, relations, each sorted (docs/schema.md).

        Raises StoreCorruptError where the store notices that what it holds is not what was written.
        """

    def close(self) -> None:
        """Release files and connections."""

    def nodes(self, labels: Iterable[Label], source: str | None = None) -> Iterator[Node]:
        """Give every node of some labels, without fetching them one by one; in no promised order."""

    def edges(self, types: Iterable[RelationType], source: str | None = None) -> Iterator[Edge]:
        """Give every relationship of some types that starts in a source, each once; in no promised order."""
