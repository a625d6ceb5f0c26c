"""Which encoders there are; looking one up imports nothing of it."""

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
"""What a new graph is made with where no encoder is named."""


@dataclass(frozen=True, slots=True)
class EncoderKind:
    """One kind of encoder: how it is written, where it is made, and what it needs."""

    syntax: str
    module: str
    maker: str  # attribute of the module that makes an encoder
    dimension: int | None = None  # None: each model has its own
    detail: str = ""  # folder, model or address: what follows the colon
    packages: tuple[str, ...] = ()  # modules that it imports
    extra: str = ""  # the extra that brings them
    is_trained: bool = False  # weights come with PKG, and other ones with another PKG: its name tells which

    @property
    def is_heavy(self) -> bool:
        """Tell whether one process holds the encoder: a model with threads of its own, or the line to a service."""
        return bool(self.detail)

    def list_missing(self) -> list[str]:
        """List the packages that are not installed."""
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
    """The name of an encoder, taken apart."""

    word: str  # before the colon
    kind: EncoderKind
    model: str  # or its folder
    url: str | None = None
    service: Service | None = None  # that the model is behind


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
    """Give the kind of an encoder; a UsageError for what is no encoder."""
    return _parse_name(name).kind


def name_encoder(name: str) -> str:
    """Write an encoder's name as a store remembers it: with the revision of its weights where these come with PKG.

    A folder is written from the root, an address without a last slash.
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
    """Return whether an encoder loads a model that is named, or sends texts to a service."""
    return bool(_parse_name(name).model)


def forget_revision(name: str) -> str:
    """Give the name of an encoder without the revision of its weights: those that this PKG has are meant."""
    word, _, _ = name.partition("@")
    kind = KINDS.get(word)
    return word if kind and kind.is_trained else name


def find_encoder(name: str) -> tuple[str, int]:
    """Give the name and dimension of an encoder; where its model alone knows the dimension, it is made and asked."""
    name = name_encoder(name)
    parsed = _parse_name(name)
    known = DIMENSIONS[parsed.word].get(parsed.model) if parsed.service else parsed.kind.dimension
    return name, known or load_encoder(name).dimension


def find_service(name: str) -> str | None:
    """Give the address that texts are sent to; None for an encoder that keeps them on this machine."""
    parsed = _parse_name(name)
    url = parsed.service.choose_url(parsed.url) if parsed.service else None
    return None if url is None or is_here(url) else url


def check_ready(name: str) -> None:
    """Raise what using an encoder would raise for want of a package, a file or a key, before anything is encoded.

    That is a MissingExtraError, an EncoderError, or a UsageError for what is no encoder.
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
    """Make an encoder, once in a process; a UsageError for a name that is none."""
    parsed = _parse_name(name)
    make: Callable[..., Encoder] = getattr(import_module(parsed.kind.module), parsed.kind.maker)
    if not parsed.kind.detail:
        return make()
    return make(name, parsed.model, parsed.url) if parsed.service else make(name, parsed.model or None)


def forget_encoders() -> None:
    """Let go of all encoders and of the words that they remember: who has encoded all may want the memory."""
    load_encoder.cache_clear()
    forget_stems()
