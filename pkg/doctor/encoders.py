"""Examine the encoders: the default one by using it, the others by what they need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pkg.doctor.finding import Finding
from pkg.errors import PkgError

if TYPE_CHECKING:
    from pkg.encode.registry import EncoderKind


def examine_encoders() -> Iterator[Finding]:
    """Look at each kind of encoder; nothing is sent, and no model is loaded."""
    from pkg.encode.registry import KINDS

    yield _examine_default()
    for word, kind in KINDS.items():
        if kind.detail:
            yield _examine_kind(word, kind)


def _examine_default() -> Finding:
    from pkg.encode.registry import DEFAULT_ENCODER, load_encoder

    try:
        encoder = load_encoder(DEFAULT_ENCODER)
        knows_words = encoder.encode([b"parse a date"]).any()
    except PkgError as fault:
        return Finding("encoder", "broken", str(fault), "install the package again")
    if knows_words:
        return Finding("encoder", "ok", f"{encoder.name}, {encoder.dimension} dimensions, no download needed")
    return Finding("encoder", "broken", f"{DEFAULT_ENCODER} encodes words to zero", "install the package again")


def _examine_kind(word: str, kind: EncoderKind) -> Finding:
    """Look for the packages of a kind, then for its files or its key."""
    name = f"encoder {kind.form}"
    missing = kind.list_missing()
    if missing:
        advice = f"pip install 'programming-knowledge-graph[{kind.extra}]'"
        return Finding(name, "missing", f"not installed: {', '.join(missing)}", advice)
    return _examine_service(name, word) if kind.detail == "address" else _examine_files(name, word)


def _examine_service(name: str, word: str) -> Finding:
    from pkg.encode.registry import find_service
    from pkg.encode.service import SERVICES

    service = SERVICES[word]
    if find_service(f"{word}:any") is None:
        return Finding(name, "ok", f"{service.choose_url(None)}, on this machine")
    if os.environ.get(service.key_variable, "").strip():
        return Finding(name, "ok", f"sends code to {service.choose_url(None)}, or to the address that you name")
    return Finding(name, "missing", f"no key for {service.choose_url(None)}", f"set {service.key_variable}")


def _examine_files(name: str, word: str) -> Finding:
    """Look for the files of MiniLM; a model of sentence-transformers has a name of its own."""
    if word != "minilm":
        return Finding(name, "ok", "installed; its models are read from this machine only")
    from pkg.encode.minilm import find_files

    try:
        model, _ = find_files(None)
    except PkgError as fault:
        return Finding(name, "missing", str(fault), "name the folder of the model, as in minilm:FOLDER")
    return Finding(name, "ok", f"model of the package {model.parent.name}, 384 dimensions")
