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
