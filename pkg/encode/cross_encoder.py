"""Cross-encoders of sentence-transformers, which score a question and a text together (U-04); without network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pkg.encode.sentence import explain_missing, go_offline
from pkg.errors import EncoderAnswerError, EncoderError, MissingExtraError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

BATCH = 16  # pairs


class SentencePairModel:
    """A cross-encoder, by its name on the model hub or its folder."""

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
