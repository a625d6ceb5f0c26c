"""Short names of models, for systems and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from pkg.errors import UsageError


def label_models(models: Sequence[str]) -> dict[str, str]:
    """Return a short name for each model: the last part of its path or name, or all of it where two are equal."""
    short = {model: shorten_model(model) for model in models}
    counts = Counter(short.values())
    return {model: label if counts[label] == 1 else model for model, label in short.items()}


def find_model(labels: Mapping[str, str], name: str) -> str:
    """Return the model of a name, which may be its short one in the labels; raises UsageError if there is none."""
    found = next((model for model, label in labels.items() if name in (model, label)), None)
    if found is None:
        raise UsageError(f"no model is called '{name}'; expected one of {', '.join(labels.values())}")
    return found


def shorten_model(model: str) -> str:
    """Return the last part of the path of a model without its suffix, or the name that a service knows it by.

    Of a model with an adapter, which is joined by a plus sign, it is that of the adapter.
    """
    word, _, detail = model.partition(":")
    if word == "openai":
        name, _, address = detail.rpartition("@")
        detail = name or address
    if word == "hf":
        detail = detail.rpartition("+")[2]
    path = PurePath(detail)
    return (path.stem if path.suffix == ".gguf" else path.name) or model
