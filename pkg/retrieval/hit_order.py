"""The interface of orders of hits that depend on more than the search, such as on a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore
    from pkg.retrieval.ranking import Ranked


class HitOrder(Protocol):
    """An order of the best candidates of a search that depends on more than the search."""

    @property
    def depth(self) -> int:
        """Return the number of candidates to search for, where fewer are requested."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on the latest order."""

    @property
    def explain(self) -> tuple[str, ...]:
        """Return how the candidates are ordered, for the explanation of a result."""

    def order(self, store: GraphStore, encoder: Encoder, text: str, ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
        """Return the candidates in the new order."""
