"""Find the code of a repository that a column shows for a masked function, without code that contains its body."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

from pkg.errors import QueryError
from pkg.generation.aligned_code import align_code
from pkg.generation.answer_context import MOST_SIGNATURES
from pkg.generation.gate import measure_signals
from pkg.generation.prompt_templates.helper_text import read_helpers
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.graph.path_filter import is_test
from pkg.lab.evaluation.code.benchmark_items import Item
from pkg.lab.evaluation.code.columns import Finder
from pkg.lab.evaluation.code.contexts import FEWEST_LINES, ShownCode, show_reference
from pkg.lab.evaluation.repository.masked_functions import MaskedFunction
from pkg.lab.evaluation.repository.near_duplicates import gives_away
from pkg.lab.evaluation.repository.project_files import Project
from pkg.lab.evaluation.repository.repository_items import RepositoryItem
from pkg.lab.evaluation.repository.scope_signatures import ScopeSignatures
from pkg.model import Hit, Label, Node, QueryResult
from pkg.retrieval.query import QueryOptions, run_query

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore

DEPTH = 25  # hits among which the first without the masked body is shown


class RepositoryFinder:
    """Queries the graph of the repository for each column, without its tests and the masked function."""

    def __init__(self, store: GraphStore, encoder: Encoder, project: Project, seed: int = 0) -> None:
        self._store, self._encoder, self._project, self._seed = store, encoder, project, seed
        self._ways: dict[str, Callable[[RepositoryItem], ShownCode]] = {
            "func-pkg": lambda item: self._query(item, "function"),
            "block-pkg": lambda item: self._query(item, "block"),
            "signatures": self._list_signatures,
            "deps": self._list_scope,
            "random": self._draw,
            "gold": show_reference,
        }

    def find(self, finder: Finder, item: Item) -> ShownCode:
        """Return the code that a column shows for an item; empty for a column without code."""
        return self._ways[finder](cast(RepositoryItem, item)) if finder else ShownCode()

    def _query(self, item: RepositoryItem, mode: Literal["function", "block"]) -> ShownCode:
        found = self._ask(item, mode)
        if isinstance(found, ShownCode):
            return found
        for hit in found.hits:
            helpers = read_helpers(self._store, replace(found, hits=(hit,)))
            if helpers and not any(gives_away(each.code, item.reference) for each in helpers):
                others = (each for each in found.hits if each is not hit)
                signals = measure_signals(item.query, (hit, *others), ())
                return ShownCode(helpers, (), hit.score, notes=found.explain, signals=signals)
        return ShownCode(notes=found.explain)

    def _list_signatures(self, item: RepositoryItem) -> ShownCode:
        found = self._ask(item, "function")
        if isinstance(found, ShownCode):
            return found
        helpers = read_helpers(self._store, found, "signature")[:MOST_SIGNATURES]
        signals = measure_signals(item.query, found.hits, ())
        return ShownCode(helpers, (), found.hits[0].score if found.hits else None, signals=signals)

    def _ask(self, item: RepositoryItem, mode: Literal["function", "block"]) -> QueryResult | ShownCode:
        """Query by the header of a function, and drop hits that belong to it or nearly equal it."""
        options = QueryOptions(mode=mode, top_k=DEPTH, helpers="all", tests="no", declarations=False, floor=False)
        try:
            found = run_query(self._store, self._encoder, item.query, options)
        except QueryError as fault:
            return ShownCode(notes=(str(fault),))
        kept = tuple(self._leave_out(found.hits, item.masked))
        gone = len(found.hits) - len(kept)
        notes = (f"left out because they are, or nearly are, what is masked: {gone} hits",) if gone else ()
        return replace(found, hits=kept, coverage=replace(found.coverage, fits=None), explain=notes)

    def _leave_out(self, hits: tuple[Hit, ...], masked: MaskedFunction) -> Iterator[Hit]:
        for hit in hits:
            if not self._belongs(hit.path, hit.start_line, hit.end_line, hit.content, masked):
                helpers = (
                    each
                    for each in hit.helpers
                    if not self._belongs(each.path, each.start_line, each.end_line, each.content, masked)
                )
                yield replace(hit, helpers=tuple(helpers))

    def _belongs(self, path: str, start: int, end: int, code: str, masked: MaskedFunction) -> bool:
        """Return whether code is of a test, overlaps the masked function, or contains its body."""
        overlaps = path == masked.path and start <= masked.end and end >= masked.line
        return overlaps or is_test(path) or gives_away(code, masked.code)

    def _list_scope(self, item: RepositoryItem) -> ShownCode:
        helpers, dropped = self._scope.list_helpers(item.masked)
        return ShownCode(helpers, notes=(f"signatures without room: {dropped}",) if dropped else ())

    @cached_property
    def _scope(self) -> ScopeSignatures:
        return ScopeSignatures(self._store, self._project)

    def _draw(self, item: RepositoryItem) -> ShownCode:
        masked = item.masked
        among = [
            node
            for node in self._functions
            if not self._belongs(node.path, node.start_line, node.end_line, node.content, masked)
        ]
        if not among:
            return ShownCode()
        node = random.Random(f"{self._seed} {item.id}").choice(among)
        place = f"{node.path}:{node.start_line}-{node.end_line} {node.qualname}"
        return ShownCode((HelperText(place, align_code(node.content)),))

    @cached_property
    def _functions(self) -> list[Node]:
        """Read the functions of the repository, except those of tests, sorted by position."""
        nodes = (node for node in self._store.nodes((Label.FUNCTION,)) if not is_test(node.path))
        long = [node for node in nodes if node.end_line - node.start_line + 1 >= FEWEST_LINES]
        return sorted(long, key=lambda node: (node.path, node.start, node.id))
