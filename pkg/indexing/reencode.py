"""Which encoder a build works with, and what follows from another one than before: every vector is made anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from pkg.encode.headings import Headings
from pkg.encode.registry import DEFAULT_ENCODER, find_encoder, forget_revision, load_encoder, name_encoder
from pkg.errors import EncoderMismatchError, UsageError
from pkg.graph.texts import read_import
from pkg.model import EMBEDDED_LABELS, Label, Node

if TYPE_CHECKING:
    from pkg.graph.store import EncoderWriter, GraphStore
    from pkg.indexing.todo import Progress

NODES_AT_ONCE = 500
BYTES_AT_ONCE = 200_000  # of text, so that long functions do not fill the memory

Text = tuple[bytes, str]  # what is encoded of a node, and its heading


def choose_encoder(store: GraphStore, wanted: str | None) -> str:
    """Choose the encoder of a build: the one that is asked for, else the store's own, else the default.

    Of an encoder whose weights come with PKG, those of now are meant. An EncoderMismatchError says that the store's own
    is not known here.
    """
    known, dimension = store.encoder()
    if wanted is not None or not known:
        return name_encoder(wanted or DEFAULT_ENCODER)
    try:
        return name_encoder(forget_revision(known))
    except UsageError:
        raise EncoderMismatchError(
            f"{store.address} holds vectors of encoder '{known}' with {dimension} dimensions, which this PKG does not"
            f" have; encode everything anew with: pkg build PATH --encoder {DEFAULT_ENCODER}"
        ) from None


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
        batch: list[tuple[str, Text]] = []
        size = 0
        for node in store.nodes([label]):
            text = read_text(node, headings)
            if batch and (len(batch) >= NODES_AT_ONCE or size + len(text[0]) > BYTES_AT_ONCE):
                yield label, batch
                batch, size = [], 0
            batch.append((node.id, text))
            size += len(text[0])
        if batch:
            yield label, batch


def list_texts(store: GraphStore) -> Iterator[Sequence[Text]]:
    """Give what is encoded of every embedded node, some at a time."""
    return ([text for _, text in batch] for _, batch in _list_batches(store))


def read_text(node: Node, headings: Headings) -> Text:
    """Give the text of a stored node as a build encodes it, with its heading (A-06)."""
    if node.label is Label.FUNCTION_NAME:
        text, heading = node.name, ""
    elif node.label is Label.IMPORT:
        text, heading = read_import(node.properties).statement, ""
    else:
        text, heading = node.content, headings.of(node)
    return text.encode("utf-8", "replace"), heading
