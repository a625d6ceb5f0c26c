"""Adapters of a model: names such as hf:BASE+ADAPTER, the card beside the weights, and the check of its base (Q-15)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pkg.errors import ModelError, PathError
from pkg.models.gguf_file import identify

CARD = "pkg_card.json"
"""The file beside an adapter with its base, recipe, data and versions."""

SETTINGS = "adapter_config.json"  # of PEFT, in the folder of every adapter
WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
SIGN = "+"  # between a base and its adapters; no name of the model hub has it


def split_adapters(detail: str) -> tuple[str, list[str]]:
    """Split a name into its base and the folders of its adapters, in the order in which they are applied.

    A part that is a path with the sign in it stays whole.
    """
    parts = detail.split(SIGN)
    base, rest = _take_path(parts)
    adapters = []
    while rest:
        adapter, rest = _take_path(rest)
        adapters.append(adapter)
    return base, adapters


def _take_path(parts: list[str]) -> tuple[str, list[str]]:
    """Return the longest beginning that exists as a path, else the first part; and the other parts."""
    for count in range(len(parts), 1, -1):
        joined = SIGN.join(parts[:count])
        if Path(joined).expanduser().exists():
            return joined, parts[count:]
    return parts[0], parts[1:]


def identify_adapter(folder: Path) -> str:
    """Return a hash of the weights and settings of an adapter; raises PathError if it is none."""
    files = [folder / SETTINGS, *(folder / name for name in WEIGHTS if (folder / name).is_file())]
    if len(files) < 2 or not files[0].is_file():
        raise PathError(f"no adapter in {folder}; expected the output of pkg tune, with {SETTINGS} and {WEIGHTS[0]}")
    return identify(files)


def add_adapter(folder: Path, base: str, identity: str) -> str:
    """Return the identity of a base with an adapter of it; raises PathError if it is none, ModelError if of another."""
    found = identify_adapter(folder)
    check_base(folder, base, identity)
    return f"{identity}{SIGN}{found}"


def read_card(folder: Path) -> dict[str, Any] | None:
    """Read the card of an adapter or tuned model, None without one; raises ModelError if it is damaged."""
    path = folder / CARD
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as fault:
        raise ModelError(f"{path} cannot be read ({fault}); expected the card that pkg tune writes") from None
    if not isinstance(card, dict) or not isinstance(card.get("base"), dict):
        raise ModelError(f"{path} is no card of pkg tune: it names no base; tune the adapter again")
    return card


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write the card of an adapter or tuned model."""
    (folder / CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def check_base(folder: Path, base: str, identity: str) -> None:
    """Raise ModelError if the card of an adapter names another base than that of an identity.

    An adapter without a card, made by another program, passes.
    """
    card = read_card(folder)
    if card is not None and card["base"].get("identity") != identity:
        named = card["base"]
        raise ModelError(
            f"the adapter {folder} belongs to another base: {named.get('model')} ({named.get('identity')}), not to"
            f" hf:{base} ({identity}); give its own base, or tune it for this one"
        )
