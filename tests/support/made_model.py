"""A chat model made on the spot, of two layers of width 64 with a vocabulary of its rows, and commands that tune it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from pkg.cli import main

TEMPLATE = (
    "{% for turn in messages %}{% if turn.role == 'assistant' %}<a>{{ turn.content }}</s>"
    "{% else %}<u>{{ turn.content }}{% endif %}{% endfor %}{% if add_generation_prompt %}<a>{% endif %}"
)
SPECIAL = ["<s>", "</s>", "<u>", "<a>"]
SIZES: dict[str, Any] = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2}

MODULES = (
    "orders", "prices", "carts", "users", "mails", "stock", "taxes", "views", "forms", "reports", "search", "shipping",
    "labels", "events", "queues", "tokens", "images", "pages", "themes", "fonts", "routes", "hooks", "plans", "notes",
)  # fmt: skip
LIBRARIES = ("json", "math", "csv", "string", "heapq", "random", "time", "shutil")


def write_repository(folder: Path) -> Path:
    """Write a repository whose modules import each other and libraries."""
    folder.mkdir()
    (folder / "README.md").write_text("# Kiosk\n\nA shop for a kiosk.\n\n## Licence\n\nIt has the MIT licence.\n")
    for number, name in enumerate(MODULES):
        others = [MODULES[(number + step) % len(MODULES)] for step in (1, 5)]
        libraries = [LIBRARIES[(number + step) % len(LIBRARIES)] for step in (0, 3)]
        lines = [f"import {library}" for library in libraries]
        lines += [f"from kiosk.{other} import make_{other}" for other in others]
        body = f"    return {libraries[0]}, {libraries[1]}, make_{others[0]}(item), make_{others[1]}(item)"
        lines += ["", "", f"def make_{name}(item):", f'    """Make {name}."""', body, ""]
        (folder / f"{name}.py").write_text("\n".join(lines))
    return folder


def make_model(folder: Path, rows: Iterable[Mapping[str, str]], **sizes: Any) -> Path:
    """Write an untrained model whose tokens are those of questions and answers."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    pairs.train_from_iterator([text for row in rows for text in (row["question"], row["answer"])], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pairs, bos_token="<s>", eos_token="</s>", chat_template=TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=512, bos_token_id=0, eos_token_id=1,
        tie_word_embeddings=True, **{**SIZES, **sizes},
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "model.layers": "blk",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "post_attention_layernorm": "ffn_norm", "input_layernorm": "attn_norm",
}  # fmt: skip
"""Names of the weights of a Llama in a folder of transformers and in a GGUF file."""


def write_gguf(folder: Path, path: Path) -> Path:
    """Write the model of a folder as a GGUF file."""
    import gguf
    from safetensors.numpy import load_file

    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    words = sorted(tokenizer["vocab"], key=tokenizer["vocab"].__getitem__)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(512)
    writer.add_block_count(SIZES["num_hidden_layers"])
    writer.add_embedding_length(SIZES["hidden_size"])
    writer.add_feed_forward_length(SIZES["intermediate_size"])
    writer.add_head_count(SIZES["num_attention_heads"])
    writer.add_head_count_kv(SIZES["num_attention_heads"])
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(words)
    kinds = (gguf.TokenType.NORMAL, gguf.TokenType.CONTROL)
    writer.add_token_types([kinds[word in SPECIAL] for word in words])
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template(TEMPLATE)
    for name, weights in load_file(folder / "model.safetensors").items():
        for long, short in NAMES.items():
            name = name.replace(long, short)
        if "attn_q" in name or "attn_k" in name:  # llama.cpp orders the rows of a head in another way
            heads = weights.reshape(SIZES["num_attention_heads"], 2, -1, weights.shape[1])
            weights = heads.swapaxes(1, 2).reshape(weights.shape)
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def call(*words: str) -> Result:
    """Run a command of PKG."""
    return CliRunner().invoke(main, list(words), env={"PKG_MODEL_THREADS": "1"})


def run(*words: str) -> list[dict[str, Any]]:
    """Run a command that succeeds; return its JSON lines."""
    done = call(*words)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
