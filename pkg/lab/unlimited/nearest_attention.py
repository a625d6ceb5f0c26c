"""Attention of each query to its k nearest keys in place of all, for decoders of transformers (U-11, A-29).

As in Unlimiformer, each head attends to the keys with the highest products with its query, from one layer upward;
lower layers have full attention. The search is exact, so every key is scored; with k of at least the length of the
text the result is that of full attention. Positions are those of the text and not squeezed into the trained window.
"""

from __future__ import annotations

from functools import partial
from typing import Any

BLOCK_SCORES = 1 << 24  # scores in memory at a time, 64 MiB in float32


def set_nearest_attention(model: Any, nearest: int, layer_begin: int) -> None:
    """Set the attention of a model of transformers: from layer `layer_begin` up to the nearest keys of each query."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    name = f"nearest_{nearest}_{layer_begin}"
    AttentionInterface.register(name, partial(attend_nearest, nearest=nearest, layer_begin=layer_begin))
    AttentionMaskInterface.register(name, sdpa_mask)
    model.set_attn_implementation(name)


def attend_nearest(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    *,
    nearest: int,
    layer_begin: int,
    scaling: float,
    **others: Any,
) -> tuple[Any, None]:
    """Return the attention of queries to their nearest keys: [batch, queries, heads, dimension].

    query: [batch, heads, queries, dimension]; key, value: [batch, key heads, keys, dimension], where several heads may
    share a key head. attention_mask: bool [batch, 1, queries, keys], or None if each query sees all keys before it.
    """
    import torch

    if module.layer_idx < layer_begin:
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        found, _ = sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **others)
        return found, None
    batch, heads, queries, dimension = query.shape
    key_heads, keys = key.shape[1], key.shape[2]
    grouped = query.reshape(batch, key_heads, heads // key_heads, queries, dimension) * scaling
    size = max(1, BLOCK_SCORES // (batch * heads * keys))
    places = torch.arange(keys, device=query.device)
    parts = []
    for start in range(0, queries, size):
        stop = min(start + size, queries)
        seen = keys - queries + stop  # the last query of the block sees no later key
        scores = grouped[..., start:stop, :] @ key[:, :, None, :seen].transpose(-1, -2)
        if attention_mask is None:
            hidden = places[:seen] > places[seen - (stop - start) : seen, None]
        else:
            hidden = ~attention_mask[:, :, None, start:stop, :seen]
        scores.masked_fill_(hidden, -torch.inf)
        if nearest < seen:
            lowest = scores.topk(nearest, dim=-1, sorted=False).values.amin(-1, keepdim=True)
            scores.masked_fill_(scores < lowest, -torch.inf)
        weights = scores.float().softmax(-1).nan_to_num_(0.0).to(value.dtype)  # padding sees no key at all
        parts.append(weights @ value[:, :, None, :seen])
    return torch.cat(parts, dim=-2).reshape(batch, heads, queries, dimension).transpose(1, 2).contiguous(), None
