"""The terms of nodes in a store: term numbers with their weights, in one blob for each text fragment.

The weight of a term in a node depends on that node alone: it is the weighted, length-normalised count of the term over
the fields of the node (the pseudo-frequency of BM25F, over k1), on a logarithmic scale of 8 bits. The rarity of a term
in the graph is applied at query time, so that a change of one file stays local.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.errors import StoreCorruptError
from pkg.model import DECLARATION_LABELS, Label

OCTAVE = 16  # levels from one frequency to its double: 4.4% each, too little to change an order that matters
_STEP = 1.0442737824274138  # the 16th root of 2
_LOWEST = 2.0**-10  # frequency of level 0: a word once in a long body; that of level 255 is above 60, a name is at 7
TERM_LABELS = (Label.FUNCTION, Label.IMPORT, *DECLARATION_LABELS, Label.CHUNK, Label.FACT)
"""Labels whose nodes have terms; the index of each is its number in a blob."""
_NUMBERS = {label: number for number, label in enumerate(TERM_LABELS)}
_HEADER = 8  # bytes: the numbers of nodes and terms
GROUP_BYTES = 4_000_000  # size of a batch of expanded blobs
_PACKED_FROM = 512  # bytes; compressing a smaller blob saves too little

Numbers = npt.NDArray[np.int64]  # [n]


class TermRows(NamedTuple):
    """Terms of n nodes: the number of each node's terms [n]; terms and weights, node after node, terms ascending."""

    counts: Numbers
    hashes: npt.NDArray[np.uint32]  # pkg.terms.words.hash_term
    weights: npt.NDArray[np.uint8]


class NodeKeys(NamedTuple):
    """Keys of n nodes: their ids [n], and the hashes of their contents [n]."""

    ids: npt.NDArray[np.uint64]
    contents: npt.NDArray[np.uint64]


LabelNumbers = npt.NDArray[np.uint8]
"""Labels of n nodes as indices into TERM_LABELS: uint8 [n]."""


class Unpacked(NamedTuple):
    """Unpacked blobs: the number of nodes of each, int64 [blobs], and the data of all nodes, blob after blob."""

    counts: Numbers
    keys: NodeKeys
    labels: LabelNumbers
    rows: TermRows


@lru_cache(maxsize=1)
def _frequencies() -> npt.NDArray[np.float64]:
    """Return the frequency of each level [256]; computed by products alone, which are the same on every machine."""
    return np.multiply.accumulate(np.array([_LOWEST] + [_STEP] * 255))


def quantise(frequencies: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """Round weighted frequencies, float64 [n], down to the nearest level: uint8 [n]."""
    return np.clip(np.searchsorted(_frequencies(), frequencies, "right") - 1, 0, 255).astype(np.uint8)


@lru_cache(maxsize=1)
def saturations() -> npt.NDArray[np.float32]:
    """Return the share of a term's full score at each level: x / (1 + x), float32 [256]."""
    frequencies = _frequencies()
    return (frequencies / (1 + frequencies)).astype(np.float32)


def pack_terms(labels: Sequence[Label], keys: NodeKeys, rows: TermRows) -> bytes:
    """Pack the terms of a fragment's nodes, so that many blobs can be read at once; one label for each node."""
    counts, hashes, weights = rows
    sizes = np.array([len(counts), len(hashes)], "<u4")
    columns = keys.ids.astype("<u8"), keys.contents.astype("<u8"), hashes.astype("<u4"), counts.astype("<u4"), weights
    plain = b"".join(column.tobytes() for column in (sizes, *columns)) + bytes(_NUMBERS[label] for label in labels)
    plain += bytes(-len(plain) % 8)
    return b"\1" + zlib.compress(plain, 1) if len(plain) >= _PACKED_FROM else b"\0" + plain


def unpack_terms(blobs: Iterable[bytes], labels: Collection[Label]) -> Unpacked:
    """Unpack the nodes of some labels, blob after blob.

    Raises StoreCorruptError for a blob that cannot be read.
    """
    batches = list(unpack_batches(blobs, labels))
    return _join_columns(batches) if len(batches) > 1 else batches[0]


def unpack_batches(blobs: Iterable[bytes], labels: Collection[Label]) -> Iterator[Unpacked]:
    """Unpack the nodes of some labels in batches of GROUP_BYTES, at least one, each as soon as its blobs are read.

    Raises StoreCorruptError for a blob that cannot be read.
    """
    try:
        is_wanted = np.array([label in labels for label in TERM_LABELS])
        for plain in _group(map(_unpack, blobs)):
            yield _read_joined(plain, is_wanted)
    except (zlib.error, TypeError, ValueError, IndexError) as fault:
        raise StoreCorruptError(
            f"the store holds terms that cannot be read ({fault}); move it away and run pkg build again"
        ) from fault


def _group(plain: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Batch expanded blobs, at least one batch: the arrays computed from a batch take many times its memory."""
    group: list[bytes] = []
    size = 0
    for each in plain:
        group.append(each)
        size += len(each)
        if size > GROUP_BYTES:
            yield group
            group, size = [], 0
    yield group


def _join_columns(groups: list[Unpacked]) -> Unpacked:
    counts, keys, labels, rows = zip(*groups, strict=True)
    return Unpacked(
        np.concatenate(counts),
        NodeKeys(*map(np.concatenate, zip(*keys, strict=True))),
        np.concatenate(labels),
        TermRows(*map(np.concatenate, zip(*rows, strict=True))),
    )


def _unpack(blob: bytes) -> bytes:
    """Expand a blob; that of a fragment without terms is empty."""
    if not blob:
        return bytes(_HEADER)
    return zlib.decompress(blob[1:]) if blob[:1] == b"\1" else blob[1:]


def _read_joined(plain: list[bytes], is_wanted: npt.NDArray[np.bool_]) -> Unpacked:
    """Read all columns of all blobs, each by one gather of its runs, and keep the nodes of the wanted labels.

    `is_wanted` is bool [labels].
    """
    sizes = np.array([len(each) for each in plain], np.int64)
    starts = np.cumsum(sizes) - sizes
    joined = np.frombuffer(b"".join(plain), np.uint8)
    words, longs = joined.view("<u4"), joined.view("<u8")
    nodes, terms = (words[starts // 4 + place].astype(np.int64) for place in range(2))
    ids = starts + _HEADER
    contents, hashes = ids + 8 * nodes, ids + 16 * nodes
    counts = hashes + 4 * terms
    weights = counts + 4 * nodes
    labels = weights + terms
    ends = labels + nodes
    if (ends + -ends % 8 != starts + sizes).any():
        raise ValueError("a blob is not as long as its header tells")
    found = words[expand_runs(counts // 4, nodes)].astype(np.int64)
    if found.sum() != terms.sum():
        raise ValueError("the nodes of a blob have more or fewer terms than it holds")
    numbers = joined[expand_runs(labels, nodes)]
    keep = is_wanted[numbers]
    kept = np.repeat(keep, found)
    blobs = np.repeat(np.arange(len(plain)), nodes)
    return Unpacked(
        np.bincount(blobs[keep], minlength=len(plain)),
        NodeKeys(longs[expand_runs(ids // 8, nodes)][keep], longs[expand_runs(contents // 8, nodes)][keep]),
        numbers[keep],
        TermRows(found[keep], words[expand_runs(hashes // 4, terms)][kept], joined[expand_runs(weights, terms)][kept]),
    )


def expand_runs(starts: Numbers, counts: Numbers) -> Numbers:
    """Expand runs, one after another: counts[i] numbers starting at starts[i]: int64 [sum of counts].

    `starts` and `counts` are int64 [runs].
    """
    ends = np.cumsum(counts)
    numbers: Numbers = np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
    return numbers
