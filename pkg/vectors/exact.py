"""Exact nearest neighbours by a scan of signed bytes and a rerank of the candidates within its error (P-14, P-17).

The bytes of all vectors are in a memory-mapped file beside the database, one segment for each label. The scan rounds
the query to bytes too; the distance of that rounding bounds the error of a scanned score, so the rerank of everything
within the bound, by the exact query, gives the same result as a full float scan.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pkg.model import Match, Matches
from pkg.vectors.best import (
    Best,
    count_equal,
    find_first_occurrences,
    find_score_bound,
    make_matches,
    merge_best,
    pick_representatives,
)
from pkg.vectors.quantised import unpack_codes


def _import_simsimd() -> ModuleType:
    """Import simsimd so that its own functions win: numkong, which usearch loads, exports others of the same names."""
    deep: int = getattr(os, "RTLD_DEEPBIND", 0)  # of Linux, whose libraries share one space of names
    if not deep:
        return import_module("simsimd")
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | deep)
    try:
        return import_module("simsimd")
    finally:
        sys.setdlopenflags(flags)


simsimd = _import_simsimd()

COLUMNS = {
    "number": "<i4",
    "id": "<i8",
    "hash": "<i8",
    "equal": "<i4",  # entries of the same content, this one included
    "source": "<i4",
    "fragment": "<i4",
    "kind": "u1",
    "scale": "<f4",
}
OVERSAMPLING = 64  # candidates beyond k in the first pass; more follow when duplicates use them up

Mask: TypeAlias = npt.NDArray[np.bool_]
"""Selected entries of a segment: bool [n]."""
Columns: TypeAlias = dict[str, npt.NDArray[Any]]
"""Columns by name, [n] each, of the dtype in COLUMNS; with `codes`, int8 [n, dimension], where documented."""


class Query(NamedTuple):
    """The vector of a query, and its rounding."""

    exact: npt.NDArray[np.float32]  # [dimension], of any length
    codes: npt.NDArray[np.int8]  # [dimension], of the vector of length 1 or 0
    error: float  # bound of the error of a score


def round_query(query: npt.NDArray[np.float32]) -> Query:
    """Round the vector of a query, float32 [dimension], to bytes."""
    normal = normalise(query[None, :])
    codes, scale = quantise(normal)
    error = (float(np.linalg.norm(normal[0] - codes[0] * scale[0])) + 1e-6) / float(scale[0])
    return Query(query, codes[0], error)


class Ranked(NamedTuple):
    """Entries of a segment, best first, with their cosines."""

    rows: npt.NDArray[np.int64]
    cosines: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Segment:
    """The vectors of one label: columns of n entries each, and the codes [n, dimension]."""

    columns: Columns
    codes: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.codes)

    def keep_fragments(self, fragments: npt.NDArray[np.int64]) -> Columns:
        """Return the entries of some fragments, int64 [fragments], codes included, as encode_rows takes them."""
        keep = np.isin(self.columns["fragment"], fragments)
        kept = {name: values[keep] for name, values in self.columns.items() if name != "equal"}
        return {**kept, "codes": self.codes[keep]}

    def search(self, query: npt.NDArray[np.float32], k: int, keep: Mask | None) -> Matches:
        """Find the k entries of highest cosine with distinct content.

        `query`, float32 [dimension], may have any length; `keep`, bool [n], restricts the search, None takes all.
        """
        total = len(self)
        allowed = total if keep is None else int(keep.sum())
        matches = self._make_matches(self.find(round_query(query), k, keep), keep)
        return Matches(matches, total, total - allowed, sum(match.same_content for match in matches))

    def find(self, query: Query, k: int, keep: Mask | None) -> Ranked:
        """Find the k entries of highest cosine with distinct content, as search does, without counting equal ones."""
        allowed = len(self) if keep is None else int(keep.sum())
        if not allowed or k < 1:
            return Ranked(np.zeros(0, np.int64), np.zeros(0))
        scores = self._scan(query)
        if keep is not None:
            scores[~keep] = -np.inf
        candidates = self._find_candidates(scores, min(k, allowed), allowed, 2 * query.error)
        if len(candidates) > k + OVERSAMPLING:  # fewer are not worth the time
            candidates = self._drop_beaten(candidates, scores, 2 * query.error)
        return self._rank(candidates, query.exact, k)

    def search_among(self, places: npt.NDArray[np.int64], query: npt.NDArray[np.float32], k: int) -> Matches | None:
        """Rank the entries found by an approximate index; return None for fewer than k distinct contents.

        `places` are int64 [found], `query` is float32 [dimension].
        """
        if len(places) < k:
            return None
        matches = self._make_matches(self._rank(places, query, k), None)
        folded = sum(match.same_content for match in matches)
        return Matches(matches, len(self), 0, folded, is_approximate=True) if len(matches) == k else None

    def score(self, numbers: Sequence[int], query: npt.NDArray[np.float32]) -> dict[int, float]:
        """Compute the true cosines of entries with a query, float32 [dimension].

        `numbers` are those of the entries, ascending; unknown ones are ignored.
        """
        held, asked = self.columns["number"], np.array(numbers, np.int32)
        places = np.searchsorted(held, asked)
        known = places < len(held)
        known[known] = held[places[known]] == asked[known]
        cosines = score_vectors(self.codes[places[known]], query)
        return dict(zip(asked[known].tolist(), cosines.tolist(), strict=True))

    def _rank(self, candidates: npt.NDArray[np.int64], query: npt.NDArray[np.float32], k: int) -> Ranked:
        """Score candidates by their true cosines, drop duplicates, and keep the k best."""
        exact = score_vectors(self.codes[candidates], query)
        leaders = pick_representatives(self.read_ids(candidates), exact, self.columns["hash"][candidates])[:k]
        return Ranked(candidates[leaders], exact[leaders])

    def read_ids(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        """Return the ids of entries: uint64 [rows]."""
        ids: npt.NDArray[np.uint64] = self.columns["id"].view("<u8")[rows]
        return ids

    def _make_matches(self, found: Ranked, keep: Mask | None) -> tuple[Match, ...]:
        best = found.rows
        if keep is None:
            return make_matches(self.read_ids(best), found.cosines, self.columns["equal"][best])
        return make_matches(self.read_ids(best), found.cosines, self.count_equal(self.columns["hash"][best], keep))

    def count_equal(self, hashes: npt.NDArray[np.int64], keep: Mask | None) -> npt.NDArray[np.int64]:
        """Count the entries of each of some contents, int64 [contents], that a mask keeps."""
        held = self.columns["hash"]
        return count_equal(held, hashes, lambda near: np.ones(len(near), np.bool_) if keep is None else keep[near])

    def _scan(self, query: Query) -> npt.NDArray[np.float32]:
        """Return the scores of all entries for a rounded query, cosines times a constant: float32 [n]."""
        # No preallocated output: simsimd 6.5 then drops a reference to None on each call, until Python crashes.
        scores = np.asarray(simsimd.dot(self.codes, query.codes, out_dtype="float32")).reshape(-1)
        scores *= self.columns["scale"]
        return scores

    def _find_candidates(
        self, scores: npt.NDArray[np.float32], k: int, allowed: int, margin: float
    ) -> npt.NDArray[np.int64]:
        """Return every entry that may be among the k best of distinct content, given the rounding error."""
        look = k + OVERSAMPLING
        while look < allowed:
            bound = find_score_bound(scores, look)
            near = np.flatnonzero(scores >= bound - margin)
            top = near[scores[near] >= bound]
            top = top[np.argsort(-scores[top], kind="stable")]
            firsts = find_first_occurrences(self.columns["hash"][top])
            if len(firsts) >= k:
                candidates: npt.NDArray[np.int64] = near[scores[near] >= scores[top[firsts[k - 1]]] - margin]
                return candidates
            look *= 4
        return np.flatnonzero(scores > -np.inf)

    def _drop_beaten(
        self, candidates: npt.NDArray[np.int64], scores: npt.NDArray[np.float32], margin: float
    ) -> npt.NDArray[np.int64]:
        """Drop candidates that a duplicate beats beyond the rounding error: large sets need not be scored."""
        _, groups = np.unique(self.columns["hash"][candidates], return_inverse=True)
        best = np.full(len(candidates), -np.inf, np.float32)
        np.maximum.at(best, groups, scores[candidates])
        return candidates[scores[candidates] >= best[groups] - margin]


class SegmentPart(NamedTuple):
    """One of several segments that are searched as one, and the mask of its entries that are searched."""

    segment: Segment
    keep: Mask | None


def search_parts(
    parts: Sequence[SegmentPart], query: npt.NDArray[np.float32], k: int, places: MutableMapping[str, int]
) -> Matches:
    """Find the k entries of highest cosine with distinct content in several segments, as in one of all entries.

    `query` is float32 [dimension]; `places` gets the place of the segment of each entry found, by id.
    """
    total = sum(len(part.segment) for part in parts)
    allowed = sum(len(part.segment) if part.keep is None else int(part.keep.sum()) for part in parts)
    rounded, found = round_query(query), []
    for segment, keep in parts:
        rows, cosines = segment.find(rounded, k, keep)
        found.append(Best(segment.read_ids(rows), cosines, segment.columns["hash"][rows]))
    best, of_part = merge_best(found, k)
    counts = sum(segment.count_equal(best.contents, keep) for segment, keep in parts)
    matches = make_matches(best.ids, best.scores, np.asarray(counts))
    places.update(zip((match.id for match in matches), of_part.tolist(), strict=True))
    return Matches(matches, total, total - allowed, sum(match.same_content for match in matches))


Row = tuple[int, int, int, int, int, int, bytes]  # number, signed id, hash, source, fragment, kind, vector


def make_segment(rows: Iterator[Row], dimension: int) -> Segment:
    """Build the segment of a label in memory."""
    batches: dict[str, list[npt.NDArray[Any]]] = {}
    for columns in encode_rows(rows, dimension):
        for name, values in columns.items():
            batches.setdefault(name, []).append(values)
    if not batches:
        return Segment({name: np.zeros(0, kind) for name, kind in COLUMNS.items()}, np.zeros((0, dimension), np.int8))
    whole = {name: np.concatenate(parts) for name, parts in batches.items()}
    return Segment(whole, whole.pop("codes"))


def encode_rows(rows: Iterator[Row], dimension: int, kept: Columns | None = None) -> Iterator[Columns]:
    """Yield the columns of rows in batches, after those of `kept`; columns that depend on all rows come last, whole."""
    names = [name for name in COLUMNS if name not in ("scale", "equal")]
    hashes: list[npt.NDArray[np.int64]] = []
    if kept is not None:
        hashes.append(kept["hash"])
        yield kept
    while batch := list(islice(rows, 4096)):
        *values, data = zip(*batch, strict=True)
        columns = {name: np.array(column, COLUMNS[name]) for name, column in zip(names, values, strict=True)}
        codes, _ = unpack_codes(data, dimension)
        norms = np.sqrt(np.einsum("ij,ij->i", codes, codes, dtype=np.float32))
        hashes.append(columns["hash"])
        yield {**columns, "scale": 1 / np.maximum(norms, 1), "codes": codes}
    if hashes:
        _, contents, counts = np.unique(np.concatenate(hashes), return_inverse=True, return_counts=True)
        yield {"equal": counts.astype(COLUMNS["equal"])[contents]}


def quantise(vectors: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Round each row to signed bytes with a scale of its own: int8 [n, dimension], float32 [n]."""
    scale = (np.abs(vectors).max(axis=1) / 127).astype(np.float32)
    scale[scale == 0] = 1
    return np.rint(vectors / scale[:, None]).astype(np.int8), scale


def normalise(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Scale each row, float32 [n, dimension], to length 1; a zero row stays zero."""
    norms = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    norms[norms == 0] = 1
    return np.asarray(vectors / norms, np.float32)


def score_vectors(vectors: npt.NDArray[Any], query: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Compute the true cosine of each row with the query, 0 where one of them is zero (P-14): float64 [n].

    `vectors` are [n, dimension], `query` is float32 [dimension]. The rows may be the bytes of vectors without their
    scales, powers of two: the cosine is the same to the last bit.
    """
    rows, asked = vectors.astype(np.float64), query.astype(np.float64)
    norms = np.sqrt((rows * rows).sum(axis=1) * (asked * asked).sum())
    norms[norms == 0] = 1
    cosines: npt.NDArray[np.float64] = (rows * asked).sum(axis=1) / norms
    return cosines
