"""The interface of graph stores, independent of the database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pkg.errors import UsageError
from pkg.graph.graph_records import Omission
from pkg.lazy_module import LazyModule
from pkg.model import (
    Audit,
    Call,
    Edge,
    Generated,
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
from pkg.units import GeneratedChange, StoredFragment, UnitGraph, UnitLinks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pkg.terms import inverted_index
else:
    np, npt = LazyModule("numpy"), LazyModule("numpy.typing")
    inverted_index = LazyModule("pkg.terms.inverted_index")


_CONTAINED = ("File", "Row", "Function", "Class", "Constant", "Module", "Chunk", "Fact")
"""Labels of the ends of CONTAINS; a fact in another has CHILD instead."""


class Overflow(NamedTuple):
    """A parameter, field or other variable with more values than the resolver distinguishes."""

    variable: str
    calls: int  # unresolved because of it


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Statistics of a store: counts per label and relationship type, partial units, sizes and times."""

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
    parts: Mapping[str, int] = field(default_factory=dict)  # bytes of texts, call sites, vectors and terms (P-36)
    bytes: Mapping[str, int] = field(default_factory=dict)  # per file of the store
    audits: tuple[Audit, ...] = ()  # the latest of each benchmark
    outdated_audits: tuple[str, ...] = ()  # benchmarks whose audit is of an older state of the graph
    overflows: tuple[Overflow, ...] = ()  # the most costly first; listed on request only

    @property
    def fact_relations(self) -> int:
        """Return the number of relationships between facts (P-12, A-18): of CHILD, those that blocks leave."""
        blocks = self.nodes.get("Block", 0) - self.relations.get("HAS_BODY", 0)
        return self.relations.get("CHILD", 0) - blocks

    @property
    def repeated(self) -> int:
        """Return the number of definitions in rows that equal a stored one: they are other places of it (A-03)."""
        held = sum(self.nodes.get(label, 0) for label in _CONTAINED) - self.fact_relations
        return self.relations.get("CONTAINS", 0) - held


class Unfinished(NamedTuple):
    """An unfinished build of a source that is not in the graph yet."""

    path: Path  # of the file that holds it
    source: str
    root: str
    units: int  # files or rows that are prepared


class StoreWriter(Protocol):
    """One write transaction: readers see all of it after it ends, and nothing before."""

    def put_source(
        self,
        source: Source,
        fingerprint: str = "",
        skipped: Sequence[Omission] = (),
        stages: Mapping[str, float] | None = None,
    ) -> None:
        """Add or update a source: the fingerprint of its input, its omissions, CPU seconds of each build stage."""

    def put_fingerprint(self, source: str, path: str, fingerprint: str) -> None:
        """Store the new fingerprint of a file whose content is unchanged; this alone makes no new generation."""

    def replace_file(self, unit: UnitGraph) -> None:
        """Replace the file or row at a path of a source."""

    def flush(self) -> None:
        """Write collected rows to the database."""

    def delete_file(self, source: str, path: str) -> None:
        """Delete a file or row with all nodes that only it contains."""

    def delete_source(self, source: str) -> None:
        """Delete a source with everything in it."""

    def put_names(self, source: str, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Add missing FunctionName nodes with their vectors: float16 [dimension] by name."""

    def missing_names(self, source: str, first: str = "", limit: int = 4096) -> list[str]:
        """Return the sorted function names of a source, from `first` on, without a FunctionName node."""

    def put_links(self, source: str, links: Iterable[UnitLinks]) -> None:
        """Replace the resolved links of units; their ends must exist when the write ends."""

    def put_notes(self, source: str, notes: Mapping[str, bytes]) -> None:
        """Replace the notes of units whose links are unchanged; this alone makes no new generation."""

    def put_generated(self, source: str, changes: Iterable[GeneratedChange]) -> None:
        """Set or remove the generated docstrings and questions of functions, whose ids and links are kept.

        The vectors of functions with another docstring and the terms of their fragments are replaced too. Unchanged
        texts make no new generation. Raise StoreError for an unknown fragment or function.
        """

    def put_audit(self, audit: Audit, marks: Mapping[str, Collection[Leak]]) -> None:
        """Replace all marks of the audited benchmark by leaks by node id (A-16).

        Unchanged marks make no new generation. Raise StoreError for an unknown node.
        """


class EncoderWriter(StoreWriter, Protocol):
    """A write transaction that can also change the encoder of the graph."""

    def put_encoder(self, encoder: str, dimension: int) -> None:
        """Change the encoder; before the write ends, every vector must be replaced by one of the new encoder.

        The rest of an unfinished first load is deleted: readers do not see it, and its vectors are of the old encoder.
        """

    def put_vectors(self, label: Label, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Replace the vectors of nodes of a label: float16 [dimension] by id."""


class GraphStore(Protocol):
    """A store of graphs."""

    @property
    def address(self) -> str:
        """Return the address, such as sqlite:///path."""

    def ensure_schema(self, encoder: str, dimension: int) -> None:
        """Create missing tables or indexes; raise EncoderMismatchError for another encoder or dimension."""

    def encoder(self) -> tuple[str, int]:
        """Return the name and dimension of the encoder of the vectors; ("", 0) before the first build."""

    def generation(self) -> int:
        """Return the number of completed writes; 0 for an empty store."""

    def stamp(self) -> str:
        """Return an identifier that only this generation of this store has; "" for an empty store."""

    def fingerprints(self, source: str, paths: Collection[str] | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield (path, fingerprint, content hash) of the units of a source, or of those at some paths."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one generation in the block; may raise StoreChangedError at its end if a write ended meanwhile."""

    def link_notes(self, source: str) -> Iterator[tuple[str, bytes]]:
        """Yield (path, notes) of every unit of a source with resolved links."""

    def texts(self, source: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (path, text) of the existing files at some paths of a source, not of rows."""

    def generated_texts(self, source: str) -> Iterator[tuple[int, Generated]]:
        """Yield (content hash, texts) of each function of a source with a generated docstring or questions (P-07).

        Fast where there is none, because every incremental build calls it.
        """

    def audits(self) -> tuple[Audit, ...]:
        """Return the latest audit of each benchmark, by name."""

    def leaks(self) -> Iterator[tuple[str, tuple[Leak, ...]]]:
        """Yield (id, leaks) of every node that an audit marked; fast where there is none."""

    def fragments(self, ids: Sequence[str]) -> Iterator[StoredFragment]:
        """Yield the distinct fragments that contain some functions or declarations; unknown ids are ignored.

        May be called inside a write that has put nothing yet.
        """

    def sources(self) -> tuple[Source, ...]:
        """Return the sources by name."""

    def source_fingerprint(self, source: str) -> str | None:
        """Return the fingerprint of a source's input at its last build; None for an unknown source."""

    def errors(self, source: str) -> tuple[LocalError, ...]:
        """Return the local errors of the last build of a source; none for an unknown source."""

    def write(self) -> AbstractContextManager[EncoderWriter]:
        """Open the only write transaction; an exception rolls it back.

        Raise StoreLockedError while another process writes, StoreFullError where the store cannot be written.
        """

    def load_source(self, source: str, made_by: str, say: Callable[[str], None]) -> AbstractContextManager[GraphStore]:
        """Open the store to build a large new source in: one beside this store, which gets it when the block ends.

        made_by: everything besides the input that decides the nodes; an unfinished build made by something else is
        deleted. say: called with a message about a file that is deleted. After an exception, what was put remains for
        the next build. A server, and a store that another process has given the source, yield themselves.
        Raise StoreLockedError while another process builds the source.
        """

    def unfinished(self) -> list[Unfinished]:
        """Return the unfinished builds of sources that are not in the graph yet."""

    def vector_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        k: int,
        where: NodeFilter | None = None,
        threshold: float = -1.0,
    ) -> Matches:
        """Find the k nodes of a label with the highest cosine, without duplicates, ties by id (P-14, P-17).

        vector: float32 [dimension]; raise EncoderMismatchError for another dimension than the graph's.
        threshold: minimum cosine; a server finds the few nodes above a high one faster than k nodes.
        """

    def text_search(self, label: Label, terms: Mapping[str, float], k: int, where: NodeFilter | None = None) -> Matches:
        """Find up to k nodes of a label with any of the terms, best first, without duplicates, ties by id.

        terms: stemmed words with their weights (pkg.terms.term_weights.weigh_terms). Scores are the same in every store
        (pkg.terms.inverted_index).
        """

    def hybrid_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        terms: Mapping[str, float],
        k: int,
        where: NodeFilter | None = None,
    ) -> tuple[Matches, Matches]:
        """Search a label by a vector and functions by terms; concurrently where a server compares the vectors.

        vector: float32 [dimension], as for vector_search.
        Kinds of blocks filter the first search only; without terms the second finds nothing.
        """

    def search_declarations(
        self, vector: npt.NDArray[np.float32], terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, Matches]:
        """Search classes, constants and modules together, each once, by a vector and by terms.

        vector: float32 [dimension], as for vector_search. Kinds of blocks are ignored; without terms the second search
        finds nothing.
        """

    def text_parts(
        self, ids: Sequence[str], terms: Mapping[str, float], label: Label = Label.FUNCTION
    ) -> inverted_index.TermScores:
        """Return the share of each term in the lexical scores of some functions, and its rarity.

        With the label of a declaration the ids are of declarations, and rarity is that in all declarations.
        Raise NodeNotFoundError for an unknown id.
        """

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of a bare name, ordered by path and line."""

    def find_names(self, names: Sequence[str], source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of several bare names, ordered by path and line."""

    def get(self, ids: Sequence[str]) -> list[Node]:
        """Return nodes in the order of their ids; raise NodeNotFoundError for an unknown id."""

    def outlines(
        self, ids: Sequence[str], vector: npt.NDArray[np.float32], blocks_of: Sequence[str] = ()
    ) -> dict[str, Outline]:
        """Return outlines of functions, blocks, declarations and of the blocks of some functions; faster than get.

        Each has its exact cosine with a vector, float32 [dimension]. The functions that contain the blocks are
        included. Unknown ids are ignored; blocks of nested functions are excluded.
        """

    def unfold(self, ids: Sequence[str]) -> list[Unfolded]:
        """Return functions, blocks and declarations in the order of their ids, with their blocks and links.

        Faster than get, subtree and neighbours in turn. Raise NodeNotFoundError for an unknown id.
        """

    def subtree(self, node_id: str) -> list[Node]:
        """Return the classes, constants, functions and blocks in a node at any depth, in the order of the text."""

    def calls(self, node_id: str) -> list[Call]:
        """Return the call sites on the lines of a node, in the order of the text."""

    def imports(self, names: Mapping[str, Collection[str]]) -> dict[str, list[Node]]:
        """Return the imports of each file or row that bind any of its names, ordered by line and id.

        Faster than following IMPORTS: a file may have a hundred imports, of which a text uses three.
        """

    def neighbours(
        self, ids: Sequence[str], types: Iterable[RelationType] | None = None, direction: str = "both", depth: int = 1
    ) -> list[Edge]:
        """Return the distinct relationships within depth steps of the nodes; direction is out, in or both."""

    def stats(self, source: str | None = None) -> StoreStats:
        """Return statistics of the store or of one source; sizes are those of the store."""

    def check(self) -> list[str]:
        """Return descriptions of damage and inconsistencies; an empty list for a sound store."""

    def repair_copies(self) -> list[str]:
        """Rewrite damaged copies of data outside of the database; return a message for each."""

    def exposed_files(self) -> list[Path]:
        """Return the files of the store that other users of this machine may read or write."""

    def export(self, vectors: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the whole graph as JSON-ready lines: header, nodes, relations, each sorted (docs/schema.md).

        Raise StoreCorruptError where the store detects damage.
        """

    def close(self) -> None:
        """Release files and connections."""

    def nodes(self, labels: Iterable[Label], source: str | None = None) -> Iterator[Node]:
        """Yield every node of some labels in one pass; in no particular order."""

    def edges(self, types: Iterable[RelationType], source: str | None = None) -> Iterator[Edge]:
        """Yield the distinct relationships of some types that start in a source; in no particular order."""


def choose_sources(store: GraphStore, name: str | None) -> list[Source]:
    """Return the source of a name, or all sources; an unknown name raises UsageError, which lists the sources."""
    known = store.sources()
    chosen = [each for each in known if name in (None, each.name)]
    if name is not None and not chosen:
        names = ", ".join(each.name for each in known) or "none"
        raise UsageError(f"no source '{name}' in {store.address}; expected one of: {names}")
    return chosen
