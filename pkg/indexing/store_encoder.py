"""The encoder of a graph: choice, checks, consent after an estimate, and re-encoding of all nodes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from pkg.encode.headings import Headings, encode_fact, head_text
from pkg.encode.registry import (
    DEFAULT_ENCODER,
    check_ready,
    find_encoder,
    find_service,
    forget_revision,
    load_encoder,
    name_encoder,
    needs_trust,
)
from pkg.errors import EncoderMismatchError, PathError, StoreMissingError, TrustError, UsageError
from pkg.extract.input_options import STDIN
from pkg.graph.graph_records import find_docstring, find_value, parse_import
from pkg.model import DECLARATION_LABELS, EMBEDDED_LABELS, Label, Node, Skip
from pkg.services import conceal_name
from pkg.trust import is_trusted_encoder, trust_encoder
from pkg.units import hash_bytes

if TYPE_CHECKING:
    from pkg.encode.batched import BatchedEncoder
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import EncoderWriter, GraphStore
    from pkg.indexing.build_plan import BuildOptions, Progress
    from pkg.indexing.inputs import Input, LoadedUnit
    from pkg.indexing.report import StageClock


NODES_AT_ONCE = 500
BYTES_AT_ONCE = 200_000  # of text, so that long functions do not fill the memory

Text = tuple[bytes, str]  # encoded text of a node, and its heading


def set_encoder(found: Input, store: GraphStore, options: BuildOptions, clock: StageClock) -> tuple[str, int]:
    """Choose the encoder of a build and set it in the store; return its name and the number of re-encoded nodes.

    Raises UsageError, before any change, if code would be sent to a service without consent.
    """
    encoder = choose_encoder(store, options.encoder)
    _check_encoder(found, store, encoder, options)
    known, dimension = store.encoder()
    reencoded = 0
    if needs_reencoding(known, encoder):
        with clock.stage("reencode"):
            reencoded = reencode(store, encoder, options.say, options.progress or (lambda done, total: None))
    store.ensure_schema(*((known, dimension) if known == encoder else find_encoder(encoder)))
    return encoder, reencoded


def _check_encoder(found: Input, store: GraphStore, encoder: str, options: BuildOptions) -> None:
    """Check that an encoder can be used, and that sending code to its service has consent."""
    from pkg.indexing.build_plan import is_current

    check_ready(encoder)
    address = find_service(encoder)
    if address is None or (is_current(found, store) and store.encoder()[0] == encoder):
        return
    estimate = estimate_build(found, store, encoder)
    if estimate.is_complete and not estimate.texts:
        return
    message = estimate.describe(encoder, address)
    if options.agree is None or not options.agree(message):
        raise UsageError(f"{message}; nothing was sent: agree with --yes, or choose an encoder that works offline")


def choose_encoder(store: GraphStore, wanted: str | None) -> str:
    """Choose the encoder of a build: the requested one, else that of the store, else the default.

    An encoder whose weights come with PKG is used with its present weights. A requested encoder becomes trusted.
    Raises EncoderMismatchError if that of the store is unknown here, TrustError if the user has not named it.
    """
    known, dimension = store.encoder()
    if wanted is not None:
        encoder = name_encoder(wanted)
        if needs_trust(encoder):
            with suppress(PathError):  # without a writable configuration, trust lasts for this process
                trust_encoder(encoder)
        return encoder
    if not known:
        return name_encoder(DEFAULT_ENCODER)
    try:
        return _check_trust(store, name_encoder(forget_revision(known)))
    except UsageError:
        raise EncoderMismatchError(
            f"{store.address} holds vectors of encoder '{known}' with {dimension} dimensions, which this PKG does not"
            f" have; re-encode everything with: pkg build PATH --encoder {DEFAULT_ENCODER}"
        ) from None


def _check_trust(store: GraphStore, encoder: str) -> str:
    """Return the encoder of a graph, which may be a stranger's; raise TrustError if the user has not named it."""
    if needs_trust(encoder) and not is_trusted_encoder(encoder):
        shown = conceal_name(encoder)
        raise TrustError(
            f"{store.address} was made with the encoder '{shown}', which you have not named on this machine: it would"
            " be loaded, or be sent questions and the key of its service. Nothing was sent and nothing loaded. If you"
            f" trust it, run: pkg trust --encoder {shlex.quote(shown)}"
        )
    return encoder


def choose_query_encoder(store: GraphStore) -> str:
    """Choose the encoder of a question: the one that made the vectors, with the same weights.

    Raises EncoderMismatchError if this PKG lacks it or has other weights.
    """
    (known, _), encoder = store.encoder(), choose_encoder(store, None)
    if known != encoder and forget_revision(known) == forget_revision(encoder):
        raise EncoderMismatchError(
            f"{store.address} holds vectors of encoder '{known}', made with other weights than this PKG has"
            f" ('{encoder}'); re-encode everything with: pkg build PATH"
        )
    return encoder


def load_store_encoder(store: GraphStore) -> Encoder:
    """Load the encoder of a graph for a question; raise StoreMissingError if nothing was built yet.

    Raises what choose_query_encoder raises.
    """
    if not store.encoder()[0]:
        raise StoreMissingError(f"no graph in {store.address} yet; run: pkg build PATH")
    return load_encoder(choose_query_encoder(store))


def needs_reencoding(known: str, encoder: str) -> bool:
    """Return whether a store's encoder, if any, differs from the given one; "" is that of a new store."""
    return known not in ("", encoder)


def reencode(
    store: GraphStore, encoder: str, say: Callable[[str], None], progress: Progress = lambda done, total: None
) -> int:
    """Re-encode all nodes of the store in one transaction; return their number.

    Readers see the old vectors until it commits, and keep them if it fails. progress: called with bytes of text.
    """
    known, _ = store.encoder()
    total = sum(store.stats().nodes.get(label.value, 0) for label in EMBEDDED_LABELS)
    say(f"{store.address} holds vectors of '{known}'; all {total:,} nodes are re-encoded with '{encoder}'")
    done = size = 0
    with store.write() as writer:
        writer.put_encoder(*find_encoder(encoder))
        for label, batch in _list_batches(store):
            done += _put_batch(writer, encoder, label, batch)
            size += sum(len(text) for _, (text, _) in batch)
            progress(size, 0)
    return done


def _put_batch(writer: EncoderWriter, encoder: str, label: Label, batch: Sequence[tuple[str, Text]]) -> int:
    from pkg.vectors.quantised import round_vectors

    texts, headings = zip(*(text for _, text in batch), strict=True)
    vectors = round_vectors(load_encoder(encoder).encode(texts, headings))
    writer.put_vectors(label, dict(zip((identity for identity, _ in batch), vectors, strict=True)))
    return len(batch)


def _list_batches(store: GraphStore) -> Iterator[tuple[Label, list[tuple[str, Text]]]]:
    """Yield the id and the text of every encoded node in batches of one label."""
    headings = Headings(store.sources())
    for label in EMBEDDED_LABELS:
        nodes, read = store.nodes([label]), partial(make_text, headings=headings)
        is_declared = label in DECLARATION_LABELS
        texts = _read_declarations(store, nodes, read) if is_declared else ((node.id, read(node)) for node in nodes)
        batch: list[tuple[str, Text]] = []
        size = 0
        for identity, text in texts:
            if batch and (len(batch) >= NODES_AT_ONCE or size + len(text[0]) > BYTES_AT_ONCE):
                yield label, batch
                batch, size = [], 0
            batch.append((identity, text))
            size += len(text[0])
        if batch:
            yield label, batch


def _read_declarations(
    store: GraphStore, nodes: Iterator[Node], read: Callable[[Node], Text]
) -> Iterator[tuple[str, Text]]:
    """Rebuild the fragments of declarations, whose encoded texts are not all in their nodes."""
    from pkg.indexing.generated_storage import rebuild_nodes

    while some := list(islice(nodes, NODES_AT_ONCE)):
        rebuilt: dict[str, Text] = {}
        for fragment in store.fragments([node.id for node in some]):
            rebuilt |= rebuild_nodes(fragment, {}).list_encoded()
        yield from ((node.id, rebuilt.get(node.id) or read(node)) for node in some)


def make_text(node: Node, headings: Headings) -> Text:
    """Return the text and heading of a stored node as a build encodes it (A-06); approximate for declarations."""
    from pkg.indexing.written_docstrings import fill_function

    if node.label is Label.FUNCTION_NAME:
        text, heading = node.name, ""
    elif node.label is Label.IMPORT:
        text, heading = parse_import(node.properties).statement, ""
    elif node.label is Label.CHUNK:
        return head_text(node.path, node.qualname, node.content.encode("utf-8", "replace")), ""
    elif node.label is Label.FACT:
        return encode_fact(node.path, node.qualname, find_value(node).encode("utf-8", "replace")), ""
    else:
        text, heading = node.content, headings.of(node)
    encoded = text.encode("utf-8", "replace")
    written = find_docstring(node.properties)
    filled = fill_function(encoded, written, node.start_col) if written else None
    return filled or encoded, heading


@dataclass(frozen=True, slots=True)
class Estimate:
    """Texts that would be sent: the number of distinct new ones, and their approximate number of tokens."""

    texts: int
    tokens: int
    is_complete: bool = True  # False if the input can be read only once

    def describe(self, encoder: str, address: str) -> str:
        """Describe in one sentence what would be sent."""
        amount = f"{self.texts:,} texts of about {self.tokens:,} tokens" if self.texts else "texts"
        more = "" if self.is_complete else ", and whatever standard input holds (it cannot be counted first)"
        plain = "" if address.startswith("https://") else ", not encrypted on the way"
        return (
            f"encoder '{encoder}' sends code to {address}: {amount}{more}{plain}; they leave this machine, and the"
            " service may charge for them (see its price list)"
        )


class _CountingEncoder:
    """An encoder that encodes nothing, and counts the texts that the real one would send."""

    dimension = 1

    def __init__(self, encoder: BatchedEncoder) -> None:
        self.name = encoder.name
        self._encoder = encoder
        self._seen: set[int] = set()
        self.tokens = 0

    @property
    def texts(self) -> int:
        """Return the number of distinct texts."""
        return len(self._seen)

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        """Count texts; return zeros, float32 [len(texts), 1]."""
        import numpy as np

        fresh = [text for text in self._encoder.list_missing(texts, headings) if self._is_new(text)]
        self.tokens += sum(self._encoder.model.count_tokens(fresh)) if fresh else 0
        return np.zeros((len(texts), 1), np.float32)

    def _is_new(self, text: str) -> bool:
        key, before = hash_bytes(text.encode("utf-8", "replace")), len(self._seen)
        self._seen.add(key)
        return len(self._seen) > before

    def encode_query(self, text: str) -> Vectors:
        """Count nothing: a build asks no questions."""
        import numpy as np

        return np.zeros(1, np.float32)


def estimate_build(found: Input, store: GraphStore, name: str) -> Estimate:
    """Count what a build would send, by running it without sending."""
    from pkg.encode.batched import BatchedEncoder
    from pkg.indexing.build_plan import load_generated
    from pkg.indexing.prepare import Preparer, cut_batches

    encoder = load_encoder(name)
    assert isinstance(encoder, BatchedEncoder), "only services send texts"
    census = _CountingEncoder(encoder)
    if needs_reencoding(store.encoder()[0], name):
        for _, batch in _list_batches(store):
            census.encode([text for _, (text, _) in batch], [heading for _, (_, heading) in batch])
    is_stream = found.source.root == STDIN
    if not is_stream:
        preparer = Preparer(found.source.name, census, load_generated(found, store))
        for units in cut_batches(_load_fresh(found, store)):
            preparer.prepare(units)
    return Estimate(census.texts, census.tokens, not is_stream)


def _load_fresh(found: Input, store: GraphStore) -> Iterator[LoadedUnit]:
    """Load the units with new content; units that cannot be read are left to the build."""
    from pkg.indexing.build_plan import KnownUnits, compare
    from pkg.indexing.inputs import LoadedUnit, load_file

    with closing(KnownUnits(store.fingerprints(found.source.name))) as known:
        for unit in compare(found, known).units:
            loaded = unit if isinstance(unit, LoadedUnit | Skip) else load_file(unit)
            if isinstance(loaded, LoadedUnit) and known.find(loaded.path)[1] != loaded.content_hash:
                yield loaded
