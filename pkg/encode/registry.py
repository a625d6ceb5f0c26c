"""The kinds of encoders, each imported only when an encoder is made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.encode.service import DIMENSIONS, SERVICES
from pkg.errors import EncoderError, MissingExtraError, UsageError
from pkg.services import Service, conceal_name, is_here, split_address
from pkg.terms.words import forget_stems
from pkg.trained import read_revision

if TYPE_CHECKING:
    from collections.abc import Callable

    from pkg.encode.encoder import Encoder

DEFAULT_ENCODER = "static"
"""Encoder of a new graph, if none is named."""


@dataclass(frozen=True, slots=True)
class EncoderKind:
    """One kind of encoder: the syntax of its names, its module and its requirements."""

    syntax: str
    module: str
    maker: str  # attribute of the module that makes an encoder
    dimension: int | None = None  # None if it depends on the model
    detail: str = ""  # meaning of the part after the colon: folder, model or address
    packages: tuple[str, ...] = ()  # imported modules
    extra: str = ""  # that installs them
    is_trained: bool = False  # the weights are part of PKG, and their revision is part of the name

    @property
    def is_heavy(self) -> bool:
        """Return whether one process should hold the encoder: a model with its own threads, or a connection."""
        return bool(self.detail)

    def list_missing(self) -> list[str]:
        """List the missing packages."""
        return [package for package in self.packages if find_spec(package) is None]


KINDS = {
    "static": EncoderKind("static", "pkg.encode.static", "StaticEncoder", 256, is_trained=True),
    "minilm": EncoderKind(
        "minilm[:FOLDER]", "pkg.encode.minilm", "make_encoder", 384, "folder", ("onnxruntime", "tokenizers"), "minilm"
    ),
    "st": EncoderKind(
        "st:NAME", "pkg.encode.sentence", "make_encoder", None, "model", ("sentence_transformers",), "st"
    ),
    "voyage": EncoderKind(
        "voyage:NAME", "pkg.encode.voyage_api", "make_encoder", None, "address", ("voyageai",), "voyage"
    ),
    "openai": EncoderKind(
        "openai:NAME@URL", "pkg.encode.openai_api", "make_encoder", None, "address", ("openai",), "openai"
    ),
}


@dataclass(frozen=True, slots=True)
class _ParsedName:
    """The parts of an encoder's name."""

    word: str  # before the colon
    kind: EncoderKind
    model: str  # or its folder
    url: str | None = None
    service: Service | None = None  # of the model


def _parse_name(name: str) -> _ParsedName:
    written, colon, detail = name.partition(":")
    word, at, revision = written.partition("@")
    kind = KINDS.get(word)
    if kind is None or bool(colon) != bool(detail) or not _takes(kind, detail) or (at and not _has(kind, revision)):
        raise UsageError(
            f"no encoder '{conceal_name(name)}'; expected one of: {', '.join(each.syntax for each in KINDS.values())}"
        )
    if word not in SERVICES:
        return _ParsedName(word, kind, detail)
    return _ParsedName(word, kind, *split_address(detail, word, "encoder"), SERVICES[word])


def _takes(kind: EncoderKind, detail: str) -> bool:
    return not detail if not kind.detail else bool(detail) or kind.detail == "folder"


def _has(kind: EncoderKind, revision: str) -> bool:
    return kind.is_trained and revision == read_revision()


def find_kind(name: str) -> EncoderKind:
    """Return the kind of an encoder; raises UsageError for an invalid name."""
    return _parse_name(name).kind


def name_encoder(name: str) -> str:
    """Return an encoder's name as stored in a graph, with the revision of weights that are part of PKG.

    A folder becomes absolute, and an address loses its last slash.
    """
    parsed = _parse_name(name)
    if parsed.kind.is_trained:
        return f"{parsed.word}@{read_revision()}"
    if parsed.service:
        return name.rstrip("/")
    folder = Path(parsed.model).expanduser()
    is_folder = parsed.kind.detail == "folder" or (parsed.kind.detail == "model" and folder.is_dir())
    return f"{parsed.word}:{folder.resolve()}" if parsed.model and is_folder else name


def needs_trust(name: str) -> bool:
    """Return whether an encoder loads a named model or sends texts to a service."""
    return bool(_parse_name(name).model)


def forget_revision(name: str) -> str:
    """Return the name of an encoder without the revision of its weights."""
    word, _, _ = name.partition("@")
    kind = KINDS.get(word)
    return word if kind and kind.is_trained else name


def find_encoder(name: str) -> tuple[str, int]:
    """Return the name and dimension of an encoder, which is loaded if the dimension is unknown."""
    name = name_encoder(name)
    parsed = _parse_name(name)
    known = DIMENSIONS[parsed.word].get(parsed.model) if parsed.service else parsed.kind.dimension
    return name, known or load_encoder(name).dimension


def find_service(name: str) -> str | None:
    """Return the address that texts are sent to; None for an encoder on this machine."""
    parsed = _parse_name(name)
    url = parsed.service.choose_url(parsed.url) if parsed.service else None
    return None if url is None or is_here(url) else url


def check_ready(name: str) -> None:
    """Raise MissingExtraError or EncoderError if a package, file or key of an encoder is missing.

    Raises UsageError for an invalid name.
    """
    parsed = _parse_name(name)
    for package in parsed.kind.list_missing():
        raise MissingExtraError(package, parsed.kind.extra, f"the encoder '{name}'")
    if parsed.kind.detail == "folder":
        load_encoder(name)
    if parsed.service:
        parsed.service.read_key(parsed.service.choose_url(parsed.url), EncoderError)


@lru_cache(maxsize=4)
def load_encoder(name: str) -> Encoder:
    """Make an encoder once in a process; raises UsageError for an invalid name."""
    parsed = _parse_name(name)
    make: Callable[..., Encoder] = getattr(import_module(parsed.kind.module), parsed.kind.maker)
    if not parsed.kind.detail:
        return make()
    return make(name, parsed.model, parsed.url) if parsed.service else make(name, parsed.model or None)


def forget_encoders() -> None:
    """Release all encoders and their cached words, to free memory."""
    load_encoder.cache_clear()
    forget_stems()
