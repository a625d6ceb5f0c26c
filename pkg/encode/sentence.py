"""Any model that sentence-transformers can load from this machine (U-02); nothing is downloaded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pkg.encode.batched import BatchedEncoder, make_caching_encoder
from pkg.encode.service import find_prefix
from pkg.errors import EncoderError, MissingExtraError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

MAX_TEXTS = 32  # in one batch: more gain nothing on a processor, and padding costs more

_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def make_encoder(name: str, model: str) -> BatchedEncoder:
    """Make the encoder of a model, by its name on the model hub or by its folder."""
    return make_caching_encoder(SentenceModel(name, model))


def go_offline() -> None:
    """Forbid the packages of models to reach for the network; must come before they are imported."""
    os.environ.update(_OFFLINE)


def explain_missing(model: str, kind: str, fault: Exception) -> EncoderError:
    """Say how to get a model that is not on this machine."""
    reason = str(fault).strip().partition("\n")[0][:200]
    return EncoderError(
        f"cannot load the model '{model}' from this machine ({reason}); fetch it once where there is a network, with:"
        f" python -c \"from sentence_transformers import {kind}; {kind}('{model}')\", or name a folder that holds it"
    )


class SentenceModel:
    """A model of sentence-transformers; its own prompts go before questions and documents, or those of its family."""

    max_texts = MAX_TEXTS

    def __init__(self, name: str, model: str) -> None:
        self.name = name
        self._model = model

    @cached_property
    def identity(self) -> str:
        """Name the model, and for a folder the state of its files."""
        files = sorted(Path(self._model).rglob("*")) if Path(self._model).is_dir() else []
        states = [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files if path.is_file()]
        return "\n".join([f"st {self._model}", *states])

    @cached_property
    def _loaded(self) -> SentenceTransformer:
        go_offline()
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingExtraError("sentence-transformers", "st", f"the encoder '{self.name}'") from None
        try:
            return SentenceTransformer(self._model, local_files_only=True)
        except Exception as fault:  # the package raises what the parts of a model raise
            raise explain_missing(self._model, "SentenceTransformer", fault) from fault

    @cached_property
    def dimension(self) -> int | None:
        """Tell how many numbers one vector has, if the model says it."""
        model: Any = self._loaded
        tell = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension  # before 6
        size: int | None = tell()
        return size

    @cached_property
    def window(self) -> int | None:
        """Tell how many tokens of a text the model reads."""
        length: int | None = self._loaded.max_seq_length
        return length

    @cached_property
    def max_tokens(self) -> int:
        """Tell how many tokens one batch may have."""
        return MAX_TEXTS * (self.window or 512)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""
        tokenizer: Any = self._loaded.tokenizer
        return [len(ids) for ids in tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]

    def embed(self, texts: Sequence[str], is_query: bool) -> npt.NDArray[np.float32]:
        """Embed texts: float32 [len(texts), dimension]."""
        vectors: npt.NDArray[np.float32] = self._loaded.encode(
            list(texts),
            batch_size=len(texts),
            prompt=self._choose_prompt(is_query),
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return np.asarray(vectors, np.float32)

    def _choose_prompt(self, is_query: bool) -> str:
        """Choose what goes before a text: what the model's own files say, else what its family wants."""
        prompts: dict[str, str] = dict(self._loaded.prompts or {})
        if not any(prompts.values()):
            return find_prefix(self._model, is_query)
        names = ("query",) if is_query else ("document", "passage")
        return next((prompts[name] for name in names if prompts.get(name)), "")
