"""The index finds documents by their best parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pkg.encode.batched import BatchedEncoder
from pkg.encode.registry import load_encoder
from pkg.lab.evaluation.documents.document_index import DocumentIndex
from pkg.lab.evaluation.documents.document_rows import Document


class NarrowModel:
    """Reads eight words of a text, and counts two of them."""

    name, identity, dimension, window, max_texts, max_tokens = "narrow", "narrow", 2, 8, 8, 64

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def embed(self, texts: Sequence[str], is_query: bool) -> npt.NDArray[np.float32]:
        read = [text.split()[: self.window] for text in texts]
        return np.array([[words.count("sun"), words.count("rain")] for words in read], np.float32)


def test_a_document_is_found_once_by_a_part_beyond_the_first_window() -> None:
    long = "\n".join(["nothing to see here"] * 6 + ["rain and rain"] + ["rain rain"] * 6)
    documents = [Document("a:1", "the sun", "sun = 1"), Document("a:2", "the weather", long)]
    index = DocumentIndex(documents, BatchedEncoder(NarrowModel()))
    assert index.parts > 3
    assert [document.place for document, _ in index.search("rain", 10)] == ["a:2", "a:1"]


def test_the_default_encoder_finds_the_question_most_alike() -> None:
    documents = [
        Document("a:1", "sort a list of numbers", "sorted(numbers)"),
        Document("a:2", "open a file for reading", "open(path)"),
    ]
    ((best, score), *_) = DocumentIndex(documents, load_encoder("static")).search("how to read from a file", 1)
    assert best.place == "a:2"
    assert 0 < score <= 1
