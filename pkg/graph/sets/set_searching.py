"""Searches of a set of stores: the best of each member, merged by score, as in one store with all nodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pkg.graph.embedded import sql
from pkg.graph.embedded.indexes import is_of
from pkg.graph.sets.member import SetMember
from pkg.model import DECLARATION_LABELS, Label, Matches, Node, NodeFilter, leave_out, list_group
from pkg.terms.text_parts import TextPart, TextParts, join_fragments
from pkg.vectors.exact import SegmentPart, search_parts

if TYPE_CHECKING:
    from collections.abc import Callable

Mask = npt.NDArray[np.bool_]
Vector = npt.NDArray[np.float32]


class SetVectors:
    """The vectors of a set."""

    def __init__(self, members: Sequence[SetMember], places: dict[str, int]) -> None:
        """places: gets the place of the member of each node that a search finds."""
        self._members, self._places = members, places
        self._kept: dict[tuple[Label, ...], list[Mask | None]] = {}

    def search(self, label: Label, vector: Vector, k: int, where: NodeFilter | None) -> Matches:
        """Find the k nodes of a label with the highest cosine, without duplicates, ties by id.

        vector: float32 [dimension].
        """
        return self._search(label, vector, k, where, sql.DECLARATION_KINDS.get(label))

    def search_declarations(self, vector: Vector, k: int, where: NodeFilter | None) -> Matches:
        """Find the k nearest classes, constants and modules together; kinds of blocks are ignored.

        vector: float32 [dimension].
        """
        return self._search(DECLARATION_LABELS[0], vector, k, where and replace(where, kinds=None), None)

    def _search(
        self, label: Label, vector: Vector, k: int, where: NodeFilter | None, kinds: tuple[str, ...] | None
    ) -> Matches:
        found = find_fragments(self._members, where) if where and where.narrows_paths else [None] * len(self._members)
        parts, others = [], 0
        for member, fragments, kept in zip(self._members, found, self._find_kept(label), strict=True):
            segment = member.vectors.open_segment(label)
            keep = member.vectors.mask(segment, where, kinds, fragments)
            counted = kept if kinds is None else _join(is_of(segment, kinds), kept)
            others += 0 if counted is None else len(segment) - int(counted.sum())
            parts.append(SegmentPart(segment, _join(keep, kept)))
        return leave_out(search_parts(parts, vector, k, self._places), others)

    def _find_kept(self, label: Label) -> list[Mask | None]:
        """Return the entries that each member answers for; None for all. Names of functions have no fragment."""
        group = list_group(label)
        if group not in self._kept:
            segments = [member.vectors.open_segment(label) for member in self._members]
            if label is Label.FUNCTION_NAME:
                ids = [segment.columns["id"] for segment in segments]
                masks = [np.isin(own, np.concatenate([ids[0][:0], *ids[:place]])) for place, own in enumerate(ids)]
            else:
                masks = _mask_repeats(self._members, [segment.columns["fragment"] for segment in segments])
            self._kept[group] = [~mask if mask.any() else None for mask in masks]
        return self._kept[group]


class SetTerms:
    """The terms of a set, with access to its nodes (pkg.terms.word_search)."""

    def __init__(
        self,
        members: Sequence[SetMember],
        places: dict[str, int],
        read_nodes: Callable[[list[str]], list[Node]],
        read_inside: Callable[[Node], list[Node]],
    ) -> None:
        """places: as for SetVectors."""
        self._members, self._places = members, places
        self.read_nodes, self.read_inside = read_nodes, read_inside
        self._parts: dict[tuple[Label, ...], TextParts] = {}

    def find_fragments(self, where: NodeFilter) -> Collection[int]:
        """Return the numbers of the fragments of files and rows whose path passes a filter, of all members."""
        return join_fragments(find_fragments(self._members, where))

    def open_terms(self, label: Label) -> TextParts:
        """Return the terms of the group of a label."""
        group = list_group(label)
        if group not in self._parts:
            segments = [member.terms.open_terms(label) for member in self._members]
            masks = _mask_repeats(self._members, [segment.fragments for segment in segments])
            left_out = [mask if mask.any() else None for mask in masks]
            self._parts[group] = TextParts(tuple(map(TextPart, segments, left_out)), self._places)
        return self._parts[group]


def find_fragments(members: Sequence[SetMember], where: NodeFilter) -> list[Collection[int]]:
    """Return the fragments whose path passes a filter, by the member that answers for them."""
    found = [set(member.terms.find_fragments(where)) for member in members]
    for place, member in enumerate(members):
        for each in member.repeats:
            if each.fragment in found[place]:
                found[each.owner].add(each.owner_fragment)
    return list(found)


def _mask_repeats(members: Sequence[SetMember], fragments: Sequence[npt.NDArray[np.int64]]) -> list[Mask]:
    """Return the nodes of each member that another one answers for, from the fragments of all its nodes."""
    return [
        np.isin(own, [each.fragment for each in member.repeats]) for member, own in zip(members, fragments, strict=True)
    ]


def _join(first: Mask | None, second: Mask | None) -> Mask | None:
    """Return the entries of both masks; None is the mask of all."""
    return second if first is None else first if second is None else first & second
