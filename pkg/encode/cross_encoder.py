"""Models that read a question and a text together and give one score (U-04): sentence-transformers, without network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pkg.encode.sentence import explain_missing, go_offline
from pkg.errors import EncoderAnswerError, EncoderError, MissingExtraError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

BATCH = 16  # pairs that go through the model together


class SentencePairModel:
    """A cross-encoder, by its name on the model hub or by its folder."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def _loaded(self) -> CrossEncoder:
        go_offline()
        try:
            from sentence_transformers import CrossEncoder
        except ImportError:
            raise MissingExtraError("sentence-transformers", "st", "ordering hits by a model") from None
        try:
            model = CrossEncoder(self.name, local_files_only=True)
        except Exception as fault:  # the package raises what the parts of a model raise
            raise explain_missing(self.name, "CrossEncoder", fault) from fault
        self._check_kind(model)
        return model

    def _check_kind(self, model: CrossEncoder) -> None:
        """Refuse a bare encoder, for which the package would make up the weights of a score."""
        kinds = getattr(getattr(model, "config", None), "architectures", None) or ()
        if kinds and all(kind.endswith("Model") for kind in kinds):
            raise EncoderError(
                f"the model '{self.name}' encodes texts and scores no pairs (seen: {', '.join(kinds)}); expected a"
                " cross-encoder, such as cross-encoder/ms-marco-MiniLM-L6-v2"
            )

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score how well each text answers a question: from 0 to 1, higher is better.

        Raises EncoderAnswerError where the model gives no single finite score for a pair, and EncoderError or
        MissingExtraError where it cannot be loaded.
        """
        model: Any = self._loaded
        from torch.nn import Identity

        pairs = [(query, text) for text in texts]
        answer = model.predict(pairs, batch_size=BATCH, activation_fn=Identity(), show_progress_bar=False)
        logits = np.asarray(answer, np.float64)
        if logits.ndim == 2 and logits.shape[1] == 1:
            logits = logits[:, 0]
        if logits.shape != (len(texts),) or not np.isfinite(logits).all():
            raise EncoderAnswerError(
                f"the model '{self.name}' gave back numbers of shape {logits.shape} for {len(texts)} texts; expected"
                " one finite score each: name a cross-encoder with one output, not a model for embeddings or classes"
            )
        scores: list[float] = (1 / (1 + np.exp(-np.clip(logits, -50, 50)))).tolist()
        return scores


@lru_cache(maxsize=2)
def load_pair_model(name: str) -> SentencePairModel:
    """Make a model, once in a process."""
    return SentencePairModel(name)
