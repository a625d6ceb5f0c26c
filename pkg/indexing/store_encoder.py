"""Which encoder a graph has: chosen, checked, agreed to after an estimate, changed by encoding every node anew."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from pkg.encode.headings import Headings, head_text
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
from pkg.errors import EncoderMismatchError, PathError, TrustError, UsageError
from pkg.graph.texts import find_docstring, parse_import
from pkg.indexing.build_plan import KnownUnits, compare, gather_docstrings, is_current
from pkg.indexing.written_docstrings import fill_function
from pkg.model import DECLARATION_LABELS, EMBEDDED_LABELS, Label, Node, Skip
from pkg.services import conceal_name
from pkg.trust import is_trusted_encoder, trust_encoder
from pkg.units import hash_bytes

if TYPE_CHECKING:
    from pkg.encode.batched import BatchedEncoder
    from pkg.encode.encoder import Vectors
    from pkg.graph.store import EncoderWriter, GraphStore
    from pkg.indexing.build_plan import BuildOptions, Progress
    from pkg.indexing.inputs import Input, LoadedUnit
    from pkg.indexing.report import StageClock


NODES_AT_ONCE = 500
BYTES_AT_ONCE = 200_000  # of text, so that long functions do not fill the memory

Text = tuple[bytes, str]  # what is encoded of a node, and its heading


def settle_encoder(found: Input, store: GraphStore, options: BuildOptions, clock: StageClock) -> tuple[str, int]:
    """Choose the encoder of a build and let the store have it; give its name, and how many nodes were encoded anew.

    A UsageError where code would be sent to a service without consent; nothing is done then.
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
    """See that an encoder can be used before anything is done, and that sending code to a service is agreed to."""
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
    """Choose the encoder of a build: the one that is asked for, else the store's own, else the default.

    Of an encoder whose weights come with PKG, those of now are meant. One that is asked for is trusted from then on. An
    EncoderMismatchError says that the store's own is not known here, a TrustError that the user has not named it.
    """
    known, dimension = store.encoder()
    if wanted is not None:
        encoder = name_encoder(wanted)
        if needs_trust(encoder):
            with suppress(PathError):  # a configuration that cannot be written: this process knows it all the same
                trust_encoder(encoder)
        return encoder
    if not known:
        return name_encoder(DEFAULT_ENCODER)
    try:
        return _check_trust(store, name_encoder(forget_revision(known)))
    except UsageError:
        raise EncoderMismatchError(
            f"{store.address} holds vectors of encoder '{known}' with {dimension} dimensions, which this PKG does not"
            f" have; encode everything anew with: pkg build PATH --encoder {DEFAULT_ENCODER}"
        ) from None


def _check_trust(store: GraphStore, encoder: str) -> str:
    """Return the encoder that a graph names, which may be a graph of someone else; a TrustError if the user has not."""
    if needs_trust(encoder) and not is_trusted_encoder(encoder):
        shown = conceal_name(encoder)
        raise TrustError(
            f"{store.address} was made with the encoder '{shown}', which you have not named on this machine: it would"
            " be loaded, or be sent questions and the key of its service. Nothing was sent and nothing loaded. If you"
            f" trust it, run: pkg trust --encoder {shlex.quote(shown)}"
        )
    return encoder


def keep_encoder(store: GraphStore) -> str:
    """Choose the encoder of a question: the one that made the vectors, with the weights that it had then.

    Where this PKG does not have it, or has other weights, that is an EncoderMismatchError.
    """
    (known, _), encoder = store.encoder(), choose_encoder(store, None)
    if known != encoder and forget_revision(known) == forget_revision(encoder):
        raise EncoderMismatchError(
            f"{store.address} holds vectors of encoder '{known}', made with other weights than this PKG has"
            f" ('{encoder}'); encode everything anew with: pkg build PATH"
        )
    return encoder


def needs_reencoding(known: str, encoder: str) -> bool:
    """Tell whether a store whose encoder is known holds vectors of another one; "" is that of a new store."""
    return known not in ("", encoder)


def reencode(
    store: GraphStore, encoder: str, say: Callable[[str], None], progress: Progress = lambda done, total: None
) -> int:
    """Encode every node of the store anew, all in one write; give how many.

    Readers find the old vectors until the write ends, and keep them when it fails. progress is told the bytes of text.
    """
    known, _ = store.encoder()
    total = sum(store.stats().nodes.get(label.value, 0) for label in EMBEDDED_LABELS)
    say(f"{store.address} holds vectors of '{known}'; all {total:,} nodes are encoded anew with '{encoder}'")
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
    """Give the id and the text of every embedded node, some of one label at a time."""
    headings = Headings(store.sources())
    for label in EMBEDDED_LABELS:
        nodes, read = store.nodes([label]), partial(make_text, headings=headings)
        texts = _read_declarations(store, nodes, read) if label in DECLARATION_LABELS else _read_nodes(nodes, read)
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


def _read_nodes(nodes: Iterable[Node], read: Callable[[Node], Text]) -> Iterator[tuple[str, Text]]:
    return ((node.id, read(node)) for node in nodes)


def _read_declarations(
    store: GraphStore, nodes: Iterator[Node], read: Callable[[Node], Text]
) -> Iterator[tuple[str, Text]]:
    """Draft the fragments of declarations once more: of these the text is not all that stands in their nodes."""
    from pkg.indexing.redrafting import redraft

    while some := list(islice(nodes, NODES_AT_ONCE)):
        drafted: dict[str, Text] = {}
        for fragment in store.fragments([node.id for node in some]):
            drafted |= redraft(fragment, {}).list_encoded()
        yield from ((node.id, drafted.get(node.id) or read(node)) for node in some)


def list_texts(store: GraphStore) -> Iterator[Sequence[Text]]:
    """Give what is encoded of every embedded node, some at a time."""
    return ([text for _, text in batch] for _, batch in _list_batches(store))


def make_text(node: Node, headings: Headings) -> Text:
    """Give the text of a stored node as a build encodes it, with its heading (A-06); of declarations, about that."""
    if node.label is Label.FUNCTION_NAME:
        text, heading = node.name, ""
    elif node.label is Label.IMPORT:
        text, heading = parse_import(node.properties).statement, ""
    elif node.label is Label.CHUNK:
        return head_text(node.path, node.qualname, node.content.encode("utf-8", "replace")), ""
    else:
        text, heading = node.content, headings.of(node)
    encoded = text.encode("utf-8", "replace")
    written = find_docstring(node.properties)
    filled = fill_function(encoded, written, node.start_col) if written else None
    return filled or encoded, heading


@dataclass(frozen=True, slots=True)
class Estimate:
    """What would be sent: distinct texts that no earlier build has sent, and about how many tokens they have."""

    texts: int
    tokens: int
    is_complete: bool = True  # False where the input can be read but once

    def describe(self, encoder: str, address: str) -> str:
        """Say in one sentence what leaves the machine."""
        amount = f"{self.texts:,} texts of about {self.tokens:,} tokens" if self.texts else "texts"
        more = "" if self.is_complete else ", and whatever standard input holds (it cannot be counted first)"
        plain = "" if address.startswith("https://") else ", not encrypted on the way"
        return (
            f"encoder '{encoder}' sends code to {address}: {amount}{more}{plain}; they leave this machine, and the"
            " service may charge for them (its price list tells what a token costs)"
        )


class _Census:
    """An encoder that encodes nothing, and counts what the real one would have to."""

    dimension = 1

    def __init__(self, encoder: BatchedEncoder) -> None:
        self.name = encoder.name
        self._encoder = encoder
        self._seen: set[int] = set()
        self.tokens = 0

    @property
    def texts(self) -> int:
        """Count the distinct texts."""
        return len(self._seen)

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        """Count texts: zeros, float32 [len(texts), 1]."""
        import numpy as np

        fresh = [text for text in self._encoder.list_missing(texts, headings) if self._is_new(text)]
        self.tokens += sum(self._encoder.model.count_tokens(fresh)) if fresh else 0
        return np.zeros((len(texts), 1), np.float32)

    def _is_new(self, text: str) -> bool:
        key, before = hash_bytes(text.encode("utf-8", "replace")), len(self._seen)
        self._seen.add(key)
        return len(self._seen) > before

    def encode_query(self, text: str) -> Vectors:
        """Count nothing: builds ask no questions."""
        import numpy as np

        return np.zeros(1, np.float32)


def estimate_build(found: Input, store: GraphStore, name: str) -> Estimate:
    """Count what a build would send, by doing all of it but the sending."""
    from pkg.encode.batched import BatchedEncoder
    from pkg.indexing.prepare import Preparer, cut_batches

    encoder = load_encoder(name)
    assert isinstance(encoder, BatchedEncoder), "only services send texts"
    census = _Census(encoder)
    if needs_reencoding(store.encoder()[0], name):
        for batch in list_texts(store):
            census.encode([text for text, _ in batch], [heading for _, heading in batch])
    is_stream = found.source.root == "-"
    if not is_stream:
        preparer = Preparer(found.source.name, census, gather_docstrings(found, store))
        for units in cut_batches(_load_fresh(found, store)):
            preparer.prepare(units)
    return Estimate(census.texts, census.tokens, not is_stream)


def _load_fresh(found: Input, store: GraphStore) -> Iterator[LoadedUnit]:
    """Load the units whose content the store does not have; what cannot be read is left to the build."""
    with closing(KnownUnits(store.fingerprints(found.source.name))) as known:
        for unit in compare(found, known).units:
            loaded = unit if isinstance(unit, Skip) else unit.load()
            if not isinstance(loaded, Skip) and known.find(loaded.path)[1] != loaded.content_hash:
                yield loaded
