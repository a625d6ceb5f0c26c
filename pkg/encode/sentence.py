"""Encoders and cross-encoders that sentence-transformers loads from this machine, without downloads (U-02, U-04)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pkg.encode.batched import BatchedEncoder, make_caching_encoder
from pkg.encode.service import find_prefix
from pkg.errors import EncoderAnswerError, EncoderError, MissingExtraError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

MAX_TEXTS = 32  # of one batch: more are no faster on a CPU, and need more padding
BATCH = 16  # pairs of a cross-encoder

_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def make_encoder(name: str, model: str) -> BatchedEncoder:
    """Make the encoder of a model, by its name on the model hub or its folder."""
    return make_caching_encoder(SentenceModel(name, model))


def go_offline() -> None:
    """Forbid the model packages to use the network; to be called before they are imported."""
    os.environ.update(_OFFLINE)


def explain_missing(model: str, kind: str, fault: Exception) -> EncoderError:
    """Return the error for a missing model, with the command that downloads it."""
    reason = str(fault).strip().partition("\n")[0][:200]
    return EncoderError(
        f"cannot load the model '{model}' from this machine ({reason}); download it once with:"
        f" python -c \"from sentence_transformers import {kind}; {kind}('{model}')\", or name the folder of the model"
    )


class SentenceModel:
    """A model of sentence-transformers, with its own prefixes of queries and documents or those of its family."""

    max_texts = MAX_TEXTS

    def __init__(self, name: str, model: str) -> None:
        self.name = name
        self._model = model
        self._lock = Lock()  # a tokenizer changes its settings in each call, which other threads must not see

    @cached_property
    def identity(self) -> str:
        """Return the name of the model, and for a folder the state of its files."""
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
        except Exception as fault:  # the package raises any exception of a model's parts
            raise explain_missing(self._model, "SentenceTransformer", fault) from fault

    @cached_property
    def dimension(self) -> int | None:
        """Return the length of a vector, if the model reports it."""
        model: Any = self._loaded
        get = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension  # before 6
        size: int | None = get()
        return size

    @cached_property
    def window(self) -> int | None:
        """Return the number of tokens that the model reads of a text."""
        length: int | None = self._loaded.max_seq_length
        return length

    @cached_property
    def max_tokens(self) -> int:
        """Return the most tokens of one batch."""
        return MAX_TEXTS * (self.window or 512)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""
        tokenizer: Any = self._loaded.tokenizer
        with self._lock:
            return [len(ids) for ids in tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]

    def embed(self, texts: Sequence[str], is_query: bool) -> npt.NDArray[np.float32]:
        """Embed texts: float32 [len(texts), dimension]."""
        model, prompt = self._loaded, self._choose_prompt(is_query)
        with self._lock:
            vectors: npt.NDArray[np.float32] = model.encode(
                list(texts), batch_size=len(texts), prompt=prompt, show_progress_bar=False, convert_to_numpy=True
            )
        return np.asarray(vectors, np.float32)

    def embed_tokens(self, texts: Sequence[str], is_query: bool) -> list[npt.NDArray[np.float32]]:
        """Return the states of the tokens of each text, without padding: float32 [tokens, dimension] (U-04)."""
        model: Any = self._loaded
        prompt = self._choose_prompt(is_query)
        with self._lock:
            states = model.encode(
                list(texts), batch_size=MAX_TEXTS, prompt=prompt, output_value="token_embeddings",
                show_progress_bar=False, convert_to_numpy=False,
            )  # fmt: skip
        return [np.asarray(each.float().cpu(), np.float32) for each in states]

    def _choose_prompt(self, is_query: bool) -> str:
        """Return the prefix of a text from the model's own files, or that of its family."""
        prompts: dict[str, str] = dict(self._loaded.prompts or {})
        if not any(prompts.values()):
            return find_prefix(self._model, is_query)
        names = ("query",) if is_query else ("document", "passage")
        return next((prompts[name] for name in names if prompts.get(name)), "")


class SentencePairModel:
    """A cross-encoder, which scores a question and a text together, by its name on the model hub or its folder."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = Lock()  # a tokenizer changes its settings in each call, which other threads must not see

    @cached_property
    def _loaded(self) -> CrossEncoder:
        go_offline()
        try:
            from sentence_transformers import CrossEncoder
        except ImportError:
            raise MissingExtraError("sentence-transformers", "st", "ordering hits by a model") from None
        try:
            model = CrossEncoder(self.name, local_files_only=True)
        except Exception as fault:  # the package raises any exception of a model's parts
            raise explain_missing(self.name, "CrossEncoder", fault) from fault
        self._check_kind(model)
        return model

    def _check_kind(self, model: CrossEncoder) -> None:
        """Raise EncoderError for a bare encoder, for which the package would use random weights of the score."""
        kinds = getattr(getattr(model, "config", None), "architectures", None) or ()
        if kinds and all(kind.endswith("Model") for kind in kinds):
            raise EncoderError(
                f"the model '{self.name}' encodes texts and does not score pairs (seen: {', '.join(kinds)}); expected a"
                " cross-encoder, such as cross-encoder/ms-marco-MiniLM-L6-v2"
            )

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score how well each text answers a question: from 0 to 1, higher is better.

        Raises EncoderAnswerError unless each pair gets one finite score, and EncoderError or MissingExtraError if the
        model cannot be loaded.
        """
        model: Any = self._loaded
        from torch.nn import Identity

        pairs = [(query, text) for text in texts]
        with self._lock:
            answer = model.predict(pairs, batch_size=BATCH, activation_fn=Identity(), show_progress_bar=False)
        logits = np.asarray(answer, np.float64)
        if logits.ndim == 2 and logits.shape[1] == 1:
            logits = logits[:, 0]
        if logits.shape != (len(texts),) or not np.isfinite(logits).all():
            raise EncoderAnswerError(
                f"the model '{self.name}' returned numbers of shape {logits.shape} for {len(texts)} texts; expected"
                " one finite score each: name a cross-encoder with one output, not a model for embeddings or classes"
            )
        scores: list[float] = (1 / (1 + np.exp(-np.clip(logits, -50, 50)))).tolist()
        return scores


@lru_cache(maxsize=2)
def load_pair_model(name: str) -> SentencePairModel:
    """Make a model once in a process."""
    return SentencePairModel(name)
