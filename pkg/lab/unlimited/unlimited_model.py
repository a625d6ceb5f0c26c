"""Open a text model whose layers attend to their nearest keys (U-11, A-29)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pkg.errors import UsageError
from pkg.lab.unlimited.nearest_attention import set_nearest_attention
from pkg.models.registry import open_model, split_name

if TYPE_CHECKING:
    from pkg.models.hf_model import HfModel


def open_unlimited(name: str, nearest: int, layer_begin: int | None = None) -> HfModel:
    """Open a model `hf:NAME` with attention to the nearest keys, from a layer up; by default from the middle one.

    Raises UsageError for another kind of model or a layer that it does not have, and the errors of open_model.
    """
    if split_name(name)[0] != "hf":
        raise UsageError(
            f"attention to the nearest keys needs a model of transformers; expected hf:FOLDER, not '{name}'"
        )
    model = cast("HfModel", open_model(name))
    layers = model.layers
    begin = layers // 2 if layer_begin is None else layer_begin
    if not 0 <= begin < layers:
        raise UsageError(f"the model has no layer {begin}; expected one from 0 to {layers - 1}")
    model.change_attention(
        f"nearest {nearest} from {begin}", lambda weights: set_nearest_attention(weights, nearest, begin)
    )
    return model
