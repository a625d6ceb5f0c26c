"""Which encoders there are; looking one up imports nothing of it."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from pkg.errors import UsageError

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder

_ENCODERS = {"hashing": ("pkg.encode.hashing", "HashingEncoder", 224)}  # name -> module, class, dimension


def find_encoder(name: str) -> tuple[str, int]:
    """Give the name and dimension of an encoder."""
    if name not in _ENCODERS:
        raise UsageError(f"no encoder '{name}'; expected one of: {', '.join(sorted(_ENCODERS))}")
    return name, _ENCODERS[name][2]


@lru_cache(maxsize=4)
def load_encoder(name: str) -> Encoder:
    """Make an encoder, once in a process."""
    find_encoder(name)
    module, attribute, _ = _ENCODERS[name]
    encoder: Encoder = getattr(import_module(module), attribute)()
    return encoder
