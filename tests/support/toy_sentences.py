"""A stand-in for the package sentence-transformers, which is too large for these tests: it records its use."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt


@dataclass
class Uses:
    """Recorded uses of the package."""

    loaded: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    offline: list[str | None] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    pairs: list[tuple[str, str]] = field(default_factory=list)


class ToyTensor:
    """A tensor on its device."""

    def __init__(self, rows: list[list[int]]) -> None:
        self._rows = rows

    def float(self) -> ToyTensor:
        return self

    def cpu(self) -> npt.NDArray[np.float32]:
        return np.array(self._rows, np.float32)


@contextmanager
def install_sentences(prompts: dict[str, str] | None = None, scores: Any = None) -> Iterator[Uses]:
    """Replace the package by the stand-in; models called `missing` do not exist."""
    uses = Uses()

    def note_loading(name: str, options: dict[str, Any]) -> None:
        uses.loaded.append((name, options))
        uses.offline.append(os.environ.get("HF_HUB_OFFLINE"))
        if name == "missing":
            raise OSError("we could not connect to the hub\nand more")

    class SentenceTransformer:
        max_seq_length = 12

        def __init__(self, name: str, **options: Any) -> None:
            note_loading(name, options)
            self.prompts = prompts or {}

        def get_embedding_dimension(self) -> int:
            return 3

        def tokenizer(self, texts: list[str], **options: Any) -> dict[str, list[list[int]]]:
            return {"input_ids": [[0] * len(text.split()) for text in texts]}

        def encode(self, texts: list[str], prompt: str, output_value: str = "", **options: Any) -> Any:
            uses.prompts.append(prompt)
            if output_value == "token_embeddings":
                return [ToyTensor([[len(word), word.count("e"), 1] for word in text.split()]) for text in texts]
            return np.array([[len(text), text.count("e"), 1] for text in texts], np.float32)

    class CrossEncoder:
        def __init__(self, name: str, **options: Any) -> None:
            note_loading(name, options)
            self.config = SimpleNamespace(
                architectures=["BertModel" if name == "bare" else "BertForSequenceClassification"]
            )

        def predict(self, pairs: Sequence[tuple[str, str]], **options: Any) -> Any:
            uses.pairs += pairs
            return [float(len(text)) / 100 for _, text in pairs] if scores is None else scores

    package, torch, layers = (ModuleType(name) for name in ("sentence_transformers", "torch", "torch.nn"))
    vars(package).update(SentenceTransformer=SentenceTransformer, CrossEncoder=CrossEncoder)
    vars(layers)["Identity"] = object
    modules = {"sentence_transformers": package, "torch": torch, "torch.nn": layers}
    with patch.dict(sys.modules, modules), patch.dict(os.environ):
        yield uses
